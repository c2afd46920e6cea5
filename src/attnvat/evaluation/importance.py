"""Word importance by gradient × input: |∂ŷ/∂e_t · e_t|, ŷ the probability of the predicted class.

This is the importance of Jain & Wallace, of Mohankumar et al. and so of the paper (appendix C). Their decoder stops the
gradient at the attention, the paper does not say whether it does: `detached` offers both and is on by default.
Detached, ŷ depends on a word only through the states that are summed, not through how much attention each one gets.

One backward pass serves a whole batch: the sentences of a batch do not touch one another, so the gradient of the sum of
their ŷ holds each sentence's own.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from attnvat.evaluation.batches import TOKENS, token_batches, widths
from attnvat.evaluation.reading import Reading
from attnvat.evaluation.still import held_still, model_of
from attnvat.evaluation.token_values import TokenValues
from attnvat.models import Pretrained, SequenceClassifier, masked_softmax
from attnvat.models.probability import probabilities
from attnvat.progress import progress
from attnvat.text.batch import Batch
from attnvat.text.encoding import EncodedDataset


def gradient_importance(
    source: Pretrained | SequenceClassifier, data: EncodedDataset, detached: bool = True, tokens: int = TOKENS
) -> tuple[Reading, TokenValues]:
    """The gradient importance of every word of the attended texts, and the reading that comes with it for free."""
    model = model_of(source)
    found = np.zeros((len(data), model.config.classes), dtype=np.float32)
    attention, scores, importance = (TokenValues.empty(data.lengths) for _ in range(3))
    with torch.enable_grad(), held_still(model) as device, progress("gradient importance", len(data)) as advance:
        for rows in token_batches(widths(data), tokens):
            batch = data.batch(rows).to(device)
            p, batch_scores, batch_importance = batch_gradient(model, batch, detached)
            found[rows] = p.float().cpu().numpy()
            scores.store(rows, batch_scores)
            attention.store(rows, masked_softmax(batch_scores, batch.mask))
            importance.store(rows, batch_importance)
            advance(len(rows))
    return Reading(found, attention, scores), importance


def batch_gradient(model: SequenceClassifier, batch: Batch, detached: bool) -> tuple[Tensor, Tensor, Tensor]:
    """Probabilities (B, C), attention scores (B, T) and importance (B, T) of a batch, by one backward pass."""
    vectors = model.embed(batch).detach().requires_grad_()
    states, scores = model.encode(vectors, batch)
    p = probabilities(model.decode(states, scores.detach() if detached else scores, batch))
    (gradient,) = torch.autograd.grad(p.amax(dim=1).sum(), vectors)
    importance = (gradient * vectors.detach()).sum(dim=-1).abs()
    return p.detach(), scores.detach(), importance[:, : batch.ids.shape[1]]
