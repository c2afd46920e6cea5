"""A bidirectional LSTM over padded batches that is exact without packing.

A packed sequence is slow on the CPU because it runs one small matrix product per time step and length. Padding stands
behind the real tokens, so a forward LSTM never reads it before the last real token; the backward LSTM is a second
forward one, fed each row reversed *within its own length*. Both then give exactly what `pack_padded_sequence` gives.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

from attnvat.models.precision import full_precision


class _Reorder(torch.autograd.Function):
    """Rows of x taken in an order that is its own inverse, so the gradient is the same cheap copy, not a scatter."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, order: Tensor) -> Tensor:
        ctx.save_for_backward(order)
        return x.flatten(0, 1).index_select(0, order).view_as(x)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        (order,) = ctx.saved_tensors
        return reverse(gradients[0].contiguous(), order), None


def reversal(lengths: Tensor, width: int) -> Tensor:
    """The order that reverses each row of a padded (B, T) batch within its length, padding left in place (B·T,)."""
    position = torch.arange(width, device=lengths.device)
    mirrored = lengths[:, None] - 1 - position
    within = torch.where(mirrored >= 0, mirrored, position)
    return (within + width * torch.arange(len(lengths), device=lengths.device)[:, None]).flatten()


def reverse(x: Tensor, order: Tensor) -> Tensor:
    """x (B, T, d) with each row reversed within its own length; its own inverse."""
    result: Tensor = _Reorder.apply(x, order)  # type: ignore[no-untyped-call]
    return result


class BiLSTM(nn.Module):
    """One bidirectional LSTM layer, `hidden` units a direction."""

    def __init__(self, size: int, hidden: int) -> None:
        super().__init__()
        self.hidden = hidden
        self.forwards = nn.LSTM(size, hidden, batch_first=True)
        self.backwards = nn.LSTM(size, hidden, batch_first=True)

    def forward(self, x: Tensor, lengths: Tensor, mask: Tensor) -> Tensor:
        """States of x (B, T, d), zero on padding (B, T, 2·hidden)."""
        order = reversal(lengths, x.shape[1])
        # Not every CPU has a half-precision LSTM, so there it stays in the precision of its weights under autocast.
        on_cpu = x.device.type == "cpu"
        with full_precision(x.device) if on_cpu else nullcontext():
            x = x.to(next(self.forwards.parameters()).dtype) if on_cpu else x
            ahead, _ = self.forwards(x)
            behind, _ = self.backwards(reverse(x, order))
        states = torch.cat([ahead, reverse(behind, order)], dim=-1)
        return states * mask[:, :, None]

    def alone(self, x: Tensor, mask: Tensor) -> Tensor:
        """States of each word of x (B, T, d) as if it were a whole text, zero on padding (B, T, 2·hidden).

        The state of a first step needs no LSTM: nothing has gone before, so its forget gate and its recurrent weights
        have nothing to act on.
        """
        states = []
        with full_precision(x.device):
            for lstm in (self.forwards, self.backwards):
                weight, _, bias, recurrent_bias = lstm.all_weights[0]
                enter, _, new, out = weight.chunk(4)
                bias_enter, _, bias_new, bias_out = (bias + recurrent_bias).chunk(4)
                used, added = torch.cat([enter, new, out]), torch.cat([bias_enter, bias_new, bias_out])
                enter, new, out = F.linear(x.to(used.dtype), used, added).chunk(3, dim=-1)
                states.append(out.sigmoid() * (enter.sigmoid() * new.tanh()).tanh())
        return torch.cat(states, dim=-1) * mask[:, :, None]

    def last(self, states: Tensor, lengths: Tensor) -> Tensor:
        """The final state of each direction, side by side (B, 2·hidden)."""
        ahead = states[torch.arange(len(lengths), device=states.device), lengths - 1, : self.hidden]
        return torch.cat([ahead, states[:, 0, self.hidden :]], dim=-1)
