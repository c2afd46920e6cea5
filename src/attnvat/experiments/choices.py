"""One choice at a time: runs that differ in one thing alone, held against each other.

The other tables hold every technique against vanilla. Whether attention is the better place to perturb, VAT better than
AT, a basis in any of its readings than none, unlabelled text than its lack, and near texts than random ones, is asked
here, seed by seed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from attnvat.experiments.arms import Arm
from attnvat.experiments.paper_numbers import SELECTION
from attnvat.experiments.rows import (
    FLIPS,
    NOT_RUN,
    PEARSON,
    SCORE,
    TESTED_ABOVE,
    TITLES,
    VALIDATION,
    Measure,
    Row,
    judged_cells,
)
from attnvat.experiments.statistics import LEVEL, Difference, family, paired_difference, verdict
from attnvat.report.tables import Cell, Table, cell
from attnvat.techniques.catalogue import choices_of

BASIS = "a basis"
CHOICES = ("attention instead of words", "VAT instead of AT", BASIS, "unlabelled text")
"""What two techniques may differ in, in the order of `made_by`."""
NEAR_TEXTS = "choosing near texts"


@dataclass(frozen=True)
class Side:
    """What a choice may change."""

    measure: Measure
    title: str
    """As a column has it."""
    name: str
    """As a sentence has it."""
    digits: int
    higher: bool = True
    """Whether more of it is better."""


SIDES = (
    Side(SCORE, "score", "score", 2),
    Side(PEARSON, "correlation", "correlation with gradients", 3),
    Side(FLIPS, "flips", "flips under attention ε 1", 2, higher=False),
)


@dataclass(frozen=True)
class Contrast:
    """Two rows that differ in one choice."""

    choice: str
    ours: Row
    """The row that has made it."""
    other: Row

    @property
    def held_against(self) -> str:
        """The technique that has not made it."""
        same = self.ours.arm.technique == self.other.arm.technique
        return "the same without" if same else self.other.arm.technique

    @property
    def options(self) -> str:
        """What was searched: one value where both rows have it, else the other row's and then its own."""
        both = dict.fromkeys((self.other.options, self.ours.options))
        return " → ".join(both)

    @property
    def name(self) -> str:
        """The row that has made it, in a sentence."""
        arm = self.ours.arm
        text = f" with {self.ours.unlabelled}" if arm.unlabelled else ""
        return f"{arm.name}{text}" + (f" by {arm.strategy}" if arm.strategy != Arm.strategy else "")


def made_by(row: Row) -> tuple[bool, ...] | None:
    """Which of the choices a row has made; None for vanilla."""
    choices = choices_of(row.arm.technique)
    if choices is None:
        return None
    return choices.site == "attention", choices.virtual, choices.interpretable, row.arm.unlabelled


def technique_contrasts(rows: Sequence[Row]) -> list[Contrast]:
    """All pairs of rows that differ in one choice alone, choice by choice."""
    made = {choices: row for row in rows if (choices := made_by(row))}
    found = []
    for place, choice in enumerate(CHOICES):
        for choices, row in made.items():
            without = (*choices[:place], False, *choices[place + 1 :])
            if choices[place] and without in made:
                found.append(Contrast(choice, row, made[without]))
    return found


def reading_contrasts(rows: Sequence[Row]) -> list[Contrast]:
    """Each reading of the basis, held against the technique that perturbs likewise in any direction."""
    place = CHOICES.index(BASIS)
    made = [(row, choices) for row in rows if (choices := made_by(row))]
    free = {choices: row for row, choices in made if not choices[place]}
    without = [(row, (*choices[:place], False, *choices[place + 1 :])) for row, choices in made if choices[place]]
    return [Contrast(BASIS, row, free[choices]) for row, choices in without if choices in free]


def selection_contrasts(rows: Sequence[Row]) -> list[Contrast]:
    """Each way of choosing unlabelled texts, held against choosing them at random."""
    by_arm = {row.arm: row for row in rows}
    drawn = [(row, replace(row.arm, strategy=Arm.strategy)) for row in rows if row.arm.strategy != Arm.strategy]
    return [Contrast(NEAR_TEXTS, row, by_arm[arm]) for row, arm in drawn if arm in by_arm]


CONTRASTS: Mapping[str, Callable[[Sequence[Row]], list[Contrast]]] = {
    "table-choices": technique_contrasts,
    "table-readings": reading_contrasts,
    "table-selection": selection_contrasts,
}
"""Experiments whose rows are held against each other, and not against vanilla."""


def tested(found: Sequence[Contrast], measure: Measure) -> list[Difference | None]:
    """The paired difference of each contrast, Holm-corrected over those of the same choice; None without a pair.

    A contrast that an earlier table tests is no part of that.
    """
    differences = [paired_difference(one.ours.values(measure), one.other.values(measure)) for one in found]
    for choice in dict.fromkeys(one.choice for one in found):
        places = [place for place, one in enumerate(found) if one.choice == choice and not one.ours.borrowed]
        for place, difference in zip(places, family([differences[place] for place in places]), strict=True):
            differences[place] = difference
    return differences


def tested_cells(one: Contrast, difference: Difference | None, side: Side) -> list[Cell]:
    """A contrast's difference with interval, corrected p and verdict."""
    if difference is None:
        return [NOT_RUN, "–", "–"]
    cells = judged_cells(difference, side.higher, side.digits)
    return [cells[0], "–", TESTED_ABOVE] if one.ours.borrowed else cells


def choices_table(rows: Sequence[Row], corpus: str) -> Table:
    """What each choice changes in prediction, in the truth of attention and in its robustness."""
    pairs = technique_contrasts(rows)
    sides = [tested(pairs, side.measure) for side in SIDES]
    cells: list[Sequence[Cell]] = []
    for one, *differences in zip(pairs, *sides, strict=True):
        line: list[Cell] = [one.choice, one.ours.arm.technique, one.held_against, one.ours.unlabelled, one.options]
        line += [len(set(one.ours.records) & set(one.other.records))]
        for difference, side in zip(differences, SIDES, strict=True):
            line += tested_cells(one, difference, side)
        cells.append(line)
    columns = ["choice", "technique", "held against", "unlabelled", "searched", "seeds"]
    for side in SIDES:
        columns += [f"Δ {side.title}", "p", "verdict"]
    caption = f"{TITLES[corpus]}: differences by seed; score and flips under attention ε 1 in percent"
    return Table(columns, cells, caption)


def readings_table(rows: Sequence[Row], corpus: str) -> Table:
    """The readings of the difference basis, each with its own search and held against the same without a basis."""
    sides = [side_cells(rows, reading_contrasts(rows), side) for side in SIDES]
    cells: list[Sequence[Cell]] = []
    for row, *shown in zip(rows, *sides, strict=True):
        reading = row.arm.reading or "no basis"
        line: list[Cell] = [replace(row.arm, reading=None).name, reading, row.unlabelled, row.options]
        line += [len(row.records), row.cell(VALIDATION)]
        cells.append([*line, *(one for side in shown for one in side)])
    columns = ["technique", "reading", "unlabelled", "searched", "seeds", "validation F1"]
    for title in ("test F1", "correlation", "flips"):
        columns += [title, "Δ to no basis, by seed", "p", "verdict"]
    caption = f"{TITLES[corpus]}: F1 and flips under attention ε 1 in percent, and correlation with gradients"
    return Table(columns, cells, caption, digits=2)


def selection_table(rows: Sequence[Row], corpus: str) -> Table:
    """Score and correlation by the way the unlabelled texts are chosen, each way held against random choice."""
    pairs = selection_contrasts(rows)
    cells: list[Sequence[Cell]] = []
    for row, scored, correlated in zip(rows, *(side_cells(rows, pairs, side) for side in SIDES[:2]), strict=True):
        strategy = row.arm.strategy if row.arm.unlabelled else "–"
        paper = SELECTION.get(row.arm.technique, {}).get(strategy, {}).get(corpus)
        line: list[Cell] = [row.arm.title, strategy, row.unlabelled, len(row.records), scored[0]]
        line += [paper[0] if paper else None, *scored[1:], correlated[0]]
        cells.append([*line, cell(paper[1] if paper else None, SIDES[1].digits), *correlated[1:]])
    columns = ["technique", "selection", "unlabelled", "seeds"]
    for title in ("test F1", "correlation"):
        columns += [title, "paper", "Δ to random, by seed", "p", "verdict"]
    return Table(columns, cells, f"{TITLES[corpus]}: F1 in percent, and correlation with gradients", digits=2)


def side_cells(rows: Sequence[Row], pairs: Sequence[Contrast], side: Side) -> list[list[Cell]]:
    """Each row's mean of a side, and its difference to the row that it is held against, if it is."""
    differences = zip(pairs, tested(pairs, side.measure), strict=True)
    held = {one.ours.arm: tested_cells(one, difference, side) for one, difference in differences}
    references = {one.other.arm for one in pairs}
    cells = []
    for row in rows:
        alone = "reference" if row.arm in references else "not compared"
        cells.append([row.text(side.measure, side.digits), *held.get(row.arm, ["–", "–", alone])])
    return cells


def contrasts_said(pairs: Sequence[Contrast]) -> list[str]:
    """What the contrasts let one say, a sentence for each side that has seeds enough for the test."""
    sentences = []
    for side in SIDES:
        found = tested(pairs, side.measure)
        own = [(one, it) for one, it in zip(pairs, found, strict=True) if it and not one.ours.borrowed]
        if not any(difference.least * difference.family <= LEVEL for _, difference in own):
            continue
        said = []
        for choice in dict.fromkeys(one.choice for one, _ in own):
            judged = [(one.name, verdict(it, higher_is_better=side.higher)) for one, it in own if one.choice == choice]
            kinds = {kind: [name for name, what in judged if what == kind] for kind in ("better", "worse")}
            parts = [f"{kind} in {' and '.join(names)}" for kind, names in kinds.items() if names]
            said += [f"{choice} is {', '.join(parts)}"] if parts else []
        nothing = f"nothing of {len(own)} compared is shown to be better or worse"
        sentences.append(f"By {side.name}, {'; '.join(said) or nothing}.")
    return sentences
