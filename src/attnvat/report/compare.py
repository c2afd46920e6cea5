"""Several runs on the same examples: each measure side by side, differences with paired bootstrap intervals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attnvat.errors import UserError
from attnvat.report.bootstrap import Floats, Interval, Statistic, bootstrap_all, difference_of, f1_of, mean_of
from attnvat.report.tables import Cell, Table

Classes = NDArray[np.int64]
Evaluation = Mapping[str, Any]
PLAIN = (
    ("ROC-AUC", "Chance that a positive scores above a negative.", ("prediction", "roc_auc")),
    ("Calibration error", "Gap of confidence and accuracy; 0 is best.", ("prediction", "calibration", "ece")),
    ("Attention entropy", "1 is spread evenly, 0 is on one word.", ("correlation", "attention", "entropy", "mean")),
    ("Score spread", "Scale of the scores before the softmax.", ("correlation", "attention", "score_sd", "mean")),
    ("Shuffled attention, TVD", "Change by random attention.", ("robustness", "permutation", "median_tvd", "mean")),
    ("Substituted words, flips", "Predictions changed by near words.", ("robustness", "substitution", "flip_rate")),
)
"""Measures that are not means over examples: side by side, without an interval."""


@dataclass(frozen=True)
class Compared:
    """One measure of all runs, with the later runs' differences to the first where examples can be resampled."""

    name: str
    reading: str
    values: list[Interval | float | None]
    differences: list[Interval | None] = field(default_factory=list)
    """One for each run, the first's None; empty for measures without intervals."""


@dataclass(frozen=True)
class Comparison:
    """What several evaluations say about the same examples; the first run is the one the others are held against."""

    names: list[str]
    rows: list[Compared]
    examples: int
    agreement: list[tuple[int, int, int, int]]
    """For each later run: examples that both got right, only the first, only the later one, and neither."""
    disagreement: list[int]
    """Rows of the examples that some runs got right and others wrong."""
    draws: int
    level: float


def compare(
    evaluations: Mapping[str, Evaluation], *, draws: int = 2000, level: float = 0.95, seed: int = 0
) -> Comparison:
    """The comparison of evaluations by run name; all must be of the same examples and hold the suite `prediction`."""
    names, found = list(evaluations), list(evaluations.values())
    labels = _same_examples(evaluations)
    predictions = [np.asarray(one["prediction"]["instances"]["prediction"], dtype=np.int64) for one in found]
    measured = list(_measured(found, predictions, labels))
    statistics = [statistic for _, _, values, apart in measured for statistic in (*values, *apart)]
    intervals = iter(bootstrap_all(statistics, len(labels), draws=draws, level=level, seed=seed))
    rows = [
        Compared(name, reading, [next(intervals) for _ in values], [None, *(next(intervals) for _ in apart)])
        for name, reading, values, apart in measured
    ]
    rows += [Compared(name, reading, [_at(one, path) for one in found]) for name, reading, path in PLAIN]
    rows = [row for row in rows if any(value is not None for value in row.values)]
    right = np.stack([predicted == labels for predicted in predictions])
    agreement = [_agreement(right[0], other) for other in right[1:]]
    apart_rows = np.flatnonzero(right.any(axis=0) & ~right.all(axis=0)).tolist()
    return Comparison(names, rows, len(labels), agreement, apart_rows, draws, level)


def _same_examples(evaluations: Mapping[str, Evaluation]) -> Classes:
    if len(evaluations) < 2:
        raise UserError("a comparison needs at least two runs")
    for name, evaluation in evaluations.items():
        if "prediction" not in evaluation:
            raise UserError(f"{name}: its evaluation has no suite 'prediction'; evaluate it with --suite prediction")
    names, parts = list(evaluations), [evaluation["prediction"] for evaluation in evaluations.values()]
    for name, part in zip(names, parts, strict=True):
        if part["labels"] != parts[0]["labels"]:
            mine, first = ", ".join(part["labels"]), ", ".join(parts[0]["labels"])
            raise UserError(f"{name}: predicts {mine}, but {names[0]} {first}; compare runs of the same task")
        if part["instances"]["label"] != parts[0]["instances"]["label"]:
            raise UserError(f"{name}: was evaluated on other examples than {names[0]}; use the same data and split")
    return np.asarray(parts[0]["instances"]["label"], dtype=np.int64)


def _measured(
    found: Sequence[Evaluation], predictions: Sequence[Classes], labels: Classes
) -> Iterator[tuple[str, str, list[Statistic], list[Statistic]]]:
    """Name, reading, each run's statistic and each later run's difference to the first."""
    if found[0]["prediction"]["metric"] == "f1":
        scores = [f1_of(predicted, labels) for predicted in predictions]
        yield "F1", "How well the positive class is found.", scores, [difference_of(scores[0], s) for s in scores[1:]]
    for name, reading, values in _means(found, predictions, labels):
        # A mean of differences counts only the examples that have a value in both runs.
        yield name, reading, [mean_of(one) for one in values], [mean_of(other - values[0]) for other in values[1:]]


def _means(
    found: Sequence[Evaluation], predictions: Sequence[Classes], labels: Classes
) -> Iterator[tuple[str, str, list[Floats]]]:
    """Name, reading and one value per example and run (N,), NaN where there is none, of measures that are means."""
    yield "Accuracy", "The share predicted right.", [(one == labels).astype(np.float64) for one in predictions]
    sure = [_floats(one["prediction"]["instances"]["probability"]) for one in found]
    yield "Probability of the truth", "Mean probability of the true class.", sure
    count = len(labels)
    if all("correlation" in one for one in found):
        measured = [one["correlation"]["instances"] for one in found]
        for importance in measured[0]:
            if all(importance in one for one in measured):
                for key, name in (("pearson", "Pearson"), ("kendall", "Kendall τ")):
                    values = [_placed(one[importance]["rows"], one[importance][key], count) for one in measured]
                    yield f"{name}, {importance}", "Attention against word importance; 1 is the same shape.", values
    if all((one.get("rationales") or {}).get("documents") for one in found):
        marked = [one["rationales"]["instances"] for one in found]
        for key, name in (("token_f1", "Rationale token F1"), ("auprc", "Rationale AUPRC")):
            values = [_placed(one["rows"], one["attention"][key], count) for one in marked]
            yield name, "Attention against the words people marked.", values


def _placed(rows: Sequence[int], numbers: Sequence[float | None], examples: int) -> Floats:
    """The values of the measured rows at their places among all examples, NaN elsewhere (N,)."""
    values = np.full(examples, np.nan)
    values[np.asarray(rows, dtype=np.int64)] = _floats(numbers)
    return values


def _floats(numbers: Sequence[float | None]) -> Floats:
    return np.array([np.nan if number is None else number for number in numbers], dtype=np.float64)


def _at(value: Any, path: Sequence[str]) -> float | None:
    for key in path:
        value = value.get(key) if isinstance(value, Mapping) else None
    return float(value) if isinstance(value, int | float) else None


def _agreement(first: NDArray[np.bool_], other: NDArray[np.bool_]) -> tuple[int, int, int, int]:
    parts = [first & other, first & ~other, ~first & other, ~first & ~other]
    both, only_first, only_other, neither = (int(np.count_nonzero(part)) for part in parts)
    return both, only_first, only_other, neither


def comparison_table(comparison: Comparison) -> Table:
    """The comparison as a table: a row a measure, a column a run, then each difference; decided ones are bold."""
    columns = ["measure", *comparison.names, *(f"{name} − {comparison.names[0]}" for name in comparison.names[1:])]
    rows: list[Sequence[Cell]] = []
    bold = set()
    for place, row in enumerate(comparison.rows):
        estimates = [value.estimate if isinstance(value, Interval) else value for value in row.values]
        differences = row.differences[1:] or [None] * (len(comparison.names) - 1)
        rows.append([row.name, *estimates, *differences])
        decided = [i for i, one in enumerate(differences) if one is not None and one.decided]
        bold |= {(place, 1 + len(estimates) + i) for i in decided}
    return Table(columns, rows, bold=bold)
