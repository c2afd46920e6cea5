import numpy as np
import pytest
from scipy import stats

from attnvat.evaluation.correlation import (
    entropy,
    kendall,
    left_out,
    pearson,
    score_peak,
    score_spread,
    varies,
)
from attnvat.evaluation.distribution import distribution
from attnvat.evaluation.token_values import TokenValues


def values(*texts: list[float]) -> TokenValues:
    found = TokenValues.empty(np.array([len(text) for text in texts]))
    for row, text in enumerate(texts):
        found[row][:] = text
    return found


def random_pair(seed: int) -> tuple[TokenValues, TokenValues]:
    rng = np.random.default_rng(seed)
    lengths = rng.integers(2, 60, 40)
    # Rounded to one digit, so that ties are common.
    return tuple(values(*(np.round(rng.random(n), 1 + seed % 2).tolist() for n in lengths)) for _ in range(2))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.filterwarnings("ignore::scipy.stats.ConstantInputWarning")
def test_both_correlations_are_scipys(seed: int) -> None:
    a, b = random_pair(seed)
    for ours, theirs in ((pearson, stats.pearsonr), (kendall, stats.kendalltau)):
        expected = [theirs(a[row].astype(float), b[row].astype(float))[0] for row in range(len(a))]
        np.testing.assert_allclose(ours(a, b), expected, atol=1e-12)


def test_kendall_by_hand_and_over_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    # a = 1 2 3, b = 1 3 2: pairs (1,2) and (1,3) agree, (2,3) does not: (2 - 1) / 3.
    a, b = values([1, 2, 3]), values([1, 3, 2])
    assert kendall(a, b)[0] == pytest.approx(1 / 3)
    monkeypatch.setattr("attnvat.evaluation.correlation.BLOCK", 4)
    assert kendall(a, b)[0] == pytest.approx(1 / 3)


def test_texts_without_a_correlation_are_left_out_and_counted() -> None:
    attention = values([0.2, 0.8], [0.5, 0.5], [1.0], [0.1, 0.9], [1 / 3, 1 / 3, 1 / 3])
    importance = values([0.1, 0.3], [0.1, 0.2], [0.7], [0.4, 0.4], [1, 2, 4])
    r = pearson(attention, importance)
    assert r[0] == pytest.approx(1)
    assert np.isnan(r[1:]).all()
    assert np.isnan(kendall(attention, importance)[1:]).all()
    assert left_out(attention, importance) == {"too_short": 1, "constant": 3}
    assert distribution(r, -1, 1)["examples"] == 1


def test_rounding_alone_is_no_variation_but_tiny_numbers_are() -> None:
    third = np.float32(1 / 3)
    assert not varies(values([third, np.nextafter(third, np.float32(1)), third]))[0]
    assert varies(values([1e-12, 2e-12, 3e-12]))[0]


def test_entropy_is_scipys_over_that_of_equal_attention() -> None:
    a = values([0.5, 0.25, 0.25, 0.0], [1.0, 0.0], [0.25] * 4, [1.0])
    expected = stats.entropy([0.5, 0.25, 0.25]) / np.log(4)
    np.testing.assert_allclose(entropy(a), [expected, 0, 1, np.nan], atol=1e-7)


def test_score_scale_by_hand() -> None:
    # 1, 2, 6: mean 3, deviations -2, -1, 3: variance (4 + 1 + 9) / 3; the peak stands 3 above the mean.
    scores = values([1, 2, 6], [4.0])
    np.testing.assert_allclose(score_spread(scores), [np.sqrt(14 / 3), 0])
    np.testing.assert_allclose(score_peak(scores), [3, 0])


def test_distribution_by_hand() -> None:
    found = distribution(np.array([-1.0, 0.0, 1.0, np.nan]), -1, 1, bins=2)
    assert found["mean"] == 0
    assert found["sd"] == 1
    assert found["quantiles"]["50"] == 0
    assert found["histogram"] == {"edges": [-1, 0, 1], "counts": [1, 2]}
