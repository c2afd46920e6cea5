"""What of an explanation is shown, on a page or a terminal: attention beside importance, word by word."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from attnvat.evaluation.explanations import Explanation
from attnvat.report.visible import visible

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Emphasis:
    """The words of a text with two weights each, both shares that sum to 1."""

    words: tuple[str, ...]
    attention: Floats
    """Attention weights (T,)."""
    importance: Floats
    """Sizes of the importances, scaled to sum to 1 (T,)."""
    method: str
    """How importance was computed."""
    marked: NDArray[np.bool_]
    """Words inside the human rationale (T,)."""
    correlation: float
    """Pearson correlation of attention with importance, NaN where one of them is constant."""

    @cached_property
    def heights(self) -> tuple[Floats, Floats]:
        """Both weights as heights in [0, 1], the largest of the text being 1."""
        return _heights(self.attention), _heights(self.importance)

    def top(self, values: Floats, count: int = 5) -> list[tuple[str, float]]:
        """The words with the largest `values`, largest first: each word once, none without weight."""
        largest: dict[str, float] = {}
        for i in np.argsort(-values, kind="stable"):
            if len(largest) == count or not values[i]:
                break
            largest.setdefault(self.words[i], float(values[i]))
        return list(largest.items())

    def densest(self, width: int) -> tuple[int, int]:
        """The run of `width` words holding most attention, as [start, end)."""
        if len(self.words) <= width:
            return 0, len(self.words)
        sums = np.convolve(self.attention, np.ones(width), mode="valid")
        start = int(sums.argmax())
        return start, start + width


def emphasis(explanation: Explanation, method: str | None = None) -> Emphasis:
    """The explanation ready to show, importance by `method` or else by the first method it holds."""
    count = len(explanation.words)
    method = method or next(iter(explanation.importance), "")
    importance = np.abs(np.nan_to_num(np.asarray(explanation.importance.get(method, [0.0] * count), dtype=np.float64)))
    attention = np.nan_to_num(np.asarray(explanation.attention, dtype=np.float64))
    if not len(attention) == len(importance) == count:
        raise ValueError(f"{count} words, {len(attention)} attention weights, {len(importance)} importances")
    marked = np.zeros(count, dtype=np.bool_)
    for start, end in explanation.rationale or ():
        marked[start:end] = True
    total = importance.sum()
    shares = importance / total if total else importance
    words = tuple(visible(word) for word in explanation.words)
    return Emphasis(words, attention, shares, method, marked, pearson(attention, importance))


def pearson(first: Floats, second: Floats) -> float:
    """Pearson correlation of two weightings of the same words; NaN where one is constant."""
    if len(first) < 2 or np.ptp(first) == 0 or np.ptp(second) == 0:
        return float("nan")
    return float(np.corrcoef(first, second)[0, 1])


def right_to_left(words: Sequence[str]) -> bool:
    """Whether the first letter with a direction runs right to left (what HTML's `dir="auto"` goes by)."""
    for word in words:
        for character in word:
            direction = unicodedata.bidirectional(character)
            if direction in ("L", "R", "AL"):
                return direction != "L"
    return False


def share(weight: float) -> str:
    """A weight in few digits; a text of a thousand words has small ones."""
    return f"{weight:.2f}" if weight >= 0.02 else f"{weight:.4f}"


def _heights(values: Floats) -> Floats:
    top = float(values.max(initial=0.0))
    return values / top if top > 0 else np.zeros_like(values)
