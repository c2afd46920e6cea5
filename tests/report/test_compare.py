"""Comparisons: the differences are those of the evaluations, paired, and only of the same examples."""

from __future__ import annotations

import copy
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hostile import QUICK, tiny_subject

from attnvat.errors import UserError
from attnvat.evaluation.explanations import explain
from attnvat.evaluation.suite import evaluate
from attnvat.report.bootstrap import Interval
from attnvat.report.compare import Comparison, compare, comparison_table
from attnvat.report.comparison_page import write_comparison

NAMES = ["first", "<b>second</b>"]


@pytest.fixture(scope="module")
def evaluations(evaluation: dict[str, Any]) -> dict[str, dict[str, Any]]:
    other = evaluate(tiny_subject(seed=3), ("prediction", "correlation", "rationales"), options=QUICK)
    return dict(zip(NAMES, (evaluation, other), strict=True))


@pytest.fixture(scope="module")
def comparison(evaluations: dict[str, dict[str, Any]]) -> Comparison:
    return compare(evaluations, draws=500)


def test_values_and_differences_are_those_of_the_evaluations(
    comparison: Comparison, evaluations: dict[str, dict[str, Any]]
) -> None:
    first, other = evaluations.values()
    rows = {row.name: row for row in comparison.rows}
    for name, value in {
        "F1": lambda one: one["prediction"]["f1"],
        "Accuracy": lambda one: one["prediction"]["accuracy"],
        "Pearson, gradient": lambda one: one["correlation"]["importances"]["gradient"]["pearson"]["mean"],
        "Kendall τ, leave-one-out": lambda one: one["correlation"]["importances"]["leave-one-out"]["kendall"]["mean"],
        "Rationale AUPRC": lambda one: one["rationales"]["attention"]["auprc"],
    }.items():
        found, difference = rows[name].values, rows[name].differences[1]
        assert isinstance(found[0], Interval)
        assert isinstance(found[1], Interval)
        assert (found[0].estimate, found[1].estimate) == pytest.approx((value(first), value(other)), abs=1e-5)
        assert difference is not None
        assert difference.estimate == pytest.approx(value(other) - value(first), abs=1e-5)
        assert difference.low <= difference.estimate <= difference.high
    assert rows["Calibration error"].values == [one["prediction"]["calibration"]["ece"] for one in (first, other)]
    assert rows["Substituted words, flips"].values[1] is None


def test_examples_on_which_runs_part(comparison: Comparison, evaluations: dict[str, dict[str, Any]]) -> None:
    one, two = (
        np.equal(e["prediction"]["instances"]["label"], e["prediction"]["instances"]["prediction"])
        for e in evaluations.values()
    )
    assert comparison.disagreement == np.flatnonzero(one != two).tolist()
    assert comparison.agreement == [
        (int((one & two).sum()), int((one & ~two).sum()), int((~one & two).sum()), int((~one & ~two).sum()))
    ]


def test_a_difference_counts_only_examples_measured_in_both_runs(evaluation: dict[str, Any]) -> None:
    other = copy.deepcopy(evaluation)
    values = other["correlation"]["instances"]["gradient"]["pearson"]
    known = [i for i, value in enumerate(values) if value is not None]
    values[known[0]] = None  # no longer measured, everything else the same
    row = next(row for row in compare({"a": evaluation, "b": other}, draws=200).rows if row.name == "Pearson, gradient")
    assert row.differences[1] == Interval(0.0, 0.0, 0.0)


def test_other_examples_labels_or_suites_are_refused(evaluation: dict[str, Any]) -> None:
    def changed(**changes: object) -> dict[str, Any]:
        return evaluation | {"prediction": evaluation["prediction"] | changes}

    instances = copy.deepcopy(evaluation["prediction"]["instances"])
    instances["label"][0] = 1 - instances["label"][0]
    with pytest.raises(UserError, match="b: was evaluated on other examples than a"):
        compare({"a": evaluation, "b": changed(instances=instances)})
    with pytest.raises(UserError, match=r"b: predicts x, y, but a .*; compare runs of the same task"):
        compare({"a": evaluation, "b": changed(labels=["x", "y"])})
    with pytest.raises(UserError, match="b: its evaluation has no suite 'prediction'"):
        compare({"a": evaluation, "b": {"correlation": {}}})
    with pytest.raises(UserError, match="at least two runs"):
        compare({"a": evaluation})


def test_the_table_has_a_column_a_run_and_marks_decided_differences(comparison: Comparison) -> None:
    table = comparison_table(comparison)
    assert table.columns == ["measure", *NAMES, "<b>second</b> − first"]
    for place, row in enumerate(comparison.rows):
        decided = bool(row.differences) and row.differences[1] is not None and row.differences[1].decided
        assert ((place, 3) in table.bold) == decided


def test_the_page(tmp_path: Path, comparison: Comparison) -> None:
    explained = [explain(tiny_subject(seed).pretrained, tiny_subject().examples[-4:]) for seed in (0, 3)]
    stacked = [dict(zip(NAMES, pair, strict=True)) for pair in zip(*explained, strict=True)]
    pages = [
        write_comparison(tmp_path / name, "A & <i>B</i>", comparison, stacked, facts={"on": "<x>"})
        for name in ("one.html", "two.html")
    ]
    text = pages[0].read_text("utf-8")
    assert pages[1].read_text("utf-8") == text
    for tag in ("<b>second", "<i>B", "<x>", "<script", "<img"):
        assert tag not in text
    assert text.count('<article class="example">') == 4
    assert text.count('<p class="words"') == 8
    assert not re.search(r'(src|href)="(?!#)', text)
    f1 = comparison.rows[0].differences[1]
    assert f1 is not None
    assert f"{f1.low:.3f}".replace("-", "−") in text
