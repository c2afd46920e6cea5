"""Could attention have been quite another with the same prediction (Jain & Wallace 2019, section 4.2.2).

For each text the attention farthest from the model's own (Jensen–Shannon divergence, at most ln 2) is sought among
those that leave the prediction where it is (total variation distance at most 0.05): gradient ascent on the scores with
a penalty on the distance, all sentences of a batch at once, from the model's attention turned upside down and from
random starts. What is reported is the best attention actually met that keeps the bound, so it is a lower bound of the
true maximum; the model's own attention keeps it with a divergence of 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from attnvat.evaluation.batches import TOKENS, token_batches, widths
from attnvat.evaluation.distribution import distribution
from attnvat.evaluation.divergence import jensen_shannon, total_variation
from attnvat.evaluation.still import held_still, model_of
from attnvat.evaluation.token_values import TokenValues
from attnvat.models import Pretrained, SequenceClassifier, masked_softmax
from attnvat.models.probability import probabilities
from attnvat.progress import progress
from attnvat.techniques.noise import sentence_noise
from attnvat.techniques.sites import Pass, clean_pass
from attnvat.text.batch import Batch
from attnvat.text.encoding import EncodedDataset

BOUND = 0.05
LN2 = float(np.log(2))


@dataclass(frozen=True)
class AdversarialAttention:
    """The farthest attention found for N texts."""

    divergence: npt.NDArray[np.float64]
    """Jensen–Shannon divergence from the model's attention, in nats (N,)."""
    distance: npt.NDArray[np.float64]
    """Total variation distance of the predictions, at most the bound (N,)."""
    attention: TokenValues
    bound: float

    def figures(self) -> dict[str, Any]:
        """Distribution of the divergences, and the share that come within a tenth of the maximum."""
        return {
            "bound": self.bound,
            "largest_possible": LN2,
            "divergence": distribution(self.divergence, 0, LN2),
            "nearly_largest": float((self.divergence > 0.9 * LN2).mean()) if len(self.divergence) else None,
            "tvd_max": float(self.distance.max(initial=0.0)),
        }


def adversarial_attention(
    source: Pretrained | SequenceClassifier,
    data: EncodedDataset,
    seed: int = 0,
    bound: float = BOUND,
    starts: int = 4,
    steps: int = 60,
    rate: float = 0.3,
    penalty: float = 20.0,
    tokens: int = TOKENS,
) -> AdversarialAttention:
    """For each text the attention farthest from the model's own with the prediction within `bound` of the model's."""
    model = model_of(source)
    divergence, distance = np.zeros(len(data)), np.zeros(len(data))
    attention = TokenValues.empty(data.lengths)
    with held_still(model, gradients=True) as device, progress("adversarial attention", len(data)) as advance:
        for rows in token_batches(widths(data), tokens):
            batch = data.batch(rows).to(device)
            with torch.no_grad():
                clean = clean_pass(model, batch)
            own = masked_softmax(clean.scores, batch.mask)
            best = Farthest(own, torch.zeros_like(own[:, 0]), torch.zeros_like(own[:, 0]))
            for start in range(starts):
                first = sentence_noise(batch.ids, batch.mask, 1, seed + start, clean.scores.dtype).squeeze(-1)
                if start == 0:
                    first = -clean.scores
                _ascend(model, batch, clean, own, first, best, bound, steps, rate, penalty)
            divergence[rows] = best.divergence.double().cpu().numpy()
            distance[rows] = best.distance.double().cpu().numpy()
            attention.store(rows, best.attention)
            advance(len(rows))
    return AdversarialAttention(divergence, distance, attention, bound)


@dataclass
class Farthest:
    """The farthest attention so far of each sentence that keeps the bound."""

    attention: Tensor
    divergence: Tensor
    distance: Tensor

    def take(self, attention: Tensor, divergence: Tensor, distance: Tensor, bound: float) -> None:
        """Keep the new attention (B, T) of the sentences where it is farther and within the bound."""
        better = (distance <= bound) & (divergence > self.divergence)
        self.attention = torch.where(better[:, None], attention, self.attention)
        self.divergence = torch.where(better, divergence, self.divergence)
        self.distance = torch.where(better, distance, self.distance)


def _ascend(
    model: SequenceClassifier,
    batch: Batch,
    clean: Pass,
    own: Tensor,
    start: Tensor,
    best: Farthest,
    bound: float,
    steps: int,
    rate: float,
    penalty: float,
) -> None:
    """Climb the divergence from one start, showing every attention on the way to `best`."""
    p = probabilities(clean.logits)
    scores = start.clone().requires_grad_()
    optimiser = torch.optim.Adam([scores], lr=rate)
    for _ in range(steps):
        with torch.enable_grad():
            other = masked_softmax(scores, batch.mask)
            divergence = jensen_shannon(own, other)
            distance = total_variation(p, probabilities(model.decode(clean.states, scores, batch)))
            # Half of the bound is kept as a margin, so that the climb runs inside of it and not along its edge.
            loss = penalty * (distance - bound / 2).clamp_min(0) - divergence
            (scores.grad,) = torch.autograd.grad(loss.sum(), scores)
        best.take(other.detach(), divergence.detach(), distance.detach(), bound)
        optimiser.step()
