"""Which examples are worth looking at: surely right, surely wrong, and where attention and importance part."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Rows = NDArray[np.int64]


@dataclass(frozen=True)
class Kind:
    """A kind of example, as the page names it."""

    id: str
    title: str


RIGHT, WRONG, LOW = Kind("right", "Right"), Kind("wrong", "Wrong"), Kind("low", "Low correlation")


def select_examples(
    confidence: ArrayLike, right: ArrayLike | None, correlation: ArrayLike | None, each: int = 6
) -> dict[str, Rows]:
    """Row numbers by kind, the most telling first: `each` most confident right and wrong, `each` of lowest correlation.

    `right` is None where the truth is not known: all examples then count as neither right nor wrong. Kinds may overlap.
    """
    confidence = np.asarray(confidence, dtype=np.float64)
    surest = np.argsort(-confidence, kind="stable").astype(np.int64, copy=False)
    chosen: dict[str, Rows] = {}
    if right is None:
        chosen["sure"] = surest[:each]
    else:
        known = np.asarray(right, dtype=np.bool_)
        chosen[RIGHT.id] = surest[known[surest]][:each]
        chosen[WRONG.id] = surest[~known[surest]][:each]
    if correlation is not None:
        values = np.asarray(correlation, dtype=np.float64)
        order = np.argsort(values, kind="stable").astype(np.int64, copy=False)
        chosen[LOW.id] = order[np.isfinite(values[order])][:each]
    return chosen


def rows_to_show(chosen: dict[str, Rows]) -> list[int]:
    """The chosen rows, each once: the wrong ones first, since they teach most."""
    order = sorted(chosen, key=lambda kind: kind != WRONG.id)
    return list(dict.fromkeys(int(row) for kind in order for row in chosen[kind]))
