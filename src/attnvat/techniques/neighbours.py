"""Directions from each word to its nearest words: the basis of Word iAT and Word iVAT."""

from __future__ import annotations

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from attnvat.errors import UserError

SPECIAL = 2
"""Padding and the unknown word, ids 0 and 1, are nobody's neighbour."""
BLOCK = 1024
"""Rows of the similarity matrix held at once."""


def refuse_too_many(count: int, vocabulary: int) -> None:
    """Raise if words of a vocabulary of this size, special ones included, do not have `count` neighbours."""
    if count > vocabulary - SPECIAL - 1:
        raise UserError(
            f"neighbours is {count}, but the vocabulary has only {max(vocabulary - SPECIAL, 0)} words; "
            f"use at most {max(vocabulary - SPECIAL - 1, 0)}"
        )


def nearest_words(table: Tensor, count: int) -> Tensor:
    """Ids of the `count` nearest other words of each word by cosine (V, count)."""
    vocabulary = table.shape[0]
    refuse_too_many(count, vocabulary)
    directions = F.normalize(table.detach(), dim=1)
    found = []
    for start in range(0, vocabulary, BLOCK):
        block = directions[start : start + BLOCK]
        similarity = block @ directions.T
        similarity[:, :SPECIAL] = -torch.inf
        own = torch.arange(len(block), device=table.device)
        similarity[own, own + start] = -torch.inf
        found.append(similarity.topk(count, dim=1).indices)
    return torch.cat(found)


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
