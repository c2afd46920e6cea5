"""`attnvat predict`, `explain` and `runs` as a person uses them."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from attnvat.evaluation.prediction import predict
from attnvat.evaluation.subject import encode_examples
from attnvat.training import open_run
from attnvat_command import Attnvat
from generated_task import sentences, write_csv


def test_predictions_as_jsonl_and_csv_of_every_kind_of_input(attnvat: Attnvat, finished: Path, tmp_path: Path) -> None:
    examples = sentences(30, seed=8)
    bundle = open_run(finished / "runs" / "one").pretrained
    p = predict(bundle, encode_examples(bundle, examples))
    expected = [
        {
            "text": str(example.text),
            "label": bundle.labels[int(row.argmax())],
            "probabilities": {label: round(float(x), 6) for label, x in zip(bundle.labels, row, strict=True)},
        }
        for example, row in zip(examples, p, strict=True)
    ]
    assert sum(record["label"] == example.label for record, example in zip(expected, examples, strict=True)) > 20
    texts = "".join(f"{e.text}\n" for e in examples)
    (tmp_path / "in.txt").write_text(texts, "utf-8")
    write_csv(tmp_path / "in.csv", examples)
    (tmp_path / "in.jsonl").write_text("".join(json.dumps({"text": e.text}) + "\n" for e in examples), "utf-8")
    run = finished / "runs" / "one"
    for source, stdin in (("in.txt", ""), ("in.csv", ""), ("in.jsonl", ""), ("-", texts)):
        code, out, _ = attnvat("predict", run, source, stdin=stdin.encode())
        assert code == 0
        assert [json.loads(line) for line in out.splitlines()] == expected, source
    code, out, _ = attnvat("predict", run, "in.txt", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [row["label"] for row in rows] == [record["label"] for record in expected]
    assert [float(row["p(pos)"]) for row in rows] == [record["probabilities"]["pos"] for record in expected]
    assert attnvat("predict", run, "in.txt", "--out", "out.csv").out == ""
    assert (tmp_path / "out.csv").read_text("utf-8").splitlines() == out.splitlines()
    assert attnvat("predict", run, "in.txt", "--out", "out.jsonl").code == 0
    assert [json.loads(line) for line in (tmp_path / "out.jsonl").read_text("utf-8").splitlines()] == expected


def test_predicting_nothing_and_odd_lines(attnvat: Attnvat, finished: Path) -> None:
    run = finished / "runs" / "one"
    assert attnvat("predict", run, "-") == (0, "", "")
    code, out, _ = attnvat("predict", run, "-", stdin="\n  \n😀\nword\n".encode())
    assert code == 0
    assert [json.loads(line)["text"] for line in out.splitlines()] == ["😀", "word"]
    code, out, err = attnvat("predict", run, "-", stdin=b"fine\n\xff\xfe bad\n")
    assert code == 2
    assert "standard input: not UTF-8" in err


def test_predictions_come_block_by_block(
    attnvat: Attnvat, finished: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from attnvat.cli import predict as command
    from attnvat.corpora import Example

    monkeypatch.setattr(command, "BLOCK", 4)
    bundle = open_run(finished / "runs" / "one").pretrained
    read: list[int] = []

    def endless():  # type: ignore[no-untyped-def]
        for number in range(10**9):
            read.append(number)
            yield Example(f"text {number}")

    stream = command.predicted(bundle, endless())
    assert [next(stream)["text"] for _ in range(6)] == [f"text {number}" for number in range(6)]
    assert len(read) == 8


def test_a_failed_prediction_leaves_no_file(attnvat: Attnvat, finished: Path, tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").write_text('{"text": "good"}\n{"text": \n', "utf-8")
    code, _, err = attnvat("predict", finished / "runs" / "one", "in.jsonl", "--out", "out.jsonl")
    assert code == 2
    assert "in.jsonl" in err
    assert not [path for path in tmp_path.iterdir() if path.name.startswith((".out", "out"))]


def test_pairs_are_predicted_with_both_columns(attnvat: Attnvat, finished: Path, tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("a,b\ngood naa,nab\nbad nac,nad\n", "utf-8")
    code, out, _ = attnvat("predict", finished / "runs" / "pair", "in.csv", "--text", "a", "--text-pair", "b")
    assert code == 0
    assert [json.loads(line)["text_pair"] for line in out.splitlines()] == ["nab", "nad"]
    code, out, _ = attnvat(
        "predict", finished / "runs" / "pair", "in.csv", "--text", "a", "--text-pair", "b", "--format", "csv"
    )
    assert out.splitlines()[0] == "text,text_pair,label,p(neg),p(pos)"


def test_explain_shows_every_word_and_the_prediction(attnvat: Attnvat, finished: Path) -> None:
    code, out, _ = attnvat("explain", finished / "runs" / "one", "naa [bold] good nab")
    assert code == 0
    for word in ("naa", "bold", "good", "nab"):
        assert word in out
    assert "pos" in out
    assert attnvat("explain", finished / "runs" / "pair", "good naa", "--pair", "nab").code == 0
    assert attnvat("explain", finished / "runs" / "one", "").code == 0


def test_runs_lists_finished_stopped_and_unreadable_runs(attnvat: Attnvat, finished: Path, tmp_path: Path) -> None:
    import shutil

    shutil.copytree(finished / "runs", tmp_path / "runs")
    (tmp_path / "runs" / "pair" / "result.json").unlink()
    with (tmp_path / "runs" / "pair" / "metrics.jsonl").open("a") as handle:
        handle.write('{"event": "epo')
    (tmp_path / "runs" / "other").mkdir()
    (tmp_path / "runs" / "other" / "config.yaml").write_text("epochs: none\n")
    code, out, err = attnvat("runs")
    assert code == 0
    one, pair = (next(line for line in out.splitlines() if f" {name} " in line) for name in ("one", "pair"))
    result = open_run(tmp_path / "runs" / "one").result
    assert result is not None
    assert f"{100 * result['validation']:.2f}" in one
    assert f"{100 * result['test']:.2f}" in one
    assert "finished" in one
    assert "stopped or running" in pair
    assert "attention-at" in pair
    assert "left out: runs/other/config.yaml: epochs is 'none'; expected int" in err
