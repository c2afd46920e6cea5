"""Texts that say the same: keys of normalised texts, and the rows of a large pool that repeat an earlier one."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Duplicates = Literal["near", "exact", "keep"]
"""What counts as a duplicate: the same normalised text, the same characters, or nothing."""
KEYS_IN_MEMORY = 1 << 21
"""Keys compared at a time: 50 MB with the arrays needed to sort them, however large the pool."""

_DIGITS = bytes(ord("0") if chr(code).isdigit() else code for code in range(128)) + bytes(range(128, 256))
_NOT_WORD = bytes(code for code in range(128) if not chr(code).isalnum())
_ZEROS = re.compile(b"0{2,}")
_HTML_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)


def normal_form(text: str) -> bytes:
    """The text without case, punctuation, symbols and white space, each run of digits as one 0.

    Tokenised and running text meet in it ("do n't ." and "Don't" are both `dont`).
    """
    if "<br" in text or "<BR" in text:
        text = _HTML_BREAK.sub(" ", text)
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text).casefold()
        # Letters, marks and numbers stay, in any script; ASCII goes the fast way below.
        text = "".join(c for c in text if c < "\x80" or unicodedata.category(c)[0] in "LMN")
    folded = text.lower().encode("utf-8", "surrogatepass").translate(_DIGITS, _NOT_WORD)
    return _ZEROS.sub(b"0", folded)


def text_key(text: str, pair: str | None = None, exact: bool = False) -> int:
    """A 64-bit key, equal for texts (or pairs of texts) that are duplicates of each other.

    Two different texts share a key with probability 2⁻⁶⁴: 2 in 100,000 for one collision among 30 million texts.
    """
    parts = [part for part in (text, pair) if part is not None]
    forms = [part.encode("utf-8", "surrogatepass") if exact else normal_form(part) for part in parts]
    return int.from_bytes(hashlib.blake2b(b"\0".join(forms), digest_size=8).digest(), "little")


def evaluation_keys(texts: Iterable[str]) -> set[int]:
    """The keys of texts a pool must not contain; texts without a letter or digit are not worth looking for."""
    return {text_key(text) for text in texts if normal_form(text)}


def mark_repeats(
    keys: Sequence[NDArray[np.uint64]], repeats: NDArray[np.bool_], in_memory: int = KEYS_IN_MEMORY
) -> int:
    """Set `repeats` where a key occurred in an earlier row; how many were set.

    `keys` are the pool's keys in parts, which may be memory-mapped. Each pass over them looks at one range of keys
    that fits in memory; keys are hashes, so equal ranges hold about equally many.
    """
    total = sum(len(part) for part in keys)
    ranges = -(-total // in_memory) if total else 0
    starts = np.cumsum([0, *(len(part) for part in keys)])
    found = 0
    for number in range(ranges):
        low = np.uint64(number * 2**64 // ranges)
        high = np.uint64((number + 1) * 2**64 // ranges - 1)
        inside = [np.flatnonzero((part >= low) & (part <= high)) for part in keys]
        rows = np.concatenate([where + start for where, start in zip(inside, starts[:-1], strict=True)])
        values = np.concatenate([part[where] for part, where in zip(keys, inside, strict=True)])
        # Stable: among equal keys the earliest row comes first and is the one kept.
        order = np.argsort(values, kind="stable")
        again = order[1:][values[order[1:]] == values[order[:-1]]]
        repeats[rows[again]] = True
        found += len(again)
    return found
