"""Explanations as the page shows them: verdict, heat map, and the words that weigh most."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from attnvat.evaluation.explanations import Explanation
from attnvat.report.emphasis import Emphasis, emphasis, share
from attnvat.report.heatmap import heatmap, question
from attnvat.report.selection import LOW, RIGHT, WRONG, Kind, rows_to_show, select_examples
from attnvat.report.tables import number
from attnvat.report.visible import shortened, visible


@dataclass(frozen=True)
class Shown:
    """One example, every text in it still to be escaped but for the heat map and the question, which are markup."""

    kinds: str
    mark: str
    predicted: str
    confidence: str
    true: str
    correlation: str
    id: str
    question: Markup
    heatmap: Markup
    most: list[tuple[str, list[tuple[str, str]]]]


@dataclass(frozen=True)
class Filter:
    """A kind of example with how many of it are on the page."""

    id: str
    title: str
    count: int


def shown_examples(explanations: Sequence[Explanation], each: int = 6) -> tuple[list[Shown], list[Filter]]:
    """The most telling explanations (all, where they are few) in the page's order, and the kinds to filter by."""
    if not explanations:
        return [], []
    emphases = [emphasis(explanation) for explanation in explanations]
    confidence = [explanation.probabilities[explanation.prediction] for explanation in explanations]
    labelled = all(explanation.label is not None for explanation in explanations)
    right = [explanation.label == explanation.prediction for explanation in explanations] if labelled else None
    chosen = select_examples(confidence, right, [shown.correlation for shown in emphases], each)
    # Among a handful of examples only the lowest third deserve the name.
    low = set(chosen[LOW.id][: max(1, len(explanations) // 3)].tolist())
    rows = rows_to_show(chosen)
    if len(explanations) <= 3 * each:
        rows += [row for row in range(len(explanations)) if row not in set(rows)]
    examples = [shown_example(explanations[row], emphases[row], row in low) for row in rows]
    filters = [_count(kind, examples) for kind in (RIGHT, WRONG, LOW)]
    return examples, [kind for kind in filters if 0 < kind.count < len(examples)]


def _count(kind: Kind, examples: Sequence[Shown]) -> Filter:
    return Filter(kind.id, kind.title, sum(kind.id in example.kinds.split() for example in examples))


def shown_example(explanation: Explanation, weights: Emphasis, low: bool = False) -> Shown:
    """One explanation as the page shows it."""
    known = explanation.label is not None
    right = explanation.label == explanation.prediction
    kinds = ([(RIGHT if right else WRONG).id] if known else []) + ([LOW.id] if low else [])
    true = "" if explanation.label is None or right else explanation.labels[explanation.label]
    tops = [("attention", weights.top(weights.attention)), (weights.method, weights.top(weights.importance))]
    return Shown(
        kinds=" ".join(kinds),
        mark=("✓ right" if right else "✗ wrong") if known else "",
        predicted=shortened(explanation.labels[explanation.prediction], 60),
        confidence=number(explanation.probabilities[explanation.prediction], 3),
        true=shortened(true, 60),
        correlation=number(weights.correlation, 2) if math.isfinite(weights.correlation) else "",
        id=shortened(explanation.id or "", 60),
        question=question(explanation.question) if explanation.question else Markup(),
        heatmap=heatmap(weights),
        most=[
            (
                f"most {visible(name)}",
                [(shortened(word, 24), share(weight)) for word, weight in top],
            )
            for name, top in tops
            if name and top
        ],
    )
