"""What is searched for each technique: the strength of its regulariser, on validation data, by equal budgets.

Every technique but vanilla has ε, searched log-uniformly over [0.01, 30] as in the paper. Vanilla has no ε; comparing
a tuned technique with an untuned one would credit the tuning, so vanilla's budget goes to the strength of the one
regulariser it has: dropout, where 0 (the paper's vanilla) is always among the rates tried.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import optuna
from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution

from attnvat.errors import UserError
from attnvat.techniques import options_of
from attnvat.techniques.difference import READINGS

EPSILON = (0.01, 30.0)
DROPOUT = (0.0, 0.7)


@dataclass(frozen=True)
class Space:
    """The options searched: one number between bounds, and a reading of the difference basis where asked."""

    option: str
    low: float
    high: float
    log: bool
    readings: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not (self.low > 0 if self.log else self.low >= 0) or not self.low < self.high:
            raise UserError(f"{self.option} cannot be searched from {self.low} to {self.high}; give 0 < low < high")

    def distributions(self) -> dict[str, BaseDistribution]:
        """The space as Optuna knows it."""
        found: dict[str, BaseDistribution] = {self.option: FloatDistribution(self.low, self.high, log=self.log)}
        if self.readings:
            found["reading"] = CategoricalDistribution(self.readings)
        return found

    def suggest(self, trial: optuna.Trial) -> dict[str, Any]:
        """The next options to try."""
        found: dict[str, Any] = {self.option: trial.suggest_float(self.option, self.low, self.high, log=self.log)}
        if self.readings:
            found["reading"] = trial.suggest_categorical("reading", self.readings)
        return found

    def starting_points(self, count: int, seed: int) -> list[dict[str, Any]]:
        """One point from each of `count` equal slices of the space, in random order: small budgets cover it evenly."""
        generator = np.random.default_rng([seed, count])
        shares = (generator.permutation(count) + generator.random(count)) / count
        if self.option == "dropout" and count:
            shares[0] = 0.0
        if self.log:
            values = np.exp(np.log(self.low) + shares * (np.log(self.high) - np.log(self.low)))
        else:
            values = self.low + shares * (self.high - self.low)
        points: list[dict[str, Any]] = [{self.option: float(np.clip(value, self.low, self.high))} for value in values]
        if self.readings:
            for place, point in enumerate(points):
                point["reading"] = self.readings[place % len(self.readings)]
        return points


def space_of(
    technique: str, readings: tuple[str, ...] = (), low: float | None = None, high: float | None = None
) -> Space:
    """The space searched for a technique; bounds and readings where they are given."""
    taken = options_of(technique)
    if readings and "reading" not in taken:
        raise UserError(f"{technique} has no reading to search; only attention-iat and attention-ivat have")
    for reading in readings:
        if reading not in READINGS:
            raise UserError(f"no reading {reading!r}; known: {', '.join(READINGS)}")
    option, bounds = ("epsilon", EPSILON) if "epsilon" in taken else ("dropout", DROPOUT)
    return Space(
        option, bounds[0] if low is None else low, bounds[1] if high is None else high, option == "epsilon", readings
    )
