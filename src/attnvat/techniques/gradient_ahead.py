"""One backward pass for two uses.

A word perturbation needs the gradient of the clean loss in the word vectors, and training needs that of the same loss
in the weights. One backward pass gives both, if it is done when the perturbation is sought: training is then handed
gradients that are already there.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from attnvat.models.contract import AttentionModel


class _Known(torch.autograd.Function):
    """A loss whose gradients are known: its backward pass only hands them out."""

    @staticmethod
    def forward(ctx: Any, loss: Tensor, gradients: list[Tensor], *inputs: Tensor) -> Tensor:  # noqa: ARG004
        ctx.save_for_backward(*gradients)
        return loss.clone()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *outer: Tensor) -> tuple[Tensor | None, ...]:
        return None, None, *(outer[0] * gradient for gradient in ctx.saved_tensors)


def gradient_ahead(loss: Tensor, vectors: Tensor, model: AttentionModel) -> tuple[Tensor, Tensor]:
    """The loss, for training as before, and its gradient in the word vectors it was computed from (B, T, d).

    The graph between the two is used up. The tables that word vectors are made from still get theirs through `vectors`.
    """
    tables = {id(table.weight) for table in model.tables()}
    weights = [weight for weight in model.parameters() if weight.requires_grad and id(weight) not in tables]
    gradients = torch.autograd.grad(loss, [vectors, *weights], allow_unused=True)
    known = [(x, g) for x, g in zip([vectors, *weights], gradients, strict=True) if g is not None]
    carried: Tensor = _Known.apply(loss.detach(), [g for _, g in known], *(x for x, _ in known))  # type: ignore[no-untyped-call]
    return carried, gradients[0]
