"""Rows of results tables, made up without a run."""

from __future__ import annotations

from collections.abc import Sequence

from attnvat.experiments.arms import Arm, Setup, config_of
from attnvat.experiments.rows import Row


def made_row(
    arm: Arm, scores: Sequence[float], correlation: float = 0.8, flips: float = 0.1, epsilon: float = 1.0
) -> Row:
    """A row with these scores and accuracies by seed, all of one correlation and flip rate."""

    def record(score: float) -> dict[str, object]:
        points = [{"epsilon": 1.0, "flip_rate": flips}]
        measured = {
            "prediction": {"score": score, "accuracy": score},
            "correlation": {"importances": {"gradient": {"pearson": {"mean": correlation}}}},
            "robustness": {"perturbation": {"attention": {"vat": {"points": points}}}},
        }
        return {"measured": {"test": measured}}

    records = {seed: record(score) for seed, score in enumerate(scores)}
    return Row(arm, records, {"epsilon": epsilon}, None, config_of(arm, "sst", Setup(), 0))


def rising(seeds: int, first: float = 0.8) -> list[float]:
    """As many scores, each a point above the one before."""
    return [first + 0.01 * seed for seed in range(seeds)]
