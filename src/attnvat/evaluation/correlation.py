"""Does attention tell the truth: its correlation with word importance, text by text.

Pearson is the paper's, Kendall's τ that of Jain & Wallace. Both are taken over the real tokens of one text; the report
is their mean and spread over texts. A vector without variation has no correlation: such texts are left out and counted,
as are texts of one word. (A text of two words always gives ±1; it counts, as it does for scipy.)
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from attnvat.evaluation.token_values import TokenValues

Numbers = npt.NDArray[np.float64]
BLOCK = 256
"""Words whose order is compared with that of all later words at once by Kendall's τ."""
EARLIER = np.triu(np.ones((BLOCK, BLOCK), dtype=bool), 1)


def pearson(a: TokenValues, b: TokenValues) -> Numbers:
    """Pearson's correlation of two numbers a token within each text, NaN where there is none (N,)."""
    x, y = _centred(a), _centred(b)
    xy, xx, yy = a.sums(x * y), a.sums(x * x), a.sums(y * y)
    defined = varies(a) & varies(b)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(defined, np.clip(xy / np.sqrt(xx * yy), -1, 1), np.nan)


def kendall(a: TokenValues, b: TokenValues) -> Numbers:
    """Kendall's τ-b of two numbers a token within each text, NaN where there is none (N,)."""
    found = np.full(len(a), np.nan)
    for row in np.flatnonzero(varies(a) & varies(b)).tolist():
        found[row] = _tau(a[row], b[row])
    return found


def varies(a: TokenValues) -> npt.NDArray[np.bool_]:
    """Whether a text's numbers differ by more than the rounding of single precision (N,)."""
    centred = _centred(a)
    largest = np.maximum.reduceat(np.abs(a.values), a.offsets[:-1]) if len(a) else np.zeros(0)
    rounding = 4 * np.finfo(np.float32).eps * largest.astype(np.float64)
    return np.asarray(a.sums(centred * centred) > a.lengths * rounding**2)


def left_out(a: TokenValues, b: TokenValues) -> dict[str, int]:
    """How many texts have no correlation, and why."""
    short = a.lengths < 2
    constant = ~short & ~(varies(a) & varies(b))
    return {"too_short": int(short.sum()), "constant": int(constant.sum())}


def entropy(attention: TokenValues) -> Numbers:
    """Entropy of the attention divided by that of equal attention: 1 is spread evenly, 0 is on one word (N,).

    A text of one word has no choice to make: NaN.
    """
    p = attention.values.astype(np.float64)
    raw = attention.sums(-p * np.log(np.where(p > 0, p, 1.0)))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(attention.lengths > 1, raw / np.log(attention.lengths), np.nan)


def score_spread(scores: TokenValues) -> Numbers:
    """Standard deviation of each text's scores: the scale against which a perturbation's ε is small or large (N,)."""
    centred = _centred(scores)
    return np.sqrt(scores.sums(centred * centred) / scores.lengths)


def score_peak(scores: TokenValues) -> Numbers:
    """How far the largest score of each text stands above its mean (N,)."""
    return np.maximum.reduceat(_centred(scores), scores.offsets[:-1]) if len(scores) else np.zeros(0)


def _centred(a: TokenValues) -> Numbers:
    """The numbers less their text's mean, flat."""
    x = a.values.astype(np.float64)
    return x - a.spread(a.sums(x) / a.lengths)


def _tau(a: npt.NDArray[np.float32], b: npt.NDArray[np.float32]) -> float:
    """τ-b = (C − D)/√(A·B) with A, B the pairs untied in a and in b; one comparison a pair.

    In the order of a, and of b where a is tied, the discordant pairs D are those whose b stands the wrong way round.
    """
    order = a.argsort()
    tied_a, tied_both = _tied(_same(a[order])), 0
    if tied_a:
        order = np.lexsort((b, a))
        tied_both = _tied(_same(a[order]) & _same(b[order]))
    b, n = b[order], len(b)
    tied_b, pairs, discordant = _tied(_same(np.sort(b))), n * (n - 1) // 2, 0
    for start in range(0, n, BLOCK):
        block = b[start : start + BLOCK, None]
        wrong = block > b[start:]
        wrong[:, : len(block)] &= EARLIER[: len(block), : len(block)]
        discordant += int(np.count_nonzero(wrong))
    untied = float(pairs - tied_a) * float(pairs - tied_b)
    balance = pairs - tied_a - tied_b + tied_both - 2 * discordant
    return float(balance / np.sqrt(untied)) if untied else float("nan")


def _same(values: npt.NDArray[np.float32]) -> npt.NDArray[np.bool_]:
    """Where a value equals the one before it."""
    return np.asarray(values[1:] == values[:-1])


def _tied(same: npt.NDArray[np.bool_]) -> int:
    """How many pairs of sorted values are equal, given where one equals the value before it."""
    if not same.any():
        return 0
    bounds = np.concatenate(([0], np.flatnonzero(~same) + 1, [len(same) + 1]))
    runs = np.diff(bounds)
    return int((runs * (runs - 1) // 2).sum())
