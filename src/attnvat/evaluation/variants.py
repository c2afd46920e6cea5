"""Texts with some of their words taken out."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from attnvat.text.encoding import EncodedDataset, EncodedTexts
from attnvat.text.vocabulary import UNKNOWN_ID

Rows = npt.NDArray[np.int64]


def without_each_word(data: EncodedDataset, rows: Rows) -> EncodedDataset:
    """For each row as many variants as it has words, the k-th without its k-th word."""
    texts = []
    for row in rows.tolist():
        ids = data.texts[row]
        n = len(ids)
        if n == 1:
            texts.append(np.full((1, 1), UNKNOWN_ID, dtype=np.int32))
            continue
        # Position j of variant k is word j before the gap and word j + 1 behind it.
        place = np.arange(n - 1)
        texts.append(ids[place + (place >= np.arange(n)[:, None])])
    sizes = np.concatenate([np.full(len(block), block.shape[1]) for block in texts]) if texts else np.zeros(0, int)
    flat = np.concatenate([block.ravel() for block in texts]) if texts else np.zeros(0, np.int32)
    offsets = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
    return _variants(data, EncodedTexts(flat, offsets), np.repeat(rows, data.lengths[rows]))


def keep_words(data: EncodedDataset, rows: Rows, kept: list[npt.NDArray[np.bool_]]) -> EncodedDataset:
    """The rows with only the words marked True; one that loses all its words is read as one unknown word."""
    unknown = np.array([UNKNOWN_ID], dtype=np.int32)
    texts = []
    for row, marks in zip(rows.tolist(), kept, strict=True):
        ids = data.texts[row][marks]
        texts.append(ids if len(ids) else unknown)
    offsets = np.concatenate([[0], np.cumsum([len(ids) for ids in texts], dtype=np.int64)])
    flat = np.concatenate(texts) if texts else np.zeros(0, np.int32)
    return _variants(data, EncodedTexts(flat, offsets), rows)


def _variants(data: EncodedDataset, texts: EncodedTexts, of: Rows) -> EncodedDataset:
    """The texts with the questions, labels and classes of the rows they were made of."""
    return EncodedDataset(
        texts,
        data.questions and data.questions.select(of),
        None if data.labels is None else data.labels[of],
        data.classes and data.classes.select(of),
        data.n_classes,
    )
