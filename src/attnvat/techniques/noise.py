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

TABLE_BITS = 18
"""The table of normal numbers has 2 to the power of this many windows."""
POSITIONS = 1 << 14
"""Positions with a multiplier of their own; longer texts use them again."""


@cache
def _multipliers(device: torch.device) -> Tensor:
    """Two fixed sequences of random odd 64-bit numbers (positions, 2)."""
    numbers = np.random.Generator(np.random.PCG64(1)).integers(-(2**63), 2**63, (POSITIONS, 2), dtype=np.int64) | 1
    return torch.from_numpy(numbers).to(device)


@cache
def _windows(device: torch.device, dtype: torch.dtype, width: int) -> Tensor:
    """All windows of `width` neighbours in a fixed sequence of standard normal numbers (2^bits, width)."""
    numbers = np.random.Generator(np.random.PCG64(0)).standard_normal((1 << TABLE_BITS) + width - 1)
    return torch.from_numpy(numbers).to(device, dtype).unfold(0, width, 1)


def draw_seed(generator: torch.Generator | None) -> int:
    """A fresh seed for one step."""
    return int(torch.randint(0, 2**62, (), generator=generator))


def sentence_noise(ids: Tensor, mask: Tensor, width: int, seed: int, dtype: torch.dtype) -> Tensor:
    """Standard normal numbers for each real word of ids (B, T), `width` a word, 0 on padding (B, T, width)."""
    position = mask.cumsum(dim=1).remainder_(POSITIONS)
    of_word, of_sentence = _multipliers(ids.device)[position].unbind(-1)
    # Multiply-shift hashing: of a sum of products only the top bits are used, which all bits below have reached.
    sentence = (ids * of_word).mul_(mask).sum(dim=1, keepdim=True).add_(seed)
    window = (of_sentence * sentence).bitwise_right_shift_(64 - TABLE_BITS).bitwise_and_((1 << TABLE_BITS) - 1)
    return _windows(ids.device, dtype, width)[window].mul_(mask[:, :, None])
