"""Dropout whose masks can be held for all passes of one training step.

Comparing two passes with different dropout masks measures the dropout, not the perturbation: its KL can be many times
that of the perturbation. Inside `same_dropout(model)` every pass sees the masks of the first.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn


class HeldDropout(nn.Module):
    """Inverted dropout that repeats its mask while held."""

    def __init__(self, rate: float) -> None:
        super().__init__()
        self.rate = rate
        self.held = False
        self._mask: Tensor | None = None

    def forward(self, x: Tensor) -> Tensor:
        """x with a share `rate` of its entries zeroed and the rest scaled up, in training; x itself otherwise."""
        if not self.training or self.rate == 0:
            return x
        if self._mask is not None and self._mask.shape == x.shape:
            return x * self._mask
        mask = torch.empty_like(x).bernoulli_(1 - self.rate).div_(1 - self.rate)
        if self.held:
            self._mask = mask
        return x * mask

    def hold(self, held: bool) -> None:
        """Start or stop repeating the mask."""
        self.held = held
        self._mask = None


@contextmanager
def same_dropout(model: object) -> Iterator[None]:
    """Within the block every pass through `model` uses the same dropout masks."""
    layers = [m for m in model.modules() if isinstance(m, HeldDropout)] if isinstance(model, nn.Module) else []
    for layer in layers:
        layer.hold(True)
    try:
        yield
    finally:
        for layer in layers:
            layer.hold(False)
