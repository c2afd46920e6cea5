"""Differences in accuracy over seeds and test texts at once: both are samples, and both are drawn again.

Which texts each run got right is kept in a record as one bit a text. The pigeonhole bootstrap (Owen 2007) draws seeds
and texts independently with replacement; its interval covers new seeds *and* new texts, and is if anything too wide.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

from attnvat.report.bootstrap import Interval

DRAWS = 4000


def pack(right: ArrayLike) -> str:
    """Which texts were predicted right, as hexadecimal digits (the last byte filled with zeros)."""
    return np.packbits(np.asarray(right, dtype=np.bool_)).tobytes().hex()


def unpack(text: str, count: int) -> NDArray[np.bool_]:
    """The bits that `pack` wrote (count,)."""
    return np.unpackbits(np.frombuffer(bytes.fromhex(text), dtype=np.uint8), count=count).astype(np.bool_)


def crossed_interval(
    ours: Mapping[int, NDArray[np.bool_]],
    reference: Mapping[int, NDArray[np.bool_]],
    *,
    draws: int = DRAWS,
    level: float = 0.95,
    seed: int = 0,
) -> Interval | None:
    """The difference in accuracy `ours − reference` over seeds of both, with its crossed bootstrap interval."""
    seeds = sorted(set(ours) & set(reference))
    if len(seeds) < 2:
        return None
    table = np.stack([ours[s].astype(np.float64) - reference[s] for s in seeds])
    runs, texts = table.shape
    generator = np.random.default_rng([seed, runs, texts])
    drawn = np.empty(draws)
    for draw in range(draws):
        by_run = generator.multinomial(runs, np.full(runs, 1 / runs))
        by_text = np.bincount(generator.integers(texts, size=texts), minlength=texts)
        drawn[draw] = by_run @ table @ by_text / (runs * texts)
    low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(table.mean()), float(low), float(high), level)
