"""Agreement with the words people marked (ERASER, DeYoung et al. 2020), by eraserbenchmark's definitions.

Where a definition of eraserbenchmark is questionable it is kept, so that numbers compare with published ones, and the
corrected one is returned beside it under `corrected`:

- IOU recall divides the number of *predicted* spans that meet a true one by the number of true spans. Two predicted
  halves of one true span (each of IOU 0.5) give a recall of 2. Corrected: the share of true spans that are met.
- AUPRC keeps documents in which all words or none are marked, while AP and ROC-AUC drop them. A document without marks
  then counts 0.5 (the trapezoid between (recall 1, precision 0) and (0, 1)) and one all marked counts 1, whatever the
  scores. Corrected: AUPRC drops them too.
- IOU F1 macro is the F1 of the mean precision (over documents with a predicted span) and the mean recall (over
  documents with a true one), while token F1 macro is the mean of the documents' F1. Both are kept as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.metrics import auc, average_precision_score, precision_recall_curve, roc_auc_score

from attnvat.evaluation.spans import Marks, Span, overlap

THRESHOLD = 0.5
"""Overlap from which a predicted span meets a true one."""


def iou_scores(
    truth: Sequence[Sequence[Span]], predicted: Sequence[Sequence[Span]], threshold: float = THRESHOLD
) -> dict[str, Any]:
    """Precision, recall and F1 of spans that overlap, over documents (macro) and over all spans (micro)."""
    met_by_prediction, met_truth, sizes = [], [], []
    for true, guess in zip(truth, predicted, strict=True):
        met_by_prediction.append(sum(any(overlap(g, t) >= threshold for t in true) for g in guess))
        met_truth.append(sum(any(overlap(g, t) >= threshold for g in guess) for t in true))
        sizes.append((len(true), len(guess)))
    n_true, n_guess = np.array(sizes, dtype=np.int64).reshape(-1, 2).T
    hits, found = np.array(met_by_prediction), np.array(met_truth)
    return {
        "macro": _macro(_ratio(hits, n_guess), _ratio(hits, n_true)),
        "micro": _prf(_share(hits, n_guess), _share(hits, n_true)),
        "corrected": _macro(_ratio(hits, n_guess), _ratio(found, n_true)),
    }


def token_scores(truth: Sequence[Marks], predicted: Sequence[Marks]) -> dict[str, Any]:
    """Precision, recall and F1 of marked words, the mean over documents (macro) and over all words (micro).

    As in eraserbenchmark a document marked neither by people nor by the model is not counted, and one marked by only
    one of them counts 0.
    """
    pairs = zip(truth, predicted, strict=True)
    counts = np.array([((t & g).sum(), t.sum(), g.sum()) for t, g in pairs], dtype=np.int64).reshape(-1, 3)
    both, n_true, n_guess = counts[(counts[:, 1] > 0) | (counts[:, 2] > 0)].T
    precision, recall = both / np.maximum(1, n_guess), both / np.maximum(1, n_true)
    f1 = 2 * both / np.maximum(1, n_true + n_guess)
    macro = {"precision": _mean(precision), "recall": _mean(recall), "f1": _mean(f1)}
    return {"macro": macro, "micro": _prf(_share(both, n_guess), _share(both, n_true))}


def soft_scores(truth: Sequence[Marks], values: Sequence[npt.NDArray[np.float32]]) -> dict[str, Any]:
    """AUPRC, AP and ROC-AUC of a number a word against the marked words, the mean over documents."""
    area, mixed_area, precision, roc = [], [], [], []
    for marks, numbers in zip(truth, values, strict=True):
        area.append(auprc(marks, numbers))
        if marks.any() and not marks.all():
            mixed_area.append(area[-1])
            precision.append(float(average_precision_score(marks, numbers)))
            roc.append(float(roc_auc_score(marks, numbers)))
    return {
        "auprc": _mean(area),
        "ap": _mean(precision),
        "roc_auc": _mean(roc),
        "corrected": {"auprc": _mean(mixed_area)},
        "single_class": len(area) - len(mixed_area),
    }


def auprc(marks: Marks, values: npt.NDArray[np.float32]) -> float:
    """Area under the precision-recall curve by trapezoids; 0.5 where nothing is marked, as in eraserbenchmark."""
    if not marks.any():
        return 0.5
    precision, recall, _ = precision_recall_curve(marks, values)
    return float(auc(recall, precision))


def _ratio(part: npt.NDArray[np.int64], whole: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """part/whole of the documents that have any."""
    return np.asarray(part[whole > 0] / whole[whole > 0])


def _share(part: npt.NDArray[np.int64], whole: npt.NDArray[np.int64]) -> float:
    return float(part.sum() / whole.sum()) if whole.sum() else 0.0


def _mean(values: npt.ArrayLike) -> float | None:
    """The mean, None of nothing."""
    values = np.asarray(values, dtype=np.float64)
    return float(values.mean()) if len(values) else None


def _macro(precision: npt.NDArray[np.float64], recall: npt.NDArray[np.float64]) -> dict[str, float]:
    return _prf(_mean(precision) or 0.0, _mean(recall) or 0.0)


def _prf(precision: float, recall: float) -> dict[str, float]:
    total = precision + recall
    f1 = 2 * precision * recall / total if precision and recall else 0.0
    return {"precision": precision, "recall": recall, "f1": f1}
