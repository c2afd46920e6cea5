"""Which examples are shown, worked by hand."""

from __future__ import annotations

import numpy as np

from attnvat.evaluation.explanations import Explanation
from attnvat.report.examples import shown_examples
from attnvat.report.selection import rows_to_show, select_examples


def test_the_surest_of_each_kind_and_the_lowest_correlations() -> None:
    confidence = [0.9, 0.6, 0.99, 0.8, 0.7]
    right = [True, False, True, False, True]
    chosen = select_examples(confidence, right, [0.5, np.nan, -0.2, 0.1, 0.9], each=2)
    assert {kind: rows.tolist() for kind, rows in chosen.items()} == {"right": [2, 0], "wrong": [3, 1], "low": [2, 3]}
    assert rows_to_show(chosen) == [3, 1, 2, 0]


def test_without_labels_the_surest_are_shown() -> None:
    assert select_examples([0.1, 0.9], None, None, each=1)["sure"].tolist() == [1]


def test_kinds_on_the_page(explanations: list[Explanation]) -> None:
    examples, filters = shown_examples(explanations, each=20)
    assert len(examples) == len(explanations)
    wrong = sum(one.label != one.prediction for one in explanations)
    counts = {kind.id: kind.count for kind in filters}
    assert counts["wrong"] == wrong
    assert counts["right"] == len(explanations) - wrong
    assert [example.mark for example in examples[:wrong]] == ["✗ wrong"] * wrong
    lowest = min(example.correlation.replace("−", "-") for example in examples if "low" in example.kinds)
    assert lowest
    assert shown_examples([]) == ([], [])
