"""Dropout whose masks can be held for all passes of one training step.

Comparing two passes with different dropout masks measures the dropout, not the perturbation: its KL can be many times
that of the perturbation. Inside `same_dropout()` every pass through a layer sees the mask of the first.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import torch
from torch import Tensor, nn

_held: ContextVar[dict[HeldDropout, Tensor] | None] = ContextVar("held dropout masks", default=None)


class HeldDropout(nn.Module):
    """Inverted dropout that repeats its mask while masks are held."""

    def __init__(self, rate: float) -> None:
        super().__init__()
        self.rate = rate

    def forward(self, x: Tensor) -> Tensor:
        """x with a share `rate` of its entries zeroed and the rest scaled up, in training; x itself otherwise."""
        if not self.training or self.rate == 0:
            return x
        held = _held.get()
        mask = None if held is None else held.get(self)
        if mask is None or mask.shape != x.shape:
            mask = torch.empty_like(x).bernoulli_(1 - self.rate).div_(1 - self.rate)
            if held is not None:
                held[self] = mask
        return x * mask


@contextmanager
def same_dropout() -> Iterator[None]:
    """Within the block every pass through a layer uses the same mask."""
    token = _held.set({})
    try:
        yield
    finally:
        _held.reset(token)
