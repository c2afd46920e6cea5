"""The section on human rationales: does attention point at the words people marked, and do those words carry it?"""

from __future__ import annotations

from typing import Any

from attnvat.report.section import Listing, Measure, Section
from attnvat.report.tables import Cell, Table, cell

AGREEMENT: list[tuple[str, tuple[str, ...], str]] = [
    ("Token F1", ("token", "macro", "f1"), "Precision and recall of the top words in one; mean over documents."),
    ("Token precision", ("token", "macro", "precision"), "The share of top words that people marked."),
    ("Token recall", ("token", "macro", "recall"), "The share of marked words that are top words."),
    ("IOU F1", ("iou", "macro", "f1"), "The same for whole spans: one counts as met where half of its words overlap."),
    ("IOU F1, corrected", ("corrected", "iou", "f1"), "Recall over the spans people marked, so that it cannot pass 1."),
    ("AUPRC", ("auprc",), "Weights as a ranking of words: mean precision; chance is the share of marked words."),
    ("AUPRC, corrected", ("corrected", "auprc"), "Without the documents in which all words or none are marked."),
    ("AP", ("ap",), "Average precision, the step-wise version of the area above."),
    ("ROC-AUC", ("roc_auc",), "How often a marked word weighs more than an unmarked one; 0.5 is chance."),
]  # fmt: skip
FAITHFULNESS = [
    (
        "Comprehensiveness",
        "How far the prediction’s probability falls without the top words; higher means they carried it.",
    ),
    ("Sufficiency", "How far it falls with the top words alone; lower means they are enough."),
]
SOURCES = ("attention", "gradient")


def section(evaluation: dict[str, Any]) -> Section:
    """Human rationales and faithfulness as a section of the report."""
    part = Section(
        "rationales",
        "Does it look where people look?",
        "The words with most weight, by attention and by gradient importance, held against the words people marked as "
        "the reason for the label, and against what the model itself does without them.",
    )
    if evaluation["documents"]:
        rows: list[list[Cell]] = [
            [name, *(_at(evaluation[source], path) for source in SOURCES), reading] for name, path, reading in AGREEMENT
        ]
        columns = ["measure", *SOURCES, "how to read it"]
        reading = (
            f"{evaluation['documents']:,} documents with human rationales. A hard rationale is the top "
            f"{100 * evaluation['share']:.1f}% of a document’s words"
            + ("." if evaluation["share_given"] else ", the average share people marked.")
        )
        part.listings.append(Listing("Agreement with people", Table(columns, [*rows]), reading))
        area = _at(evaluation["attention"], ("auprc",))
        part.headline.append(
            Measure("Rationale AUPRC", cell(area), "Attention as a ranking of the words people marked.")
        )
    faithful = evaluation["faithfulness"]
    rows = [
        [name, *(_at(faithful[source], (name.lower(), "aopc")) for source in SOURCES), reading]
        for name, reading in FAITHFULNESS
    ]
    shares = ", ".join(f"{100 * share:g}" for share in faithful["shares"])
    part.listings.append(
        Listing(
            "Faithfulness",
            Table(["measure", *SOURCES, "how to read it"], [*rows]),
            f"{faithful['examples']:,} texts; the mean over the top {shares}% of words.",
        )
    )
    if evaluation["without_rationale"]:
        part.notes.append(
            f"{evaluation['without_rationale']:,} examples have no human rationale and count only for faithfulness."
        )
    return part


def _at(value: Any, path: tuple[str, ...]) -> float | None:
    for key in path:
        value = value[key]
    return None if value is None else float(value)
