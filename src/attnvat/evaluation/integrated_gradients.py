"""Word importance by integrated gradients (Sundararajan et al. 2017), through captum.

The path leads from zero vectors (no words) to the text's word vectors; the importance of word t is
|Σ_d e_td ∫ ∂ŷ/∂e_td dα|, and before taking the absolute value the words' shares add up to ŷ(text) − ŷ(zero vectors).
For a pair both texts move along the path (else the baseline would not be "nothing"), and the attended text's words are
reported.
"""

from __future__ import annotations

import torch
from captum.attr import IntegratedGradients
from torch import Tensor

from attnvat.evaluation.batches import TOKENS, token_batches, widths
from attnvat.evaluation.still import held_still, model_of
from attnvat.evaluation.token_values import TokenValues
from attnvat.models import Pretrained, SequenceClassifier
from attnvat.models.probability import probabilities
from attnvat.progress import progress
from attnvat.text.batch import Batch
from attnvat.text.encoding import EncodedDataset

STEPS = 32


def integrated_gradients(
    source: Pretrained | SequenceClassifier, data: EncodedDataset, steps: int = STEPS, tokens: int = TOKENS
) -> TokenValues:
    """|integrated gradient × input| of every word of the attended texts."""
    model = model_of(source)
    found = TokenValues.empty(data.lengths)
    with held_still(model, gradients=True) as device, progress("integrated gradients", len(data)) as advance:
        for rows in token_batches(widths(data), tokens):
            batch = data.batch(rows).to(device)
            found.store(rows, batch_shares(model, batch, steps).abs())
            advance(len(rows))
    return found


def batch_shares(model: SequenceClassifier, batch: Batch, steps: int) -> Tensor:
    """Each word's share of ŷ(text) − ŷ(nothing), signed, ŷ the probability of the predicted class (B, T)."""
    with torch.no_grad():
        vectors = model.embed(batch)
        states, scores = model.encode(vectors, batch)
        predicted = probabilities(model.decode(states, scores, batch)).argmax(dim=1)

    def forward(moved: Tensor) -> Tensor:
        """p of all classes; captum hands over one or several copies of the batch, end to end."""
        several = repeated(batch, len(moved) // len(batch))
        moved_states, moved_scores = model.encode(moved, several)
        return probabilities(model.decode(moved_states, moved_scores, several))

    with torch.enable_grad():
        # One step of the path at a time keeps memory at that of a batch; the batch is what fills the processor.
        attributed: Tensor = IntegratedGradients(forward).attribute(
            vectors.requires_grad_(),
            baselines=torch.zeros_like(vectors),
            target=predicted,
            n_steps=steps,
            internal_batch_size=len(batch),
        )
    return attributed.detach().sum(dim=-1)[:, : batch.ids.shape[1]]


def repeated(batch: Batch, times: int) -> Batch:
    """The batch `times` over, copies end to end, without labels."""
    if times == 1:
        return batch
    return Batch(
        batch.ids.repeat(times, 1),
        batch.lengths.repeat(times),
        question=batch.question and repeated(batch.question, times),
        classes=None if batch.classes is None else batch.classes.repeat(times, 1),
    )
