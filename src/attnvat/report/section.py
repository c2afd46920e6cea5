"""What a section of a report is made of; every measure comes with one line on how to read it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from markupsafe import Markup

from attnvat.report.tables import Cell, Table, cell


@dataclass(frozen=True)
class Measure:
    """A number, its name, and how to read it."""

    name: str
    value: str
    reading: str


@dataclass(frozen=True)
class Plot:
    """An SVG, drawn when it is asked for, with its caption; `full` ones take the whole width."""

    draw: Callable[[], str]
    name: str
    reading: str
    full: bool = False

    @property
    def svg(self) -> Markup:
        """The figure as markup; what people wrote in it was escaped when it was drawn."""
        return Markup(self.draw())


@dataclass(frozen=True)
class Listing:
    """A table with its title and how to read it; a `folded` one opens on demand."""

    title: str
    table: Table
    reading: str = ""
    folded: bool = False


@dataclass
class Section:
    """One part of a report; `headline` are its measures that also stand at the top of the page."""

    id: str
    title: str
    lede: str
    measures: list[Measure] = field(default_factory=list)
    plots: list[Plot] = field(default_factory=list)
    listings: list[Listing] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    headline: list[Measure] = field(default_factory=list)


Glossary = Mapping[str, tuple[str, str]]
"""Key in the evaluation → name on the page, how to read it."""


def measures(values: Mapping[str, Any], glossary: Glossary, digits: int = 3) -> list[Measure]:
    """The measures of the glossary that the evaluation holds, in the glossary's order."""
    return [
        Measure(name, cell(as_cell(values[key]), digits), reading)
        for key, (name, reading) in glossary.items()
        if values.get(key) is not None
    ]


def as_cell(value: Any) -> Cell:
    """A value read from JSON as a table's cell: anything but a number or a text counts as missing."""
    return value if isinstance(value, int | float | str) else None
