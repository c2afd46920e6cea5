"""The tables of the results: ours, mean ± sd over seeds, beside the paper's."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from attnvat.experiments.catalogue import Experiment
from attnvat.experiments.choices import choices_table, readings_table, selection_table
from attnvat.experiments.paper_numbers import CORRELATION, PREDICTION, printed
from attnvat.experiments.rows import (
    FLIPS,
    PEARSON,
    SCORE,
    TITLES,
    VALIDATION,
    Measure,
    Reader,
    Row,
    at,
    crossed,
    difference_cells,
    differences,
    importance,
    most_seeds,
    plain_of,
    pushed,
    reference_of,
)
from attnvat.experiments.tables_of_variants import (
    amounts,
    contexts,
    dropouts,
    few_labels,
    mixing,
    rationales,
    strengths,
    with_language_models,
)
from attnvat.report.tables import Cell, Table

METRICS = {"cnn": "accuracy", "snli": "micro-F1", "multinli": "micro-F1"}
"""Where it is not F1."""
EPSILONS = (0.5, 1.0, 2.0)
"""Sizes of the perturbations shown."""


def prediction(rows: Sequence[Row], corpus: str) -> Table:
    """Test scores, their differences to vanilla, and the paper's."""
    metric = METRICS.get(corpus, "F1")
    cells: list[Sequence[Cell]] = []
    for row, difference in zip(rows, differences(rows, SCORE), strict=True):
        paper = printed(PREDICTION, row.arm.technique, corpus, row.arm.unlabelled)
        cells.append(
            [
                row.arm.title,
                row.unlabelled,
                row.options,
                len(row.records),
                row.cell(VALIDATION),
                row.cell(SCORE),
                paper,
                *difference_cells(row, rows, difference),
                None if row is plain_of(rows) else crossed(row, reference_of(row, rows)),
            ]
        )
    columns = ["technique", "unlabelled", "searched", "seeds", f"validation {metric}", f"test {metric}", "paper"]
    columns += ["Δ to vanilla, by seed", "p", "verdict", "Δ accuracy, seeds × texts"]
    return Table(columns, cells, f"{TITLES[corpus]}: {metric} in percent", digits=2).best(5, among=most_seeds(rows))


def correlation(rows: Sequence[Row], corpus: str) -> Table:
    """Attention against word importance, and how spread attention is."""
    measures: dict[str, Measure] = {
        "gradient": PEARSON,
        "through attention": importance("gradient", "attached"),
        "integrated": importance("integrated-gradients"),
        "leave-one-out": importance("leave-one-out"),
        "entropy": at("measured", "test", "correlation", "attention", "entropy", "mean"),
        "score sd": at("measured", "test", "correlation", "attention", "score_sd", "mean"),
    }
    shown = {name: m for name, m in measures.items() if name == "gradient" or any(row.values(m) for row in rows)}
    cells: list[Sequence[Cell]] = []
    for row, difference in zip(rows, differences(rows, PEARSON), strict=True):
        paper = printed(CORRELATION, row.arm.technique, corpus, row.arm.unlabelled)
        ours = [row.cell(measure) for measure in shown.values()]
        cells.append(
            [
                row.arm.title,
                row.unlabelled,
                len(row.records),
                ours[0],
                paper,
                *difference_cells(row, rows, difference),
                *ours[1:],
            ]
        )
    names = list(shown)
    columns = ["technique", "unlabelled", "seeds", "gradient", "paper", "Δ to vanilla, by seed", "p", "verdict"]
    caption = f"{TITLES[corpus]}: Pearson's correlation with attention"
    return Table([*columns, *names[1:]], cells, caption).best(3, among=most_seeds(rows))


def robustness(rows: Sequence[Row], corpus: str) -> Table:
    """Predictions that flip under the worst perturbation of each size, and under other attention or near words."""
    sizes = [pushed("attention", "vat", epsilon, "flip_rate", 100) for epsilon in EPSILONS]
    words = [pushed("word", "vat", epsilon, "flip_rate", 100) for epsilon in EPSILONS[:2]]
    moved = at("measured", "test", "robustness", "permutation", "median_tvd", "mean")
    replaced = at("measured", "test", "robustness", "substitution", "flip_rate", scale=100)
    cells: list[Sequence[Cell]] = []
    for row, difference in zip(rows, differences(rows, FLIPS), strict=True):
        cells.append(
            [
                row.arm.title,
                row.unlabelled,
                len(row.records),
                *(row.cell(measure) for measure in sizes),
                *difference_cells(row, rows, difference, higher=False),
                *(row.cell(measure) for measure in words),
                row.cell(replaced),
                row.cell(moved),
            ]
        )
    columns = ["technique", "unlabelled", "seeds", *(f"attention, ε {epsilon:g}" for epsilon in EPSILONS)]
    columns += ["Δ to vanilla at ε 1", "p", "verdict", *(f"words, ε {epsilon:g}" for epsilon in EPSILONS[:2])]
    columns += ["near words", "shuffled attention, TVD"]
    caption = f"{TITLES[corpus]}: predictions that flip, in percent (lower is steadier)"
    return Table(columns, cells, caption, digits=2)


MAKERS: dict[str, Callable[[Sequence[Row], str], Table]] = {
    "table-prediction": prediction,
    "table-correlation": correlation,
    "table-robustness": robustness,
    "table-choices": choices_table,
    "table-rationales": rationales,
    "figure-amount": amounts,
    "table-selection": selection_table,
    "table-mixing": mixing,
    "table-dropout": dropouts,
    "table-readings": readings_table,
    "figure-strength": strengths,
    "table-context": contexts,
    "table-pretraining": with_language_models,
    "table-averaging": with_language_models,
    "table-teacher": with_language_models,
    "table-phrases": with_language_models,
    "table-larger": with_language_models,
    "table-few-labels": few_labels,
}
"""Experiment → the function that makes its table for a corpus."""


def experiment_table(experiment: Experiment, corpus: str, reader: Reader) -> Table:
    """The table of an experiment on a corpus, from records alone."""
    return MAKERS[experiment.name](reader.rows(experiment, corpus), corpus)
