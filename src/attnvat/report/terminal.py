"""An explanation for the terminal: attention above each word, importance below, told by bars as well as by colour."""

from __future__ import annotations

import math
from collections.abc import Iterator

from rich.cells import cell_len, set_cell_size
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text

from attnvat.evaluation.explanations import Explanation
from attnvat.report.emphasis import Emphasis, emphasis, right_to_left, share
from attnvat.report.heatmap import EXCERPT
from attnvat.report.visible import shortened, visible

BLOCKS, DIGITS = " ▁▂▃▄▅▆▇█", " 123456789"
ATTENTION, IMPORTANCE = "#5aa9e6", "#f0a04b"
BAR = 16
"""Cells of a bar in the word list."""


def render_explanation(explanation: Explanation, method: str | None = None) -> RenderableType:
    """The prediction, the text with its two rows of bars, and the words that weigh most.

    Text with right-to-left words comes as a list of words instead: terminals reorder such lines each in its own way,
    and bars above and below would no longer stand at their words.
    """
    shown = emphasis(explanation, method)
    parts: list[RenderableType] = [_verdict(explanation, shown)]
    if explanation.question:
        parts.append(Text.assemble(("read against: ", "dim"), visible(" ".join(explanation.question))))
    count = len(shown.words)
    start, end = shown.densest(EXCERPT) if count > 2 * EXCERPT else (0, count)
    if any(right_to_left([word]) for word in shown.words[start:end]):
        parts.append(_word_list(shown, range(start, end)))
    else:
        parts += [_legend(shown), Flow(shown, start, end)]
    if end - start < count:
        parts.append(Text(f"words {start + 1:,} to {end:,} of {count:,}, where attention is densest", style="dim"))
    parts.append(_top(shown))
    if shown.marked.any():
        marked = " … ".join(" ".join(shown.words[a:b]) for a, b in explanation.rationale or ())
        parts.append(Text.assemble(("human rationale: ", "dim"), (shortened(marked, 400), "underline")))
    return Group(*parts)


class Flow:
    """The words [start, end) wrapped to the width at hand, three lines a row: attention, words, importance."""

    def __init__(self, shown: Emphasis, start: int, end: int) -> None:
        self.shown, self.start, self.end = shown, start, end

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """The rows, as wide as the console; digits stand for bars where it has no block characters."""
        signs = DIGITS if options.ascii_only else BLOCKS
        above, below = self.shown.heights
        for row in self._rows(max(8, options.max_width)):
            lines = Text(), Text(), Text()
            for i in row:
                word = set_cell_size(self.shown.words[i], min(cell_len(self.shown.words[i]), options.max_width - 1))
                wide = max(1, cell_len(word))
                lines[0].append(_sign(above[i], signs) * wide + " ", style=ATTENTION)
                lines[1].append(word, style=_tint(above[i]) + (" underline" if self.shown.marked[i] else ""))
                lines[1].append(" ")
                lines[2].append(_sign(below[i], signs) * wide + " ", style=IMPORTANCE)
            for line in lines:
                line.rstrip()
                line.no_wrap = True
            yield from lines
            yield Text()

    def _rows(self, width: int) -> Iterator[list[int]]:
        row: list[int] = []
        used = 0
        for i in range(self.start, self.end):
            wide = min(max(1, cell_len(self.shown.words[i])), width - 1) + 1
            if row and used + wide > width:
                yield row
                row, used = [], 0
            row.append(i)
            used += wide
        if row:
            yield row


def _verdict(explanation: Explanation, shown: Emphasis) -> Text:
    predicted = explanation.prediction
    line = Text.assemble(
        (shortened(explanation.labels[predicted], 40), "bold"), f" {explanation.probabilities[predicted]:.3f}"
    )
    if explanation.label is not None:
        right = explanation.label == predicted
        line.append(
            "  ✓ right" if right else f"  ✗ wrong, true: {shortened(explanation.labels[explanation.label], 40)}"
        )
    if math.isfinite(shown.correlation):
        line.append(f"  correlation {shown.correlation:.2f}".replace("-", "−"), style="dim")
    return line


def _legend(shown: Emphasis) -> Text:
    return Text.assemble(
        ("above: attention", ATTENTION), "   ", (f"below: {visible(shown.method) or 'no importance'}", IMPORTANCE)
    )


def _top(shown: Emphasis) -> Text:
    line = Text()
    for name, values, colour in (
        ("attention", shown.attention, ATTENTION),
        (shown.method, shown.importance, IMPORTANCE),
    ):
        words = ", ".join(f"{shortened(word, 24)} {share(value)}" for word, value in shown.top(values))
        if name and words:
            line.append(f"most {visible(name)}: ", style=colour).append(f"{words}\n")
    line.rstrip()
    return line


def _word_list(shown: Emphasis, rows: range) -> Table:
    table = Table(box=None, pad_edge=False)
    for name in ("word", "attention", "", shown.method or "importance", ""):
        table.add_column(Text(visible(name)), justify="left")
    above, below = shown.heights
    for i in rows:
        table.add_row(
            Text(shown.words[i], style="underline" if shown.marked[i] else ""),
            Text(_bar(above[i]), style=ATTENTION),
            f"{shown.attention[i]:.3f}",
            Text(_bar(below[i]), style=IMPORTANCE),
            f"{shown.importance[i]:.3f}",
        )
    return table


def _bar(height: float) -> str:
    eighths = round(float(height) * BAR * 8)
    return "█" * (eighths // 8) + ("", "▏", "▎", "▍", "▌", "▋", "▊", "▉")[eighths % 8]


def _sign(height: float, signs: str) -> str:
    return signs[math.ceil(float(height) * (len(signs) - 1) - 0.05)] if height > 0.01 else signs[0]


def _tint(height: float) -> str:
    if height < 0.15:
        return ""
    return "bold" if height < 0.5 else f"bold {ATTENTION}"
