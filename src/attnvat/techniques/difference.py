"""The readings of "interpretable" attention perturbation, each in closed form.

The paper writes r_t = w_tᵀ d̃_t with d_t = (s_t − s_k)_k and d̃_t = d_t/‖d_t‖, and takes the gradient in w. With
g = ∂L/∂r that gradient is g_t d̃_t, and what r becomes depends only on how it is normalised before it is mapped back.
No T×T tensor is ever needed: with centred scores c_t = s_t − mean(s) and S = Σ c_k², ‖d_t‖² = n c_t² + S, a sum of
squares without cancellation.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor


def _centred(scores: Tensor, mask: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Centred scores (B, T), their count n and sum of squares S (B, 1), and ‖d_t‖² (B, T), all over real tokens."""
    n = mask.sum(dim=1, keepdim=True).to(scores.dtype)
    mean = torch.where(mask, scores, 0.0).sum(dim=1, keepdim=True) / n
    centred = torch.where(mask, scores - mean, 0.0)
    spread = centred.square().sum(dim=1, keepdim=True)
    # Scores that differ only by rounding do not differ: without this, d̃ would be normalised noise.
    rounding = 4 * torch.finfo(scores.dtype).eps * torch.where(mask, scores.abs(), 0.0).amax(dim=1, keepdim=True)
    spread = torch.where(spread > n * rounding.square(), spread, 0.0)
    centred = torch.where(spread > 0, centred, 0.0)
    return centred, n, spread, (n * centred.square() + spread) * mask


def _with_differences(direction: Tensor, squared: Tensor) -> Tensor:
    """The direction, zero where a word differs from no other: there d̃_t does not exist."""
    return torch.where(squared > 0, direction, 0.0)


def paper(g: Tensor, scores: Tensor, mask: Tensor) -> Tensor:
    """The step in w has one norm a sentence: r ∝ g, which is plain AT/VAT, because ‖d̃_t‖ = 1."""
    return _with_differences(g, _centred(scores, mask)[3])


def per_word(g: Tensor, scores: Tensor, mask: Tensor) -> Tensor:
    """The step in w is normalised for each word: r ∝ sign(g), an equal push for every word."""
    return _with_differences(g.sign(), _centred(scores, mask)[3])


def matrix(g: Tensor, scores: Tensor, mask: Tensor) -> Tensor:
    """One norm for the whole matrix d: r_t ∝ g_t ‖d_t‖², words whose attention stands out are pushed hardest."""
    return g * _centred(scores, mask)[3]


def shared(g: Tensor, scores: Tensor, mask: Tensor) -> Tensor:
    """One w for all words: r ∝ D̃ D̃ᵀ g, which can only sharpen or flatten the differences that are there.

    With h_t = g_t/‖d_t‖, A = Σ h_t c_t and H = Σ h_t, the gradient is w_k = A − c_k H, and mapping it back gives
    r_t = (n A c_t + S H)/‖d_t‖: a vector in the span of c_t/‖d_t‖ and 1/‖d_t‖.
    """
    centred, n, spread, squared = _centred(scores, mask)
    inverse = torch.where(squared > 0, squared, 1.0).rsqrt() * (squared > 0)
    h = g * inverse
    a = (h * centred).sum(dim=1, keepdim=True)
    return (n * a * centred + spread * h.sum(dim=1, keepdim=True)) * inverse


def released(g: Tensor, scores: Tensor, mask: Tensor) -> Tensor:
    """What the authors' released iAT code computes: r ∝ −g, which lowers the loss. Kept only to compare with it."""
    return -paper(g, scores, mask)


READINGS: dict[str, Callable[[Tensor, Tensor, Tensor], Tensor]] = {
    "paper": paper,
    "per-word": per_word,
    "matrix": matrix,
    "shared": shared,
    "released": released,
}
"""Name of a reading → the direction of r (B, T), up to its length, from g, scores and mask."""

DEFAULT_READING = "shared"
