"""What a command of `attnvat` ends with."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple


class Outcome(NamedTuple):
    code: int
    out: str
    err: str


Attnvat = Callable[..., Outcome]
