from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from attnvat.experiments.crossed import crossed_interval, pack, unpack
from attnvat.experiments.statistics import (
    Difference,
    family,
    holm,
    least_p,
    paired_difference,
    sign_flip,
    verdict,
)
from attnvat.report.bootstrap import Interval


def test_sign_flip_by_hand() -> None:
    # Sums of ±1 ±2 ±4: of the eight outcomes |sum| ≥ 7 holds for +++ and −−−.
    assert sign_flip([1, 2, 4]) == 2 / 8
    # |sum| ≥ |−1 + 2 + 4| = 5 holds for ±7 and ±5.
    assert sign_flip([-1, 2, 4]) == 4 / 8
    assert sign_flip([0, 0]) == 1


def test_sign_flip_agrees_with_scipy() -> None:
    values = np.random.default_rng(0).normal(0.4, 1, 10)
    theirs = stats.permutation_test((values,), np.mean, permutation_type="samples", n_resamples=np.inf)
    assert sign_flip(values) == pytest.approx(theirs.pvalue, abs=1e-9)


def test_many_pairs_are_drawn_and_close_to_the_exact_test() -> None:
    values = np.random.default_rng(1).normal(0.5, 1, 17)
    theirs = stats.permutation_test((values,), np.mean, permutation_type="samples", n_resamples=np.inf)
    assert sign_flip(values, seed=3) == pytest.approx(theirs.pvalue, abs=0.01)
    assert sign_flip(values, seed=3) == sign_flip(values, seed=3)


def test_holm_by_hand() -> None:
    # Sorted 0.01, 0.02, 0.04 times 3, 2, 1 gives 0.03, 0.04, 0.04.
    assert holm([0.04, 0.01, 0.02]) == pytest.approx([0.04, 0.03, 0.04])
    # A later one is never below an earlier one, and none is above 1: 0.5·2 = 1, then max(1, 0.6).
    assert holm([0.6, 0.5]) == [1.0, 1.0]
    corrected = holm([0.01, math.nan, 0.03])
    assert corrected[0] == pytest.approx(0.02)
    assert math.isnan(corrected[1])


def test_differences_are_paired_by_seed() -> None:
    found = paired_difference({0: 82.0, 1: 84.0, 2: 83.0, 7: 99.0}, {0: 81.0, 1: 82.0, 2: 80.0, 8: 0.0})
    assert found is not None
    assert found.seeds == (0, 1, 2)
    # Differences 1, 2, 3: their mean is 2, and resamples lie between 1 and 3.
    assert found.interval.estimate == pytest.approx(2)
    assert 1 <= found.interval.low < 2 < found.interval.high <= 3
    assert found.p == 2 / 8
    assert paired_difference({0: 1.0}, {1: 1.0}) is None


def difference(low: float, high: float, p: float, count: int) -> Difference:
    return Difference(tuple(range(count)), Interval((low + high) / 2, low, high), p, least_p(count))


def test_nothing_is_called_better_that_is_not() -> None:
    assert least_p(5) == 0.0625
    # Five seeds cannot pass 0.05, however large the difference.
    assert verdict(difference(5, 9, 0.0625, 5)) == "too few seeds"
    assert verdict(difference(1, 2, 2 / 1024, 10)) == "better"
    assert verdict(difference(1, 2, 2 / 1024, 10), higher_is_better=False) == "worse"
    assert verdict(difference(-2, -1, 2 / 1024, 10)) == "worse"
    assert verdict(difference(-1, 2, 0.01, 10)) == "undecided"
    assert verdict(difference(0.1, 2, 0.2, 10)) == "undecided"
    assert verdict(Difference((0,), Interval(3, math.nan, math.nan), math.nan, math.nan)) == "too few seeds"


def test_the_family_corrects_the_verdict() -> None:
    # 0.03 alone would pass; among three with 0.03 it becomes 0.09.
    alone = difference(0.5, 1, 0.03, 10)
    assert verdict(alone) == "better"
    together = family([alone, None, alone, alone])
    assert together[1] is None
    assert [round(d.corrected, 6) for d in together if d] == [0.09, 0.09, 0.09]
    assert {verdict(d) for d in together if d} == {"undecided"}
    # Six seeds pass alone (2/64), but not as one of two.
    six = difference(1, 2, 2 / 64, 6)
    assert verdict(six) == "better"
    assert {verdict(d) for d in family([six, six]) if d} == {"too few seeds"}
    # Rows that five seeds or fewer cannot decide take nothing from those that have more.
    few = [difference(1, 2, 2 / 32, 5), difference(1, 2, 0.5, 2)]
    beside = family([*few, six, *few])
    assert [verdict(d) for d in beside if d] == ["too few seeds"] * 2 + ["better"] + ["too few seeds"] * 2
    assert [d.corrected for d in beside if d and not math.isnan(d.corrected)] == [2 / 64]


def test_a_true_null_is_rarely_called_better() -> None:
    generator = np.random.default_rng(5)
    called = 0
    for _ in range(200):
        ours, reference = generator.normal(size=(2, 8))
        found = paired_difference(dict(enumerate(ours)), dict(enumerate(reference)))
        assert found is not None
        called += verdict(found) != "undecided"
    assert called <= 20


def test_bits_survive() -> None:
    right = np.random.default_rng(0).random(1821) < 0.8
    assert (unpack(pack(right), 1821) == right).all()
    assert len(pack(right)) == 2 * math.ceil(1821 / 8)


def test_the_crossed_interval_covers_seeds_and_texts() -> None:
    generator = np.random.default_rng(0)
    reference = {seed: generator.random(500) < 0.7 for seed in range(5)}
    better = {seed: right | (generator.random(500) < 0.3) for seed, right in reference.items()}
    found = crossed_interval(better, reference, draws=500)
    assert found is not None
    assert found.decided
    by_seed = [better[s].mean() - reference[s].mean() for s in range(5)]
    assert found.estimate == pytest.approx(np.mean(by_seed))
    # Drawing texts anew can only widen what drawing seeds alone gives.
    assert found.high - found.low > np.std(by_seed)
    assert crossed_interval({0: reference[0]}, {0: reference[0]}) is None
