"""A small task whose label depends on certain words, for tests that train."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from attnvat.corpora import Corpus, Example
from attnvat.training import Config

NEUTRAL = [f"n{first}{second}" for first in "abcdef" for second in "abcdefghij"]
TELLING = {"neg": ["bad", "awful", "poor"], "pos": ["good", "great", "fine"]}
SMALL: dict[str, Any] = {
    "hidden": 16,
    "dimension": 8,
    "attention": 8,
    "epochs": 3,
    "learning_rate": 0.02,
    "batch_size": 16,
    "device": "cpu",
}
"""Options of a run that takes a second."""


def sentences(count: int, seed: int = 0, labels: Sequence[str] = ("neg", "pos")) -> list[Example]:
    """Different sentences of 4 to 10 words, one of which tells the label."""
    generator = np.random.default_rng(seed)
    found: dict[str, str] = {}
    while len(found) < count:
        label = labels[int(generator.integers(len(labels)))]
        words = [str(word) for word in generator.choice(NEUTRAL, generator.integers(3, 10))]
        told = TELLING[label] if label in TELLING else [f"{label}{letter}" for letter in "xyz"]
        words.insert(int(generator.integers(len(words) + 1)), str(generator.choice(told)))
        found[" ".join(words)] = label
    return [Example(text, label=label) for text, label in found.items()]


def task(size: int = 200, labels: Sequence[str] = ("neg", "pos"), unlabelled: int = 0, pair: bool = False) -> Corpus:
    """A corpus of `size` training sentences, with a quarter as many for validation and for test."""
    part = max(size // 4, 8)
    examples = sentences(size + 2 * part + unlabelled, labels=labels)
    if pair:
        # The telling word is in the second text of every other pair.
        examples = [
            Example(e.text, NEUTRAL[n % 60], e.label)
            if n % 2
            else Example(e.text, f"{e.text} {NEUTRAL[n % 60]}", e.label)
            for n, e in enumerate(examples)
        ]
    splits = np.split(np.arange(len(examples)), [size, size + part, size + 2 * part])
    train, validation, test, rest = ([examples[row] for row in rows] for rows in splits)
    more = [Example(e.text, e.pair) for e in rest]
    return Corpus("generated", tuple(sorted(labels)), train, validation, test, more, metric="accuracy")


def small(**options: Any) -> Config:
    """A config of a small run."""
    return Config(**{"data": "generated", **SMALL, **options})


def write_csv(path: Path, examples: Sequence[Example]) -> Path:
    """The examples as a CSV file."""
    with path.open("w", newline="", encoding="utf-8") as handle:
        writer = csv.writer(handle)
        writer.writerow(["text", "label"])
        writer.writerows((e.text, e.label) for e in examples)
    return path


def write_task(folder: Path, size: int = 200, unlabelled: int = 300) -> dict[str, str]:
    """The task as files; gives the options of `attnvat train` that name them."""
    corpus = task(size, unlabelled=unlabelled)
    (folder / "more.txt").write_text("".join(f"{e.text}\n" for e in corpus.unlabelled), encoding="utf-8")
    return {
        "data": str(write_csv(folder / "train.csv", corpus.train)),
        "validation": str(write_csv(folder / "validation.csv", corpus.validation)),
        "test": str(write_csv(folder / "test.csv", corpus.test)),
    }


def flags(**options: Any) -> list[str]:
    """Options as command-line flags."""
    return [part for name, value in options.items() for part in (f"--{name.replace('_', '-')}", str(value))]
