"""Distances between distributions."""

from __future__ import annotations

import torch
from torch import Tensor


def total_variation(p: Tensor, q: Tensor) -> Tensor:
    """Half the summed difference of two distributions over the last dimension, 0 to 1 (B,)."""
    return (p - q).abs().sum(dim=-1) / 2


def jensen_shannon(p: Tensor, q: Tensor) -> Tensor:
    """Jensen–Shannon divergence in nats over the last dimension, 0 to ln 2 ≈ 0.693 (B,)."""
    middle = (p + q) / 2
    return (_relative(p, middle) + _relative(q, middle)) / 2


def _relative(p: Tensor, q: Tensor) -> Tensor:
    """KL(p ‖ q) where q is above 0 wherever p is (B,)."""
    # Where p is 0 its share is 0; the stand-in 1 keeps the logarithm, and its gradient, finite.
    ratio = torch.where(p > 0, p, 1.0).log() - torch.where(p > 0, q, 1.0).log()
    return (p * ratio).sum(dim=-1)
