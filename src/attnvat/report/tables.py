"""One table, written as Markdown, LaTeX or for a terminal: numbers as `mean ± sd`, the best of a column marked."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from rich import box
from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.table import Table as RichTable
from rich.text import Text as RichText

from attnvat.report.bootstrap import Interval
from attnvat.report.visible import visible

MISSING = "–"
FOLDED = 28
"""Characters after which words are folded on a terminal where a table is too wide."""
LATEX = str.maketrans(
    {
        "&": r"\&",
        "%": r"\%",
        "$": r"\$",
        "#": r"\#",
        "_": r"\_",
        "{": r"\{",
        "}": r"\}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "\\": r"\textbackslash{}",
        "±": r"$\pm$",
        "−": "$-$",
        "–": "--",
        "×": r"$\times$",
        "ε": r"$\epsilon$",
        "τ": r"$\tau$",
    }
)
MARKDOWN = str.maketrans(
    {"|": r"\|", "\\": r"\\", "`": r"\`", "*": r"\*", "_": r"\_", "<": "&lt;", ">": "&gt;", "&": "&amp;"}
)


@dataclass(frozen=True)
class Spread:
    """A mean over runs or examples, with its sample standard deviation (None for a single value)."""

    mean: float
    sd: float | None = None


Cell = str | int | float | Spread | Interval | None


def spread(values: Sequence[float]) -> Spread:
    """Mean and sample standard deviation (n − 1) of the values."""
    numbers = np.asarray(values, dtype=np.float64)
    if not len(numbers):
        return Spread(math.nan)
    return Spread(float(numbers.mean()), float(numbers.std(ddof=1)) if len(numbers) > 1 else None)


def number(value: float, digits: int) -> str:
    """A number with fixed decimals, a true minus sign, and a dash for no number; never a negative zero."""
    if not math.isfinite(value):
        return MISSING
    shown = f"{value:.{digits}f}"
    return shown.lstrip("-") if float(shown) == 0 else shown.replace("-", "−")


def cell(value: Cell, digits: int = 3) -> str:
    """A cell as plain text: `0.842 ± 0.008`, `+0.012 [0.003, 0.021]`, `1,821`, words as they are."""
    match value:
        case None:
            return MISSING
        case Spread(mean=mean, sd=sd):
            known = sd is not None and math.isfinite(sd) and math.isfinite(mean)
            return number(mean, digits) + (f" ± {number(sd, digits)}" if known and sd is not None else "")
        case Interval(estimate=estimate, low=low, high=high):
            ends = f" [{number(low, digits)}, {number(high, digits)}]" if math.isfinite(low + high) else ""
            return number(estimate, digits) + ends
        case bool() | str():
            return visible(str(value))
        case int():
            return f"{value:,}".replace("-", "−")
        case _:
            return number(float(value), digits)


@dataclass
class Table:
    """Columns, rows of cells, and which cells to set bold."""

    columns: Sequence[str]
    rows: list[Sequence[Cell]]
    caption: str = ""
    digits: int = 3
    bold: set[tuple[int, int]] = field(default_factory=set)
    """(row, column) of cells that stand out."""

    def best(self, column: int, *, highest: bool = True, among: Collection[int] | None = None) -> Table:
        """The same table with the best numbers of a column (of these rows only) bold, equal to the shown digits."""
        means = [_value(row[column]) if among is None or i in among else math.nan for i, row in enumerate(self.rows)]
        known = [round(value, self.digits) for value in means if math.isfinite(value)]
        if known:
            top = max(known) if highest else min(known)
            self.bold |= {
                (i, column)
                for i, value in enumerate(means)
                if math.isfinite(value) and round(value, self.digits) == top
            }
        return self

    def titled(self, caption: str) -> Table:
        """The same table under another caption."""
        return replace(self, caption=caption)

    def texts(self) -> list[list[str]]:
        """The cells as plain text, row by row."""
        return [[cell(value, self.digits) for value in row] for row in self.rows]

    def numeric(self) -> list[bool]:
        """Which columns hold numbers only, and so are set right-aligned."""
        return [
            all(not isinstance(row[i], str) for row in self.rows) and bool(self.rows) for i in range(len(self.columns))
        ]

    def markdown(self) -> str:
        """The table in Markdown, numbers right-aligned."""
        lines = [f"| {' | '.join(_markdown(name) for name in self.columns)} |"]
        lines.append("|" + "|".join("---:" if right else "---" for right in self.numeric()) + "|")
        for i, row in enumerate(self.texts()):
            shown = [f"**{_markdown(text)}**" if (i, j) in self.bold else _markdown(text) for j, text in enumerate(row)]
            lines.append(f"| {' | '.join(shown)} |")
        return "\n".join([*([f"{_markdown(self.caption)}\n"] if self.caption else []), *lines]) + "\n"

    def latex(self, label: str = "") -> str:
        """The table in LaTeX (booktabs)."""
        spec = "".join("r" if right else "l" for right in self.numeric())
        lines = [r"\begin{table}", r"\centering"]
        lines += [rf"\caption{{{_latex(self.caption)}}}"] if self.caption else []
        lines += [rf"\label{{{label}}}"] if label else []
        lines += [rf"\begin{{tabular}}{{{spec}}}", r"\toprule"]
        lines += [" & ".join(_latex(name) for name in self.columns) + r" \\", r"\midrule"]
        for i, row in enumerate(self.texts()):
            shown = [
                rf"\textbf{{{_latex(text)}}}" if (i, j) in self.bold else _latex(text) for j, text in enumerate(row)
            ]
            lines.append(" & ".join(shown) + r" \\")
        return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", r"\end{table}"]) + "\n"

    def only(self, columns: Sequence[int]) -> Table:
        """The same table with these columns alone."""
        rows: list[Sequence[Cell]] = [[row[i] for i in columns] for row in self.rows]
        bold = {(i, columns.index(j)) for i, j in self.bold if j in columns}
        return replace(self, columns=[self.columns[i] for i in columns], rows=rows, bold=bold)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """The table for a terminal: in parts one below the other where it is too wide, and would be cut off.

        Each part begins with the words that say what a row is about.
        """

        def width(columns: Sequence[int], folded: int | None = FOLDED) -> int:
            return Measurement.get(console, options.update(width=100_000), self.only(columns)._rich(folded)).maximum

        every = list(range(len(self.columns)))
        if width(every, None) <= options.max_width:
            yield self._rich()
            return
        heads = max(1, [*self.numeric(), True].index(True))
        while heads > 1 and 2 * width(every[:heads]) > options.max_width:
            heads -= 1
        parts = [every[:heads]]
        for column in every[heads:]:
            if len(parts[-1]) > heads and width([*parts[-1], column]) > options.max_width:
                parts.append(every[:heads])
            parts[-1].append(column)
        for place, part in enumerate(parts):
            yield self.only(part).titled("" if place else self.caption)._rich(FOLDED)

    def _rich(self, folded: int | None = None) -> RichTable:
        """The table as rich sets it, words folded after so many characters; none are read as markup."""
        table = RichTable(
            box=box.SIMPLE_HEAD, title=RichText(visible(self.caption)) if self.caption else None, pad_edge=False
        )
        table.title_justify = "left"
        texts = self.texts()
        for i, (name, right) in enumerate(zip(self.columns, self.numeric(), strict=True)):
            # Numbers are never broken; on a narrow terminal words give way, down to a width that can be read.
            widest = max((len(row[i]) for row in texts), default=0)
            least = min(16, max(len(name), widest))
            shown = visible(name)
            # A long heading over numbers is broken instead, so that it does not push the words out.
            column = RichText(textwrap.fill(shown, max(16, widest)) if right else shown)
            table.add_column(
                column,
                justify="right" if right else "left",
                overflow="fold",
                no_wrap=right,
                min_width=None if right else least,
                max_width=None if right else folded,
            )
        for i, row in enumerate(texts):
            table.add_row(*(RichText(text, style="bold" if (i, j) in self.bold else "") for j, text in enumerate(row)))
        return table


def _value(value: Cell) -> float:
    match value:
        case Spread(mean=mean):
            return mean
        case Interval(estimate=estimate):
            return estimate
        case int() | float():
            return float(value)
        case _:
            return math.nan


def _markdown(text: str) -> str:
    return visible(text).translate(MARKDOWN)


def _latex(text: str) -> str:
    return visible(text).translate(LATEX)
