"""The nearest pool texts of every labelled text, kept while a pool streams by."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Rows = NDArray[np.int64]


@dataclass(frozen=True)
class Neighbours:
    """The neighbours of Q labelled texts to a depth of K, nearest first (equal ones by row number)."""

    rows: Rows
    """Pool rows (Q, K); -1 where a text has fewer neighbours."""
    similarity: Floats
    """Cosines (Q, K); -inf where a text has fewer neighbours."""

    @property
    def depth(self) -> int:
        """How many neighbours of each labelled text were looked for."""
        return int(self.rows.shape[1])


class NearestSoFar:
    """Takes in (labelled text, pool row, similarity) in any order and keeps the `depth` best of each labelled text.

    What comes in is gathered and sorted now and then; memory is that of a few times Q × depth.
    """

    def __init__(self, queries: int, depth: int) -> None:
        self.queries, self.depth = queries, depth
        self.rows: Rows = np.full((queries, depth), -1, dtype=np.int64)
        self.similarity: Floats = np.full((queries, depth), -np.inf, dtype=np.float32)
        self._waiting: list[tuple[NDArray[np.int64], Rows, Floats]] = []
        self._count = 0

    @property
    def threshold(self) -> Floats:
        """What a similarity must exceed to matter, by labelled text (Q,); it only ever rises."""
        return self.similarity[:, -1]

    def add(self, queries: NDArray[np.int64], rows: Rows, similarity: Floats) -> None:
        """Take in one similarity for each of the pairs (query, row)."""
        better = similarity > self.threshold[queries]
        self._waiting.append((queries[better], rows[better], similarity[better]))
        self._count += int(better.sum())
        if self._count > max(1 << 20, self.queries * self.depth):
            self._sort()

    def add_lists(self, queries: NDArray[np.int64], rows: Rows, similarity: Floats) -> None:
        """Take in a list of rows for each of the n queries, both (n, k); a row of -1 is none."""
        numbers, places = np.nonzero(rows >= 0)
        self.add(queries[numbers], rows[numbers, places], similarity[numbers, places])

    def result(self) -> Neighbours:
        """All that was kept."""
        self._sort()
        return Neighbours(self.rows, self.similarity)

    def _sort(self) -> None:
        """Merge what is waiting into the lists."""
        held = np.nonzero(self.rows >= 0)
        parts = [*self._waiting, (held[0], self.rows[held], self.similarity[held])]
        queries, rows, similarity = (np.concatenate(column) for column in zip(*parts, strict=True))
        order = np.lexsort((rows, -similarity, queries))
        queries = queries[order]
        starts = np.searchsorted(queries, np.arange(self.queries))
        places = np.arange(len(queries)) - starts[queries]
        kept = places < self.depth
        self.rows[queries[kept], places[kept]] = rows[order[kept]]
        self.similarity[queries[kept], places[kept]] = similarity[order[kept]]
        self._waiting, self._count = [], 0
