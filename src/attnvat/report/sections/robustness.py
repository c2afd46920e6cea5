"""The section on robustness: what perturbed attention, perturbed words and replaced words do to predictions."""

from __future__ import annotations

from functools import partial
from typing import Any

from attnvat.report import figures
from attnvat.report.section import Listing, Measure, Plot, Section
from attnvat.report.tables import Spread, Table, cell

KINDS = {"vat": "worst case", "at": "against the label", "random": "random"}
"""Kinds of perturbation, as the page names them."""
SITES = {
    "attention": ("Perturbed attention", "the attention scores of a text"),
    "word": ("Perturbed words", "the word vectors of a text"),
}
MEASURES = {"tvd": "TVD", "flip_rate": "flip rate", "accuracy": "accuracy"}
READING = (
    "A perturbation of norm ε is added to {what}. TVD is how much probability moves to other classes, the flip rate "
    "the share of predictions that change. “Worst case” is the direction that moves the prediction most: far above "
    "“random” means fragile."
)


def section(evaluation: dict[str, Any]) -> Section:
    """Robustness as a section of the report."""
    of = "" if evaluation["examples"] == evaluation["of"] else f" of {evaluation['of']:,}"
    part = Section(
        "robustness",
        "Does it hold under attack?",
        "Attention and words are nudged, shuffled and replaced, and the predictions of "
        f"{evaluation['examples']:,}{of} texts watched.",
    )
    for site, (title, what) in SITES.items():
        curves = evaluation["perturbation"][site]
        part.plots.append(_plot(site, title, what, curves, evaluation["accuracy"]))
        part.listings.append(_points(title, curves))
    worst = evaluation["perturbation"]["attention"]["vat"]["points"][-1]
    flips = Measure(
        "Flips under attention attack",
        _percent(worst["flip_rate"]),
        f"Predictions that change at the worst perturbation of norm ε\u00a0=\u00a0{worst['epsilon']:g}.",
    )
    part.headline = [flips]
    part.measures = [flips, *_measures(evaluation)]
    vanished = {site: sum(curve["vanished"] for curve in evaluation["perturbation"][site].values()) for site in SITES}
    part.notes += [
        f"{count:,} texts had no direction to move in ({SITES[site][0].lower()}) and count as not moved."
        for site, count in vanished.items()
        if count
    ]
    return part


def _plot(site: str, title: str, what: str, curves: dict[str, Any], clean: float | None) -> Plot:
    epsilons = [0.0, *(point["epsilon"] for point in next(iter(curves.values()))["points"])]
    start = {"tvd": 0.0, "flip_rate": 0.0, "accuracy": clean}
    drawn = {
        measure: {
            KINDS[kind]: [start[measure], *(point[measure] for point in curve["points"])]
            for kind, curve in curves.items()
        }
        for measure in MEASURES
        if measure != "accuracy" or clean is not None
    }
    draw = partial(figures.robustness, epsilons, drawn, MEASURES, f"robustness-{site}")
    return Plot(draw, title, READING.format(what=what), full=True)


def _points(title: str, curves: dict[str, Any]) -> Listing:
    epsilons = [point["epsilon"] for point in next(iter(curves.values()))["points"]]
    rows = [
        [KINDS[kind], label, *(point[measure] for point in curve["points"])]
        for measure, label in MEASURES.items()
        for kind, curve in curves.items()
    ]
    return Listing(
        f"{title}: the numbers",
        Table(["perturbation", "measure", *(f"ε = {e:g}" for e in epsilons)], [*rows]),
        folded=True,
    )


def _measures(evaluation: dict[str, Any]) -> list[Measure]:
    shuffled = evaluation["permutation"]["median_tvd"]
    other, replaced = evaluation["adversarial_attention"], evaluation["substitution"]
    found = [
        Measure(
            "Shuffled attention, TVD",
            cell(_spread(shuffled)),
            f"Median change of a prediction over {evaluation['permutation']['permutations']} random orders of its "
            "attention; near 0 means it does not matter where attention lies.",
        ),
        Measure(
            "Other attention, JSD",
            cell(_spread(other["divergence"])),
            f"How far attention can move with the prediction kept within {other['bound']:g} TVD; the largest possible "
            f"is {other['largest_possible']:.3f}. Large means attention could have been quite another.",
        ),
        Measure(
            "Nearly opposite attention",
            _percent(other["nearly_largest"]),
            "Texts for which such attention comes within a tenth of the largest distance there is.",
        ),
        Measure(
            "Substituted words, flips",
            _percent(replaced["flip_rate"]),
            f"Predictions that change when up to {100 * replaced['budget']:g}% of a text’s words become near ones in "
            "the model’s own vectors.",
        ),
    ]
    if replaced["accuracy"] is not None:
        reading = f"Accuracy left after that attack; {replaced['accuracy_before']:.3f} before it."
        found.append(Measure("Substituted words, accuracy", cell(replaced["accuracy"]), reading))
    return found


def _percent(share: float | None) -> str:
    return cell(None) if share is None else f"{100 * share:.1f}%"


def _spread(figures_of: dict[str, Any]) -> Spread | None:
    return None if figures_of["mean"] is None else Spread(figures_of["mean"], figures_of["sd"])
