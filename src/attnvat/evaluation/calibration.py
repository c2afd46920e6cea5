"""Whether a probability means what it says."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

BINS = 15


def calibration(probabilities: npt.ArrayLike, labels: npt.ArrayLike, bins: int = BINS) -> dict[str, Any]:
    """Expected calibration error of the predicted class, Brier score, and the reliability diagram's bins.

    ECE (Guo et al. 2017): bins of equal width (low, high] over the confidence, the gap between mean confidence and
    accuracy weighted by size. Brier: the mean squared distance between the probabilities and the true class; for two
    classes the positive class alone is counted, as scikit-learn does, which is half of the sum over both.
    """
    probabilities, labels = np.asarray(probabilities, dtype=np.float64), np.asarray(labels, dtype=np.int64)
    confidence, right = probabilities.max(axis=1), probabilities.argmax(axis=1) == labels
    edges = np.linspace(0, 1, bins + 1)
    place = np.clip(np.digitize(confidence, edges, right=True) - 1, 0, bins - 1)
    count = np.bincount(place, minlength=bins)
    filled = np.maximum(count, 1)
    mean_confidence = np.bincount(place, confidence, bins) / filled
    accuracy = np.bincount(place, right, bins) / filled
    error = float((count * np.abs(mean_confidence - accuracy)).sum() / max(1, len(labels)))
    diagram = [
        {
            "low": float(edges[b]),
            "high": float(edges[b + 1]),
            "count": int(count[b]),
            "confidence": float(mean_confidence[b]),
            "accuracy": float(accuracy[b]),
        }
        for b in range(bins)
        if count[b]
    ]
    return {"ece": error, "brier": brier(probabilities, labels), "bins": diagram}


def brier(probabilities: npt.NDArray[np.float64], labels: npt.NDArray[np.int64]) -> float:
    """The Brier score: (p(1) − y)² for two classes, the sum over all classes for more, averaged over texts."""
    distance = np.square(probabilities - np.eye(probabilities.shape[1])[labels])
    two = probabilities.shape[1] == 2
    return float((distance[:, 1] if two else distance.sum(axis=1)).mean()) if len(labels) else 0.0
