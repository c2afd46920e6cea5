"""Which columns of a table hold the text, the second text and the label: named by the person, or guessed."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import mean

from attnvat.corpora.table import Table
from attnvat.errors import UserError, nearest

PAIRS = (
    ("hypothesis", "premise"),
    ("sentence2", "sentence1"),
    ("text", "text_pair"),
    ("text_a", "text_b"),
    ("text1", "text2"),
    ("paragraph", "question"),
    ("passage", "question"),
    ("context", "question"),
    ("question1", "question2"),
)
"""Known names of the attended text and the text it is read against."""
TEXTS = ("text", "sentence", "review", "content", "body", "comment", "message", "tweet", "document", "article")
LABELS = ("label", "labels", "gold_label", "class", "category", "sentiment", "target", "topic", "intent", "y")
MOST_CLASSES = 50
"""A column with more different values than this among its first rows is no guess for the label."""


@dataclass(frozen=True)
class Columns:
    """The names of the columns to read."""

    text: str
    pair: str | None
    label: str | None

    def __str__(self) -> str:
        parts = [f"text {self.text!r}"]
        parts += [f"second text {self.pair!r}"] if self.pair else []
        parts += [f"label {self.label!r}"] if self.label else []
        return ", ".join(parts)


def choose(table: Table, text: str | None, pair: str | None, label: str | None, labelled: bool = True) -> Columns:
    """The columns named, the others guessed from known names, then from what the columns hold."""
    given = {"--text": text, "--text-pair": pair, "--label": label if labelled else None}
    for option, name in given.items():
        if name is not None and name not in table.columns:
            raise UserError(f"{table.name}: no column {name!r} ({option}); {nearest(name, table.columns)}")
    if labelled and label is None:
        label = _by_name(table, LABELS, {text, pair}) or _by_few_values(table, {text, pair})
        if label is None:
            raise UserError(f"{table.name}: no column looks like the label; name it with --label ({_listed(table)})")
    if text is None:
        text, pair = _texts(table, pair, {label})
    return Columns(text, pair, label if labelled else None)


def _texts(table: Table, pair: str | None, taken: set[str | None]) -> tuple[str, str | None]:
    by_lower = {column.lower(): column for column in table.columns if column not in taken}
    for first, second in PAIRS:
        if first in by_lower and second in by_lower and pair in (None, by_lower[second]):
            return by_lower[first], by_lower[second]
    text = _by_name(table, TEXTS, {*taken, pair}) or _by_length(table, {*taken, pair})
    if text is None:
        raise UserError(f"{table.name}: no column looks like the text; name it with --text ({_listed(table)})")
    return text, pair


def _by_name(table: Table, known: tuple[str, ...], taken: set[str | None]) -> str | None:
    by_lower = {column.lower(): column for column in table.columns if column not in taken}
    return next((by_lower[name] for name in known if name in by_lower), None)


def _by_few_values(table: Table, taken: set[str | None]) -> str | None:
    """The column with the fewest different values, if each comes twice or more on average."""
    rows = table.sample()
    distinct = {}
    for column in table.columns:
        values = [str(row.values.get(column)) for row in rows]
        if column not in taken and 1 < len(set(values)) <= min(MOST_CLASSES, len(values) / 2):
            distinct[column] = len(set(values))
    return min(distinct, key=distinct.__getitem__, default=None)


def _by_length(table: Table, taken: set[str | None]) -> str | None:
    """The column with the longest strings."""
    rows = table.sample()
    lengths = {}
    for column in table.columns:
        values = [value for row in rows if isinstance(value := row.values.get(column), str)]
        if column not in taken and values:
            lengths[column] = mean(map(len, values))
    return max(lengths, key=lengths.__getitem__, default=None)


def _listed(table: Table) -> str:
    return f"columns: {', '.join(map(repr, table.columns))}"
