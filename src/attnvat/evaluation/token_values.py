"""One number for each token of many texts, kept flat."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from torch import Tensor

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class TokenValues:
    """N texts' numbers end to end: text i has `values[offsets[i]:offsets[i + 1]]`."""

    values: Floats
    offsets: npt.NDArray[np.int64]

    @classmethod
    def empty(cls, lengths: npt.NDArray[np.int64]) -> TokenValues:
        """Zeros for texts of these lengths, to be filled by `store`."""
        offsets = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
        return cls(np.zeros(offsets[-1], dtype=np.float32), offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, row: int) -> Floats:
        if not 0 <= row < len(self):
            raise IndexError(row)
        return self.values[self.offsets[row] : self.offsets[row + 1]]

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        """Number of tokens of each text (N,)."""
        return np.diff(self.offsets)

    def store(self, rows: npt.NDArray[np.int64], padded: Tensor) -> None:
        """Take the numbers of these rows from a padded batch (B, T)."""
        matrix = padded.detach().float().cpu().numpy()
        for row, line in zip(rows.tolist(), matrix, strict=True):
            start, end = self.offsets[row], self.offsets[row + 1]
            self.values[start:end] = line[: end - start]

    def select(self, rows: npt.NDArray[np.int64]) -> TokenValues:
        """The texts of these rows, in this order."""
        chosen = TokenValues.empty(self.lengths[rows])
        for place, row in enumerate(rows.tolist()):
            chosen[place][:] = self[row]
        return chosen

    def sums(self, values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Sums of other numbers, one a token, within each text (N,); every text has a token."""
        return np.asarray(np.add.reduceat(values, self.offsets[:-1]) if len(self) else np.zeros(0))

    def spread(self, per_text: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """A number a text (N,), repeated for each of its tokens."""
        return np.repeat(per_text, self.lengths)
