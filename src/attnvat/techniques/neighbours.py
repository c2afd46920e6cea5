"""Directions from each word to its nearest words: the basis of Word iAT and Word iVAT."""

from __future__ import annotations

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from attnvat.errors import UserError
from attnvat.text.vocabulary import UNKNOWN_ID

SPECIAL = UNKNOWN_ID + 1
"""Padding and the unknown word, the ids below, are nobody's neighbour."""
BLOCK = 1 << 24
"""Numbers of the similarity matrix held at once: 64 MB."""


def refuse_too_many(count: int, vocabulary: int) -> None:
    """Raise if words of a vocabulary of this size, special ones included, do not have `count` neighbours."""
    if count > vocabulary - SPECIAL - 1:
        raise UserError(
            f"neighbours is {count}, but the vocabulary has only {max(vocabulary - SPECIAL, 0)} words; "
            f"use at most {max(vocabulary - SPECIAL - 1, 0)}"
        )


def nearest_words(table: Tensor, count: int, words: Tensor | None = None) -> Tensor:
    """Ids of the `count` nearest other words by cosine, of every word (V, count) or of some of them (N, count)."""
    vocabulary = table.shape[0]
    refuse_too_many(count, vocabulary)
    words = torch.arange(vocabulary, device=table.device) if words is None else words
    directions = F.normalize(table.detach(), dim=1)
    rows = max(BLOCK // vocabulary, 1)
    nearest = torch.empty((len(words), count), dtype=torch.int64, device=table.device)
    # One buffer for all blocks: new ones would leave holes, each a little too small for the next.
    buffer = directions.new_empty(min(rows, len(words)), vocabulary)
    for asked, found in zip(torch.split(words, rows), torch.split(nearest, rows), strict=True):
        similarity = torch.mm(directions[asked], directions.T, out=buffer[: len(asked)])
        similarity[:, :SPECIAL] = -torch.inf
        similarity.scatter_(1, asked[:, None], -torch.inf)
        found.copy_(similarity.topk(count, dim=1).indices)
    return nearest


class WordDirections:
    """D_tk = unit(e_k − e_t) for each word t of a batch and each of its nearest words k, never written out.

    `embedding_bag` sums neighbours weighted, and its derivative in the weights gives dot products with them, so the
    (B, T, K, d) tensor of directions is not made.
    """

    def __init__(self, ids: Tensor, table: Tensor, nearest: Tensor) -> None:
        self._table = table.detach()
        self._shape = ids.shape
        flat = ids.flatten()
        self._bags = nearest[flat]
        self._words = self._table[flat]
        squares = torch.linalg.vector_norm(self._table, dim=1).square()
        products = self._dots(self._words)
        distance = (squares[self._bags] + squares[flat][:, None] - 2 * products).clamp_min(0)
        # Two words with the same vector have no direction between them.
        self._inverse = torch.where(distance > 0, distance.rsqrt(), 0.0)

    def onto(self, g: Tensor) -> Tensor:
        """Dᵀ g: the gradient in the coordinates w of a gradient in word vectors (B, T, d) → (B, T, K)."""
        gradient = g.reshape(self._words.shape)
        along = self._dots(gradient) - torch.linalg.vecdot(gradient, self._words)[:, None]
        coordinates: Tensor = along * self._inverse
        return coordinates.view(*self._shape, -1)

    def back(self, w: Tensor) -> Tensor:
        """D w: the perturbation of word vectors with coordinates w (B, T, K) → (B, T, d)."""
        weight = w.reshape(self._bags.shape) * self._inverse
        moved = F.embedding_bag(self._bags, self._table, per_sample_weights=weight, mode="sum")
        return torch.addcmul(moved, weight.sum(dim=1, keepdim=True), self._words, value=-1).view(*self._shape, -1)

    def _dots(self, x: Tensor) -> Tensor:
        """The dot product of each row of x (N, d) with each of its nearest words' vectors (N, K)."""
        weights = torch.zeros(self._bags.shape, dtype=self._table.dtype, device=x.device, requires_grad=True)
        with torch.enable_grad():
            summed = F.embedding_bag(self._bags, self._table, per_sample_weights=weights, mode="sum")
        return torch.autograd.grad(summed, weights, x)[0]
