"""Do the words with most attention carry the prediction: comprehensiveness and sufficiency (ERASER).

ŷ is the probability of the class predicted for the whole text. Comprehensiveness is how far ŷ falls without the top
words (high is good), sufficiency how far it falls with the top words alone (low is good). Each is averaged over several
shares of top words (AOPC), as eraserbenchmark's code does: the plain mean over the shares, no zeroth term.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from attnvat.evaluation.prediction import predict
from attnvat.evaluation.reading import Reading
from attnvat.evaluation.spans import Marks, top_share
from attnvat.evaluation.token_values import TokenValues
from attnvat.evaluation.variants import keep_words
from attnvat.models import Pretrained, SequenceClassifier
from attnvat.text.encoding import EncodedDataset

SHARES = (0.01, 0.05, 0.10, 0.20, 0.50)


def faithfulness(
    source: Pretrained | SequenceClassifier,
    data: EncodedDataset,
    reading: Reading,
    values: TokenValues,
    shares: tuple[float, ...] = SHARES,
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Comprehensiveness and sufficiency of each text at each share of its words with the largest values (N, shares)."""
    rows = np.arange(len(data))
    drops: list[npt.NDArray[np.float64]] = []
    for keep_top in (False, True):
        columns = []
        for share in shares:
            kept: list[Marks] = []
            for row in rows.tolist():
                top = top_share(values[row], share)
                kept.append(top if keep_top else ~top)
            p = predict(source, keep_words(data, rows, kept))[rows, reading.predictions]
            columns.append(reading.confidence.astype(np.float64) - p)
        drops.append(np.stack(columns, axis=1))
    return drops[0], drops[1]


def aopc(drops: npt.NDArray[np.float64], shares: tuple[float, ...] = SHARES) -> dict[str, Any]:
    """The mean drop over texts and shares, and at each share."""
    by_share = drops.mean(axis=0)
    return {
        "aopc": float(drops.mean()),
        "by_share": [{"share": s, "drop": float(d)} for s, d in zip(shares, by_share, strict=True)],
    }
