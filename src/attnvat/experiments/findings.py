"""What the tables let one say, in sentences: what is better or worse, and what only looks so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from attnvat.experiments.catalogue import EXPERIMENTS, Experiment
from attnvat.experiments.choices import CONTRASTS, contrasts_said
from attnvat.experiments.glance import GLANCES, LEGEND, WITHIN
from attnvat.experiments.rows import (
    ACCURACY,
    AUPRC,
    FLIPS,
    PEARSON,
    SCORE,
    TITLES,
    Measure,
    Reader,
    Row,
    differences,
    differences_to_plain,
)
from attnvat.experiments.statistics import ENOUGH, LEVEL, Difference, verdict


@dataclass(frozen=True)
class Judged:
    """What the rows of an experiment are judged by."""

    measure: Measure
    name: str
    higher: bool = True
    """Whether more of it is better."""


JUDGED = {
    "table-correlation": Judged(PEARSON, "correlation with gradients"),
    "table-context": Judged(PEARSON, "correlation with gradients"),
    "table-robustness": Judged(FLIPS, "flips under attention ε 1", higher=False),
    "table-rationales": Judged(AUPRC, "AUPRC"),
    "table-few-labels": Judged(ACCURACY, "accuracy"),
}
"""By experiment, where it is not the score."""
BY_SCORE = Judged(SCORE, "score")


def compared(rows: Sequence[Row]) -> bool:
    """Whether there is anything to hold against vanilla."""
    return any(row.records for row in rows if row.arm.averaged or not row.arm.reference)


def in_short(reader: Reader) -> list[str]:
    """What the tables let one say, in blocks of Markdown: small tables, then the other tables' sentences as points.

    Tables that say nothing yet share the last point.
    """
    tables, points = [], []
    silent: dict[str, list[str]] = {}
    for experiment in EXPERIMENTS.values():
        for corpus in experiment.arms:
            rows = reader.rows(experiment, corpus)
            if not compared(rows):
                continue
            sentences = said(rows, experiment)
            glance = GLANCES.get(WITHIN.get(experiment.name, experiment.name))
            table = glance(rows, corpus) if glance and sentences else None
            if table and experiment.name not in WITHIN:
                tables.append(table.markdown())
            elif sentences and not table:
                points.append(f"**{experiment.title}, {TITLES[corpus]}.** {' '.join(sentences)}")
            elif not sentences:
                silent.setdefault(experiment.title, []).append(TITLES[corpus])
    if silent:
        names = "; ".join(f"{title} ({', '.join(corpora)})" for title, corpora in silent.items())
        points.append(f"**Too few seeds to call anything better or worse**, see the tables themselves: {names}.")
    blocks = [LEGEND + "\n", *tables] if tables else []
    return [*blocks, "\n".join(f"- {point}" for point in points) + "\n"] if points else blocks


def said(rows: Sequence[Row], experiment: Experiment) -> list[str]:
    """What one table lets one say, matter by matter; empty where it has too few seeds for that."""
    if experiment.name in CONTRASTS:
        return contrasts_said(CONTRASTS[experiment.name](rows))
    judged = JUDGED.get(experiment.name, BY_SCORE)
    every = differences(rows, judged.measure)
    found = [None if row.borrowed else difference for row, difference in zip(rows, every, strict=True)]
    held = sum(difference is not None for difference in found)
    looks = leaning(rows, found)
    if any(difference is not None and difference.least <= LEVEL for difference in found):
        names = decided(rows, found, judged.higher) or "none is shown to be better or worse than vanilla"
    elif looks:
        names = "none has seeds enough for the test"
    else:
        return []
    sentence = f"By {judged.name}, of {held} compared, {names}."
    if looks:
        sentence += f" By the interval of {ENOUGH} seeds or more alone, undecided by the test: {looks}."
    if experiment.name == "table-few-labels":
        whole = decided(rows, differences_to_plain(rows, judged.measure), judged.higher, "plain vanilla")
        sentence += f" Their words counted as a gain too: {whole}." if whole else ""
    return [sentence]


def decided(rows: Sequence[Row], found: Sequence[Difference | None], higher: bool, reference: str = "vanilla") -> str:
    """The rows that are better or worse; empty where none is."""
    names: dict[str, list[str]] = {"better": [], "worse": []}
    for row, difference in zip(rows, found, strict=True):
        what = verdict(difference, higher_is_better=higher) if difference else "undecided"
        if what in names:
            names[what].append(called(row))
    return " – ".join(f"{kind} than {reference}: {'; '.join(some)}" for kind, some in names.items() if some)


def leaning(rows: Sequence[Row], found: Sequence[Difference | None]) -> str:
    """The rows that lie above or below vanilla by their interval, and are neither better nor worse by the test."""
    names: dict[str, list[str]] = {"above vanilla": [], "below vanilla": []}
    for row, difference in zip(rows, found, strict=True):
        if difference is None or len(difference.seeds) < ENOUGH or not difference.interval.decided:
            continue
        if verdict(difference) in ("undecided", "too few seeds"):
            names["above vanilla" if difference.interval.estimate > 0 else "below vanilla"].append(called(row))
    return " – ".join(f"{where}: {'; '.join(some)}" for where, some in names.items() if some)


def called(row: Row) -> str:
    """The row in a sentence."""
    labels = f", {row.arm.labels:,} labels" if row.arm.labels else ""
    extra = f" with {row.unlabelled}" if row.arm.unlabelled else ""
    return f"{row.arm.title}{extra}{labels}"
