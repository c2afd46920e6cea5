"""The section on prediction: metrics, calibration, confusion, by genre and by length."""

from __future__ import annotations

from functools import partial
from typing import Any

from attnvat.report import figures
from attnvat.report.section import Listing, Measure, Plot, Section, measures
from attnvat.report.tables import Cell, Table, cell
from attnvat.report.visible import shortened

GLOSSARY = {
    "f1": ("F1", "How well the positive class is found: 1 when every positive and nothing else is called positive."),
    "accuracy": ("Accuracy", "The share of examples predicted right."),
    "micro_f1": ("Micro F1", "F1 over all decisions together; equals accuracy when every example has one label."),
    "macro_f1": ("Macro F1", "The mean F1 of the classes, so that rare classes count as much as frequent ones."),
    "roc_auc": ("ROC-AUC", "How often a positive example gets a higher score than a negative one; 0.5 is chance."),
}
CALIBRATION = {
    "ece": (
        "Calibration error (ECE)",
        "Mean gap between how sure the model is and how often it is right; 0 is perfect.",
    ),
    "brier": ("Brier score", "Mean squared distance of the probabilities from the truth; lower is better."),
}
DRAWN = 12
"""Most classes of a confusion matrix that is drawn; more become a list of the most frequent mistakes."""


def section(evaluation: dict[str, Any]) -> Section:
    """Prediction as a section of the report."""
    names = [str(name) for name in evaluation["labels"]]
    calibrated = evaluation["calibration"]
    metric = str(evaluation["metric"])
    key = metric.replace("-", "_")
    main = Measure(GLOSSARY[key][0], cell(evaluation["score"], 3), GLOSSARY[key][1])
    ece = measures(calibrated, CALIBRATION)
    part = Section(
        "prediction",
        "Does it predict?",
        f"Predictions on {evaluation['examples']:,} examples. The measure of this corpus is {main.name}"
        + (f", its positive class “{shortened(names[1], 40)}”." if metric == "f1" else "."),
        measures(evaluation, GLOSSARY) + ece,
        headline=[main, *ece[:1]],
    )
    part.plots.append(
        Plot(
            partial(figures.calibration, calibrated["bins"]),
            "Calibration",
            "On the dashed line the model is as sure as it is right; below it, too sure. Large dots: many examples.",
        )
    )
    counts = evaluation["confusion"]
    if len(names) <= DRAWN:
        draw = partial(figures.confusion, counts, names)
        part.plots.append(Plot(draw, "Confusion", "Rows are the truth, columns the prediction; the diagonal is right."))
    else:
        part.listings.append(_mistakes(counts, names))
    if evaluation["by_genre"]:
        part.listings.append(_groups("By genre", "genre", list(evaluation["by_genre"].items()), main.name))
    if len(evaluation["by_length"]) > 1:
        lengths = [(_range(bucket), bucket) for bucket in evaluation["by_length"]]
        part.listings.append(_groups("By length", "words", lengths, main.name))
    return part


def _mistakes(counts: list[list[int]], names: list[str]) -> Listing:
    pairs = ((-n, true, taken) for true, row in enumerate(counts) for taken, n in enumerate(row) if n and true != taken)
    rows: list[list[Cell]] = []
    for n, true, taken in sorted(pairs)[:15]:
        rows.append([shortened(names[true], 40), shortened(names[taken], 40), -n])
    return Listing("Most frequent mistakes", Table(["true", "predicted", "examples"], [*rows]))


def _groups(title: str, what: str, groups: list[tuple[str, dict[str, Any]]], metric: str) -> Listing:
    rows = [[name, group["examples"], group["score"], group["accuracy"]] for name, group in groups]
    same = metric == "Accuracy"
    columns = [what, "examples", metric.lower() if same else metric] + ([] if same else ["accuracy"])
    table = Table(columns, [row[: len(columns)] for row in rows])
    return Listing(title, table, "Groups of few examples move a lot by chance.")


def _range(bucket: dict[str, Any]) -> str:
    return f"{bucket['from']}–{bucket['to']}" if bucket["to"] else f"{bucket['from']} and more"
