"""Rows of a table as examples, rows without text or label set aside."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from attnvat.corpora.bad_rows import BadRows
from attnvat.corpora.columns import Columns
from attnvat.corpora.example import Example
from attnvat.corpora.table import Table
from attnvat.corpora.words import Words
from attnvat.text.tokenizer import Text


def read_examples(table: Table, columns: Columns, bad: BadRows) -> Iterator[Example]:
    """An example for each sound row, in the file's order; its id says where it stands."""
    file = Path(table.name).name
    for row in table.read(bad):
        where = f"{table.name}: {row.where}"
        text = as_text(row.values.get(columns.text))
        pair = as_text(row.values.get(columns.pair)) if columns.pair else None
        label = as_label(row.values.get(columns.label)) if columns.label else None
        if text is None or (columns.pair and pair is None):
            bad.add(where, "no text", f"column {columns.text if text is None else columns.pair!r}")
        elif columns.label and label is None:
            bad.add(where, "no label", f"column {columns.label!r}")
        else:
            yield Example(text, pair, label, id=f"{file}: {row.where}")


def as_text(value: object) -> Text | None:
    """A cell as a text: a string, a list of words as words; None where there is nothing to read."""
    if isinstance(value, str):
        return value.strip() or None
    if isinstance(value, list) and value and all(isinstance(word, str) and word.strip() for word in value):
        return Words("\u00a0".join(word.split()) for word in value)
    if isinstance(value, (int, float)) and not isinstance(value, bool) and value == value:
        return str(value)
    return None


def as_label(value: object) -> str | None:
    """A cell as a class name; None where there is none. A float that counts (1.0) is the integer it means."""
    if isinstance(value, float):
        if value != value:
            return None
        return str(int(value)) if value.is_integer() else str(value)
    if isinstance(value, (str, int)):
        return str(value).strip() or None
    return None
