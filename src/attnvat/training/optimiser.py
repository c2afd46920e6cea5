"""Adam with L2, in one fused pass for the network and row by row for the tables of word vectors.

Inside Adam, L2 does more than it says to words that do not occur: their gradient is only l2·θ, Adam scales it up to a
full step, and a pretrained vector that is never read shrinks by the learning rate at every step. Updating only the rows
of the words in the step leaves the others as they were, and costs what the batch costs, not what the vocabulary costs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from attnvat.models import SequenceClassifier

BETAS, EPS = (0.9, 0.999), 1e-8


class TouchedRowsAdam(torch.optim.Optimizer):
    """Adam with L2 on the rows of tables that have a gradient; all other rows, and their moments, stand still."""

    def __init__(self, tables: Sequence[Tensor], lr: float, l2: float) -> None:
        super().__init__(tables, {"lr": lr, "l2": l2})

    @torch.no_grad()
    def step(self, closure: Any = None) -> None:  # type: ignore[override]  # noqa: ARG002
        """Update the rows that have a gradient."""
        for group in self.param_groups:
            for table in group["params"]:
                if table.grad is None:
                    continue
                state = self.state[table]
                if not state:
                    state["step"] = torch.zeros(())
                    state["exp_avg"] = torch.zeros_like(table)
                    state["exp_avg_sq"] = torch.zeros_like(table)
                state["step"] += 1
                rows, gradient = touched(table.grad)
                self._update(table, state, rows, gradient, group)

    @staticmethod
    def _update(table: Tensor, state: dict[str, Any], rows: Tensor, gradient: Tensor, group: dict[str, Any]) -> None:
        step = float(state["step"])
        values = table.index_select(0, rows)
        gradient = gradient.add(values, alpha=group["l2"])
        first = state["exp_avg"].index_select(0, rows).lerp_(gradient, 1 - BETAS[0])
        second = state["exp_avg_sq"].index_select(0, rows).mul_(BETAS[1])
        second.addcmul_(gradient, gradient, value=1 - BETAS[1])
        scale = second.sqrt().div_(math.sqrt(1 - BETAS[1] ** step)).add_(EPS)
        values.addcdiv_(first, scale, value=-group["lr"] / (1 - BETAS[0] ** step))
        for whole, part in ((table, values), (state["exp_avg"], first), (state["exp_avg_sq"], second)):
            whole.index_copy_(0, rows, part)


def touched(gradient: Tensor) -> tuple[Tensor, Tensor]:
    """The rows of a table's gradient that differ from zero, and their values: (R,) and (R, d)."""
    if gradient.is_sparse:
        gradient = gradient.coalesce()
        return gradient.indices()[0], gradient.values()
    rows = gradient.abs().amax(dim=1).nonzero().squeeze(1)
    return rows, gradient.index_select(0, rows)


def build_optimisers(
    model: SequenceClassifier, learning_rate: float, l2: float, touched_only: bool, sparse: bool
) -> list[torch.optim.Optimizer]:
    """Adam for the network, and for the word vectors: with the rest, or their touched rows on their own."""
    for table in model.tables():
        # A sparse gradient is never as large as the table; several processes need dense ones to add them up.
        table.sparse = touched_only and sparse
    tables = [table.weight for table in model.tables()]
    apart = set(map(id, tables)) if touched_only else set()
    network = [p for p in model.parameters() if id(p) not in apart]
    fused = all(p.is_floating_point() and p.device.type in ("cpu", "cuda") for p in network)
    adam = torch.optim.Adam(network, lr=learning_rate, betas=BETAS, eps=EPS, weight_decay=l2, fused=fused)
    return [adam, TouchedRowsAdam(tables, learning_rate, l2)] if touched_only else [adam]


def optimiser_tensors(optimisers: list[torch.optim.Optimizer]) -> dict[str, Tensor]:
    """Every tensor an optimiser keeps, by a name that depends on nothing but its place."""
    tensors = {}
    for number, optimiser in enumerate(optimisers):
        for group in optimiser.param_groups:
            for place, parameter in enumerate(group["params"]):
                for name, value in optimiser.state.get(parameter, {}).items():
                    tensors[f"{number}.{place}.{name}"] = value
    return tensors


def restore_optimisers(optimisers: list[torch.optim.Optimizer], tensors: dict[str, Tensor]) -> None:
    """Take up the tensors written by `optimiser_tensors`."""
    for key, value in tensors.items():
        number, place, name = key.split(".")
        optimiser = optimisers[int(number)]
        parameter = optimiser.param_groups[0]["params"][int(place)]
        # A fused optimiser counts its steps on the parameter's device, a plain one on the CPU.
        there = value.dim() > 0 or optimiser.defaults.get("fused")
        optimiser.state[parameter][name] = value.to(parameter.device) if there else value
