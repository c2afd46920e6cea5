"""The section on attention: does it go where the importance of words goes?"""

from __future__ import annotations

from functools import partial
from typing import Any

from attnvat.report import figures
from attnvat.report.section import Listing, Measure, Plot, Section
from attnvat.report.tables import Cell, Spread, Table, cell

PEARSON = "Per text, how well attention follows word importance: 1 is the same shape, 0 none. Mean ± sd over texts."
KENDALL = "The same by ranks: how often attention and importance order two words alike; 0 is as often as chance."
ATTENTION = {
    "entropy": ("Attention entropy", "How evenly attention is spread over a text: 1 evenly, 0 on a single word."),
    "score_sd": (
        "Score spread",
        "How far a text’s scores before the softmax differ (sd): the scale to see ε against.",
    ),
    "score_peak": (
        "Score peak",
        "How far the largest score stands above the mean; a growing one blunts a fixed ε.",
    ),
}
LEFT_OUT = (
    "Texts of one word, and texts whose attention or importance is the same for every word, have no correlation: they "
    "are left out."
)


def section(evaluation: dict[str, Any]) -> Section:
    """The correlation of attention with word importance as a section of the report."""
    found: dict[str, dict[str, Any]] = evaluation["importances"]
    part = Section(
        "correlation",
        "Does its attention tell the truth?",
        "A model can attend to one word and decide by another. Here attention is held against how much each word "
        "really moves the prediction, text by text.",
    )
    first = next(iter(found), None)
    if first is not None:
        pearson, kendall = _spread(found[first]["pearson"]), _spread(found[first]["kendall"])
        part.measures = [
            Measure(f"Pearson, {first}", cell(pearson), PEARSON),
            Measure(f"Kendall τ, {first}", cell(kendall), KENDALL),
        ]
        reading = f"Pearson with {first} importance; 1 is the same shape, 0 none."
        part.headline = [Measure("Attention correlation", cell(pearson and pearson.mean), reading)]
        part.listings = [_by_importance(found)]
    for key, (name, reading) in ATTENTION.items():
        part.measures.append(Measure(name, cell(_spread(evaluation["attention"][key])), reading))
    panels = []
    for name, figure in found.items():
        if figure["pearson"]["examples"]:
            bins = figure["pearson"]["histogram"]
            panels.append((name, bins["edges"], bins["counts"], figure["pearson"]["mean"]))
    if panels:
        draw = partial(figures.distributions, panels, "Pearson correlation", "correlation")
        reading = "One correlation for each text; left of zero, attention misleads."
        part.plots = [Plot(draw, "Distribution", reading, full=True)]
    stopped = "stopped at the attention" if evaluation["detached"] else "taken through the attention as well"
    part.notes = [
        f"Gradient importance is |∂ŷ/∂e · e|, ŷ the probability of the predicted class, the gradient {stopped}."
    ]
    return part


def _by_importance(found: dict[str, dict[str, Any]]) -> Listing:
    rows: list[list[Cell]] = []
    for name, figure in found.items():
        left_out = figure["left_out"]["constant"] + figure["left_out"]["too_short"]
        median = figure["pearson"]["quantiles"].get("50")
        rows.append(
            [name, figure["examples"], left_out, _spread(figure["pearson"]), _spread(figure["kendall"]), median]
        )
    columns = ["importance", "texts", "left out", "Pearson", "Kendall τ", "median r"]
    return Listing("By kind of importance", Table(columns, [*rows]), LEFT_OUT)


def _spread(figures_of: dict[str, Any]) -> Spread | None:
    return None if figures_of["mean"] is None else Spread(figures_of["mean"], figures_of["sd"])
