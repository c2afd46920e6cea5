from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from attnvat.cli.pool import app
from attnvat.errors import UserError
from attnvat.pool import Pool, Selection


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., Result]:
    monkeypatch.setenv("COLUMNS", "160")
    monkeypatch.setenv("ATTNVAT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("ATTNVAT_DATA", str(tmp_path))
    monkeypatch.chdir(tmp_path)

    def invoke(*arguments: str) -> Result:
        result = CliRunner().invoke(app, list(arguments))
        if result.exception and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    return invoke


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A labelled task and unlabelled texts, some of them of the task's test split."""
    generator = np.random.default_rng(0)
    words = [f"word{chr(97 + n)}" for n in range(26)]
    texts = list(dict.fromkeys(" ".join(generator.choice(words, 6)) for _ in range(400)))
    rows = [f"{'good' if n % 2 else 'bad'},{text}" for n, text in enumerate(texts[:60])]
    for name, part in {"train": rows[:40], "validation": rows[40:50], "test": rows[50:]}.items():
        (tmp_path / f"{name}.csv").write_text("\n".join(["label,text", *part]) + "\n")
    (tmp_path / "task").mkdir()
    for name in ("train", "validation", "test"):
        (tmp_path / f"{name}.csv").rename(tmp_path / "task" / f"{name}.csv")
    (tmp_path / "unlabelled.txt").write_text("\n".join(texts[50:] + texts[100:120]) + "\n")
    return tmp_path


def test_build_select_show_check(run: Callable[..., Result], files: Path) -> None:
    task = str(files / "task")
    built = run("build", "unlabelled.txt", "--for", task, "--out", "pool").stdout
    assert "− in evaluation splits" in built
    pool = Pool.open(files / "pool")
    counts = pool.manifest["counts"]
    assert (counts["in evaluation splits"], counts["duplicates"]) == (10, 20)
    for strategy in ("random", "bow", "embedding"):
        shown = run("select", "pool", "--for", task, "--strategy", strategy, "--size", "30").stdout
        assert f"--unlabeled pool:task-{strategy}-30" in shown
        assert len(Selection.load(pool.path / "selections" / f"task-{strategy}-30.arrow", pool)) == 30
    assert "nearest labelled text" in shown
    assert "task-bow-30" in run("show", "pool").stdout
    assert "bow" in run("show", "pool:task-bow-30").stdout
    assert "sound" in run("check", "pool").stdout


def test_the_usual_size_is_seven_times_the_labelled_texts(run: Callable[..., Result], files: Path) -> None:
    run("build", "unlabelled.txt", "--out", "pool")
    result = run("select", "pool", "--for", str(files / "task"), "--strategy", "random", "--out", "mine.arrow")
    assert len(Selection.load(files / "mine.arrow")) == 7 * 40
    assert "was not built with --for" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["build", "unlabeled.txt", "--out", "pool"], "neither a file"),
        (["build", "unlabelled.txt", "--duplicates", "some", "--out", "pool"], "choose one of near"),
        (["select", "nowhere", "--for", "task", "--strategy", "bow"], "no such pool"),
        (["show", "nowhere:x"], "no such pool"),
    ],
)
def test_mistakes_are_told_in_a_sentence(
    run: Callable[..., Result], files: Path, arguments: list[str], message: str
) -> None:
    with pytest.raises(UserError, match=message):
        run(*arguments)


@pytest.mark.parametrize("command", ["build", "select", "show", "check"])
def test_help_has_an_example(run: Callable[..., Result], command: str) -> None:
    assert f"attnvat pool {command} " in run(command, "--help").stdout
