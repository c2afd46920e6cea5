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


def nearest_words(table: Tensor, count: int) -> Tensor:
    """Ids of the `count` nearest other words of each word by cosine (V, count)."""
    vocabulary = table.shape[0]
    if count > vocabulary - SPECIAL - 1:
        raise UserError(
            f"neighbours is {count}, but the vocabulary has only {max(vocabulary - SPECIAL, 0)} words; "
            f"use at most {max(vocabulary - SPECIAL - 1, 0)}"
        )
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


def neighbour_direction(g: Tensor, ids: Tensor, table: Tensor, nearest: Tensor) -> Tensor:
    """D Dᵀ g with D_tk = unit(e_k − e_t): the gradient in w, mapped back to word vectors (B, T, d).

    `embedding_bag` sums neighbours weighted, and its derivative in the weights gives dot products with them, so the
    (B, T, K, d) tensor of directions is never made.
    """
    table = table.detach()
    flat = ids.flatten()
    bags = nearest[flat]
    words = table[flat]
    gradient = g.reshape(len(flat), -1)
    onto_neighbours = _dots(table, bags, gradient)
    along = onto_neighbours - (gradient * words).sum(dim=1, keepdim=True)
    squares = table.square().sum(dim=1)
    distance = (squares[bags] + squares[flat][:, None] - 2 * _dots(table, bags, words)).clamp_min(0)
    # Two words with the same vector have no direction between them.
    weight = torch.where(distance > 0, along / torch.where(distance > 0, distance, 1.0), 0.0)
    moved = F.embedding_bag(bags, table, per_sample_weights=weight, mode="sum")
    return (moved - weight.sum(dim=1, keepdim=True) * words).view_as(g)


def _dots(table: Tensor, bags: Tensor, x: Tensor) -> Tensor:
    """The dot product of each row of x (N, d) with each of its bag's vectors (N, K)."""
    weights = torch.zeros(bags.shape, dtype=table.dtype, device=table.device, requires_grad=True)
    with torch.enable_grad():
        summed = F.embedding_bag(bags, table, per_sample_weights=weights, mode="sum")
    return torch.autograd.grad(summed, weights, x)[0]
