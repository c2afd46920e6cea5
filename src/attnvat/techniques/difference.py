"""The readings of "interpretable" attention perturbation, each in closed form.

The paper writes r_t = w_tᵀ d̃_t with d_t = (s_t − s_k)_k and d̃_t = d_t/‖d_t‖, and takes the gradient in w. With
g = ∂L/∂r that gradient is g_t d̃_t, and what r becomes depends only on how it is normalised before it is mapped back.
No T×T tensor is ever needed: with centred scores c_t = s_t − mean(s) and S = Σ c_k², ‖d_t‖² = n c_t² + S, a sum of
squares without cancellation.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor


class Differences(NamedTuple):
    """What the readings need of the differences between a sentence's scores, over its real tokens."""

    centred: Tensor
    """c_t = s_t − mean(s), 0 on padding (B, T)."""
    tokens: Tensor
    """Number of real tokens n (B, 1)."""
    spread: Tensor
    """S = Σ c_k² (B, 1)."""
    squared: Tensor
    """‖d_t‖², meaningless where there are no differences (B, T)."""
    there: Tensor
    """True for real tokens of sentences in which some score differs from another (B, T)."""
    inverse: Tensor
    """1/‖d_t‖, 0 where there are no differences (B, T)."""

    @classmethod
    def of(cls, scores: Tensor, mask: Tensor) -> Differences:
        """The differences of scores (B, T) over the real tokens of mask (B, T)."""
        real = mask.to(scores.dtype)
        n = real.sum(dim=1, keepdim=True)
        scores = torch.where(mask, scores, 0.0)
        centred = (scores - scores.sum(dim=1, keepdim=True) / n) * real
        spread = torch.linalg.vecdot(centred, centred)[:, None]
        # Scores that differ only by rounding do not differ: without this, d̃ would be normalised noise.
        rounding = (4 * torch.finfo(scores.dtype).eps) ** 2
        there = mask & (spread > rounding * torch.linalg.vecdot(scores, scores)[:, None])
        squared = torch.addcmul(spread, n * centred, centred)
        return cls(centred, n, spread, squared, there, torch.where(there, squared.rsqrt(), 0.0))


def paper(g: Tensor, d: Differences) -> Tensor:
    """The step in w has one norm a sentence: r ∝ g, which is plain AT/VAT, because ‖d̃_t‖ = 1."""
    return torch.where(d.there, g, 0.0)


def per_word(g: Tensor, d: Differences) -> Tensor:
    """The step in w is normalised for each word: r ∝ sign(g), an equal push for every word."""
    return torch.where(d.there, g.sign(), 0.0)


def matrix(g: Tensor, d: Differences) -> Tensor:
    """One norm for the whole matrix d: r_t ∝ g_t ‖d_t‖², words whose attention stands out are pushed hardest."""
    return torch.where(d.there, g * d.squared, 0.0)


def shared(g: Tensor, d: Differences) -> Tensor:
    """One w for all words: r ∝ D̃ D̃ᵀ g, which can only sharpen or flatten the differences that are there.

    With h_t = g_t/‖d_t‖, A = Σ h_t c_t and H = Σ h_t, the gradient is w_k = A − c_k H, and mapping it back gives
    r_t = (n A c_t + S H)/‖d_t‖: a vector in the span of c_t/‖d_t‖ and 1/‖d_t‖.
    """
    h = g * d.inverse
    a = d.tokens * (h * d.centred).sum(dim=1, keepdim=True)
    return torch.addcmul(d.spread * h.sum(dim=1, keepdim=True), a, d.centred) * d.inverse


def released(g: Tensor, d: Differences) -> Tensor:
    """What the authors' released iAT code computes: r ∝ −g, which lowers the loss. Kept only to compare with it."""
    return -paper(g, d)


READINGS: dict[str, Callable[[Tensor, Differences], Tensor]] = {
    "paper": paper,
    "per-word": per_word,
    "matrix": matrix,
    "shared": shared,
    "released": released,
}
"""Name of a reading → the direction of r (B, T), up to its length, from g (B, T) and the differences."""

DEFAULT_READING = "shared"
