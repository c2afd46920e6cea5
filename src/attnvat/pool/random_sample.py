"""Random choice of pool rows, the paper's first strategy: each seed puts the whole pool in one order."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_BLOCK = 1 << 20


def random_rows(rows: int, size: int, seed: int) -> NDArray[np.int64]:
    """The first `size` of the numbers 0 … rows - 1 in the random order of `seed`.

    A smaller sample of the same seed is the beginning of a larger one, so that curves over the amount of unlabelled
    text add texts rather than replace them. Memory is that of the sample: the order is a mixing function of the
    row number, not a stored permutation.
    """
    kept_keys, kept_rows = np.zeros(0, dtype=np.uint64), np.zeros(0, dtype=np.int64)
    for start in range(0, rows, _BLOCK):
        block = np.arange(start, min(start + _BLOCK, rows), dtype=np.int64)
        keys = np.concatenate([kept_keys, mixed(block.astype(np.uint64), seed)])
        numbers = np.concatenate([kept_rows, block])
        order = np.argsort(keys, kind="stable")[:size]
        kept_keys, kept_rows = keys[order], numbers[order]
    return kept_rows


def mixed(numbers: NDArray[np.uint64], seed: int) -> NDArray[np.uint64]:
    """A different 64-bit number for each number, in disorder (the finaliser of SplitMix64, its stream set by seed)."""
    stream = np.random.SeedSequence(seed).generate_state(1, np.uint64)[0]
    with np.errstate(over="ignore"):
        z = (numbers + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15) + stream
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(z ^ (z >> np.uint64(31)))
