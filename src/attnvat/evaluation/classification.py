"""Metrics of predicted against true classes, each the number scikit-learn gives."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from attnvat.corpora.corpus import Metric
from attnvat.errors import UserError, nearest

Classes = npt.NDArray[np.int64]
METRICS: tuple[Metric, ...] = ("f1", "accuracy", "micro-f1")


def score(metric: str, probabilities: npt.ArrayLike, labels: npt.ArrayLike) -> float:
    """The metric of probabilities (N, C) against class numbers (N,): `f1` (of class 1), `accuracy` or `micro-f1`."""
    probabilities, labels = np.asarray(probabilities), np.asarray(labels, dtype=np.int64)
    counts = confusion(probabilities.argmax(axis=1), labels, probabilities.shape[1])
    if metric == "f1":
        return f1(counts)
    if metric == "accuracy":
        return accuracy(counts)
    if metric == "micro-f1":
        return micro_f1(counts)
    raise UserError(f"unknown metric {metric!r}; {nearest(metric, METRICS)}")


def confusion(predictions: Classes, labels: Classes, classes: int) -> Classes:
    """How often class i (row) was taken for class j (column) (C, C)."""
    return np.bincount(labels * classes + predictions, minlength=classes * classes).reshape(classes, classes)


def accuracy(counts: Classes) -> float:
    """The share of right predictions."""
    return float(np.trace(counts) / max(1, counts.sum()))


def micro_f1(counts: Classes) -> float:
    """F1 over all decisions together: with one label a text each wrong one is one false positive and one miss."""
    right, wrong = np.trace(counts), counts.sum() - np.trace(counts)
    return float(2 * right / max(1, 2 * right + wrong + wrong))


def class_f1(counts: Classes) -> npt.NDArray[np.float64]:
    """F1 of each class, 0 for a class that neither occurs nor is predicted (C,)."""
    marked = counts.sum(axis=0) + counts.sum(axis=1)
    return np.asarray(2 * np.diag(counts) / np.maximum(1, marked))


def f1(counts: Classes) -> float:
    """F1 of the positive class, `labels[1]`."""
    return float(class_f1(counts)[1])


def macro_f1(counts: Classes) -> float:
    """The mean F1 of the classes that occur or are predicted, as scikit-learn takes it."""
    present = counts.sum(axis=0) + counts.sum(axis=1) > 0
    return float(class_f1(counts)[present].mean()) if present.any() else 0.0


def roc_auc(probabilities: npt.NDArray[np.float64], labels: Classes) -> float | None:
    """Area under the ROC curve; the mean of one class against the rest for more than two. None for a single class.

    A class that never occurs has no curve: for more than two classes the mean is over those that do.
    """
    classes = probabilities.shape[1]
    areas = [_area(probabilities[:, c], labels == c) for c in ([1] if classes == 2 else range(classes))]
    known = [area for area in areas if area is not None]
    return float(np.mean(known)) if known else None


def _area(scores: npt.NDArray[np.float64], positive: npt.NDArray[np.bool_]) -> float | None:
    """The chance that a positive text scores above a negative one, ties counting half (Mann–Whitney)."""
    n_positive = int(positive.sum())
    n_negative = len(positive) - n_positive
    if not n_positive or not n_negative:
        return None
    _, place, count = np.unique(scores, return_inverse=True, return_counts=True)
    rank = (np.cumsum(count) - (count - 1) / 2)[place]
    return float((rank[positive].sum() - n_positive * (n_positive + 1) / 2) / (n_positive * n_negative))
