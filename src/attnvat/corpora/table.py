"""Rows of one file with named columns, whatever the file's format."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice

from attnvat.corpora.bad_rows import BadRows


@dataclass(frozen=True, slots=True)
class Row:
    """One row: where it stands (`line 7`), and its values by column."""

    where: str
    values: dict[str, object]


@dataclass(frozen=True)
class Table:
    """A file with named columns that is read anew, from first row to last, each time it is asked."""

    name: str
    """The file as the person named it."""
    columns: tuple[str, ...]
    read: Callable[[BadRows], Iterator[Row]]
    """Gives the rows; those that are no rows at all (ragged, undecodable) go to the bad ones."""
    has_labels: bool = False
    """Whether its columns are certain (`text` and `label`) because attnvat made them, not the person."""

    def sample(self, size: int = 200) -> list[Row]:
        """Some of the first rows, to guess columns from."""
        return list(islice(self.read(BadRows(skip=True)), size))
