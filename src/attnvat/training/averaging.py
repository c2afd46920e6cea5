"""Weights averaged over steps: validated, kept and tested in place of the last ones, because they scatter less."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn


class AveragedWeights:
    """A running mean of a model's weights; a step's share in it fades by `factor` with every later one."""

    def __init__(self, model: nn.Module, factor: float) -> None:
        self.factor = factor
        self._means = {name: weight.detach().clone() for name, weight in model.named_parameters()}

    def follow(self, model: nn.Module, step: int) -> None:
        """Take in the weights after a step, counted from 0; early ones fade faster, so that the start is forgotten."""
        factor = min(self.factor, (1 + step) / (10 + step))
        with torch.no_grad():
            for name, weight in model.named_parameters():
                self._means[name].lerp_(weight, 1 - factor)

    @contextmanager
    def in_place(self, model: nn.Module) -> Iterator[None]:
        """Lend the means to the model; its own weights come back afterwards."""
        weights = dict(model.named_parameters())
        own = {name: weight.data for name, weight in weights.items()}
        try:
            for name, weight in weights.items():
                weight.data = self._means[name]
            yield
        finally:
            for name, weight in weights.items():
                weight.data = own[name]

    def tensors(self) -> dict[str, Tensor]:
        """The means, for a checkpoint."""
        return self._means

    def restore(self, tensors: dict[str, Tensor]) -> None:
        """Take up the means of a checkpoint."""
        for name, mean in self._means.items():
            mean.copy_(tensors[name])
