"""Spans of words and marks on words, the two ways of writing a rationale down."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Span = tuple[int, int]
"""First word and the one behind the last."""
Marks = npt.NDArray[np.bool_]


def marks_of(spans: Sequence[Span], length: int) -> Marks:
    """True on the words inside any span (T,)."""
    marks = np.zeros(length, dtype=np.bool_)
    for start, end in spans:
        marks[start:end] = True
    return marks


def spans_of(marks: Marks) -> list[Span]:
    """The runs of marked words."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], marks, [False]]).astype(np.int8)))
    return [(int(start), int(end)) for start, end in edges.reshape(-1, 2)]


def top_share(values: npt.NDArray[np.float32], share: float) -> Marks:
    """The share of words with the largest values, rounded, at least one; of equal ones the earlier (T,)."""
    count = min(len(values), max(1, round(share * len(values))))
    marks = np.zeros(len(values), dtype=np.bool_)
    marks[np.argsort(-values, kind="stable")[:count]] = True
    return marks


def above(values: npt.NDArray[np.float32], threshold: float) -> Marks:
    """The words whose value is above a threshold (T,)."""
    return values > threshold


def overlap(a: Span, b: Span) -> float:
    """Intersection over union of two spans."""
    shared = max(0, min(a[1], b[1]) - max(a[0], b[0]))
    union = (a[1] - a[0]) + (b[1] - b[0]) - shared
    return shared / union if union else 0.0
