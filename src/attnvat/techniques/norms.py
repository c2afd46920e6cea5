"""Norms, scalar products and unit vectors of whole sentences."""

from __future__ import annotations

import torch
from torch import Tensor


def sentence_norm(x: Tensor) -> Tensor:
    """The l2 norm of each sentence's whole perturbation, of (B, T) or (B, T, d) (B,)."""
    norms: Tensor = torch.linalg.vector_norm(x.flatten(1), dim=1)
    return norms


def dot(x: Tensor, y: Tensor) -> Tensor:
    """The scalar product over each sentence, to be multiplied with either: (B, 1) or (B, 1, 1)."""
    product: Tensor = torch.linalg.vecdot(x.flatten(1), y.flatten(1))
    return product.view(-1, *[1] * (x.dim() - 1))


def normalised(x: Tensor) -> Tensor:
    """x scaled to norm 1 per sentence, for numbers of ordinary size such as noise; zero stays zero."""
    flat = x.flatten(1)
    norm = torch.linalg.vector_norm(flat, dim=1, keepdim=True).clamp_min(torch.finfo(x.dtype).tiny)
    scaled: Tensor = flat / norm
    return scaled.view_as(x)


def unit(x: Tensor) -> tuple[Tensor, Tensor]:
    """x scaled to norm 1 per sentence, and which sentences had nothing to scale (B,).

    The norm is the true one, without a constant under the root. Scaling by the largest entry first keeps squares of
    small gradients from underflowing; what is zero or not finite becomes zero and is reported, never normalised noise.
    """
    flat = x.flatten(1)
    largest = torch.linalg.vector_norm(flat, torch.inf, dim=1, keepdim=True)
    sound = (largest > torch.finfo(x.dtype).tiny) & (largest < torch.inf)
    scaled = torch.where(sound, flat / largest, 0.0)
    norm = torch.linalg.vector_norm(scaled, dim=1, keepdim=True)
    # A sound row's largest entry is 1 after scaling, so its norm is at least 1.
    return (scaled / norm.clamp_min(1)).view_as(x), ~sound.squeeze(1)
