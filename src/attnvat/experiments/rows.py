"""The rows of a table: an arm with the records of its seeds, its measures, and its differences to vanilla."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from attnvat.experiments.arms import Arm, Setup, plans_of, trials_of
from attnvat.experiments.catalogue import Experiment, shown_before
from attnvat.experiments.crossed import crossed_interval, unpack
from attnvat.experiments.languages import pool_and_passes
from attnvat.experiments.pools import PREFIX
from attnvat.experiments.records import Records
from attnvat.experiments.statistics import Difference, family, paired_difference, verdict
from attnvat.report.bootstrap import Interval
from attnvat.report.tables import Cell, Spread, cell, spread
from attnvat.training import Config

TITLES = {
    "sst": "SST",
    "imdb": "IMDB",
    "agnews": "AG News",
    "cnn": "CNN news",
    "snli": "SNLI",
    "multinli": "MultiNLI",
}
"""Corpora as tables name them."""
NOT_RUN = "not run"
TESTED_ABOVE = "tested above"
"""The verdict on a row that an earlier table has too: no comparison is tested twice, by two corrections."""
FEWEST = 3
"""Seeds without which nothing is called the best of a column."""
Record = Mapping[str, Any]
Measure = Callable[[Record], float | None]


def at(*path: str, scale: float = 1.0) -> Measure:
    """The number at a place in a record, None where there is none."""

    def read(record: Record) -> float | None:
        value: Any = record
        for key in path:
            value = value.get(key) if isinstance(value, Mapping) else None
        return scale * value if isinstance(value, int | float) else None

    return read


def importance(name: str, evaluation: str = "test") -> Measure:
    """The mean Pearson correlation of attention and a word importance."""
    return at("measured", evaluation, "correlation", "importances", name, "pearson", "mean")


def pushed(site: str, kind: str, epsilon: float, figure: str, scale: float = 1.0) -> Measure:
    """A figure of predictions under a perturbation of norm ε."""

    def read(record: Record) -> float | None:
        curve = record["measured"]["test"].get("robustness", {}).get("perturbation", {}).get(site, {}).get(kind, {})
        found = [point[figure] for point in curve.get("points", []) if point["epsilon"] == epsilon]
        return scale * found[0] if found and found[0] is not None else None

    return read


SCORE = at("measured", "test", "prediction", "score", scale=100)
WHOLE = at("measured", "whole", "prediction", "score", scale=100)
"""On all texts that those of test are drawn from: where test is a sample, and not in the earlier runs."""
WHOLE_COLUMN = "F1, whole test"
VALIDATION = at("result", "validation", scale=100)
ACCURACY = at("measured", "test", "prediction", "accuracy", scale=100)
PEARSON = importance("gradient")
AUPRC = at("measured", "rationales", "rationales", "attention", "auprc")
"""Of attention as a rationale."""
FLIPS = pushed("attention", "vat", 1.0, "flip_rate", scale=100)
"""Predictions that flip under the worst attention of norm 1, in percent."""


@dataclass(frozen=True)
class Row:
    """An arm and its records by seed."""

    arm: Arm
    records: Mapping[int, Record]
    chosen: Mapping[str, Any]
    """What the arm's searches chose; empty without any on record."""
    budget: int | None
    config: Config
    """Of one of its trials."""
    group: str = ""
    """What its runs have in common, by which arms that are run alike are known to be the same."""
    borrowed: bool = False
    """Whether an earlier table shows it as well, and tests it."""

    def values(self, measure: Measure, seeds: Collection[int] | None = None) -> dict[int, float]:
        """The measure by seed, of the seeds that have it, or of some of them."""
        found = {seed: measure(record) for seed, record in self.records.items() if seeds is None or seed in seeds}
        return {seed: value for seed, value in found.items() if value is not None}

    def cell(self, measure: Measure, seeds: Collection[int] | None = None) -> Spread | str:
        """Mean ± sd over seeds, or that it was not run."""
        values = self.values(measure, seeds)
        return spread(list(values.values())) if values else NOT_RUN

    def text(self, measure: Measure, digits: int = 3) -> str:
        """The same as text, for a column with more or fewer digits than the rest of its table."""
        return cell(self.cell(measure), digits)

    def mean(self, measure: Measure, seeds: Collection[int] | None = None) -> float | None:
        """The mean over seeds."""
        values = self.values(measure, seeds)
        return sum(values.values()) / len(values) if values else None

    @property
    def unlabelled(self) -> str:
        """The unlabelled text as a table shows it."""
        if not self.arm.unlabelled:
            return "–"
        name = str(self.config.unlabeled).removeprefix(PREFIX).partition(":")[0]
        amount = f"{self.config.unlabeled_size:,} " if self.config.unlabeled_size else ""
        return f"{amount}{'the other half' if name == 'corpus' else name}"

    @property
    def pretrained(self) -> str:
        """The text of the language model it starts from, as a table shows it."""
        if not self.config.language_model:
            return "–"
        pool, passes = pool_and_passes(self.config.language_model)
        return f"{pool}, {passes} passes" if passes > 1 else pool

    @property
    def mixed(self) -> str:
        """How many unlabelled texts go with each labelled one, as a table shows it."""
        if not self.arm.unlabelled:
            return "–"
        return "all, by epoch" if self.config.unlabeled_ratio is None else f"{self.config.unlabeled_ratio:g}"

    @property
    def options(self) -> str:
        """The searched options as a table shows them."""
        if self.arm.epsilon is not None:
            return f"ε {self.arm.epsilon:g}, set"
        if not self.arm.searched:
            return "–"
        shown = {"epsilon": "ε", "dropout": "dropout"}
        parts = [f"{shown[name]} {value:.3g}" for name, value in self.chosen.items() if name in shown]
        return ", ".join(parts) if parts else NOT_RUN if not self.records else "default"

    @property
    def whole(self) -> str:
        """The score on all texts that those of test are drawn from; and of how many seeds, where not all have it."""
        values = self.values(WHOLE)
        seeds = f" ({len(values)} of {len(self.records)} seeds)" if len(values) < len(self.records) else ""
        return f"{self.text(WHOLE, 2)}{seeds}" if values else "–"

    def right(self) -> dict[int, Any]:
        """Which test texts each seed's run got right."""
        return {seed: unpack(one["right"]["bits"], one["right"]["texts"]) for seed, one in self.records.items()}


class Reader:
    """Rows from records; an arm that several tables show is looked up once."""

    def __init__(self, records: Records, setup: Setup) -> None:
        self.records, self.setup = records, setup
        self._choices = records.choices()
        self._known: dict[tuple[Arm, str], Row] = {}

    def rows(self, experiment: Experiment, corpus: str) -> list[Row]:
        """The rows of an experiment on a corpus."""
        # By their runs: an arm that names the usual reading or amount has those of the one that leaves it out.
        earlier = {self.row(arm, corpus).group for arm in shown_before(experiment, corpus)}
        rows = [self.row(arm, corpus) for arm in experiment.arms[corpus]]
        return [replace(row, borrowed=row.group in earlier) for row in rows]

    def row(self, arm: Arm, corpus: str) -> Row:
        """The arm with what is on record for it."""
        if (arm, corpus) not in self._known:
            chosen: Mapping[str, Any] = {}
            budget = None
            for plan in plans_of(arm, corpus, self.setup):
                search = self.records.searches.get(plan.identity)
                if search:
                    chosen, budget = {**chosen, **search["chosen"]}, search["budget"]
            trial = trials_of(arm, corpus, self.setup, [0], self._choices)[0]
            found = self.records.by_group.get(trial.group, {})
            self._known[arm, corpus] = Row(arm, found, chosen, budget, trial.config, trial.group)
        return self._known[arm, corpus]


def plain_of(rows: Sequence[Row], labels: int | None = None) -> Row:
    """Vanilla with its own search, or without where only that is shown."""
    found = [r for r in rows if r.arm.plain and r.arm.labels == labels]
    return max(found, key=lambda row: row.arm.searched)


def reference_of(row: Row, rows: Sequence[Row]) -> Row:
    """The row that `row` is held against: vanilla with as many labels that knows as many words, averaged as the row is.

    Averaged vanilla is held against the same without; and so is vanilla with more words.
    """
    arm = row.arm
    wide, averaged = (arm.averaged and arm.wide, False) if arm.reference else (arm.brings_words, arm.averaged)
    vanillas = [other for other in rows if other.arm.reference and other.arm.labels == arm.labels]
    for words in (wide, False):
        found = [v for v in vanillas if (v.arm.wide, v.arm.averaged) == (words, averaged)]
        if found:
            return max(found, key=lambda row: row.arm.searched)
    return plain_of(rows, arm.labels)


def most_seeds(rows: Sequence[Row]) -> set[int]:
    """The places of the rows with the most seeds: only they may be called the best of a column, none with too few."""
    most = max(len(row.records) for row in rows)
    return {place for place, row in enumerate(rows) if len(row.records) == most >= FEWEST}


def differences(rows: Sequence[Row], measure: Measure) -> list[Difference | None]:
    """Each row's paired difference to its reference, Holm-corrected over the rows; None for vanilla.

    A second, untuned vanilla is there to be seen, not to be compared: it would only enlarge the family.
    """
    return corrected(rows, [None if row.arm.plain else reference_of(row, rows) for row in rows], measure)


def differences_to_plain(rows: Sequence[Row], measure: Measure) -> list[Difference | None]:
    """The same to vanilla that knows the words of its labelled texts alone, as the paper compares; only for rows that
    are held against another one in `differences`."""
    return corrected(rows, [plain_of(rows, row.arm.labels) if row.arm.brings_words else None for row in rows], measure)


def corrected(rows: Sequence[Row], references: Sequence[Row | None], measure: Measure) -> list[Difference | None]:
    """Each row's paired difference to its reference, Holm-corrected over the table's own rows with as many labels."""
    found = [
        None if other is None else paired_difference(row.values(measure), other.values(measure))
        for row, other in zip(rows, references, strict=True)
    ]
    for labels in {row.arm.labels for row in rows}:
        places = [place for place, row in enumerate(rows) if row.arm.labels == labels and not row.borrowed]
        for place, difference in zip(places, family([found[place] for place in places]), strict=True):
            found[place] = difference
    return found


def difference_cells(
    row: Row, rows: Sequence[Row], found: Difference | None, higher: bool = True, digits: int | None = None
) -> list[Cell]:
    """Difference to vanilla with interval, corrected p and verdict; `higher` says which direction is better.

    With `digits` the interval is text, for a column with more digits than the rest of its table.
    """
    if found is None:
        reference = row is plain_of(rows, row.arm.labels)
        return ["–", "–", "reference" if reference else "not compared" if row.records else NOT_RUN]
    cells = judged_cells(found, higher, digits)
    return [cells[0], "–", TESTED_ABOVE] if row.borrowed else cells


def judged_cells(found: Difference, higher: bool = True, digits: int | None = None) -> list[Cell]:
    """A difference with interval, corrected p and verdict."""
    p = "–" if math.isnan(found.corrected) else f"{found.corrected:.3f}"
    interval = found.interval if digits is None else cell(found.interval, digits)
    return [interval, p, verdict(found, higher_is_better=higher)]


def crossed(row: Row, reference: Row) -> Interval | None:
    """The row's difference in accuracy (percentage points) to vanilla, over seeds and test texts."""
    found = crossed_interval(row.right(), reference.right())
    if found is None:
        return None
    return Interval(100 * found.estimate, 100 * found.low, 100 * found.high, found.level)
