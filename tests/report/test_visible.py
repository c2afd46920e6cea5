"""Control characters are shown, never obeyed; the letters of every script stay."""

from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from attnvat.report.visible import shortened, visible


def test_signs_for_what_cannot_be_seen() -> None:
    assert visible("a\x00b\x1b[31m\x7f") == "a␀b␛[31m␡"
    assert visible("x\u202egnp\u2066y") == "x[U+202E]gnp[U+2066]y"
    assert visible("two\r\nlines\u2028three") == "two  lines three"
    assert visible("lone \ud800 \ufffe") == "lone \ufffd \ufffd"


def test_letters_marks_and_joiners_stay() -> None:
    for text in ("می‌خواهم", "שלום\u200f!", "العَرَبِيَّة", "👩‍👩‍👧", "日本語", "naïve e\u0301"):
        assert visible(text) == text


@given(st.text())
def test_nothing_reorders_or_controls(text: str) -> None:
    shown = visible(text)
    shown.encode("utf-8")
    assert not any(unicodedata.category(character) in ("Cc", "Cs") for character in shown)
    assert not any(
        unicodedata.bidirectional(c) in ("LRO", "RLO", "LRE", "RLE", "PDF", "LRI", "RLI", "FSI", "PDI") for c in shown
    )


def test_shortened() -> None:
    assert shortened("abcdef", 6) == "abcdef"
    assert shortened("abcdefg", 6) == "abcde…"
