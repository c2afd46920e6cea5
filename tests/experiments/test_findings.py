from __future__ import annotations

import pytest
from made_rows import made_row, rising

from attnvat.experiments.arms import Arm
from attnvat.experiments.catalogue import EXPERIMENTS
from attnvat.experiments.findings import said


@pytest.mark.parametrize(
    ("seeds", "sentence"),
    [
        (4, ""),
        (
            5,
            "By score, of 1 compared, none has seeds enough for the test. By the interval of 5 seeds or more alone, "
            "undecided by the test: below vanilla: attention-vat.",
        ),
        (10, "By score, of 1 compared, worse than vanilla: attention-vat."),
    ],
)
def test_a_lower_score_is_worse_only_where_the_seeds_decide_it(seeds: int, sentence: str) -> None:
    rows = [
        made_row(Arm("vanilla"), rising(seeds, 0.8), flips=0.1),
        made_row(Arm("attention-vat"), rising(seeds, 0.79), flips=0.05),
    ]
    assert said(rows, EXPERIMENTS["table-prediction"]) == ([sentence] if sentence else [])


def test_equal_scores_are_neither_however_many_the_seeds() -> None:
    rows = [
        made_row(Arm("vanilla"), rising(10, 0.8), flips=0.1),
        made_row(Arm("attention-vat"), rising(10, 0.8), flips=0.1),
    ]
    found = said(rows, EXPERIMENTS["table-prediction"])
    assert found == ["By score, of 1 compared, none is shown to be better or worse than vanilla."]


def test_robustness_is_judged_by_flips_of_which_fewer_are_better() -> None:
    rows = [
        made_row(Arm("vanilla"), rising(10, 0.8), flips=0.1),
        made_row(Arm("attention-vat"), rising(10, 0.79), flips=0.05),
    ]
    found = said(rows, EXPERIMENTS["table-robustness"])
    assert found == ["By flips under attention ε 1, of 1 compared, better than vanilla: attention-vat."]


def test_nothing_is_said_without_a_pair_of_runs() -> None:
    rows = [
        made_row(Arm("vanilla"), rising(0, 0.8), flips=0.1),
        made_row(Arm("attention-vat"), rising(3, 0.79), flips=0.05),
    ]
    assert said(rows, EXPERIMENTS["table-prediction"]) == []
