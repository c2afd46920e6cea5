"""The kinds of word importance by name."""

from __future__ import annotations

from collections.abc import Sequence

from attnvat.evaluation.importance import gradient_importance
from attnvat.evaluation.integrated_gradients import integrated_gradients
from attnvat.evaluation.leave_one_out import leave_one_out
from attnvat.evaluation.reading import Reading, read
from attnvat.evaluation.token_values import TokenValues
from attnvat.models import Pretrained, SequenceClassifier
from attnvat.text.encoding import EncodedDataset

IMPORTANCES: dict[str, str] = {
    "gradient": "|∂ŷ/∂e · e|, the paper's; one backward pass a batch",
    "integrated-gradients": "|Σ (∂ŷ/∂e · e) along the path from no words at all|; a backward pass for every step",
    "leave-one-out": "|Δŷ| when the word is taken out; a forward pass for every word",
}
"""Name → what it is and costs."""


def importances(
    source: Pretrained | SequenceClassifier,
    data: EncodedDataset,
    names: Sequence[str],
    *,
    detached: bool = True,
    steps: int = 32,
) -> tuple[Reading, dict[str, TokenValues]]:
    """The reading of all texts, and each named importance of their words."""
    found: dict[str, TokenValues] = {}
    if "gradient" in names:
        reading, found["gradient"] = gradient_importance(source, data, detached)
    else:
        reading = read(source, data)
    if "integrated-gradients" in names:
        found["integrated-gradients"] = integrated_gradients(source, data, steps=steps)
    if "leave-one-out" in names:
        found["leave-one-out"] = leave_one_out(source, data, reading)
    return reading, found
