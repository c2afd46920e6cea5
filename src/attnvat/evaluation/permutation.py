"""Does it matter where attention lies: predictions under shuffled attention (Jain & Wallace 2019, section 4.2.1).

The attention weights of a text are permuted at random over its words, many times; the median distance between the
prediction and the permuted ones says how much the places matter. Only the decoder runs again.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from attnvat.evaluation.batches import TOKENS, token_batches, widths
from attnvat.evaluation.distribution import distribution
from attnvat.evaluation.divergence import total_variation
from attnvat.evaluation.still import held_still, model_of
from attnvat.models import Pretrained, SequenceClassifier, masked_softmax
from attnvat.models.probability import probabilities
from attnvat.progress import progress
from attnvat.techniques.noise import sentence_noise
from attnvat.text.batch import Batch
from attnvat.text.encoding import EncodedDataset

PERMUTATIONS = 100
PEAKS = (0.0, 0.25, 0.5, 0.75, 1.0)
"""Edges of the groups by the largest attention weight, the ones of Jain & Wallace's figures."""


@dataclass(frozen=True)
class Permuted:
    """The outcome for N texts."""

    median: npt.NDArray[np.float64]
    """Median total variation distance over the permutations (N,)."""
    peak: npt.NDArray[np.float64]
    """Largest attention weight (N,)."""
    permutations: int

    def figures(self) -> dict[str, Any]:
        """Distribution of the medians, whole and by how peaked the attention is."""
        groups = []
        for low, high in pairwise(PEAKS):
            inside = (self.peak > low) & (self.peak <= high)
            median = float(self.median[inside].mean()) if inside.any() else None
            groups.append({"low": low, "high": high, "examples": int(inside.sum()), "median_tvd": median})
        figures = {"permutations": self.permutations, "median_tvd": distribution(self.median, 0, 1)}
        return figures | {"by_peak": groups}


def permuted_attention(
    source: Pretrained | SequenceClassifier,
    data: EncodedDataset,
    seed: int = 0,
    permutations: int = PERMUTATIONS,
    tokens: int = TOKENS,
) -> Permuted:
    """How far each prediction moves when its attention is shuffled."""
    model = model_of(source)
    median, peak = np.zeros(len(data)), np.zeros(len(data))
    with torch.no_grad(), held_still(model) as device, progress("permuted attention", len(data)) as advance:
        for rows in token_batches(widths(data), tokens):
            batch = data.batch(rows).to(device)
            states, scores = model.encode(model.embed(batch), batch)
            p = probabilities(model.decode(states, scores, batch))
            moved = []
            for number in range(permutations):
                shuffled = scores.gather(1, permutation(batch, seed + number))
                moved.append(total_variation(p, probabilities(model.decode(states, shuffled, batch))))
            # numpy's median, unlike torch's, is the middle of an even number.
            median[rows] = np.median(torch.stack(moved).double().cpu().numpy(), axis=0)
            peak[rows] = masked_softmax(scores, batch.mask).amax(dim=1).double().cpu().numpy()
            advance(len(rows))
    return Permuted(median, peak, permutations)


def permutation(batch: Batch, seed: int) -> Tensor:
    """A random order of each text's real tokens, padding left in place (B, T); the text's own in any batch."""
    key = sentence_noise(batch.ids, batch.mask, 1, seed, torch.float64).squeeze(-1)
    return key.masked_fill(~batch.mask, torch.inf).argsort(dim=1, stable=True)
