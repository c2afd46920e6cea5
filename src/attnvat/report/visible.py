"""Text from anywhere made safe to look at: control characters are shown, never obeyed.

Escaping markup is the template's work. This is for what escaping does not touch: terminal escapes, NULs, lone
surrogates, and the bidirectional overrides that make text read differently from what it is.
"""

from __future__ import annotations

import unicodedata

REORDERING = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Embeddings, overrides and isolates. Marks and joiners (U+200C–U+200F) stay: Arabic, Hebrew and Persian need them."""


def visible(text: str) -> str:
    """The text with every control character replaced by a sign for it, and every breaking space by a plain one."""
    if text.isprintable():
        return text
    return "".join(_shown(character) for character in text)


def _shown(character: str) -> str:
    code = ord(character)
    if character in REORDERING:
        return f"[U+{code:04X}]"
    if character.isspace():
        return character if character in "\u00a0\u202f" else " "
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "\u2421"
    nowhere = code & 0xFFFE == 0xFFFE or 0xFDD0 <= code <= 0xFDEF
    return "\ufffd" if nowhere or unicodedata.category(character) in ("Cc", "Cs") else character


def shortened(text: str, width: int) -> str:
    """The visible text cut to `width` characters, an ellipsis where something is missing."""
    shown = visible(text)
    return shown if len(shown) <= width else shown[: width - 1].rstrip() + "…"
