"""Does it predict: probabilities of a whole data set, and everything measured on them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from attnvat.evaluation.batches import TOKENS, token_batches, widths
from attnvat.evaluation.calibration import calibration
from attnvat.evaluation.classification import accuracy, confusion, f1, macro_f1, micro_f1, roc_auc, score
from attnvat.evaluation.still import held_still, model_of
from attnvat.models import Pretrained, SequenceClassifier
from attnvat.models.probability import probabilities
from attnvat.text.encoding import EncodedDataset

__all__ = ["predict", "prediction_report", "score"]

LENGTHS = (1, 6, 11, 21, 41, 81, 161, 321, 641)
"""First lengths, in tokens, of the buckets by length."""


def predict(
    source: Pretrained | SequenceClassifier, dataset: EncodedDataset, tokens: int = TOKENS
) -> npt.NDArray[np.float32]:
    """p of every class of every text, in the data set's order (N, C). Leaves the model as it was, training mode too."""
    model = model_of(source)
    found = np.zeros((len(dataset), model.config.classes), dtype=np.float32)
    with torch.no_grad(), held_still(model) as device:
        for rows in token_batches(widths(dataset), tokens):
            batch = dataset.batch(rows).to(device)
            states, scores = model.encode(model.embed(batch), batch)
            found[rows] = probabilities(model.decode(states, scores, batch)).float().cpu().numpy()
    return found


def prediction_report(
    found: npt.NDArray[np.float32],
    labels: npt.NDArray[np.int64],
    metric: str,
    names: Sequence[str],
    lengths: npt.NDArray[np.int64],
    genres: Sequence[str | None] = (),
) -> dict[str, Any]:
    """All metrics of probabilities (N, C) against class numbers (N,), whole, by genre and by length of the text."""
    p = found.astype(np.float64)
    report: dict[str, Any] = {"metric": metric, "score": score(metric, p, labels), **_metrics(p, labels)}
    report["calibration"] = calibration(p, labels)
    report["labels"] = list(names)
    report["confusion"] = confusion(p.argmax(axis=1), labels, p.shape[1]).tolist()
    named = np.array([genre or "" for genre in genres])
    report["by_genre"] = {
        genre: {"score": score(metric, p[named == genre], labels[named == genre])}
        | _metrics(p[named == genre], labels[named == genre])
        for genre in sorted(set(named.tolist()) - {""})
    }
    report["by_length"] = []
    for low, high in zip(LENGTHS, [*LENGTHS[1:], np.inf], strict=True):
        inside = (lengths >= low) & (lengths < high)
        if inside.any():
            bucket = {"from": low, "to": None if high == np.inf else int(high) - 1}
            part = {"score": score(metric, p[inside], labels[inside])} | _metrics(p[inside], labels[inside])
            report["by_length"].append(bucket | part)
    return report


def _metrics(p: npt.NDArray[np.float64], labels: npt.NDArray[np.int64]) -> dict[str, Any]:
    """The metrics of one group of texts."""
    counts = confusion(p.argmax(axis=1), labels, p.shape[1])
    return {
        "examples": len(labels),
        "f1": f1(counts) if p.shape[1] == 2 else None,
        "accuracy": accuracy(counts),
        "micro_f1": micro_f1(counts),
        "macro_f1": macro_f1(counts),
        "roc_auc": roc_auc(p, labels),
    }
