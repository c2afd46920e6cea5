"""The page of a comparison: measures side by side, differences with their intervals, and texts on which runs part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from attnvat.evaluation.explanations import Explanation
from attnvat.report import figures
from attnvat.report.bootstrap import Interval
from attnvat.report.compare import Compared, Comparison
from attnvat.report.emphasis import emphasis
from attnvat.report.examples import Shown, shown_example
from attnvat.report.page import Theme, render
from attnvat.report.tables import Table, cell, number
from attnvat.storage import atomic_write


@dataclass(frozen=True)
class Line:
    """One measure as the page shows it: the runs' values, and each difference with its range and direction."""

    name: str
    reading: str
    values: list[str]
    differences: list[tuple[str, str, str]]
    """Difference with its sign, its interval, and `up`, `down` or nothing where zero lies inside."""


def comparison_html(
    title: str,
    comparison: Comparison,
    explanations: Sequence[Mapping[str, Explanation]] = (),
    *,
    facts: Mapping[str, object] | None = None,
    foot: Sequence[str] = (),
    theme: Theme = "auto",
) -> str:
    """The page as text."""
    others = comparison.names[1:]
    intervals = [
        (row.name, name, difference)
        for row in comparison.rows
        for name, difference in zip(comparison.names, row.differences, strict=False)
        if difference is not None and difference.low == difference.low
    ]
    columns = ["run", "both right", f"only {comparison.names[0]}", "only this run", "both wrong"]
    examples = [_stacked(example) for example in explanations]
    contents = [("measures", "Measures"), ("differences", "Differences"), ("agreement", "Agreement")]
    return render(
        "comparison.html",
        title=title,
        facts=[(name, str(value)) for name, value in (facts or {}).items()],
        headlines=[],
        contents=contents + ([("examples", "Examples")] if examples else []),
        chosen_theme=theme,
        names=comparison.names,
        others=others,
        lines=[_line(row, len(others)) for row in comparison.rows],
        level=f"{100 * comparison.level:g}%",
        draws=f"{comparison.draws:,}",
        count=f"{comparison.examples:,}",
        plot=Markup(figures.differences(intervals)),
        agreement=Table(columns, [[name, *parts] for name, parts in zip(others, comparison.agreement, strict=True)]),
        examples=examples,
        any_rationale=any(one.rationale for example in explanations for one in example.values()),
        foot=foot,
    )


def write_comparison(
    path: Path | str,
    title: str,
    comparison: Comparison,
    explanations: Sequence[Mapping[str, Explanation]] = (),
    *,
    facts: Mapping[str, object] | None = None,
    foot: Sequence[str] = (),
    theme: Theme = "auto",
) -> Path:
    """Write the comparison as one self-contained HTML file, and give its path.

    `explanations` are examples to show, each as its explanation by every run's name.
    """
    page = comparison_html(title, comparison, explanations, facts=facts, foot=foot, theme=theme)
    with atomic_write(path) as handle:
        handle.write(page)
    return Path(path)


def _stacked(example: Mapping[str, Explanation]) -> list[tuple[str, Shown]]:
    return [(name, shown_example(one, emphasis(one))) for name, one in example.items()]


def _line(row: Compared, others: int) -> Line:
    values = [cell(value.estimate if isinstance(value, Interval) else value) for value in row.values]
    return Line(row.name, row.reading, values, [_difference(one) for one in row.differences[1:] or [None] * others])


def _difference(at: Interval | None) -> tuple[str, str, str]:
    if at is None:
        return "", "", ""
    direction = ("up" if at.estimate > 0 else "down") if at.decided else ""
    sign = "+" if at.estimate > 0 and number(at.estimate, 3) != "0.000" else ""
    return sign + number(at.estimate, 3), f"[{number(at.low, 3)}, {number(at.high, 3)}]", direction
