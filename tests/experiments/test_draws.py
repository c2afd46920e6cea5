"""On how many draws of test texts a score is reached."""

from __future__ import annotations

import pytest

from attnvat.experiments.draws import share_of_draws


def test_two_of_three_texts_by_hand() -> None:
    # One negative called so, one called positive, one positive called so. Draws of two: F1 0, 100 and 66.67.
    texts = [[1, 1], [0, 1]]
    assert share_of_draws(texts, 2, 66.67) == pytest.approx(2 / 3, abs=0.02)
    assert share_of_draws(texts, 2, 66.68) == pytest.approx(1 / 3, abs=0.02)


def test_a_draw_of_all_texts_has_their_score() -> None:
    texts = [[40, 10], [10, 40]]
    assert share_of_draws(texts, 100, 80.0) == 1.0
    assert share_of_draws(texts, 100, 80.01) == 0.0
