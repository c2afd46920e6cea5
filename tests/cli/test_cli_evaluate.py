"""`attnvat evaluate` and `attnvat compare` on real run folders made by hand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
import typer
from typer.testing import CliRunner, Result

from attnvat.cli import compare, evaluate
from attnvat.errors import UserError
from attnvat.models import ModelConfig, Pretrained, build_model, save_pretrained
from attnvat.text.tokenizer import Tokenizer
from attnvat.text.vocabulary import Vocabulary
from attnvat.training.config import Config

app = typer.Typer()
app.command("evaluate")(evaluate.evaluate)
app.command("compare")(compare.compare)

GOOD, BAD = ("a fine warm film", "great fun , really great"), ("dull and slow", "a bad , bad film")


def table(path: Path, rows: int = 40) -> Path:
    lines = ["text,label"]
    for i in range(rows):
        text, label = ((GOOD, BAD)[i % 2][i // 2 % 2], ("pos", "neg")[i % 2])
        lines.append(f'"{text} {i}",{label}')
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


def run_folder(folder: Path, data: Path, seed: int, labels: tuple[str, ...] = ("neg", "pos")) -> Path:
    folder.mkdir()
    tokenizer = Tokenizer()
    words = sorted({word for text in GOOD + BAD for word in tokenizer.tokenize(text)})
    vocabulary = Vocabulary(words)
    torch.manual_seed(seed)
    shape = ModelConfig(vocabulary=len(vocabulary), dimension=6, hidden=6, attention=4, classes=len(labels))
    save_pretrained(Pretrained(build_model(shape), vocabulary, tokenizer, labels), folder)
    Config(data=str(data), seed=seed).save(folder / "config.yaml")
    return folder


@pytest.fixture
def runs(tmp_path: Path) -> list[Path]:
    data = table(tmp_path / "reviews.csv")
    return [run_folder(tmp_path / f"run-{seed}", data, seed) for seed in (0, 1)]


def invoke(*words: object) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words])


def test_evaluate_writes_both_files_and_prints_a_table(runs: list[Path], tmp_path: Path) -> None:
    out = tmp_path / "deep" / "results"
    result = invoke("evaluate", runs[0], "--suite", "prediction,correlation", "--out", out)
    assert result.exit_code == 0, result.output
    found = json.loads((out / "evaluation.json").read_text("utf-8"))
    assert set(found) == {"subject", "prediction", "correlation"}
    assert found["subject"]["run"] == str(runs[0])
    page = (out / "report.html").read_text("utf-8")
    assert "run-0: evaluation" in page
    assert '<section id="examples">' in page
    assert "Accuracy" in result.output
    assert f"{found['prediction']['accuracy']:.3f}" in result.output
    assert f"{found['prediction']['accuracy']:.3f}" in page


def test_evaluate_all_suites_of_another_file_uses_the_whole_file(runs: list[Path], tmp_path: Path) -> None:
    other = table(tmp_path / "other.csv", rows=24)
    result = invoke("evaluate", runs[0], "--data", other, "--suite", "all", "--examples", 0)
    assert result.exit_code == 0, result.output
    found = json.loads((runs[0] / "evaluation.json").read_text("utf-8"))
    assert set(found) == {"subject", "prediction", "correlation", "rationales", "robustness"}
    assert found["subject"]["examples"] == 24
    page = (runs[0] / "report.html").read_text("utf-8")
    assert '<section id="robustness">' in page
    assert '<section id="examples">' not in page


def test_splits_differ(runs: list[Path]) -> None:
    sizes = {}
    for split in ("test", "train", "all"):
        assert invoke("evaluate", runs[0], "--suite", "prediction", "--split", split, "--examples", 0).exit_code == 0
        sizes[split] = json.loads((runs[0] / "evaluation.json").read_text("utf-8"))["subject"]["examples"]
    assert sizes["test"] < sizes["train"] < sizes["all"] == 40


def test_own_rationales(runs: list[Path], tmp_path: Path) -> None:
    path = tmp_path / "marked.jsonl"
    path.write_text('{"text": "a bad , bad film", "label": "neg", "rationale": [[2, 5]]}\n' * 3, "utf-8")
    result = invoke("evaluate", runs[0], "--suite", "prediction", "--rationales", path)
    assert result.exit_code == 0, result.output
    assert json.loads((runs[0] / "evaluation.json").read_text("utf-8"))["rationales"]["documents"] == 3
    assert '<u class="rationale">' in (runs[0] / "report.html").read_text("utf-8")
    assert "Agreement with people" in result.output


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["evaluate", "{run}", "--suite", "prediktion"], "unknown suite 'prediktion'; did you mean 'prediction'?"),
        (["evaluate", "{run}", "--suite", " , "], "--suite names nothing"),
        (["evaluate", "{run}", "--split", "tset"], "has no split 'tset'; did you mean 'test'?"),
        (["evaluate", "{run}/nowhere"], "not a run"),
        (["evaluate", "{run}", "--data", "ssst"], "no corpus of that name"),
        (["compare", "{run}"], "two runs or more"),
        (["compare", "{run}", "{run}"], "named twice"),
    ],
)
def test_mistakes_are_named(runs: list[Path], words: list[str], message: str) -> None:
    result = invoke(*(word.format(run=runs[0]) for word in words))
    assert isinstance(result.exception, UserError)
    assert message in str(result.exception)


def test_an_unwritable_place_is_named(runs: list[Path], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    result = invoke("evaluate", runs[0], "--suite", "prediction", "--out", tmp_path / "file" / "inside")
    assert isinstance(result.exception, UserError)
    assert "name another with --out" in str(result.exception)


def test_compare_prints_a_table_and_writes_a_page(runs: list[Path], tmp_path: Path) -> None:
    out = tmp_path / "made" / "comparison.html"
    result = invoke("compare", *runs, "--out", out, "--draws", 200, "--split", "all")
    assert result.exit_code == 0, result.output
    assert "run-1 − run-0" in " ".join(result.output.split())
    assert "Accuracy" in result.output
    page = out.read_text("utf-8")
    assert "run-0 against run-1" in page
    assert "Where they part" in page
    again = tmp_path / "again.html"
    invoke("compare", *runs, "--out", again, "--draws", 200, "--split", "all")
    assert again.read_text("utf-8") == page


def test_compare_refuses_runs_of_another_task(runs: list[Path], tmp_path: Path) -> None:
    other = run_folder(tmp_path / "other", tmp_path / "reviews.csv", 0, ("neg", "pos", "so-so"))
    result = invoke("compare", runs[0], other)
    assert isinstance(result.exception, UserError)
    assert "compare runs of the same task" in str(result.exception)


def test_help_shows_an_example() -> None:
    for command in ("evaluate", "compare"):
        result = invoke(command, "--help")
        assert result.exit_code == 0
        assert f"attnvat {command} runs/" in result.output
