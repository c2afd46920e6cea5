"""Gradient × input through a BiLSTM in closed form: what makes the correlation of a whole corpus a matter of seconds.

Autograd gives ∂ŷ/∂e_t as a vector and keeps what a general backward pass needs. All we want of it is the dot product
with e_t, and with z_t = W e_t + U h_{t−1} + b the gates' input that is

    ∂ŷ/∂e_t · e_t = (Wᵀ ∂ŷ/∂z_t) · e_t = ∂ŷ/∂z_t · (W e_t),

where W e_t is known from the forward pass: the product with Wᵀ, the weights' gradients and every (B, T, d) tensor fall
away. W e is computed once for each distinct word of a batch. Texts are stored without padding, step by step: step t
holds the texts longer than t (longest first), first as the forward LSTM reads them, then as the backward one does, so
both directions share each step and each matrix product.

tanh(x) is taken as 2σ(2x) − 1, three times as fast; for the candidate gate the inner 2 is put into its weights, so that
one call does all four gates.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from attnvat.models.lstm import BiLSTM


@dataclass(frozen=True)
class Steps:
    """The unpadded order of the tokens of B texts, and where each step starts in it."""

    place: Tensor
    """Token of the padded batch, as a row of (B·T), for each of the 2N states of both directions (2N,)."""
    direction: Tensor
    """0 for the forward LSTM, 1 for the backward one (2N,)."""
    sizes: list[int]
    """Number of texts longer than t, for each step t."""

    @classmethod
    def of(cls, lengths: Tensor, width: int) -> Steps:
        """The order for texts of these lengths in a batch padded to `width`."""
        rank = torch.argsort(lengths, descending=True, stable=True)
        ranked = lengths[rank]
        active = ranked > torch.arange(width)[:, None]
        sizes = active.sum(dim=1)
        step, text = active.nonzero(as_tuple=True)
        start = 2 * (sizes.cumsum(0) - sizes)
        ahead, behind = start[step] + text, start[step] + sizes[step] + text
        place = torch.empty(2 * len(step), dtype=torch.int64)
        place[ahead] = rank[text] * width + step
        place[behind] = rank[text] * width + ranked[text] - 1 - step
        direction = torch.zeros_like(place)
        direction[behind] = 1
        return cls(place, direction, [size for size in sizes.tolist() if size])


class Weights:
    """The two directions' weights side by side, the candidate gate's doubled."""

    def __init__(self, lstm: BiLSTM) -> None:
        directions = (lstm.forwards, lstm.backwards)
        self.hidden = lstm.hidden
        twice = torch.ones(4 * self.hidden)
        twice[2 * self.hidden : 3 * self.hidden] = 2
        self.input = torch.stack([_weight(d, "weight_ih_l0").T * twice for d in directions])
        """(2, d, 4H)."""
        self.recurrent = torch.stack([_weight(d, "weight_hh_l0").T * twice for d in directions])
        """(2, H, 4H)."""
        self.back = self.recurrent.transpose(1, 2).contiguous()
        """(2, 4H, H)."""
        self.bias = torch.stack([(_weight(d, "bias_ih_l0") + _weight(d, "bias_hh_l0")) * twice for d in directions])
        """(2, 4H)."""


def _weight(lstm: nn.LSTM, name: str) -> Tensor:
    found = getattr(lstm, name)
    assert isinstance(found, Tensor)
    return found.detach()


class Buffers:
    """Memory kept from batch to batch: fresh pages cost as much time as the arithmetic."""

    def __init__(self) -> None:
        self._held: dict[str, Tensor] = {}

    def take(self, name: str, rows: int, columns: int) -> Tensor:
        """An uninitialised (rows, columns) tensor, the same memory whenever `name` is taken."""
        held = self._held.get(name)
        if held is None or held.numel() < rows * columns:
            held = self._held[name] = torch.empty(rows * columns)
        return held[: rows * columns].view(rows, columns)


class BiLSTMTrace:
    """One forward pass over a batch, with what the gradient needs of it, in memory that the next batch takes over."""

    def __init__(self, weights: Weights, buffers: Buffers, words: Tensor, lengths: Tensor, vectors: Tensor) -> None:
        """Read texts of these lengths whose token (b, t) has the vector `vectors[words[b, t]]`: (B, T), (U, d)."""
        self.weights, self.buffers, self.shape = weights, buffers, words.shape
        self.steps = Steps.of(lengths, words.shape[1])
        hidden, count = weights.hidden, len(self.steps.place)
        self.projected = torch.matmul(vectors, weights.input).flatten(0, 1)
        """W e of every distinct word, for the forward LSTM and then for the backward one (2U, 4H)."""
        self.source = words.flatten()[self.steps.place].add_(self.steps.direction, alpha=len(vectors))
        """The row of `projected` that each state reads (2N,)."""
        self.gates = buffers.take("gates", count, 4 * hidden)
        """∂c/∂z of the gates i, f, g and ∂h/∂z of o; after the way back, ∂ŷ/∂z (2N, 4H)."""
        self.forget, self.through, self.states = (
            buffers.take(name, count, hidden) for name in ("forget", "through", "states")
        )
        """∂c/∂c of the step before, which is f; ∂h/∂c; and h (2N, H)."""
        self._run()

    def _run(self) -> None:
        """All steps; each leaves its derivatives while its gates are still in the processor's cache."""
        hidden, start, most = self.weights.hidden, 0, 2 * self.steps.sizes[0]
        kept, twice, gain, squashed = (self.buffers.take(name, most, hidden) for name in ("k", "t", "g", "s"))
        biased = (self.projected.view(2, -1, 4 * hidden) + self.weights.bias[:, None]).flatten(0, 1)
        cells = [self.buffers.take(name, most, hidden).zero_() for name in ("c", "c before")]
        state = torch.zeros(2, self.steps.sizes[0], hidden)
        before = cells[0].view(2, -1, hidden)
        for step, size in enumerate(self.steps.sizes):
            span, rows = slice(start, start + 2 * size), slice(2 * size)
            z = torch.index_select(biased, 0, self.source[span], out=self.gates[span])
            z.view(2, size, 4 * hidden).baddbmm_(state[:, :size], self.weights.recurrent)
            i, f, s, o = z.sigmoid_().view(-1, 4, hidden).unbind(1)
            k, t, ig, tanh = kept[rows], twice[rows], gain[rows], squashed[rows]
            torch.mul(f.view(2, size, hidden), before[:, :size], out=k.view(2, size, hidden))
            # With s = σ(2x) the candidate is g = 2s − 1, so i·g = 2·i·s − i.
            torch.mul(i, s, out=t).mul_(2)
            torch.sub(t, i, out=ig)
            c = torch.add(k, ig, out=cells[(step + 1) % 2][rows])
            torch.mul(c, 2, out=tanh).sigmoid_().mul_(2).sub_(1)
            h = torch.mul(o, tanh, out=self.states[span])
            torch.addcmul(o, h, tanh, value=-1, out=self.through[span])
            self.forget[span] = f
            # σ′ = σ(1 − σ), and each gate's partner is already in the product.
            torch.addcmul(ig, ig, i, value=-1, out=i)
            torch.addcmul(k, f, k, value=-1, out=f)
            torch.addcmul(t, t, s, value=-1, out=s)
            torch.addcmul(h, h, o, value=-1, out=o)
            state, before = h.view(2, size, hidden), c.view(2, size, hidden)
            start += 2 * size

    def padded(self) -> Tensor:
        """The states, zero on padding (B, T, 2H)."""
        rows, width = self.shape
        out = self.buffers.take("padded", rows * width * 2, self.weights.hidden).zero_()
        return out.index_copy_(0, self.steps.place * 2 + self.steps.direction, self.states).view(rows, width, -1)

    def gradient_times_input(self, gradient: Tensor) -> Tensor:
        """∂ŷ/∂e_t · e_t for the gradient ∂ŷ/∂h of the padded states (B, T, 2H); to be called once (B, T)."""
        hidden, steps = self.weights.hidden, self.steps
        # The states have been handed out; their memory now takes the gradient from above.
        place = steps.place * 2 + steps.direction
        above = torch.index_select(gradient.reshape(-1, hidden), 0, place, out=self.states)
        end = len(above)
        shares, read = torch.empty(end), self.buffers.take("read", 2 * steps.sizes[0], 4 * hidden)
        d_state, d_cell = torch.zeros(2, 2, steps.sizes[0], hidden)
        for size in reversed(steps.sizes):
            span, shape = slice(end - 2 * size, end), (2, size, hidden)
            z = self.gates[span].view(2, size, 4, hidden)
            dh, dc = d_state[:, :size], d_cell[:, :size]
            dh += above[span].view(shape)
            dc.addcmul_(dh, self.through[span].view(shape))
            z[:, :, :3] *= dc[:, :, None]
            z[:, :, 3] *= dh
            dc *= self.forget[span].view(shape)
            torch.bmm(z.view(2, size, 4 * hidden), self.weights.back, out=dh)
            word = torch.index_select(self.projected, 0, self.source[span], out=read[: 2 * size])
            torch.sum(word.mul_(self.gates[span]), dim=1, out=shares[span])
            end -= 2 * size
        rows, width = self.shape
        return torch.zeros(rows * width).index_add_(0, steps.place, shares).view(rows, width)
