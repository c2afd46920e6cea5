"""What the tables let one say, at a glance: small tables of differences, the decided ones bold and called so.

They hold nothing that the tables of the results page do not; they leave out what a first look does not need.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from attnvat.experiments.choices import CONTRASTS, SIDES, Side, tested
from attnvat.experiments.rows import ACCURACY, TITLES, Row, differences, differences_to_plain
from attnvat.experiments.statistics import ENOUGH, Difference, verdict
from attnvat.report.tables import Cell, Table, number

LEGEND = (
    "Each cell is a mean difference by seed: in percentage points of F1 or accuracy (*predicts*), in correlation of "
    "attention with gradients (*truthful*), and in percentage points of predictions that flip under the worst "
    "attention of norm 1 (*flips*, where less is steadier). **Bold** is better or worse by the corrected test; with a "
    f"question mark the interval of {ENOUGH} seeds or more leaves out zero and the test does not confirm it; all else "
    "is undecided."
)
BY_ACCURACY = Side(ACCURACY, "accuracy", "accuracy", 2)
COLUMNS = ("predicts", "truthful", "flips")
"""How the sides are called here."""


def techniques_at_a_glance(rows: Sequence[Row], corpus: str) -> Table | None:
    """Every technique against vanilla, by all three sides; None where none of them has seeds enough to be decided."""
    sides = [differences(rows, side.measure) for side in SIDES]
    lines = [
        ([row.arm.title, row.unlabelled, len(row.records)], list(found))
        for row, *found in zip(rows, *sides, strict=True)
        if any(found)
    ]
    columns = ["technique", "unlabelled", "seeds", *COLUMNS]
    return marked(columns, lines, f"{TITLES[corpus]}: every technique against vanilla that knows as many words")


def choices_at_a_glance(name: str, caption: str) -> Callable[[Sequence[Row], str], Table | None]:
    """What makes the table of an experiment that holds rows against each other; None where nothing can be decided."""

    def make(rows: Sequence[Row], corpus: str) -> Table | None:
        pairs = [one for one in CONTRASTS[name](rows) if not one.ours.borrowed]
        sides = [tested(pairs, side.measure) for side in SIDES]
        lines = []
        for one, *found in zip(pairs, *sides, strict=True):
            arm = one.ours.arm
            choice = one.choice + (f", {arm.reading}" if arm.reading else "")
            choice = f"{choice}, {arm.strategy}" if arm.strategy != type(arm).strategy else choice
            seeds = len(set(one.ours.records) & set(one.other.records))
            lines.append(([choice, arm.technique, one.ours.unlabelled, seeds], list(found)))
        columns = ["choice", "in", "unlabelled", "seeds", *COLUMNS]
        return marked(columns, lines, f"{TITLES[corpus]}: {caption}")

    return make


def few_labels_at_a_glance(rows: Sequence[Row], corpus: str) -> Table | None:
    """Accuracy with few labels against plain vanilla, and beyond what the words that a row brings gain alone."""
    counts = sorted({row.arm.labels for row in rows if row.arm.labels})
    beyond = differences(rows, ACCURACY)
    whole = differences_to_plain(rows, ACCURACY)
    found: dict[tuple[str, str, str], dict[int, tuple[Difference | None, Difference | None]]] = {}
    for row, own, all_in_all in zip(rows, beyond, whole, strict=True):
        if own and row.arm.labels:
            by_count = found.setdefault((row.arm.name, row.pretrained, row.unlabelled), {})
            by_count[row.arm.labels] = (all_in_all or own, own if row.arm.brings_words else None)
    lines = []
    for names, by_count in found.items():
        both = [by_count.get(count, (None, None)) for count in counts]
        lines.append((list[Cell](names), [one for one, _ in both] + [one for _, one in both]))
    columns = ["technique", "language model of", "unlabelled", *(f"{count:,} labels" for count in counts)]
    columns += [f"beyond words, {count:,}" for count in counts]
    caption = (
        f"{TITLES[corpus]}, few labels: accuracy against plain vanilla, and against vanilla that knows as many words"
    )
    return marked(columns, lines, caption, [BY_ACCURACY] * 2 * len(counts))


GLANCES: Mapping[str, Callable[[Sequence[Row], str], Table | None]] = {
    "table-prediction": techniques_at_a_glance,
    "table-choices": choices_at_a_glance("table-choices", "one choice at a time, all else equal"),
    "table-readings": choices_at_a_glance("table-readings", "each reading of the basis against none"),
    "table-selection": choices_at_a_glance("table-selection", "near unlabelled texts against random ones"),
    "table-few-labels": few_labels_at_a_glance,
}
"""Experiments that have such a table."""
WITHIN = {"table-correlation": "table-prediction", "table-robustness": "table-prediction"}
"""Experiments that are a column of another's."""


def marked(
    columns: list[str],
    lines: Sequence[tuple[list[Cell], list[Difference | None]]],
    caption: str,
    sides: Sequence[Side] = SIDES,
) -> Table | None:
    """A table of heads and marked differences, one of each side; None where none has seeds enough to be decided."""
    every = [difference for _, found in lines for difference in found if difference]
    if not any(verdict(difference) != "too few seeds" for difference in every):
        return None
    table = Table(columns, [], caption)
    for place, (heads, found) in enumerate(lines):
        cells = list(heads)
        for side, difference in zip(sides, found, strict=True):
            said = mark(difference, side)
            if said.endswith(("better", "worse")):
                table.bold.add((place, len(cells)))
            cells.append(said)
        table.rows.append(cells)
    return table


def mark(difference: Difference | None, side: Side) -> str:
    """A difference with its sign, and what can be said of it: `+0.077 better`, `−0.7 worse?`, `0.2`."""
    if difference is None:
        return "–"
    interval = difference.interval
    sign = "+" if interval.estimate > 0 else ""
    shown = sign + number(interval.estimate, side.digits)
    decided = verdict(difference, higher_is_better=side.higher)
    if decided in ("better", "worse"):
        return f"{shown} {decided}"
    if interval.decided and len(difference.seeds) >= ENOUGH:
        return f"{shown} {'better' if (interval.estimate > 0) == side.higher else 'worse'}?"
    return shown
