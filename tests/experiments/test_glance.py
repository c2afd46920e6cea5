"""What the results page begins with: differences in small tables, each marked by what decides it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from made_rows import made_row, rising

from attnvat.experiments.arms import Arm
from attnvat.experiments.choices import SIDES, Side
from attnvat.experiments.glance import GLANCES, mark
from attnvat.experiments.rows import Row
from attnvat.experiments.statistics import family, paired_difference
from attnvat.report.tables import Table

SCORES, _, FLIPS = SIDES
BASE = rising(8)
UP = [score + 0.02 for score in BASE]


def glance(name: str, rows: Sequence[Row]) -> Table:
    table = GLANCES[name](rows, "sst")
    assert table is not None
    return table


@pytest.mark.parametrize(
    ("ours", "side", "said"),
    [
        ([84.0] * 8, SCORES, "+2.00 better"),
        ([81.5] * 8, SCORES, "−0.50 worse"),
        # Fewer flips are better.
        ([81.5] * 8, FLIPS, "−0.50 better"),
        # Five alike leave out zero, and are too few for the test.
        ([84.0] * 5, SCORES, "+2.00 better?"),
        ([84.0] * 5, FLIPS, "+2.00 worse?"),
        ([84.0] * 4, SCORES, "+2.00"),
        ([84.0, 80.0] * 4, SCORES, "0.00"),
    ],
)
def test_a_difference_is_marked_by_what_decides_it(ours: list[float], side: Side, said: str) -> None:
    (found,) = family([paired_difference(dict(enumerate(ours)), dict.fromkeys(range(8), 82.0))])
    assert mark(found, side) == said


def test_techniques_are_told_by_all_sides_with_the_decided_cells_bold() -> None:
    rows = [
        made_row(Arm("vanilla"), BASE),
        made_row(Arm("attention-at"), UP, correlation=0.7),
        made_row(Arm("attention-iat"), BASE[:3]),
        made_row(Arm("word-at"), []),
    ]
    table = glance("table-prediction", rows)
    assert table.texts() == [
        ["attention-at", "–", "8", "+2.00 better", "−0.100 worse", "0.00"],
        # A row of too few seeds is told without a mark; one that was not run, not at all.
        ["attention-iat", "–", "3", "0.00", "0.000", "0.00"],
    ]
    assert table.bold == {(0, 3), (0, 4)}


def test_nothing_is_told_where_no_row_has_seeds_enough() -> None:
    rows = [made_row(Arm("vanilla"), BASE[:4]), made_row(Arm("attention-at"), UP[:4])]
    assert GLANCES["table-prediction"](rows, "sst") is None


def test_choices_name_what_they_choose() -> None:
    drawn = Arm("attention-vat", unlabelled=True)
    near = replace(drawn, strategy="bow")
    table = glance("table-selection", [made_row(drawn, BASE), made_row(near, UP[:7], flips=0.2)])
    (line,) = table.texts()
    assert line[0].endswith(", bow")
    assert line[1:] == ["attention-vat", "50,000 news", "7", "+2.00 better", "0.000", "+10.00 worse"]
    read = Arm("attention-iat", reading="matrix")
    earlier = replace(made_row(replace(read, reading="shared"), UP), borrowed=True)
    (line,) = glance("table-readings", [made_row(Arm("attention-at"), UP), made_row(read, BASE), earlier]).texts()
    assert line == ["a basis, matrix", "attention-iat", "–", "8", "−2.00 worse", "0.000", "0.00"]


def test_few_labels_are_told_side_by_side_with_and_without_the_words_that_came_along() -> None:
    def rows(labels: int, gain: float) -> list[Row]:
        plain = Arm("vanilla", labels=labels)
        technique = Arm("attention-ivat", unlabelled=True, labels=labels)
        wide = made_row(replace(plain, wide=True), [score + 0.03 for score in BASE])
        return [made_row(plain, BASE), wide, made_row(technique, [score + gain for score in BASE])]

    table = glance("table-few-labels", [*rows(100, 0.04), *rows(500, 0.01)])
    assert table.columns[3:] == ["100 labels", "500 labels", "beyond words, 100", "beyond words, 500"]
    assert [line[:1] + line[3:] for line in table.texts()] == [
        ["vanilla, words of the vectors", "+3.00 better", "+3.00 better", "–", "–"],
        ["attention-ivat", "+4.00 better", "+1.00 better", "+1.00 better", "−2.00 worse"],
    ]
