"""The contract every model keeps: embed → encode → decode.

A word perturbation is added between embed and encode, an attention perturbation between encode and decode. Nothing else
about a model matters to a technique.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, Protocol

import torch
from torch import Tensor, nn

from attnvat.text.batch import Batch


class States(NamedTuple):
    """What an encoder hands to the decoder."""

    words: Tensor
    """A state for each token of the attended text (B, T, m)."""
    question: Tensor | None = None
    """One state of the second text, in pair tasks (B, m)."""

    def detach(self) -> States:
        """The same numbers, cut from the graph."""
        return States(self.words.detach(), None if self.question is None else self.question.detach())

    def to(self, dtype: torch.dtype) -> States:
        """The same states in another precision."""
        return States(self.words.to(dtype), None if self.question is None else self.question.to(dtype))


class AttentionModel(Protocol):
    """A classifier cut where perturbations go in."""

    def embed(self, batch: Batch) -> Tensor:
        """Word vectors of the text and, behind it, of its question (B, T + T_Q, d)."""
        ...

    def encode(self, vectors: Tensor, batch: Batch) -> tuple[States, Tensor]:
        """States of the words and their pre-softmax attention scores (B, T)."""
        ...

    def alone(self, vectors: Tensor, batch: Batch) -> Tensor:
        """States of the attended text's words, each read as if it were the whole text (B, T, m)."""
        ...

    def decode(self, states: States, scores: Tensor, batch: Batch) -> Tensor:
        """Logits: (B,) for two classes, (B, C) for more."""
        ...

    def embedding_table(self) -> Tensor:
        """The word vectors of the whole vocabulary (V, d)."""
        ...

    def tables(self) -> list[nn.Embedding]:
        """All tables that `embed` takes rows of: the words', and others that a model adds to them."""
        ...

    def parameters(self) -> Iterator[nn.Parameter]:
        """All that is trained."""
        ...
