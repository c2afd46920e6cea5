"""People's own rationales: texts with the characters that matter, one JSON object a line."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from attnvat.corpora.example import Example
from attnvat.errors import UserError, nearest
from attnvat.evaluation.spans import Span, marks_of, spans_of
from attnvat.storage import open_binary
from attnvat.text.tokenizer import Tokenizer

KEYS = ("text", "label", "rationale", "pair", "id", "genre")


def read_rationales(path: Path | str, tokenizer: Tokenizer | None = None) -> list[Example]:
    """The examples of a JSONL file, `{"text": …, "label": …, "rationale": [[start, end], …]}`, compressed or not.

    Spans are characters of `text`, the end not included; they become spans of words: a word belongs to a rationale if
    any character of it does. `label`, `pair`, `id` and `genre` may be left out, other keys are passed over.
    """
    tokenizer = tokenizer or Tokenizer()
    examples = []
    with open_binary(path) as handle:
        for number, line in enumerate(handle, start=1):
            if line.strip():
                examples.append(_example(line, f"{path}: line {number}", tokenizer))
    if not examples:
        raise UserError(f"{path}: holds no examples; write one JSON object a line with text and rationale")
    return examples


def _example(line: bytes, where: str, tokenizer: Tokenizer) -> Example:
    try:
        fields = json.loads(line.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise UserError(f"{where}: not UTF-8 text ({error.reason}); save the file as UTF-8") from error
    except ValueError as error:
        raise UserError(f"{where}: not valid JSON ({error})") from error
    if not isinstance(fields, dict):
        raise UserError(f"{where}: expected a JSON object with text and rationale")
    for key in ("text", "rationale"):
        if key not in fields:
            other = next((name for name in fields if nearest(name, [key]).startswith("did")), None)
            says = f"did you mean {key!r} where it says {other!r}?" if other else f"it has: {', '.join(fields)}"
            raise UserError(f"{where}: has no {key!r}; {says}")
    for key in ("text", "label", "pair", "id", "genre"):
        if not isinstance(fields.get(key), str | None if key != "text" else str):
            raise UserError(f"{where}: {key} is {fields[key]!r}; it must be a string")
    text = fields["text"]
    spans = word_spans(text, fields["rationale"], where, tokenizer)
    return Example(
        text=text,
        pair=fields.get("pair"),
        label=fields.get("label"),
        rationale=tuple(spans),
        id=fields.get("id") or where,
        genre=fields.get("genre"),
    )


def word_spans(text: str, spans: Any, where: str, tokenizer: Tokenizer) -> list[Span]:
    """Spans of words for spans of characters, sorted, those that touch joined."""
    if not isinstance(spans, list):
        raise UserError(f"{where}: rationale is {spans!r}; it must be a list of [start, end] pairs")
    words = tokenizer.spans(text)
    found: list[Span] = []
    for span in spans:
        start, end = _checked(span, text, where)
        inside = [place for place, (first, behind) in enumerate(words) if first < end and behind > start]
        if not inside:
            raise UserError(f"{where}: the rationale {start}–{end} holds no word, only {text[start:end]!r}")
        found.append((inside[0], inside[-1] + 1))
    return spans_of(marks_of(found, len(words)))


def _checked(span: Any, text: str, where: str) -> Span:
    """A span of characters that lies in the text."""
    pair = span if isinstance(span, Sequence) and not isinstance(span, str) else ()
    if len(pair) != 2 or not all(isinstance(at, int) and not isinstance(at, bool) for at in pair):
        raise UserError(f"{where}: the rationale {span!r} is not a pair of whole numbers [start, end]")
    start, end = pair
    if not 0 <= start < end <= len(text):
        raise UserError(
            f"{where}: the rationale {start}–{end} does not lie in the text, which has {len(text)} characters"
        )
    return start, end
