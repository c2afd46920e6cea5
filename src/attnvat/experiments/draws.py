"""On how many draws of test texts a run reaches a score, where the paper's own draw is not known.

A corpus whose test texts are a random part of more texts has a score on that part that hangs on the draw. Whoever has
predictions of all texts knows how it is spread over draws of as many: how many of each cell of the confusion matrix a
draw takes is a multivariate hypergeometric number.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

DRAWS = 20_000


def share_of_draws(confusion: Sequence[Sequence[int]], size: int, score: float) -> float:
    """The share of draws of so many texts on which F1 of the second class is at least `score`, with its two decimals.

    `confusion` is of all texts, true classes by predicted ones.
    """
    cells = np.array(confusion).ravel()
    drawn = np.random.default_rng(0).multivariate_hypergeometric(cells, size, size=DRAWS, method="marginals")
    _, false_positive, false_negative, positive = drawn.T
    found = 200 * positive / (2 * positive + false_positive + false_negative)
    return float((found.round(2) >= score).mean())
