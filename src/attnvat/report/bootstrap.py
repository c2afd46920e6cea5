"""Paired bootstrap: confidence intervals of a statistic, and of its difference between two runs on the same examples.

A resample is a row of counts: how often each example was drawn. A statistic takes counts `(R, N)` and gives `(R,)`, so
F1, accuracy and means all are a few matrix products, and a difference is paired because both runs see the same counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Statistic = Callable[[Floats], Floats]
CHUNK = 4_000_000
"""Counts held in memory at once."""


@dataclass(frozen=True)
class Interval:
    """An estimate on all examples, and the percentile interval of its resamples."""

    estimate: float
    low: float
    high: float
    level: float = 0.95

    @property
    def decided(self) -> bool:
        """Whether zero lies outside the interval."""
        return self.low > 0 or self.high < 0


def resamples(examples: int, draws: int, seed: int) -> Iterator[Floats]:
    """Counts of `draws` resamples with replacement, in blocks (R, N); the blocks depend on the seed and N alone."""
    generator = np.random.default_rng([seed, examples])
    block = max(1, CHUNK // examples)
    for start in range(0, draws, block):
        rows = min(block, draws - start)
        drawn = generator.integers(examples, size=(rows, examples)) + examples * np.arange(rows)[:, None]
        yield np.bincount(drawn.ravel(), minlength=rows * examples).reshape(rows, examples).astype(np.float64)


def bootstrap_all(
    statistics: Sequence[Statistic], examples: int, *, draws: int = 2000, level: float = 0.95, seed: int = 0
) -> list[Interval]:
    """Each statistic on all `examples` with its bootstrap interval, all of them on the same resamples.

    Resamples that leave a statistic undefined (NaN) are left out of its interval.
    """
    if examples < 1:
        raise ValueError("a bootstrap needs at least one example")
    everything = np.ones((1, examples))
    drawn: list[list[Floats]] = [[] for _ in statistics]
    for counts in resamples(examples, draws, seed):
        for statistic, values in zip(statistics, drawn, strict=True):
            values.append(statistic(counts))
    return [
        _interval(float(statistic(everything)[0]), np.concatenate(values), level)
        for statistic, values in zip(statistics, drawn, strict=True)
    ]


def bootstrap(
    statistic: Statistic, examples: int, *, draws: int = 2000, level: float = 0.95, seed: int = 0
) -> Interval:
    """One statistic on all `examples` with its bootstrap interval."""
    return bootstrap_all([statistic], examples, draws=draws, level=level, seed=seed)[0]


def difference_of(first: Statistic, second: Statistic) -> Statistic:
    """`second − first`, both on the same resampled examples: a paired difference."""
    return lambda counts: second(counts) - first(counts)


def _interval(estimate: float, drawn: Floats, level: float) -> Interval:
    known = drawn[np.isfinite(drawn)]
    if not len(known):
        return Interval(estimate, float("nan"), float("nan"), level)
    low, high = np.quantile(known, [(1 - level) / 2, (1 + level) / 2])
    return Interval(estimate, float(low), float(high), level)


def mean_of(values: ArrayLike) -> Statistic:
    """The mean of one value per example; examples without a value (NaN) do not count."""
    numbers = np.asarray(values, dtype=np.float64)
    present = np.isfinite(numbers).astype(np.float64)
    filled = np.where(present > 0, numbers, 0.0)

    def mean(counts: Floats) -> Floats:
        weight = counts @ present
        return np.where(weight > 0, counts @ filled / np.maximum(weight, 1), np.nan)

    return mean


def accuracy_of(predicted: ArrayLike, truth: ArrayLike) -> Statistic:
    """The share of examples predicted right."""
    return mean_of(np.asarray(predicted) == np.asarray(truth))


def f1_of(predicted: ArrayLike, truth: ArrayLike, positive: int = 1) -> Statistic:
    """F1 of the positive class, 2·TP / (2·TP + FP + FN); 0 where nothing is positive."""
    guessed, real = np.asarray(predicted) == positive, np.asarray(truth) == positive
    hits = 2.0 * (guessed & real)
    total = guessed.astype(np.float64) + real

    def f1(counts: Floats) -> Floats:
        whole = counts @ total
        return np.asarray(counts @ hits / np.maximum(whole, 1))

    return f1
