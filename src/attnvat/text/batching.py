"""The order in which examples are read: batches of like lengths, shuffled, with a state to restore."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from attnvat.errors import UserError

Rows = npt.NDArray[np.int64]

CHUNK_BATCHES = 128
"""Batches sorted by length together: more of them waste less padding, fewer mix the examples better."""


class BatchStream(Iterator[Rows]):
    """Batches of row numbers without end, every row once an epoch.

    An epoch is a shuffle of all rows, cut into chunks of many batches; a chunk is sorted by length (ties stay
    shuffled) and cut into batches, and the batches of all chunks are shuffled. It depends on nothing but
    (seed, epoch), so the place in the stream is two numbers.
    """

    def __init__(self, lengths: npt.ArrayLike, batch_size: int, seed: int, shuffle: bool = True) -> None:
        self.lengths = np.asarray(lengths, dtype=np.int64)
        if not len(self.lengths):
            raise UserError("there is nothing to make batches of: the data set is empty")
        if batch_size < 1:
            raise UserError(f"batch size {batch_size}: must be 1 or more")
        self.batch_size = batch_size
        self.seed = seed
        self.shuffle = shuffle
        self.epoch = 0
        """Number of whole epochs drawn."""
        self.position = 0
        """Number of batches drawn of the current epoch, below `batches_per_epoch`."""
        self._batches: list[Rows] | None = None

    @property
    def batches_per_epoch(self) -> int:
        """Number of batches that cover every row once; the last of a chunk may be smaller."""
        return -(-len(self.lengths) // self.batch_size)

    def __next__(self) -> Rows:
        if self._batches is None:
            self._batches = self._order()
        rows = self._batches[self.position]
        self.position += 1
        if self.position == len(self._batches):
            self.epoch, self.position = self.epoch + 1, 0
            if self.shuffle:
                self._batches = None
        return rows

    def state(self) -> dict[str, Any]:
        """The place in the stream, as JSON can hold it."""
        return {
            "seed": self.seed,
            "epoch": self.epoch,
            "position": self.position,
            "rows": len(self.lengths),
            "batch_size": self.batch_size,
            "shuffle": self.shuffle,
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from `state`: the same batches follow as followed when it was taken."""
        own = self.state()
        for what in ("rows", "batch_size", "shuffle"):
            if state[what] != own[what]:
                raise UserError(
                    f"the saved place in the data has {what} = {state[what]}, here it is {own[what]}; "
                    "resume with the same data and batch size"
                )
        if not 0 <= state["position"] < self.batches_per_epoch or state["epoch"] < 0:
            raise UserError(
                f"the saved place in the data is impossible: epoch {state['epoch']}, "
                f"position {state['position']} of {self.batches_per_epoch}"
            )
        self.seed, self.epoch, self.position = state["seed"], state["epoch"], state["position"]
        self._batches = None

    def _order(self) -> list[Rows]:
        """The batches of the current epoch."""
        if not self.shuffle:
            return sorted_batches(self.lengths, self.batch_size)
        generator = np.random.default_rng([self.seed, self.epoch])
        shuffled = generator.permutation(len(self.lengths))
        chunk = self.batch_size * CHUNK_BATCHES
        batches: list[Rows] = []
        for start in range(0, len(shuffled), chunk):
            rows = shuffled[start : start + chunk]
            batches += _cut(rows[np.argsort(self.lengths[rows], kind="stable")], self.batch_size)
        return [batches[number] for number in generator.permutation(len(batches))]


def sorted_batches(lengths: npt.ArrayLike, batch_size: int) -> list[Rows]:
    """Batches of row numbers for evaluation, longest first (what does not fit in memory fails at once)."""
    order = np.argsort(-np.asarray(lengths, dtype=np.int64), kind="stable").astype(np.int64, copy=False)
    return _cut(order, batch_size)


def padding_waste(lengths: npt.ArrayLike, batches: list[Rows]) -> float:
    """The share of the cells of all padded batches that is padding."""
    lengths = np.asarray(lengths, dtype=np.int64)
    cells = sum(len(rows) * int(lengths[rows].max()) for rows in batches)
    return 1 - sum(int(lengths[rows].sum()) for rows in batches) / cells


def _cut(rows: Rows, size: int) -> list[Rows]:
    return [rows[start : start + size] for start in range(0, len(rows), size)]
