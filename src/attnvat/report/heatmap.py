"""A text as an HTML heat map: attention as a bar above each word, importance as a bar below it.

Both are told by height as well as by shade, in blue and orange, which the common kinds of colour blindness keep apart.
Words stay inline text, so right-to-left scripts keep their order. The style is `templates/heatmap.css`.
"""

from __future__ import annotations

import numpy as np
from markupsafe import Markup, escape

from attnvat.report.emphasis import Emphasis, right_to_left
from attnvat.report.visible import visible

LONG = 120
"""From this many words on, a text is folded: its densest passage is shown, the whole on demand."""
EXCERPT = 60
STRIP = 240
"""Columns of the strip that shows where in a long text the weight lies."""


def heatmap(shown: Emphasis) -> Markup:
    """The words of a text with their bars; a long text as a strip, its densest passage and a folded whole."""
    count = len(shown.words)
    if count < LONG:
        return passage(shown, 0, count)
    start, end = shown.densest(EXCERPT)
    folded = Markup(
        '<details class="whole"><summary>All {} words</summary><div class="scroll" tabindex="0">{}</div></details>'
    )
    return strip(shown, start, end) + passage(shown, start, end) + folded.format(f"{count:,}", passage(shown, 0, count))


def passage(shown: Emphasis, start: int, end: int) -> Markup:
    """The words [start, end) as one paragraph, human rationales underlined."""
    pieces = ["… "] if start else []
    inside = False
    for i in range(start, end):
        marked = bool(shown.marked[i])
        # The space before a word lies inside the underlined run only where the run goes on.
        space = " " if i > start else ""
        if inside and not marked:
            pieces.append("</u>")
        pieces.append(space)
        if marked and not inside:
            pieces.append('<u class="rationale">')
        pieces.append(_word(shown, i))
        inside = marked
    pieces += ["</u>"] if inside else []
    pieces += [" …"] if end < len(shown.words) else []
    return Markup('<p class="words" dir="auto">{}</p>').format(Markup("".join(pieces)))


def _word(shown: Emphasis, i: int) -> str:
    above, below = shown.heights
    note = f"attention {shown.attention[i]:.3f}"
    if shown.method:
        note += f" · {visible(shown.method)} {shown.importance[i]:.3f}"
    style = f"--a:{above[i]:.2f};--i:{below[i]:.2f}"
    return f'<span class="w" style="{style}" title="{escape(note)}">{escape(shown.words[i])}</span>'


def strip(shown: Emphasis, start: int, end: int) -> Markup:
    """A thin picture of the whole text: attention up, importance down, the shown passage [start, end) shaded."""
    count = len(shown.words)
    columns = min(STRIP, count)
    edges = np.linspace(0, count, columns + 1).astype(int)[:-1]
    above, below = (np.maximum.reduceat(level, edges) for level in shown.heights)
    up = "".join(f"M{x} 12v{-11 * height:.1f}h1V12z" for x, height in enumerate(above) if height >= 0.01)
    down = "".join(f"M{x} 13v{11 * height:.1f}h1V13z" for x, height in enumerate(below) if height >= 0.01)
    # Mirrored where the text runs right to left, so that strip and reading order agree.
    kind = "strip rtl" if right_to_left(shown.words) else "strip"
    left, wide = columns * start / count, columns * (end - start) / count
    return Markup(
        f'<svg class="{kind}" viewBox="0 0 {columns} 25" preserveAspectRatio="none" aria-hidden="true">'
        f'<rect x="{left:.1f}" width="{max(wide, 1):.1f}" height="25"/>'
        f'<path class="up" d="{up}"/><path class="down" d="{down}"/></svg>'
    )


def question(words: list[str]) -> Markup:
    """The text a pair is read against, as a plain paragraph; a long one folds."""
    text = " ".join(visible(word) for word in words)
    paragraph = Markup('<p class="question" dir="auto">{}</p>').format(text)
    if len(words) <= LONG:
        return paragraph
    opening = " ".join(visible(word) for word in words[:24])
    return Markup('<details class="question"><summary dir="auto">{} …</summary>{}</details>').format(opening, paragraph)
