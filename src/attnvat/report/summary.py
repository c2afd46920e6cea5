"""An evaluation in a terminal: the measures of each suite, and the tables that are not folded on the page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from attnvat.report.page import report_sections
from attnvat.report.tables import Cell, Table


def summary(evaluation: Mapping[str, Any]) -> RenderableType:
    """The numbers of the report, section by section."""
    parts: list[RenderableType] = []
    for section in report_sections(evaluation):
        parts.append(Text(section.title, style="bold"))
        rows: list[list[Cell]] = [[measure.name, measure.value] for measure in section.measures]
        if rows:
            parts.append(Table(["measure", "value"], [*rows]))
        parts += [item.table.titled(item.title) for item in section.listings if not item.folded]
    return Group(*parts)
