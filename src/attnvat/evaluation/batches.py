"""Batches for measuring: texts of like length together, as many as a budget of tokens allows."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from attnvat.text.encoding import EncodedDataset

Rows = npt.NDArray[np.int64]

TOKENS = 8192
"""Padded tokens of a batch: enough to keep the processor busy, and 50 MB of states at the paper's sizes."""
ROWS = 512
"""Most texts of a batch, however short."""


def token_batches(lengths: npt.ArrayLike, tokens: int = TOKENS, rows: int = ROWS) -> list[Rows]:
    """Row numbers, longest first, each batch at most `tokens` with its padding (but at least one text).

    A document of any length is read whole: it gets a batch of its own where it needs one.
    """
    lengths = np.asarray(lengths, dtype=np.int64)
    order = np.argsort(-lengths, kind="stable").astype(np.int64, copy=False)
    batches, start = [], 0
    while start < len(order):
        # The first text of a batch is its longest and sets the width.
        size = min(rows, max(1, tokens // max(1, int(lengths[order[start]]))))
        batches.append(order[start : start + size])
        start += size
    return batches


def widths(data: EncodedDataset) -> npt.NDArray[np.int64]:
    """Number of tokens of each example, its question's included (N,)."""
    return data.lengths if data.questions is None else data.lengths + data.questions.lengths
