"""Random start directions that belong to the sentence, not to its batch.

Each number is a hash of (the step's seed, the sentence's words, position, coordinate). A sentence therefore gets the
same start whatever it is batched or padded with, and on however many processes the batch is spread.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

_GOLDEN = -7046029254386353131  # 0x9E3779B97F4A7C15 as a signed 64-bit number
_MIX_1 = -4658895280553007687  # 0xBF58476D1CE4E5B9
_MIX_2 = -7723592293110705685  # 0x94D049BB133111EB


def _shift(x: Tensor, bits: int) -> Tensor:
    """Logical right shift of signed 64-bit numbers."""
    return (x >> bits) & ((1 << (64 - bits)) - 1)


def _mix(x: Tensor) -> Tensor:
    """The splitmix64 finaliser: a bijection that scatters neighbouring numbers."""
    x = (x ^ _shift(x, 30)) * _MIX_1
    x = (x ^ _shift(x, 27)) * _MIX_2
    return x ^ _shift(x, 31)


def draw_seed(generator: torch.Generator | None) -> int:
    """A fresh seed for one step."""
    return int(torch.randint(0, 2**62, (), generator=generator))


def sentence_noise(ids: Tensor, mask: Tensor, width: int, seed: int, dtype: torch.dtype) -> Tensor:
    """Standard normal numbers for each real word of ids (B, T), `width` a word, 0 on padding (B, T, width)."""
    position = torch.arange(ids.shape[1], device=ids.device)
    word = _mix(ids * _GOLDEN + position + 1) * mask
    sentence = _mix(word.sum(dim=1) + seed)
    key = _mix(sentence[:, None] + position * _GOLDEN)
    coordinate = torch.arange(1, width + 1, device=ids.device) * _GOLDEN
    bits = _shift(_mix(key[:, :, None] + coordinate), 11)
    uniform = (bits.to(torch.float64) + 0.5) * 2.0**-53
    normal = torch.erfinv(uniform.mul_(2).sub_(1)).mul_(math.sqrt(2))
    return normal.to(dtype) * mask[:, :, None]
