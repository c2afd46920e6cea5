"""The bootstrap against a case worked by hand, scikit-learn, and its promise of coverage on simulated data."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from sklearn.metrics import f1_score

from attnvat.report.bootstrap import (
    Interval,
    Statistic,
    accuracy_of,
    bootstrap,
    bootstrap_all,
    difference_of,
    f1_of,
    mean_of,
    resamples,
)


def paired_bootstrap(first: Statistic, second: Statistic, examples: int, draws: int = 2000, seed: int = 0) -> Interval:
    return bootstrap(difference_of(first, second), examples, draws=draws, seed=seed)


def test_three_examples_by_hand() -> None:
    # All 27 ordered resamples of (0, 1, 3) give 10 distinct counts; their means are Σ counts·values / 3.
    values = [0.0, 1.0, 3.0]
    exact = sorted(np.mean(draw) for draw in itertools.product(values, repeat=3))
    # 1 of 27 resamples is all 0 (mean 0), 1 of 27 all 3 (mean 3). An 80% interval cuts 10% at each end: the lower one
    # lies in the three resamples of two 0 and one 1 (mean 1/3), the 90% one in those of two 3 and one 1 (mean 7/3).
    assert exact[0] == 0
    assert exact[1:4] == pytest.approx([1 / 3] * 3)
    assert exact[-4:-1] == pytest.approx([7 / 3] * 3)
    found = bootstrap(mean_of(values), 3, draws=4000, level=0.8, seed=1)
    assert found.estimate == pytest.approx(4 / 3)
    assert (found.low, found.high) == pytest.approx((1 / 3, 7 / 3))


def test_resamples_count_every_draw_once_and_follow_the_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("attnvat.report.bootstrap.CHUNK", 70_000)
    blocks = list(resamples(700, 250, seed=3))
    assert len(blocks) == 3
    counts = np.concatenate(blocks)
    assert counts.shape == (250, 700)
    assert (counts.sum(axis=1) == 700).all()
    assert counts.var() == pytest.approx(1 - 1 / 700, rel=0.02)  # multinomial
    assert np.array_equal(counts, np.concatenate(list(resamples(700, 250, seed=3))))
    assert not np.array_equal(counts, np.concatenate(list(resamples(700, 250, seed=4))))


def test_f1_of_resamples_is_scikit_learns() -> None:
    generator = np.random.default_rng(0)
    truth, predicted = generator.integers(2, size=(2, 40))
    counts = next(resamples(40, 20, seed=0))
    ours = f1_of(predicted, truth)(counts)
    for row, value in zip(counts.astype(int), ours, strict=True):
        drawn = np.repeat(np.arange(40), row)
        assert value == pytest.approx(f1_score(truth[drawn], predicted[drawn], zero_division=0))
    assert f1_of([0, 0], [0, 0])(np.ones((1, 2)))[0] == 0


def test_identical_runs_differ_by_exactly_nothing() -> None:
    truth = np.arange(50) % 2
    one = f1_of(np.arange(50) % 3 == 0, truth)
    assert paired_bootstrap(one, one, 50) == Interval(0.0, 0.0, 0.0)
    assert not paired_bootstrap(one, one, 50).decided


def test_pairing_sees_what_two_separate_intervals_do_not() -> None:
    # The second run gets the first's answers right plus 12 of 400 more: always better, though the scores overlap.
    truth = np.ones(400, dtype=int)
    first = (np.arange(400) % 4 != 0).astype(int)
    second = first.copy()
    second[:48:4] = 1
    apart = bootstrap(accuracy_of(first, truth), 400), bootstrap(accuracy_of(second, truth), 400)
    assert apart[0].high > apart[1].low
    difference = paired_bootstrap(accuracy_of(first, truth), accuracy_of(second, truth), 400)
    assert difference.estimate == pytest.approx(12 / 400)
    assert difference.decided


def test_values_that_are_missing_do_not_count() -> None:
    statistic = mean_of([1.0, np.nan, 3.0])
    assert statistic(np.array([[1.0, 5.0, 1.0], [0.0, 3.0, 0.0]])) == pytest.approx([2.0, np.nan], nan_ok=True)
    nothing = bootstrap(mean_of([np.nan, np.nan]), 2, draws=10)
    assert np.isnan([nothing.estimate, nothing.low, nothing.high]).all()
    with pytest.raises(ValueError, match="at least one example"):
        bootstrap(mean_of([]), 0)


def test_statistics_together_are_the_same_as_one_by_one() -> None:
    values = np.random.default_rng(5).normal(size=(3, 60))
    together = bootstrap_all([mean_of(one) for one in values], 60, draws=300, seed=2)
    assert together == [bootstrap(mean_of(one), 60, draws=300, seed=2) for one in values]


def test_coverage_of_the_paired_difference() -> None:
    # Two correlated runs over 150 examples whose accuracies truly differ by 0.06: about 95% of intervals hold it.
    generator = np.random.default_rng(11)
    held = 0
    for trial in range(300):
        easy = generator.random(150)
        first, second = easy + 0.2 * generator.normal(size=150), easy + 0.2 * generator.normal(size=150)
        sure = generator.random(150) < 0.06
        right_first = (first > 0.4) & ~sure
        right_second = second > 0.4
        held_by = paired_bootstrap(mean_of(right_first), mean_of(right_second), 150, draws=400, seed=trial)
        held += held_by.low <= TRUE_DIFFERENCE <= held_by.high
    assert 0.91 <= held / 300 <= 0.985


def _true_difference() -> float:
    generator = np.random.default_rng(99)
    easy = generator.random(2_000_000)
    right = easy + 0.2 * generator.normal(size=len(easy)) > 0.4
    return float(right.mean() * 0.06)


TRUE_DIFFERENCE = _true_difference()
