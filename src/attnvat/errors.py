"""The one error a person can cause: shown as a sentence, never as a traceback."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class UserError(Exception):
    """Something the user can put right: the message says what is wrong, where, and what to do."""


def nearest(name: str, known: Iterable[str]) -> str:
    """The end of an error sentence: `did you mean 'x'?`, or the list of what is known."""
    known = sorted(known)
    close = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
    if close:
        return f"did you mean {close[0]!r}?"
    return "known: " + ", ".join(known)
