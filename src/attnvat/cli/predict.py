"""`attnvat predict`: labels and probabilities for any amount of text, as a stream."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import IO, Annotated, Any

import typer

from attnvat.corpora import Example, plain, read_unlabelled
from attnvat.errors import UserError
from attnvat.evaluation.prediction import predict as probabilities_of
from attnvat.evaluation.subject import encode_examples
from attnvat.models import Pretrained, from_pretrained
from attnvat.storage import atomic_write

BLOCK = 1024
"""Texts read, predicted and written at a time."""


def predict(
    run: Annotated[Path, typer.Argument(help="Folder of a run or of a saved model.")],
    file: Annotated[
        str, typer.Argument(help="CSV, TSV, JSONL, Parquet or text file; - for standard input, a text a line.")
    ],
    out: Annotated[Path | None, typer.Option("--out", help="File to write (standard output).")] = None,
    form: Annotated[
        str | None, typer.Option("--format", help="jsonl or csv (csv where --out ends in .csv, else jsonl).")
    ] = None,
    text: Annotated[str | None, typer.Option("--text", help="Column of the text.")] = None,
    text_pair: Annotated[str | None, typer.Option("--text-pair", help="Column of the second text.")] = None,
) -> None:
    """Predict the label of every text, with the probability of each class.

    Example: echo "a film to remember" | attnvat predict runs/sst-vanilla-seed0 -
    """
    form = form or ("csv" if out and out.suffix == ".csv" else "jsonl")
    if form not in ("jsonl", "csv"):
        raise UserError(f"--format is {form!r}; it is jsonl or csv")
    bundle = from_pretrained(run)
    if text_pair is not None and not bundle.model.config.pair:
        raise UserError(f"--text-pair: the model in {run} reads single texts")
    examples = lines(sys.stdin) if file == "-" else read_unlabelled(file, text=text, text_pair=text_pair)
    if out is None:
        write(sys.stdout, form, bundle, examples)
        return
    with atomic_write(out) as handle:
        write(handle, form, bundle, examples)


def lines(stream: IO[str]) -> Iterator[Example]:
    """One text a line; empty lines are left out."""
    try:
        for line in stream:
            if line.strip():
                yield Example(line.strip())
    except UnicodeDecodeError as error:
        raise UserError(f"standard input: not UTF-8 ({error.reason}); convert it to UTF-8") from error


def write(handle: IO[str], form: str, bundle: Pretrained, examples: Iterator[Example]) -> None:
    """Predict block by block and write each at once."""
    names = [f"p({label})" for label in bundle.labels]
    table = csv.writer(handle)
    if form == "csv":
        table.writerow(["text", *(["text_pair"] if bundle.model.config.pair else []), "label", *names])
    for record in predicted(bundle, examples):
        if form == "csv":
            values = [f"{p:.6f}" for p in record["probabilities"].values()]
            table.writerow(
                [record["text"], *([record["text_pair"]] if "text_pair" in record else []), record["label"], *values]
            )
        else:
            handle.write(json.dumps(record, ensure_ascii=False) + "\n")
        handle.flush()


def predicted(bundle: Pretrained, examples: Iterator[Example]) -> Iterator[dict[str, Any]]:
    """A record for each text."""
    while block := list(islice(examples, BLOCK)):
        found = probabilities_of(bundle, encode_examples(bundle, block))
        for example, row in zip(block, found, strict=True):
            record: dict[str, Any] = {"text": plain(example.text)}
            if bundle.model.config.pair and example.pair is not None:
                record["text_pair"] = plain(example.pair)
            record["label"] = bundle.labels[int(row.argmax())]
            record["probabilities"] = {label: round(float(p), 6) for label, p in zip(bundle.labels, row, strict=True)}
            yield record


def register(app: typer.Typer) -> None:
    """Add the command to the app."""
    app.command("predict")(predict)
