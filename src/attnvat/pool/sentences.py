"""Sentences of a running text, cut after `.`, `!` or `?` where a new sentence plainly begins.

It does not guess: after a title, an initial, a number or before a small letter nothing is cut, so that a sentence may
now and then hold two, but hardly ever only half of one.
"""

from __future__ import annotations

import re

_PARAGRAPH = re.compile(r"(?:<br\s*/?>\s*)+|\n\s*\n", re.IGNORECASE)
_CLOSING = "[\"'”’)\\]]"
_OPENING = "[\"'“‘(\\[`]"
_END = re.compile(
    # A mark (with closing quotes, apart where the text is tokenised), white space, and a capital or digit …
    rf"(?P<mark>[.!?…]+)(?:\s?{_CLOSING})*(?P<gap>\s+)(?=(?:{_OPENING}\s?)*[^\W_a-z])"
    # … or none of the white space, as hurried reviewers write: "so bad.The end".
    r"|(?<=[a-z]{3})(?P<tight>[.!?]+)(?=[A-Z][a-z])"
)
_ABBREVIATIONS = re.compile(
    "mr|mrs|ms|dr|prof|st|rev|hon|gen|sen|rep|gov|lt|col|capt|cmdr|sgt|maj|adm|pres|messrs|mt|ft|vs|no|nos|vol|fig|dept"
    "|jan|feb|mar|apr|jun|jul|aug|sept|oct|nov|dec|cf|al|eg|ie|e[.]g|i[.]e|u[.]s|u[.]k|u[.]n|d[.]c|ph[.]d|a[.]k[.]a",
    re.IGNORECASE,
)
"""Words whose dot does not end a sentence, or too seldom to cut there."""
_LAST_WORD = re.compile(r"[^\s\"'“‘(\[]+$")


def split_sentences(text: str) -> list[str]:
    """The sentences of the text in order, white space collapsed; line breaks (`<br />`, empty lines) end one too."""
    sentences = []
    for paragraph in _PARAGRAPH.split(text):
        start = 0
        for match in _END.finditer(paragraph):
            if match["mark"] == "." and _is_abbreviation(paragraph[start : match.start()]):
                continue
            end = match.end("tight") if match["tight"] else match.start("gap")
            sentences.append(paragraph[start:end])
            start = match.end()
        sentences.append(paragraph[start:])
    collapsed = (" ".join(sentence.split()) for sentence in sentences)
    return [sentence for sentence in collapsed if sentence]


def _is_abbreviation(before: str) -> bool:
    """Whether a dot right after `before` belongs to a shortened word or an initial."""
    last = _LAST_WORD.search(before)
    if last is None:  # a tokenised text: the dot stands alone
        return False
    word = last[0]
    return (len(word) == 1 and word.isupper() and word != "I") or bool(_ABBREVIATIONS.fullmatch(word))
