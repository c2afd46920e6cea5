"""Random start directions that belong to the sentence, not to its batch.

Each word's numbers are a window of one fixed table of normal numbers, placed by a hash of (the step's seed, the
sentence's words, the word's position). A sentence therefore gets the same start whatever it is batched or padded with,
and on however many processes the batch is spread; and hashing one number a word costs next to nothing.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import torch
from torch import Tensor

TABLE = 1 << 18
"""Length of the table of normal numbers."""
_GOLDEN = -7046029254386353131  # 0x9E3779B97F4A7C15 as a signed 64-bit number
_MIX_1 = -4658895280553007687  # 0xBF58476D1CE4E5B9
_MIX_2 = -7723592293110705685  # 0x94D049BB133111EB


def _shift(x: Tensor, bits: int) -> Tensor:
    """Logical right shift of signed 64-bit numbers."""
    return (x >> bits).bitwise_and_((1 << (64 - bits)) - 1)


def _mix(x: Tensor) -> Tensor:
    """The splitmix64 finaliser: a bijection that scatters neighbouring numbers."""
    x = _shift(x, 30).bitwise_xor_(x).mul_(_MIX_1)
    x = _shift(x, 27).bitwise_xor_(x).mul_(_MIX_2)
    return _shift(x, 31).bitwise_xor_(x)


def draw_seed(generator: torch.Generator | None) -> int:
    """A fresh seed for one step."""
    return int(torch.randint(0, 2**62, (), generator=generator))


@cache
def _table() -> Tensor:
    """A fixed sequence of standard normal numbers."""
    return torch.from_numpy(np.random.Generator(np.random.PCG64(0)).standard_normal(TABLE))


def sentence_noise(ids: Tensor, mask: Tensor, width: int, seed: int, dtype: torch.dtype) -> Tensor:
    """Standard normal numbers for each real word of ids (B, T), `width` a word, 0 on padding (B, T, width)."""
    position = mask.cumsum(dim=1)
    word = _mix(ids * _GOLDEN + position) * mask
    sentence = _mix(word.sum(dim=1) + seed)
    window = _mix(sentence[:, None] + position * _GOLDEN).remainder(TABLE - width + 1)
    windows = _table().to(ids.device, dtype).unfold(0, width, 1)
    return windows[window] * mask[:, :, None]
