"""A sample of numbers in figures a report can show: mean, spread, quantiles, histogram."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

QUANTILES = (5, 25, 50, 75, 95)


def distribution(
    values: npt.NDArray[np.float64], low: float | None = None, high: float | None = None, bins: int = 40
) -> dict[str, Any]:
    """The figures of the finite numbers among `values`; `low` and `high` fix the histogram's range."""
    known = np.asarray(values, dtype=np.float64)
    known = known[np.isfinite(known)]
    if not len(known):
        return {"examples": 0, "mean": None, "sd": None, "quantiles": {}, "histogram": {"edges": [], "counts": []}}
    span = (float(known.min()) if low is None else low, float(known.max()) if high is None else high)
    counts, edges = np.histogram(np.clip(known, *span), bins=bins, range=span)
    return {
        "examples": len(known),
        "mean": float(known.mean()),
        "sd": float(known.std(ddof=1)) if len(known) > 1 else 0.0,
        "quantiles": {str(q): float(np.percentile(known, q)) for q in QUANTILES},
        "histogram": {"edges": edges.tolist(), "counts": counts.tolist()},
    }
