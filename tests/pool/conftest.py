"""Small pools made of sentences over an invented vocabulary."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from attnvat.pool import BuildOptions, Pool, build_pool, texts_source


def sentences(count: int, seed: int = 0, words: int = 60) -> list[str]:
    """Sentences of 3 to 12 words, common words commoner, all different when long enough."""
    generator = np.random.default_rng(seed)
    vocabulary = np.array([f"w{chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(words)])
    weights = 1 / np.arange(1, words + 1)
    return [
        " ".join(generator.choice(vocabulary, size=generator.integers(3, 13), p=weights / weights.sum()))
        for _ in range(count)
    ]


@pytest.fixture
def make_sentences() -> Callable[..., list[str]]:
    return sentences


@pytest.fixture
def pool(tmp_path: Path) -> Pool:
    """1,000 read sentences in several shards of at most 150."""
    options = BuildOptions(shard_rows=150)
    return build_pool([texts_source("invented", sentences(1000))], tmp_path / "pool", options=options)
