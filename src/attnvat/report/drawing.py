"""Drawing as SVG text: the same bytes for the same numbers, and colours that follow the page's light or dark theme.

Matplotlib draws in placeholder colours, which are then replaced by CSS variables with a fallback. Inside a report the
page sets the variables; in a file of its own the fallback stands, a grey that is legible on white and on black.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter

MUTED, FAINT, ATTENTION, IMPORTANCE, THIRD, INK = (f"#0{n}0{n}0{n}" for n in range(1, 7))
THEME = {
    MUTED: "var(--muted, #808080)",
    FAINT: "var(--line, #80808055)",
    ATTENTION: "var(--attention, #2f7fc1)",
    IMPORTANCE: "var(--importance, #d9730d)",
    THIRD: "var(--third, #8b7fd0)",
    INK: "var(--ink, #808080)",
}
SERIES = (ATTENTION, IMPORTANCE, THIRD)
STYLE: Any = {
    "svg.fonttype": "none",
    "svg.hashsalt": "attnvat",
    "text.parse_math": False,
    "font.family": "sans-serif",
    "font.size": 9.5,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.edgecolor": MUTED,
    "axes.labelcolor": MUTED,
    "axes.linewidth": 0.8,
    "text.color": MUTED,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.major.width": 0.8,
    "ytick.major.width": 0.8,
    "grid.color": FAINT,
    "grid.linewidth": 0.8,
    "legend.frameon": False,
    "lines.linewidth": 1.8,
}


class Drawing:
    """A figure being drawn; `svg` holds its text once the block has ended."""

    def __init__(self, figure: Figure, axes: list[Axes]) -> None:
        self.figure, self.axes = figure, axes
        self.svg = ""


def logarithmic(axes: Axes) -> None:
    """A logarithmic x axis with plain numbers: matplotlib would write powers of ten in TeX, which we do not typeset."""
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())


@contextmanager
def drawing(name: str, describes: str, width: float = 4.4, height: float = 2.7, panels: int = 1) -> Iterator[Drawing]:
    """Axes in the house style; at the end they become SVG whose ids begin with `name`, labelled `describes`."""
    with matplotlib.rc_context():
        # The reader's own matplotlibrc must not change a report.
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(STYLE)
        figure = Figure(figsize=(width, height), layout="constrained")
        canvas: Any = FigureCanvasSVG(figure)
        drawn = Drawing(figure, list(np.atleast_1d(figure.subplots(1, panels))))
        yield drawn
        written = io.StringIO()
        canvas.print_svg(written, metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    drawn.svg = _themed(written.getvalue(), name, describes)


def in_its_own_file(svg: str) -> str:
    """The drawing with plain colours: what turns a figure into PDF for a paper does not know CSS variables."""
    return re.sub(r"var\(--\w+, (#\w+)\)", r"\1", svg)


def _themed(svg: str, name: str, describes: str) -> str:
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>\s*", "", svg, flags=re.DOTALL)
    svg = re.sub(r"<!--.*?-->\s*", "", svg, flags=re.DOTALL)
    # A style sheet inside an inline SVG would reach the whole page.
    svg = re.sub(r"<style.*?</style>", "", svg, count=1, flags=re.DOTALL)
    svg = re.sub(r'( id="|url\(#|href="#)', rf"\g<1>{name}-", svg)
    svg = re.sub(r'style="[^"]*"', _styled, svg)
    svg = re.sub(r'<svg [^>]*?viewBox="(0 0 (\S+) [^"]*)"[^>]*>', _opening(describes), svg, count=1)
    return svg.strip() + "\n"


def _styled(style: re.Match[str]) -> str:
    text = re.sub(r"font-family: [^;\"]*;? ?", "", style[0])
    for placeholder, colour in THEME.items():
        text = text.replace(placeholder, colour)
    return text


def _opening(describes: str) -> str:
    label = describes.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;").replace("\\", "")
    names = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
    look = 'font-family="system-ui, sans-serif" stroke-linejoin="round"'
    return rf'<svg {names} viewBox="\g<1>" width="\g<2>pt" {look} role="img" aria-label="{label}">'
