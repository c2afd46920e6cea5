"""A small world: SST in its official layout, a news pool and word vectors, all generated."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np
import pytest

from attnvat.experiments.arms import GROUNDS, Ground
from attnvat.experiments.trial import Evaluation

GOOD = ["superb", "fine", "lovely", "moving", "bright", "clever"]
BAD = ["dull", "awful", "weak", "tired", "clumsy", "bleak"]
PLAIN = ["film", "plot", "actor", "scene", "music", "story", "camera", "ending", "script", "light"]
SIZES = {"train": 96, "dev": 40, "test": 40}


def sentence(generator: np.random.Generator, label: int) -> list[str]:
    words = [str(word) for word in generator.choice(PLAIN, generator.integers(3, 7))]
    words.insert(int(generator.integers(len(words))), str(generator.choice(GOOD if label else BAD)))
    return words


def tree(words: list[str], label: int) -> str:
    inner = f"(2 {words[-1]})"
    for word in reversed(words[:-1]):
        inner = f"(2 (2 {word}) {inner})"
    return f"({4 if label else 0}{inner[2:]}"


def write_world(folder: Path) -> Path:
    generator = np.random.default_rng(7)
    with zipfile.ZipFile(folder / "trainDevTestTrees_PTB.zip", "w") as archive:
        for split, size in SIZES.items():
            lines = [tree(sentence(generator, n % 2), n % 2) for n in range(size)]
            archive.writestr(f"trees/{split}.txt", "\n".join(lines) + "\n")
    news = {" ".join(sentence(generator, n % 2)) for n in range(400)}
    (folder / "news_sentences.tsv").write_text("".join(f"made\t{text}\n" for text in sorted(news)))
    vectors = [f"{w} " + " ".join(f"{x:.4f}" for x in generator.normal(size=6)) for w in (*GOOD, *BAD, *PLAIN)]
    (folder / "glove.6B.100d.txt").write_text("\n".join(vectors) + "\n")
    return folder


SMALL = Ground(
    {"hidden": 8, "attention": 4, "epochs": 3, "batch_size": 16, "learning_rate": 0.02},
    Evaluation(("prediction", "correlation")),
    unlabelled=60,
    budget=2,
    near="review-sentences",
)


def enter_world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in, with data found through the environment and SST's runs made small."""
    data = tmp_path / "data"
    data.mkdir()
    monkeypatch.setenv("ATTNVAT_DATA", str(write_world(data)))
    monkeypatch.setenv("ATTNVAT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.setenv("COLUMNS", "300")
    monkeypatch.setitem(GROUNDS, "sst", SMALL)
    monkeypatch.chdir(tmp_path)
    return tmp_path
