"""One choice at a time: runs that differ in site, objective, basis or unlabelled text alone, held against each other.

The other tables hold every technique against vanilla. Whether attention is the better place to perturb, whether VAT is
better than AT, a basis than none, and unlabelled text than its lack, is asked here, seed by seed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from attnvat.experiments.rows import FLIPS, NOT_RUN, PEARSON, SCORE, TITLES, Measure, Row, judged_cells
from attnvat.experiments.statistics import LEVEL, Difference, family, paired_difference, verdict
from attnvat.report.tables import Cell, Table
from attnvat.techniques.catalogue import choices_of

CHOICES = ("attention instead of words", "VAT instead of AT", "a basis", "unlabelled text")
"""What two runs may differ in, in the order of `made_by`."""


@dataclass(frozen=True)
class Side:
    """What a choice may change."""

    measure: Measure
    column: str
    name: str
    """As a sentence has it."""
    digits: int
    higher: bool = True
    """Whether more of it is better."""


SIDES = (
    Side(SCORE, "Δ score", "score", 2),
    Side(PEARSON, "Δ correlation", "correlation with gradients", 3),
    Side(FLIPS, "Δ flips", "flips under attention ε 1", 2, higher=False),
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
        text = f" with {self.ours.unlabelled}" if self.ours.arm.unlabelled else ""
        return f"{self.ours.arm.technique}{text}"


def made_by(row: Row) -> tuple[bool, ...] | None:
    """Which of the choices a row has made; None for vanilla."""
    choices = choices_of(row.arm.technique)
    if choices is None:
        return None
    return choices.site == "attention", choices.virtual, choices.interpretable, row.arm.unlabelled


def contrasts(rows: Sequence[Row]) -> list[Contrast]:
    """All pairs of rows that differ in one choice alone, choice by choice."""
    made = {choices: row for row in rows if (choices := made_by(row))}
    found = []
    for place, choice in enumerate(CHOICES):
        for choices, row in made.items():
            without = (*choices[:place], False, *choices[place + 1 :])
            if choices[place] and without in made:
                found.append(Contrast(choice, row, made[without]))
    return found


def tested(found: Sequence[Contrast], measure: Measure) -> list[Difference | None]:
    """The paired difference of each contrast, Holm-corrected over those of the same choice; None without a pair."""
    differences = [paired_difference(one.ours.values(measure), one.other.values(measure)) for one in found]
    for choice in CHOICES:
        places = [place for place, one in enumerate(found) if one.choice == choice]
        for place, difference in zip(places, family([differences[place] for place in places]), strict=True):
            differences[place] = difference
    return differences


def choices_table(rows: Sequence[Row], corpus: str) -> Table:
    """What each choice changes in prediction, in the truth of attention and in its robustness."""
    pairs = contrasts(rows)
    sides = [tested(pairs, side.measure) for side in SIDES]
    cells: list[Sequence[Cell]] = []
    for one, *differences in zip(pairs, *sides, strict=True):
        line: list[Cell] = [one.choice, one.ours.arm.technique, one.held_against, one.ours.unlabelled, one.options]
        line += [len(set(one.ours.records) & set(one.other.records))]
        for difference, side in zip(differences, SIDES, strict=True):
            line += judged_cells(difference, side.higher, side.digits) if difference else [NOT_RUN, "–", "–"]
        cells.append(line)
    columns = ["choice", "technique", "held against", "unlabelled", "searched", "seeds"]
    for side in SIDES:
        columns += [side.column, "p", "verdict"]
    caption = f"{TITLES[corpus]}: differences by seed; score and flips under attention ε 1 in percent"
    return Table(columns, cells, caption)


def choices_said(rows: Sequence[Row]) -> str:
    """What the contrasts let one say; empty where none has seeds enough for the test."""
    pairs = contrasts(rows)
    sentences = []
    for side in SIDES:
        found = tested(pairs, side.measure)
        if not any(difference and difference.least * difference.family <= LEVEL for difference in found):
            continue
        said = []
        for choice in CHOICES:
            judged = {
                one.name: verdict(difference, higher_is_better=side.higher)
                for one, difference in zip(pairs, found, strict=True)
                if difference and one.choice == choice
            }
            for kind in ("better", "worse"):
                names = [name for name, what in judged.items() if what == kind]
                said += [f"{choice} is {kind} in {'; '.join(names)}"] if names else []
        sentences.append(f"By {side.name}, {' – '.join(said) or 'no choice is shown to be better or worse'}.")
    return " ".join(sentences)
