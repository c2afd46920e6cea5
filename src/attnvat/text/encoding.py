"""Texts as token ids, kept flat in one array, and the padded batches made from them."""

from __future__ import annotations

import struct
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from attnvat.progress import track
from attnvat.text.batch import Batch
from attnvat.text.tokenizer import Memo, Text, Tokenizer, normalised_words, pattern, split
from attnvat.text.vocabulary import UNKNOWN_ID, Vocabulary

Rows = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class EncodedTexts:
    """N sequences of ids end to end: sequence i is `ids[offsets[i]:offsets[i + 1]]`."""

    ids: npt.NDArray[np.int32]
    """All ids (sum of lengths,)."""
    offsets: npt.NDArray[np.int64]
    """Where each sequence starts, and the end of the last (N + 1,)."""

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, row: int) -> npt.NDArray[np.int32]:
        if not -len(self) <= row < len(self):
            raise IndexError(row)
        row %= len(self)
        return self.ids[self.offsets[row] : self.offsets[row + 1]]

    @cached_property
    def lengths(self) -> npt.NDArray[np.int64]:
        """Number of ids of each sequence (N,)."""
        return np.diff(self.offsets)

    @cached_property
    def bounds(self) -> list[int]:
        """The offsets as plain integers: slicing with them is several times faster than with numpy's."""
        return list(self.offsets.tolist())

    def select(self, rows: npt.ArrayLike) -> EncodedTexts:
        """The sequences of these rows, in this order."""
        rows = np.asarray(rows, dtype=np.int64)
        offsets = np.concatenate([[0], np.cumsum(self.lengths[rows])])
        # For each id of the result, how far it moved: constant within a sequence.
        shift = np.repeat(self.offsets[rows] - offsets[:-1], self.lengths[rows])
        return EncodedTexts(self.ids[np.arange(offsets[-1]) + shift], offsets)

    def padded(self, rows: Sequence[int]) -> tuple[Tensor, Tensor]:
        """The sequences of these rows padded with 0 (B, T), and their lengths (B,)."""
        bounds, ids = self.bounds, self.ids
        lengths = [bounds[row + 1] - bounds[row] for row in rows]
        matrix = np.zeros((len(lengths), max(lengths, default=0)), dtype=np.int64)
        # Copying slice by slice beats fancy indexing at the usual batch sizes: no (B, T) index is made.
        for place, row, length in zip(matrix, rows, lengths, strict=True):
            place[:length] = ids[bounds[row] : bounds[row + 1]]
        return torch.from_numpy(matrix), torch.tensor(lengths)

    @classmethod
    def from_lists(cls, sequences: Iterable[Sequence[int]]) -> EncodedTexts:
        """The sequences of ids, end to end."""
        flat, offsets = array("i"), array("q", [0])
        for ids in sequences:
            flat.extend(ids)
            offsets.append(len(flat))
        return cls(np.array(flat, dtype=np.int32), np.array(offsets, dtype=np.int64))


def encode_texts(
    texts: Iterable[Text],
    tokenizer: Tokenizer,
    vocabulary: Vocabulary,
    max_length: int | None = None,
    progress: str | None = None,
) -> EncodedTexts:
    """The ids of every text, cut at `max_length` tokens.

    Unknown words are `<unk>`, and so is an empty text, so that every text has a token to attend to.
    `progress` names the work on the progress display; without it none is shown.
    """
    # A piece is kept as the raw bytes of its ids: joining bytes is several times faster than collecting numbers.
    findall, normalised = pattern().findall, normalised_words(tokenizer)
    ids_of_surface = Memo(lambda surface: struct.pack("=i", vocabulary.id(normalised[surface])))
    ids_of_piece = Memo(lambda piece: b"".join(map(ids_of_surface.__getitem__, findall(piece))))
    look_up, look_up_word = ids_of_piece.__getitem__, ids_of_surface.__getitem__
    unknown = struct.pack("=i", UNKNOWN_ID)
    longest = None if max_length is None else 4 * max_length
    flat, offsets = bytearray(), array("q", [0])
    for text in track(texts, progress) if progress else texts:
        ids = b"".join(map(look_up, split(text)) if isinstance(text, str) else map(look_up_word, text))
        flat += ids[:longest] or unknown
        offsets.append(len(flat) // 4)
    return EncodedTexts(np.frombuffer(flat, dtype=np.int32), np.array(offsets, dtype=np.int64))


@dataclass(frozen=True, eq=False)
class EncodedDataset:
    """N examples ready to be batched: texts, and whatever else the task has."""

    texts: EncodedTexts
    questions: EncodedTexts | None = None
    labels: npt.NDArray[np.int64] | None = None
    """Class numbers (N,)."""
    classes: EncodedTexts | None = None
    """The class numbers possible for each example, for cloze questions."""
    n_classes: int | None = None
    """How many classes there are in all; needed with `classes`."""

    def __post_init__(self) -> None:
        for what in (self.questions, self.labels, self.classes):
            if what is not None and len(what) != len(self.texts):
                raise ValueError(f"{len(self.texts)} texts but {len(what)} questions, labels or class lists")
        if self.classes is not None and self.n_classes is None:
            raise ValueError("classes are given for each example, but not how many there are (n_classes)")

    def __len__(self) -> int:
        return len(self.texts)

    @cached_property
    def lengths(self) -> npt.NDArray[np.int64]:
        """Number of tokens of each text (N,), for bucketing."""
        return self.texts.lengths

    def batch(self, rows: npt.ArrayLike) -> Batch:
        """The examples of these rows, padded to the longest."""
        rows = np.asarray(rows, dtype=np.int64)
        numbers = rows.tolist()
        return Batch(
            *self.texts.padded(numbers),
            labels=None if self.labels is None else torch.from_numpy(self.labels[rows].astype(np.int64, copy=False)),
            question=None if self.questions is None else Batch(*self.questions.padded(numbers)),
            classes=None if self.classes is None else self._allowed(numbers),
            rows=torch.tensor(numbers, dtype=torch.int64),
        )

    def select(self, rows: npt.ArrayLike) -> EncodedDataset:
        """The examples of these rows, in this order."""
        rows = np.asarray(rows, dtype=np.int64)
        return EncodedDataset(
            self.texts.select(rows),
            self.questions and self.questions.select(rows),
            None if self.labels is None else self.labels[rows],
            self.classes and self.classes.select(rows),
            self.n_classes,
        )

    def _allowed(self, rows: Sequence[int]) -> Tensor:
        """True at the classes possible for each row (B, C)."""
        assert self.classes is not None
        assert self.n_classes is not None
        allowed = np.zeros((len(rows), self.n_classes), dtype=np.bool_)
        for place, row in zip(allowed, rows, strict=True):
            place[self.classes[row]] = True
        return torch.from_numpy(allowed)
