"""Memory that stays with the process between steps.

glibc gives large blocks back to the system as soon as they are free, and every step then pays for getting them anew,
page by page: a vanilla step of 170 words took 203 ms without keeping them and 158 ms with, in two runs of
benchmarks/step.py on one machine.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import sys
from functools import cache

M_TRIM_THRESHOLD, M_TOP_PAD, M_MMAP_THRESHOLD = -1, -2, -3
LARGEST = 1 << 30
"""Blocks up to this many bytes come from memory that is kept."""


@cache
def keep_memory() -> bool:
    """Ask the allocator to keep freed blocks; whether it does (glibc on Linux)."""
    name = ctypes.util.find_library("c") if sys.platform == "linux" else None
    mallopt = getattr(ctypes.CDLL(name), "mallopt", None) if name else None
    if mallopt is None:
        return False
    settings = ((M_MMAP_THRESHOLD, LARGEST), (M_TRIM_THRESHOLD, 2 * LARGEST - 1), (M_TOP_PAD, 64 << 20))
    return all(mallopt(option, value) == 1 for option, value in settings)
