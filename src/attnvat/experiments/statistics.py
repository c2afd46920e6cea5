"""Is a technique better than another: differences paired by seed, their intervals, a test, and Holm's correction.

Two runs of one seed share the initial weights, the order of the data and the unlabelled sample, so their difference is
the unit. Nothing is assumed of its distribution: under the null hypothesis its sign is a coin toss, and the test
enumerates the tosses. Five seeds give 32 outcomes and so no two-sided p below 2/32 = 0.0625; what cannot be decided
with the seeds at hand is called undecided.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from attnvat.report.bootstrap import Interval, bootstrap, mean_of

Floats = NDArray[np.float64]
EXACT = 16
"""Up to so many pairs all 2ⁿ sign flips are counted; beyond, they are drawn."""
DRAWS = 20_000
LEVEL = 0.05
ENOUGH = 5
"""Seeds from which on an interval that leaves out zero is worth a word, even where they are too few for the test."""
Verdict = Literal["better", "worse", "undecided", "too few seeds"]


@dataclass(frozen=True)
class Difference:
    """A technique's mean difference to another, over the seeds both were run with."""

    seeds: tuple[int, ...]
    interval: Interval
    p: float
    """Two-sided sign-flip p-value; NaN with fewer than two seeds."""
    least: float
    """The least p that so many seeds can give."""
    corrected: float = math.nan
    """Holm's p within the family of comparisons."""
    family: int = 1


def paired_difference(ours: Mapping[int, float], reference: Mapping[int, float], seed: int = 0) -> Difference | None:
    """`ours − reference` over the seeds of both, with bootstrap interval and sign-flip test; None without a seed."""
    seeds = tuple(sorted(set(ours) & set(reference)))
    if not seeds:
        return None
    differences = np.array([ours[s] - reference[s] for s in seeds], dtype=np.float64)
    if len(seeds) == 1:
        only = float(differences[0])
        return Difference(seeds, Interval(only, math.nan, math.nan), math.nan, math.nan)
    interval = bootstrap(mean_of(differences), len(seeds), draws=DRAWS, seed=seed)
    return Difference(seeds, interval, sign_flip(differences, seed), least_p(len(seeds)))


def sign_flip(differences: Sequence[float] | Floats, seed: int = 0) -> float:
    """Two-sided p-value of the mean difference when each difference's sign is a coin toss.

    Exact for up to `EXACT` differences; drawn beyond, with the observed outcome counted among the draws.
    """
    values = np.asarray(differences, dtype=np.float64)
    count = len(values)
    observed = abs(values.sum())
    slack = 1e-12 * max(1.0, float(np.abs(values).sum()))
    if count <= EXACT:
        signs = 1 - 2 * ((np.arange(2**count)[:, None] >> np.arange(count)) & 1)
        return float(np.mean(np.abs(signs @ values) >= observed - slack))
    signs = np.random.default_rng([seed, count]).choice(np.array([-1.0, 1.0]), size=(DRAWS, count))
    return float((1 + np.sum(np.abs(signs @ values) >= observed - slack)) / (1 + DRAWS))


def least_p(count: int) -> float:
    """The least two-sided p of `count` pairs: all signs alike."""
    return 2.0 / 2**count if count <= EXACT else 1.0 / (1 + DRAWS)


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down corrected p-values, in the order given; NaN stays NaN and is no comparison."""
    known = [i for i, p in enumerate(p_values) if not math.isnan(p)]
    corrected = [math.nan] * len(p_values)
    reached = 0.0
    for place, i in enumerate(sorted(known, key=lambda i: p_values[i])):
        reached = max(reached, min(1.0, (len(known) - place) * p_values[i]))
        corrected[i] = reached
    return corrected


def family(differences: Sequence[Difference | None]) -> list[Difference | None]:
    """The differences with Holm's correction over all that have seeds enough to be decided at all.

    Whether they have does not depend on what the seeds showed, and the others are never called better or worse: they
    are no chance of an error, and need no share of the level (Tarone 1990).
    """
    tests = [d.p if d.least <= LEVEL else math.nan for d in differences if d is not None]
    corrected = iter(holm(tests))
    size = sum(not math.isnan(p) for p in tests)
    return [
        None
        if d is None
        else Difference(d.seeds, d.interval, d.p, d.least, corrected=next(corrected), family=max(size, 1))
        for d in differences
    ]


def verdict(difference: Difference, level: float = LEVEL, higher_is_better: bool = True) -> Verdict:
    """`better` or `worse` only where the interval leaves out zero and the corrected test agrees."""
    if math.isnan(difference.p) or difference.least * difference.family > level:
        # Even differences that all point one way could not pass the correction.
        return "too few seeds"
    corrected = difference.p if math.isnan(difference.corrected) else difference.corrected
    if corrected > level or not difference.interval.decided:
        return "undecided"
    return "better" if (difference.interval.estimate > 0) == higher_is_better else "worse"
