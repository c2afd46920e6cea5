"""The tables that vary one thing and hold it against vanilla: amount and mixing of unlabelled text, ε, labels …"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from attnvat.experiments.paper_numbers import RATIONALE_SCORES, RATIONALES
from attnvat.experiments.rows import (
    ACCURACY,
    AUPRC,
    FLIPS,
    PEARSON,
    SCORE,
    TITLES,
    VALIDATION,
    WHOLE,
    WHOLE_COLUMN,
    Row,
    at,
    difference_cells,
    differences,
    differences_to_plain,
    importance,
    most_seeds,
)
from attnvat.report.tables import Cell, Table

RATIONALE_PATHS = {
    "iou_f1": ("iou", "macro", "f1"),
    "token_f1": ("token", "macro", "f1"),
    "auprc": ("auprc",),
    "ap": ("ap",),
    "roc_auc": ("roc_auc",),
}
RATIONALE_TITLES = ("IOU F1", "token F1", "AUPRC", "AP", "ROC-AUC")


def rationales(rows: Sequence[Row], corpus: str) -> Table:  # noqa: ARG001  always IMDB models
    """Attention against the words people marked, each score beside the paper's."""
    measures = [at("measured", "rationales", "rationales", "attention", *RATIONALE_PATHS[n]) for n in RATIONALE_SCORES]
    cells: list[Sequence[Cell]] = []
    for row, difference in zip(rows, differences(rows, AUPRC), strict=True):
        virtual = row.arm.technique.endswith("vat")
        known = RATIONALES.get(row.arm.technique) if virtual == row.arm.unlabelled and row.arm.searched else None
        line: list[Cell] = [row.arm.title, row.unlabelled, len(row.records)]
        for place, measure in enumerate(measures):
            line += [row.cell(measure), known[place] if known else None]
        cells.append([*line, *difference_cells(row, rows, difference)])
    outside = RATIONALES["BERT-to-BERT"]
    line = ["BERT-to-BERT (trained on rationales)", "–", None]
    for paper in outside:
        line += [None, paper]
    cells.append([*line, None, None, None])
    columns = ["technique", "unlabelled", "seeds"]
    for title in RATIONALE_TITLES:
        columns += [title, "paper"]
    columns += ["Δ AUPRC to vanilla, by seed", "p", "verdict"]
    table = Table(columns, cells, "IMDB models on ERASER's movie reviews (test): attention as rationale")
    for column in range(3, 13, 2):
        table.best(column, among=most_seeds(rows))
    return table


def amounts(rows: Sequence[Row], corpus: str) -> Table:
    """Validation and test scores against N_u, technique by technique."""
    names = list(dict.fromkeys(row.arm.technique for row in rows))
    ordered = sorted(rows, key=lambda row: (names.index(row.arm.technique), row.arm.amount or 0))
    cells: list[Sequence[Cell]] = [
        [
            row.arm.title,
            row.arm.amount or 0,
            row.options,
            len(row.records),
            row.cell(VALIDATION),
            row.cell(SCORE),
            row.text(PEARSON),
            *difference_cells(row, ordered, difference),
        ]
        for row, difference in zip(ordered, differences(ordered, SCORE), strict=True)
    ]
    columns = ["technique", "N_u", "searched", "seeds", "validation F1", "test F1", "correlation"]
    columns += ["Δ F1 to vanilla, by seed", "p", "verdict"]
    return Table(columns, cells, f"{TITLES[corpus]}: scores against the amount of unlabelled text", digits=2)


def mixing(rows: Sequence[Row], corpus: str) -> Table:
    """Prediction, correlation and robustness by how unlabelled texts are mixed in, each held against vanilla."""
    heads: list[list[Cell]] = [[row.arm.title, row.unlabelled, row.mixed, row.options] for row in rows]
    return three_sides(rows, corpus, ["technique", "unlabelled", "for each labelled", "searched"], heads)


def dropouts(rows: Sequence[Row], corpus: str) -> Table:
    """Prediction, correlation and robustness with the default dropout and with vanilla's, each held against vanilla."""
    heads: list[list[Cell]] = [[row.arm.title, row.unlabelled, row.options] for row in rows]
    return three_sides(rows, corpus, ["technique", "unlabelled", "searched"], heads)


def strengths(rows: Sequence[Row], corpus: str) -> Table:
    """Prediction, correlation and robustness against ε, each held against vanilla, which is ε = 0."""
    heads: list[list[Cell]] = [[row.arm.technique, row.arm.epsilon or 0.0] for row in rows]
    return three_sides(rows, corpus, ["technique", "ε"], heads)


def contexts(rows: Sequence[Row], corpus: str) -> Table:
    """Prediction, correlation and robustness with a penalty on context, each held against vanilla without.

    Other importances stand beside the gradient: the penalty must not be a cure for one measure alone.
    """
    names = [replace(row.arm, context_penalty=0.0).name for row in rows]
    heads: list[list[Cell]] = [
        [name, f"{row.arm.context_penalty:g}", row.unlabelled, row.mixed, row.options]
        for name, row in zip(names, rows, strict=True)
    ]
    columns = ["technique", "context penalty", "unlabelled", "for each labelled", "searched"]
    table = three_sides(rows, corpus, columns, heads)
    others = {"integrated": importance("integrated-gradients"), "leave-one-out": importance("leave-one-out")}
    cells: list[Sequence[Cell]] = [
        [*line, *map(row.text, others.values())] for line, row in zip(table.rows, rows, strict=True)
    ]
    return Table([*table.columns, *others], cells, table.caption, digits=table.digits)


def with_language_models(rows: Sequence[Row], corpus: str) -> Table:
    """Prediction, correlation and robustness with a language model to start from, each held against vanilla without.

    Rows with averaged weights are held against vanilla that has them too.
    """
    heads: list[list[Cell]] = [[row.arm.name, row.pretrained, row.unlabelled, row.options] for row in rows]
    table = three_sides(rows, corpus, ["technique", "language model of", "unlabelled", "searched"], heads)
    if not any(row.values(WHOLE) for row in rows):
        return table
    cells: list[Sequence[Cell]] = [[*line, row.whole] for line, row in zip(table.rows, rows, strict=True)]
    return Table([*table.columns, WHOLE_COLUMN], cells, table.caption, digits=table.digits)


def three_sides(rows: Sequence[Row], corpus: str, columns: list[str], heads: Sequence[Sequence[Cell]]) -> Table:
    """How well the rows predict, how truthful and how robust their attention is, each held against vanilla."""
    scores, truths, flips = (differences(rows, measure) for measure in (SCORE, PEARSON, FLIPS))
    cells: list[Sequence[Cell]] = [
        [
            *head,
            len(row.records),
            row.cell(SCORE),
            *difference_cells(row, rows, score),
            row.text(PEARSON),
            *difference_cells(row, rows, truth, digits=3),
            row.cell(FLIPS),
            *difference_cells(row, rows, flip, higher=False),
        ]
        for head, row, score, truth, flip in zip(heads, rows, scores, truths, flips, strict=True)
    ]
    against = ["Δ to vanilla, by seed", "p", "verdict"]
    columns = [*columns, "seeds", "test F1", *against, "correlation", *against, "flips", *against]
    caption = f"{TITLES[corpus]}: F1 and flips under attention ε 1 in percent, and correlation with gradients"
    return Table(columns, cells, caption, digits=2)


def few_labels(rows: Sequence[Row], corpus: str) -> Table:
    """Scores with few labels, each held against vanilla with as many.

    Rows that bring words are held against both vanillas: the one that has such words too, which tells what else they
    gain, and the plain one, which tells all that they gain. They are judged by accuracy: F1 is high for a model that
    calls nearly all texts positive. Where runs take long, correlation is not measured.
    """
    correlated = any(row.values(PEARSON) for row in rows)
    cells: list[Sequence[Cell]] = []
    both = zip(rows, differences(rows, ACCURACY), differences_to_plain(rows, ACCURACY), strict=True)
    for row, difference, to_plain in both:
        head = [row.arm.labels, row.arm.name, row.pretrained, row.unlabelled, row.options, len(row.records)]
        whole = difference_cells(row, rows, to_plain) if to_plain else ["–", "–", "–"]
        truth = [row.text(PEARSON)] if correlated else []
        scores = [row.cell(SCORE), row.cell(ACCURACY)]
        cells.append([*head, *scores, *difference_cells(row, rows, difference), *whole, *truth])
    columns = ["labels", "technique", "language model of", "unlabelled", "searched", "seeds", "test F1", "accuracy"]
    columns += ["Δ accuracy to vanilla, by seed", "p", "verdict", "Δ accuracy to plain vanilla", "p", "verdict"]
    columns += ["correlation"] if correlated else []
    caption = f"{TITLES[corpus]}: F1 and accuracy in percent with few labels{blind(rows)}"
    return Table(columns, cells, caption, digits=2)


def blind(rows: Sequence[Row]) -> str:
    """What a model that tells nothing apart scores on the rows' test texts: with few labels, scores come near it."""
    tables = [r["measured"]["test"]["prediction"].get("confusion") for row in rows for r in row.records.values()]
    if not any(tables):
        return ""
    table = next(one for one in tables if one)
    share = sum(table[1]) / sum(map(sum, table))
    return f"; calling every text positive has {200 * share / (1 + share):.1f} and {100 * share:.1f}"
