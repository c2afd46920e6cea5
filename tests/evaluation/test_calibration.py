import numpy as np
import pytest
from sklearn.metrics import brier_score_loss

from attnvat.evaluation.calibration import calibration


def test_expected_calibration_error_by_hand() -> None:
    # Two bins, (0, 0.5] and (0.5, 1]. All confidences lie in the second: 0.9 right, 0.8 wrong, 0.7 right, 0.6 right.
    # Mean confidence 0.75, accuracy 0.75: no error. With the last one wrong: |0.75 - 0.5| = 0.25.
    p = [[0.1, 0.9], [0.8, 0.2], [0.3, 0.7], [0.4, 0.6]]
    assert calibration(p, [1, 1, 1, 1], bins=2)["ece"] == pytest.approx(0.0)
    assert calibration(p, [1, 1, 1, 0], bins=2)["ece"] == pytest.approx(0.25)


def test_bins_are_weighted_by_their_size() -> None:
    # Five bins: 0.9 and 0.95 in the last, one right: gap |0.925 - 0.5| = 0.425. 0.7 in (0.6, 0.8], wrong: gap 0.7.
    # (2 * 0.425 + 1 * 0.7) / 3 = 0.51667.
    found = calibration([[0.1, 0.9], [0.05, 0.95], [0.3, 0.7]], [1, 0, 0], bins=5)
    assert found["ece"] == pytest.approx(1.55 / 3)
    assert [bin_["count"] for bin_ in found["bins"]] == [1, 2]


def test_certainty_falls_into_the_last_of_fifteen_bins() -> None:
    found = calibration([[0.0, 1.0]], [1])
    assert found["bins"] == [{"low": pytest.approx(14 / 15), "high": 1.0, "count": 1, "confidence": 1, "accuracy": 1}]


def test_brier_is_scikit_learns_for_two_classes() -> None:
    rng = np.random.default_rng(0)
    p, y = rng.random(50), rng.integers(0, 2, 50)
    assert calibration(np.stack([1 - p, p], 1), y)["brier"] == pytest.approx(brier_score_loss(y, p))


def test_brier_of_three_classes_by_hand() -> None:
    # (0.5 - 1)^2 + 0.3^2 + 0.2^2 = 0.25 + 0.09 + 0.04 = 0.38
    assert calibration([[0.5, 0.3, 0.2]], [0])["brier"] == pytest.approx(0.38)


def test_a_confidence_on_an_edge_belongs_to_the_bin_below() -> None:
    # Bins are (0, 0.5] and (0.5, 1], as Guo et al. write them.
    assert calibration([[0.5, 0.5]], [0], bins=2)["bins"][0]["high"] == 0.5
