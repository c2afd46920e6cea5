"""Figures: valid SVG, the same bytes every time, colours left to the page, labels taken literally."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Callable

import matplotlib
import pytest

from attnvat.report import figures
from attnvat.report.bootstrap import Interval

SVG = "{http://www.w3.org/2000/svg}"
LABELS = ["$x^2$ \\alpha", "</text><script>", "שלום"]
NOTHING = Interval(0, -1, 1)
DRAWN: dict[str, Callable[[], str]] = {
    "distributions": lambda: figures.distributions([("<gradient>", [-1, 0, 1], [3, 5], 0.2)], 'r & "s"'),
    "calibration": lambda: figures.calibration([{"confidence": 0.9, "accuracy": 0.8, "count": 7}]),
    "confusion": lambda: figures.confusion([[5, 1, 0], [2, 7, 0], [0, 0, 0]], LABELS),
    "robustness": lambda: figures.robustness([0, 0.1], {"tvd": {"worst": [0, 0.1], "random": [0, 0]}}, {"tvd": "TVD"}),
    "differences": lambda: figures.differences(
        [("F1", "a", Interval(0.1, 0.05, 0.2)), ("F1", "b", Interval(0, -1, 1))]
    ),
}


@pytest.mark.parametrize("name", DRAWN)
def test_figure(name: str) -> None:
    svg = DRAWN[name]()
    assert svg == DRAWN[name]()
    root = ET.fromstring(svg)
    assert root.tag == f"{SVG}svg"
    assert root.get("aria-label")
    assert all(element.tag != f"{SVG}style" for element in root.iter())
    for placeholder in ("#010101", "#020202", "#030303", "#040404", "#050505", "#060606", "#ffffff", "#000000"):
        assert placeholder not in svg
    assert "var(--attention" in svg
    assert "font-family:" not in svg
    assert "Date" not in svg


def test_a_user_s_own_style_changes_nothing() -> None:
    before = DRAWN["confusion"]()
    with matplotlib.rc_context({"svg.fonttype": "path", "xtick.labelsize": 30, "axes.grid": True}):
        assert DRAWN["confusion"]() == before
        assert matplotlib.rcParams["xtick.labelsize"] == 30


def test_labels_are_text_not_formulas_and_not_markup() -> None:
    root = ET.fromstring(DRAWN["confusion"]())
    texts = [element.text for element in root.iter(f"{SVG}text")]
    assert "$x^2$ \\alpha" in texts
    assert "</text><script>" in texts
    assert "שלום" in texts
    assert "7" in texts


def test_empty_rows_and_bins_are_drawn() -> None:
    assert "0.0" in figures.calibration([])
    assert figures.differences([])
