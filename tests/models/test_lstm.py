"""The unpacked BiLSTM gives what a packed one gives, in values and in every gradient."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from attnvat.models.lstm import BiLSTM, reversal, reverse


def packed_twin(ours: BiLSTM, size: int) -> nn.LSTM:
    """torch's bidirectional LSTM with the same weights."""
    theirs = nn.LSTM(size, ours.hidden, batch_first=True, bidirectional=True)
    state = dict(ours.forwards.state_dict())
    state |= {f"{name}_reverse": tensor for name, tensor in ours.backwards.state_dict().items()}
    theirs.load_state_dict(state)
    return theirs


@settings(max_examples=40, deadline=None)
@given(
    lengths=st.lists(st.integers(1, 13), min_size=1, max_size=6),
    extra=st.integers(0, 3),
    seed=st.integers(0, 99),
)
def test_parity_with_packing(lengths: list[int], extra: int, seed: int) -> None:
    torch.manual_seed(seed)
    size, hidden, width = 5, 4, max(lengths)
    ours = BiLSTM(size, hidden)
    theirs = packed_twin(ours, size)
    counts = torch.tensor(lengths)
    x = torch.randn(len(lengths), width + extra, size)
    mask = torch.arange(width + extra) < counts[:, None]
    mine, yours = x.clone().requires_grad_(), x.clone().requires_grad_()
    states = ours(mine, counts, mask)
    expected, (last, _) = theirs(pack_padded_sequence(yours, counts, batch_first=True, enforce_sorted=False))
    unpacked, _ = pad_packed_sequence(expected, batch_first=True, total_length=width + extra)
    torch.testing.assert_close(states, unpacked, atol=1e-5, rtol=0)
    torch.testing.assert_close(ours.last(states, counts), torch.cat([last[0], last[1]], dim=-1), atol=1e-5, rtol=0)

    weight = torch.randn_like(states)
    (states * weight).sum().backward()
    (unpacked * weight).sum().backward()
    torch.testing.assert_close(mine.grad, yours.grad, atol=1e-5, rtol=0)
    for name, parameter in ours.forwards.named_parameters():
        torch.testing.assert_close(parameter.grad, getattr(theirs, name).grad, atol=1e-5, rtol=0)
    for name, parameter in ours.backwards.named_parameters():
        torch.testing.assert_close(parameter.grad, getattr(theirs, f"{name}_reverse").grad, atol=1e-5, rtol=0)


def test_reversal_by_hand() -> None:
    # Row 0 has 3 words of 4 columns: a b c · → c b a ·; row 1 has 1 word: d · · · stays.
    order = reversal(torch.tensor([3, 1]), 4)
    assert order.tolist() == [2, 1, 0, 3, 4, 5, 6, 7]
    x = torch.arange(8.0).view(2, 4, 1)
    assert reverse(x, order).flatten().tolist() == [2, 1, 0, 3, 4, 5, 6, 7]
    assert torch.equal(reverse(reverse(x, order), order), x)


@pytest.mark.parametrize("lengths", [[3, 1], [4, 4]])
def test_reverse_gradcheck(lengths: list[int]) -> None:
    order = reversal(torch.tensor(lengths), 4)
    x = torch.randn(2, 4, 2, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda x: reverse(x, order), (x,))
    assert torch.autograd.gradgradcheck(lambda x: reverse(x, order), (x,))
