"""Gradient × input through a BiLSTM in closed form: what makes the correlation of a whole corpus a matter of seconds.

Autograd gives ∂ŷ/∂e_t as a vector and keeps what a general backward pass needs. All we want of it is the dot product
with e_t, and with z_t = W e_t + U h_{t−1} + b the gates' input that is

    ∂ŷ/∂e_t · e_t = (Wᵀ ∂ŷ/∂z_t) · e_t = ∂ŷ/∂z_t · (W e_t),

where W e_t is known from the forward pass: the product with Wᵀ, the weights' gradients and every (B, T, d) tensor fall
away. W e is computed once for each distinct word: of all texts together, where that is not too large a table. Texts are
stored without padding, step by step: step t holds the texts longer than t (longest first), first as the forward LSTM
reads them, then as the backward one does, so both directions share each step and each matrix product.

tanh(x) is taken as 2σ(2x) − 1, three times as fast; for the candidate gate the inner 2 is put into its weights, so that
one call does all four gates.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from attnvat.models.lstm import BiLSTM


@dataclass(frozen=True)
class Steps:
    """The unpadded order of the tokens of B texts, and where each step starts in it."""

    rank: Tensor
    """The texts, longest first (B,)."""
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
        return cls(rank, place, direction, [size for size in sizes.tolist() if size])


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

    @property
    def table_bytes(self) -> int:
        """Memory of a word of a `WordTable`."""
        return self.bias.numel() * self.bias.element_size()


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
            # More than is asked for: the next batch may be a little larger, and pages never touched cost nothing.
            held = self._held[name] = torch.empty(rows * columns * 2)
        return held[: rows * columns].view(rows, columns)


class WordTable:
    """W e + b of distinct words, for the forward LSTM and then for the backward one."""

    def __init__(self, weights: Weights, ids: Tensor, vectors: Tensor) -> None:
        """The table of the words `ids` in growing order (U,), whose vectors are these (U, d)."""
        self._row = torch.zeros(int(ids[-1]) + 1, dtype=torch.int64)
        self._row[ids] = torch.arange(len(ids))
        self.rows = torch.baddbmm(weights.bias[:, None], vectors.expand(2, -1, -1), weights.input).flatten(0, 1)
        """(2U, 4H)."""

    def places(self, ids: Tensor, direction: Tensor) -> Tensor:
        """The rows of words (N,) as the LSTM of this direction, 0 or 1, reads them (N,)."""
        return self._row[ids].add_(direction, alpha=len(self.rows) // 2)


class BiLSTMTrace:
    """One forward pass over a batch, with what the gradient needs of it, in memory that the next batch takes over."""

    def __init__(self, weights: Weights, buffers: Buffers, ids: Tensor, lengths: Tensor, table: WordTable) -> None:
        """Read texts of these lengths whose words (B, T) are in the table."""
        self.weights, self.buffers, self.shape, self.table = weights, buffers, ids.shape, table.rows
        self.steps = Steps.of(lengths, ids.shape[1])
        hidden, count = weights.hidden, len(self.steps.place)
        self.source = table.places(ids.flatten()[self.steps.place], self.steps.direction)
        """The row of the table that each state reads (2N,)."""
        self.gates = buffers.take("gates", count, 4 * hidden)
        """∂c/∂z of the gates i, f, g and ∂h/∂z of o; after the way back, ∂ŷ/∂z (2N, 4H)."""
        self.forget, self.through, self.states = (
            buffers.take(name, count, hidden) for name in ("forget", "through", "states")
        )
        """∂c/∂c of the step before, which is f; ∂h/∂c; and h (2N, H)."""
        self._run()

    def _by_step(self, *tensors: Tensor) -> Iterator[tuple[Tensor, ...]]:
        """Each step's part of tensors of one row a state: cut all at once, a slice at a time costs as much as a sum."""
        sizes = [2 * size for size in self.steps.sizes]
        return zip(*(torch.split(tensor, sizes) for tensor in tensors), strict=True)

    def _run(self) -> None:
        """All steps; each leaves its derivatives while its gates are still in the processor's cache."""
        hidden, most = self.weights.hidden, 2 * self.steps.sizes[0]
        kept, twice, gain, squashed = (self.buffers.take(name, most, hidden) for name in ("k", "t", "g", "s"))
        cells = [self.buffers.take(name, most, hidden).zero_() for name in ("c", "c before")]
        state = torch.zeros(2, self.steps.sizes[0], hidden)
        before = cells[0].view(2, -1, hidden)
        parts = self._by_step(self.source, self.gates, self.states, self.through, self.forget)
        for step, (source, z, h, through, forget) in enumerate(parts):
            count = len(source)
            size = count // 2
            torch.index_select(self.table, 0, source, out=z)
            z.view(2, size, 4 * hidden).baddbmm_(state[:, :size], self.weights.recurrent)
            i, f, s, o = z.sigmoid_().view(-1, 4, hidden).unbind(1)
            k, t, ig, tanh = kept[:count], twice[:count], gain[:count], squashed[:count]
            torch.mul(f.view(2, size, hidden), before[:, :size], out=k.view(2, size, hidden))
            # With s = σ(2x) the candidate is g = 2s − 1, so i·g = 2·i·s − i.
            torch.mul(i, s, out=t).mul_(2)
            torch.sub(t, i, out=ig)
            c = torch.add(k, ig, out=cells[(step + 1) % 2][:count])
            torch.mul(c, 2, out=tanh).sigmoid_().mul_(2).sub_(1)
            torch.mul(o, tanh, out=h)
            torch.addcmul(o, h, tanh, value=-1, out=through)
            forget.copy_(f)
            # σ′ = σ(1 − σ), and each gate's partner is already in the product.
            torch.addcmul(ig, ig, i, value=-1, out=i)
            torch.addcmul(k, f, k, value=-1, out=f)
            torch.addcmul(t, t, s, value=-1, out=s)
            torch.addcmul(h, h, o, value=-1, out=o)
            state, before = h.view(2, size, hidden), c.view(2, size, hidden)

    def padded(self) -> Tensor:
        """The states, zero on padding (B, T, 2H)."""
        rows, width = self.shape
        out = self.buffers.take("padded", rows * width * 2, self.weights.hidden)
        out.index_copy_(0, self.steps.place * 2 + self.steps.direction, self.states)
        padding = torch.ones(rows * width, dtype=torch.bool).index_fill_(0, self.steps.place, False)
        padded = out.view(rows * width, -1)
        return padded.index_fill_(0, padding.nonzero().squeeze(1), 0.0).view(rows, width, -1)

    def gradient_times_input(self, attention: Tensor, slope: Tensor, scored: Tensor | None = None) -> Tensor:
        """∂ŷ/∂e_t · e_t (B, T), for a ŷ that reads the states as their sum weighted by attention (B, T); call it once.

        `slope` is the gradient of that sum (B, 2H), so that of state t is α_t of it: the gradient of all states is
        never stored. `scored` is what each state gets besides through its attention score (B, T, 2H), where attention
        is not held fixed.
        """
        hidden, steps, (rows, width) = self.weights.hidden, self.steps, self.shape
        of_sum = slope[steps.rank].view(-1, 2, hidden).transpose(0, 1).contiguous()
        d_state, d_cell = torch.zeros(2, 2, steps.sizes[0], hidden)
        read = self.buffers.take("read", 2 * steps.sizes[0], 4 * hidden)
        bias = self.weights.bias.unbind()
        weight, found = attention.flatten()[steps.place], torch.empty(len(steps.place))
        parts = [self.source, self.gates, self.through, self.forget, weight, found]
        if scored is not None:
            parts.append(scored.reshape(-1, hidden)[steps.place * 2 + steps.direction])
        later: Tensor | None = None
        for source, gates, through, forget, alpha, share, *rest in reversed(list(self._by_step(*parts))):
            size = len(source) // 2
            shape = (2, size, hidden)
            dh, dc = d_state[:, :size], d_cell[:, :size]
            torch.mul(of_sum[:, :size], alpha.view(2, size, 1), out=dh)
            for gradient in rest:
                dh.add_(gradient.view(shape))
            if later is not None:
                d_state[:, : later.shape[1]].baddbmm_(later, self.weights.back)
            dc.addcmul_(dh, through.view(shape))
            z = gates.view(2, size, 4, hidden)
            z[:, :, :3].mul_(dc[:, :, None])
            z[:, :, 3].mul_(dh)
            dc.mul_(forget.view(shape))
            later = gates.view(2, size, 4 * hidden)
            # The table holds W e + b: the bias' part is taken off again.
            word = torch.index_select(self.table, 0, source, out=read[: 2 * size])
            torch.sum(word.mul_(gates), dim=1, out=share)
            for part, dz, b in zip(share.view(2, size), later, bias, strict=True):
                part.addmv_(dz, b, alpha=-1)
        return torch.zeros(rows * width).index_add_(0, steps.place, found).view(rows, width)
