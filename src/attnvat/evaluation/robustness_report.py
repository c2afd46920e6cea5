"""The robustness suite of a subject."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from attnvat.evaluation.adversarial_attention import adversarial_attention
from attnvat.evaluation.importance import gradient_importance
from attnvat.evaluation.permutation import permuted_attention
from attnvat.evaluation.robustness import perturbation_curves
from attnvat.evaluation.subject import Subject
from attnvat.evaluation.substitution import substitute


def robustness_report(subject: Subject, epsilons: Sequence[float], seed: int) -> dict[str, Any]:
    """Predictions under perturbed attention and words, permuted and adversarial attention, and substituted words."""
    source, data = subject.pretrained, subject.data
    reading, importance = gradient_importance(source, data)
    right = None if data.labels is None else reading.predictions == data.labels
    perturbation = {
        site: {kind: curve.figures() for kind, curve in perturbation_curves(source, data, site, epsilons, seed).items()}
        for site in ("attention", "word")
    }
    return {
        "accuracy": None if right is None else float(right.mean()),
        "perturbation": perturbation,
        "permutation": permuted_attention(source, data, seed).figures(),
        "adversarial_attention": adversarial_attention(source, data, seed).figures(),
        "substitution": substitute(source, data, reading, importance).figures(right),
    }
