from __future__ import annotations

import json
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from attnvat.cli.main import build_app
from attnvat.errors import UserError
from attnvat.experiments.catalogue import EXPERIMENTS
from attnvat.experiments.perform import held, work_folder
from attnvat.experiments.plan import Order
from attnvat.experiments.records import Places
from experiments.small_world import BAD, GOOD, PLAIN, enter_world

Run = Callable[..., Result]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    enter_world(tmp_path, monkeypatch)

    def invoke(*arguments: str) -> Result:
        result = CliRunner().invoke(build_app(arguments[0]), list(arguments))
        if result.exception and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    return invoke


def test_list_names_every_experiment(run: Run) -> None:
    shown = run("paper", "list").stdout
    assert all(name in shown for name in EXPERIMENTS)
    assert "Tables 3a and 3b" in shown


def test_run_searches_then_trains_and_a_second_run_does_nothing(run: Run, tmp_path: Path) -> None:
    arguments = ("paper", "run", "table-prediction", "--techniques", "vanilla", "--seeds", "1", "--trials", "1")
    first = run(*arguments, "--jobs", "2")
    assert "searches: 0 on record, 1 to do" in first.stderr
    assert "runs: 0 on record, 3 to do" in first.stderr
    files = {path: path.stat().st_mtime_ns for path in (tmp_path / "results").rglob("*.json")}
    # The tuned vanilla, whose only dropout tried is none at all, the same with more words, and the untuned one.
    assert sorted(path.parent.name for path in files) == ["runs", "runs", "runs", "searches"]
    again = run(*arguments)
    assert "searches: 1 on record, 0 to do" in again.stderr
    assert "runs: 3 on record, 0 to do" in again.stderr
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "results").rglob("*.json")} == files

    shown = run("paper", "show", "table-prediction", "--data", "sst").stdout
    assert "vanilla, nothing searched" in shown
    assert "dropout 0" in shown
    assert r"\toprule" in run("paper", "show", "table-prediction", "--data", "sst", "--latex").stdout
    assert "| attention-at |" in run("paper", "show", "table-prediction", "--data", "sst", "--markdown").stdout
    status = run("paper", "status", "table-selection", "--seeds", "1", "--trials", "1").stdout
    assert "1 of 3" in status
    assert "2 of 8" in status
    both = run("paper", "status", "--data", "agnews,snli", "--seeds", "1").stdout
    assert {row.split()[1] for row in both.splitlines() if "table-" in row} == {"agnews", "snli"}
    run("paper", "show", "--write", "docs/results.md")
    assert "3 runs and 1 searches" in (tmp_path / "docs" / "results.md").read_text()


def test_runs_wait_for_a_search_that_another_process_does(run: Run, tmp_path: Path) -> None:
    (job,) = Order(EXPERIMENTS["table-prediction"], ("sst",), ("vanilla",), only="sst-vanilla-wide").searches()
    folder = work_folder(job, Places(Path("results"), Path("runs/paper")))
    folder.mkdir(parents=True)
    arguments = ("paper", "run", "table-prediction", "--techniques", "vanilla", "--seeds", "1", "--trials", "1")
    with held(folder):
        told = run(*arguments).stderr
    assert "1 are being done by another process" in told
    # Only the untuned vanilla needs no search.
    assert "runs: 0 on record, 1 to do" in told
    assert [path.parent.name for path in (tmp_path / "results").rglob("*.json")] == ["runs"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["paper", "run", "table-predicton"], "did you mean 'table-prediction'"),
        (["paper", "run", "table-selection", "--data", "imdb"], "is run on sst, not on imdb"),
        (["paper", "run", "table-prediction", "--data", "sstt"], "did you mean 'sst'"),
        (["paper", "status", "--data", "sstt"], "did you mean 'sst'"),
        (["paper", "status", "table-selection", "--data", "imdb"], "is run on sst, not on imdb"),
        (["paper", "run", "table-selection", "--only", "sst"], "no runs are called 'sst'; there are\n  sst-vanilla"),
        (["paper", "run", "table-prediction", "--pool", "newz"], "did you mean 'news'"),
        (["paper", "show", "figure-amounts"], "did you mean 'figure-amount'"),
        (["search", "--data", "nowhere.csv"], "no such file"),
        (["search", "--data", "sst", "--technique", "attention-vat", "--readings", "shared"], "no reading to search"),
    ],
)
def test_mistakes_are_told_in_a_sentence(run: Run, arguments: list[str], message: str) -> None:
    with pytest.raises(UserError, match=message):
        run(*arguments)


def test_search_on_own_data_prints_the_command_to_train_with(run: Run, tmp_path: Path) -> None:
    words = [(GOOD[n % 6] if n % 2 else BAD[n % 6], PLAIN[n % 10], n) for n in range(120)]
    rows = [f"{'good' if n % 2 else 'bad'},{word} {other} w{n % 7}" for word, other, n in words]
    (tmp_path / "reviews.csv").write_text("\n".join(["label,text", *rows]) + "\n")
    small = ("--hidden", "8", "--attention", "4", "--epochs", "2", "--learning-rate", "0.02", "--dimension", "6")
    result = run(
        "search", "--data", "reviews.csv", "--technique", "attention-at", "--trials", "2", "--out", "s", *small
    )
    record = json.loads((tmp_path / "s" / "search.json").read_text())
    best = max(record["tried"], key=lambda one: one["validation"])
    command = result.stdout.strip().splitlines()[-1]
    assert command.startswith("attnvat train --data reviews.csv")
    assert f"--epsilon {best['options']['epsilon']:.6g}" in command
    assert "<svg" in (tmp_path / "s" / "search.svg").read_text()
    # Run again, it finds its runs and adds none.
    run("search", "--data", "reviews.csv", "--technique", "attention-at", "--trials", "2", "--out", "s", *small)
    assert json.loads((tmp_path / "s" / "search.json").read_text())["tried"] == record["tried"]


def test_a_search_that_tells_nothing_says_so(run: Run, tmp_path: Path) -> None:
    rows = [f"{'good' if n % 3 else 'bad'},{GOOD[n % 6] if n % 3 else BAD[n % 6]} {PLAIN[n % 10]}" for n in range(120)]
    (tmp_path / "reviews.csv").write_text("\n".join(["label,text", *rows]) + "\n")
    # Too slow to learn anything.
    options = ("--learning-rate", "1e-9", "--hidden", "8", "--attention", "4", "--epochs", "2", "--dimension", "6")
    found = run("search", "--data", "reviews.csv", "--technique", "word-at", "--trials", "2", *options)
    assert "all finished runs score the same, so none is better than another" in found.stderr


def test_every_experiment_is_listed_with_its_question(run: Run) -> None:
    """On 80 columns, as in a pipe: a table once left no room for the questions."""
    listed = " ".join(run("paper", "list").stdout.split())
    for experiment in EXPERIMENTS.values():
        assert experiment.name in listed
        assert experiment.question in listed


@pytest.mark.parametrize("command", ["paper list", "paper run", "paper status", "paper show", "search"])
def test_help_has_an_example(run: Run, command: str) -> None:
    assert f"attnvat {command} " in run(*command.split(), "--help").stdout + " "


@pytest.mark.parametrize(
    ("module", "name", "arguments"),
    [
        ("paper", "run_jobs", ("paper", "run", "table-prediction", "--techniques", "vanilla", "--seeds", "1")),
        ("search", "run_search", ("search", "--data", "sst", "--technique", "vanilla", "--trials", "1")),
    ],
)
def test_a_stopped_command_says_how_to_go_on(
    run: Run, monkeypatch: pytest.MonkeyPatch, module: str, name: str, arguments: tuple[str, ...]
) -> None:
    def stopped(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(import_module(f"attnvat.cli.{module}"), name, stopped)
    result = run(*arguments)
    assert result.exit_code == 130
    assert "everything saved; run the same command again" in result.stderr
