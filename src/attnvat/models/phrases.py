"""Vectors of phrases, two words in a row: each is added to the vector of its second word.

A BiLSTM can tell "not bad" from "bad" but has to learn how; with a vector of its own a common pair is known as a word
is. The vectors are zero before training, so that a model begins as it would without them.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from attnvat.text.encoding import EncodedTexts
from attnvat.text.vocabulary import UNKNOWN_ID

LEAST = 5
"""How often two words must stand in a row to be a phrase."""


class Phrases(nn.Module):
    """The phrases that a model knows and their vectors."""

    keys: Tensor
    """Every phrase as a number, in rising order (P,)."""

    def __init__(self, vocabulary: int, dimension: int, count: int) -> None:
        super().__init__()
        self.vocabulary = vocabulary
        self.register_buffer("keys", torch.zeros(count, dtype=torch.int64))
        # Row 0 is that of words that make no phrase with the one before.
        self.vectors = nn.Embedding(count + 1, dimension, padding_idx=0, _weight=torch.zeros(count + 1, dimension))

    def forward(self, ids: Tensor) -> Tensor:
        """The vector of the phrase that each word of texts (B, T) ends, zero where it ends none (B, T, d)."""
        before = nn.functional.pad(ids[:, :-1], (1, 0))
        key = before * self.vocabulary + ids
        place = torch.searchsorted(self.keys, key).clamp_(max=len(self.keys) - 1)
        vectors: Tensor = self.vectors(torch.where(self.keys[place] == key, place + 1, 0))
        return vectors


def common_phrases(texts: Iterable[EncodedTexts], vocabulary: int, most: int, least: int = LEAST) -> Tensor:
    """The keys of the `most` commonest phrases of known words, those seen `least` times, in rising order (P,)."""
    keys, counts = np.unique(np.concatenate([pairs(some, vocabulary) for some in texts]), return_counts=True)
    # Equally common ones by their number, so that the same texts always give the same phrases.
    chosen = np.argsort(-counts, kind="stable")[:most]
    return torch.from_numpy(np.sort(keys[chosen[counts[chosen] >= least]]))


def pairs(texts: EncodedTexts, vocabulary: int) -> npt.NDArray[np.int64]:
    """Every two known words that stand in a row in a text, as one number each (n,)."""
    ids = texts.ids.astype(np.int64)
    first, second = ids[:-1], ids[1:]
    within = np.ones(len(first), dtype=np.bool_)
    ends = texts.offsets[1:-1]
    within[ends[(ends > 0) & (ends < len(ids))] - 1] = False
    within &= (first > UNKNOWN_ID) & (second > UNKNOWN_ID)
    found: npt.NDArray[np.int64] = first[within] * vocabulary + second[within]
    return found
