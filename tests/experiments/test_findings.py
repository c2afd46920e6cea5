from __future__ import annotations

import pytest

from attnvat.experiments.arms import Arm, Setup, config_of
from attnvat.experiments.catalogue import EXPERIMENTS
from attnvat.experiments.findings import said
from attnvat.experiments.rows import Row


def row(technique: str, seeds: int, score: float, flips: float) -> Row:
    """A row of so many seeds, each a little above the one before."""
    arm = Arm(technique)

    def record(seed: int) -> dict[str, object]:
        points = [{"epsilon": 1.0, "flip_rate": flips + 0.001 * seed}]
        robustness = {"perturbation": {"attention": {"vat": {"points": points}}}}
        return {"measured": {"test": {"prediction": {"score": score + 0.001 * seed}, "robustness": robustness}}}

    return Row(arm, {seed: record(seed) for seed in range(seeds)}, {}, None, config_of(arm, "sst", Setup(), 0))


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
    rows = [row("vanilla", seeds, 0.8, 0.1), row("attention-vat", seeds, 0.79, 0.05)]
    assert said(rows, EXPERIMENTS["table-prediction"]) == ([sentence] if sentence else [])


def test_equal_scores_are_neither_however_many_the_seeds() -> None:
    rows = [row("vanilla", 10, 0.8, 0.1), row("attention-vat", 10, 0.8, 0.1)]
    found = said(rows, EXPERIMENTS["table-prediction"])
    assert found == ["By score, of 1 compared, none is shown to be better or worse than vanilla."]


def test_robustness_is_judged_by_flips_of_which_fewer_are_better() -> None:
    rows = [row("vanilla", 10, 0.8, 0.1), row("attention-vat", 10, 0.79, 0.05)]
    found = said(rows, EXPERIMENTS["table-robustness"])
    assert found == ["By flips under attention ε 1, of 1 compared, better than vanilla: attention-vat."]


def test_nothing_is_said_without_a_pair_of_runs() -> None:
    rows = [row("vanilla", 0, 0.8, 0.1), row("attention-vat", 3, 0.79, 0.05)]
    assert said(rows, EXPERIMENTS["table-prediction"]) == []
