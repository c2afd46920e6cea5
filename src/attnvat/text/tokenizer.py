"""Words and punctuation marks of a text, each with its place in it; nothing of the text is dropped.

Every character that is not white space belongs to exactly one token. A token is an HTML line break (`<br />`,
written `<br/>`), a number, an acronym (`U.S.`), one ideograph or kana, the ending of a contraction cut off as
in the Penn treebank (`do|n't`, `it|'s`), a word, a run of dots or dashes, or any other character alone with
its combining marks. Only the line break may hold white space, so a text can be cut at white space first and
each distinct piece read once: that is what makes `tokenize` fast.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from itertools import chain
from typing import Any, TypeVar

NUMBER = "<num>"
"""What every number becomes where numbers are normalised."""
BREAK = "<br/>"
"""What every HTML line break becomes."""
Text = str | Sequence[str]
"""A raw string, or words already tokenised."""

_V = TypeVar("_V")
_HTML_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
_SURROGATE = re.compile("[\ud800-\udfff]")
_WHOLE_NUMBER = re.compile(r"[+-]?\d+(?:[.,:/]\d+)*")


@dataclass(frozen=True)
class Tokenizer:
    """Cuts texts into tokens; the paper's normalisation (lower case, one symbol for numbers) is optional."""

    lower: bool = True
    numbers: bool = True

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Where each token starts and ends: `text[start:end]` is the token as written."""
        return [match.span() for match in pattern().finditer(text)]

    def tokenize(self, text: str) -> list[str]:
        """The normalised tokens, as many as `spans` and in the same order."""
        return list(chain.from_iterable(map(pieces(self).__getitem__, split(text))))

    def normalise(self, words: Sequence[str]) -> list[str]:
        """The normalised form of words already cut by somebody else, one for one."""
        return list(map(normalised_words(self).__getitem__, words))

    def words(self, text: Text) -> list[str]:
        """The normalised tokens of a raw string or of a sequence of words."""
        return self.tokenize(text) if isinstance(text, str) else self.normalise(text)

    def to_dict(self) -> dict[str, Any]:
        """The options, to be stored with a model."""
        return asdict(self)

    @classmethod
    def from_dict(cls, options: dict[str, Any]) -> Tokenizer:
        """The tokenizer with the options of `to_dict`."""
        return cls(**options)


def split(text: str) -> list[str]:
    """The pieces of a text between white space, line breaks apart: no token crosses two pieces."""
    if "<br" in text or "<BR" in text or "<Br" in text or "<bR" in text:
        text = _HTML_BREAK.sub(f" {BREAK} ", text)
    return text.split()


class Memo(dict[str, _V]):
    """What `make` gives for each distinct string, made once and kept while there is room."""

    LIMIT = 1_000_000
    LONGEST = 64
    """Longer strings (texts without white space, mostly) hardly come again: they are not kept."""

    def __init__(self, make: Callable[[str], _V]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, key: str) -> _V:
        value = self._make(key)
        if len(key) <= self.LONGEST:
            if len(self) >= self.LIMIT:
                self.clear()
            self[key] = value
        return value


@cache
def normalised_words(tokenizer: Tokenizer) -> Memo[str]:
    """The normalised form of any single word."""
    lower, numbers = tokenizer.lower, tokenizer.numbers

    def normalise(word: str) -> str:
        if numbers and _WHOLE_NUMBER.fullmatch(word):
            return NUMBER
        if _HTML_BREAK.fullmatch(word):
            return BREAK
        if not word.isascii():
            # Curly apostrophes would hide contractions from vectors; half a surrogate pair cannot be written out.
            word = _SURROGATE.sub("\ufffd", word.replace("’", "'") if len(word) > 1 else word)
        return word.lower() if lower else word

    return Memo(normalise)


@cache
def pieces(tokenizer: Tokenizer) -> Memo[tuple[str, ...]]:
    """The normalised tokens of any piece between white space."""
    findall, words = pattern().findall, normalised_words(tokenizer)
    return Memo(lambda piece: tuple(map(words.__getitem__, findall(piece))))


@cache
def pattern() -> re.Pattern[str]:
    """The rules of the module's docstring as one expression; it has no capturing group, for `findall`.

    Upper and lower case are written out where they matter, and the commonest word, one that no apostrophe
    follows, is tried first: with the flag for case and without that rule it takes four times as long.
    """
    ideographs = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003fffd"
    letters, marks = _character_classes(ideographs)
    inside = rf"[{letters}\d{marks}]"
    ending = "(?:[smdSMD]|[lL][lL]|[rR][eE]|[vV][eE])"
    negation = rf"[nN]['’][tT](?!{inside})"
    line_break = r"<[bB][rR]\s*+/?>"
    rules = [
        rf"[{letters}]{inside}++(?!['’])",
        line_break,
        rf"\d++(?:[.,:/]\d++)*(?!{inside})",
        rf"(?:[{letters}]\.){{2,}}",
        f"[{ideographs}][{marks}]*+",
        negation,
        f"['’]{ending}(?!{inside})",
        rf"{inside}+?(?={negation})",
        rf"{inside}++(?:['’](?!{ending}(?!{inside})){inside}++)*",
        r"\.{2,}|-{2,}",
        rf"\S[{marks}]*+(?:\u200d(?!{line_break})\S[{marks}]*+)*",
    ]
    return re.compile("|".join(rules))


def _character_classes(ideographs: str) -> tuple[str, str]:
    """All letters but `ideographs`, and all combining marks, each as the inside of a character class.

    `re` has no name for marks, and `\\w` leaves them out: vowel signs would be torn from their letters.
    Past U+FFFF whole blocks of scripts count as letters: `re` walks through the ranges there one by one.
    """
    apart = re.compile(rf"[\d{ideographs}]")
    plane = list(map(chr, range(0x10000)))
    letters = _ranges([c for c in plane if c.isalnum() and not apart.match(c)])
    marks = _ranges([c for c in plane if unicodedata.category(c)[0] == "M"])
    return (
        letters + "\U00010000-\U0001cfff\U0001d400-\U0001d7cd\U0001e000-\U0001efff",
        marks + "\U000e0100-\U000e01ef",
    )


def _ranges(characters: list[str]) -> str:
    """The sorted characters as ranges for a character class."""
    points = list(map(ord, characters))
    starts = [p for p, before in zip(points, [-2, *points], strict=False) if p != before + 1]
    ends = [p for p, after in zip(points, [*points[1:], -2], strict=True) if p != after - 1]
    return "".join(f"{chr(start)}-{chr(end)}" for start, end in zip(starts, ends, strict=True))
