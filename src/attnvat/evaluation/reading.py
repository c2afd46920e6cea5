"""One pass over the data without gradients: probabilities, attention and the scores before the softmax."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch

from attnvat.evaluation.batches import TOKENS, token_batches, widths
from attnvat.evaluation.still import held_still, model_of
from attnvat.evaluation.token_values import TokenValues
from attnvat.models import Pretrained, SequenceClassifier, masked_softmax
from attnvat.models.probability import probabilities
from attnvat.progress import progress
from attnvat.text.encoding import EncodedDataset


@dataclass(frozen=True)
class Reading:
    """What a model makes of N texts."""

    probabilities: npt.NDArray[np.float32]
    """p of every class (N, C)."""
    attention: TokenValues
    scores: TokenValues
    """Attention before the softmax."""

    @property
    def predictions(self) -> npt.NDArray[np.int64]:
        """The most probable class of each text; p > 0.5 for two classes (N,)."""
        return np.asarray(self.probabilities.argmax(axis=1))

    @property
    def confidence(self) -> npt.NDArray[np.float32]:
        """The probability of the predicted class (N,)."""
        return np.asarray(self.probabilities.max(axis=1))


def read(
    source: Pretrained | SequenceClassifier, data: EncodedDataset, tokens: int = TOKENS, label: str | None = None
) -> Reading:
    """Probabilities (N, C), attention and scores of all texts; `label` names the work on the progress display."""
    model = model_of(source)
    found = np.zeros((len(data), model.config.classes), dtype=np.float32)
    attention, scores = TokenValues.empty(data.lengths), TokenValues.empty(data.lengths)
    with torch.no_grad(), held_still(model) as device, progress(label or "reading", len(data)) as advance:
        for rows in token_batches(widths(data), tokens):
            batch = data.batch(rows).to(device)
            states, batch_scores = model.encode(model.embed(batch), batch)
            logits = model.decode(states, batch_scores, batch)
            found[rows] = probabilities(logits).float().cpu().numpy()
            attention.store(rows, masked_softmax(batch_scores, batch.mask))
            scores.store(rows, batch_scores)
            advance(len(rows))
    return Reading(found, attention, scores)
