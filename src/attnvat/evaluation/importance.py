"""Word importance by gradient × input: |∂ŷ/∂e_t · e_t|, ŷ the probability of the predicted class.

This is the importance of Jain & Wallace, of Mohankumar et al. and so of the paper (appendix C). Their decoder stops the
gradient at the attention, the paper does not say whether it does: `detached` offers both and is on by default.
Detached, ŷ depends on a word only through the states that are summed, not through how much attention each one gets.

One backward pass serves a whole batch: the sentences of a batch do not touch one another, so the gradient of the sum of
their ŷ holds each sentence's own. On the CPU the way through the BiLSTM is taken in closed form (`lstm_gradient`),
elsewhere by autograd; a test holds the two together.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from attnvat.evaluation.batches import TOKENS, Rows, token_batches, widths
from attnvat.evaluation.lstm_gradient import BiLSTMTrace, Buffers, Weights
from attnvat.evaluation.reading import Reading
from attnvat.evaluation.side_by_side import side_by_side
from attnvat.evaluation.still import held_still, model_of
from attnvat.evaluation.token_values import TokenValues
from attnvat.models import (
    PairSequenceClassifier,
    Pretrained,
    SequenceClassifier,
    SingleSequenceClassifier,
    States,
    masked_softmax,
)
from attnvat.models.probability import probabilities
from attnvat.progress import progress
from attnvat.text.batch import Batch
from attnvat.text.encoding import EncodedDataset

CLOSED_FORM_TOKENS = 8 * TOKENS
"""Tokens of a batch of the closed form: every step should hold many texts (480 MB a thread at the paper's sizes)."""

ClosedForm = SingleSequenceClassifier | PairSequenceClassifier
Found = tuple[Tensor, Tensor, Tensor]
"""Probabilities (B, C), attention scores (B, T) and importance (B, T)."""


def gradient_importance(
    source: Pretrained | SequenceClassifier, data: EncodedDataset, detached: bool = True, tokens: int | None = None
) -> tuple[Reading, TokenValues]:
    """The gradient importance of every word of the attended texts, and the reading that comes with it for free."""
    model = model_of(source)
    found = np.zeros((len(data), model.config.classes), dtype=np.float32)
    attention, scores, importance = (TokenValues.empty(data.lengths) for _ in range(3))
    with (
        torch.enable_grad(),
        held_still(model, gradients=True) as device,
        progress("gradient importance", len(data)) as advance,
    ):
        gradient, budget, threads = by_autograd(model, detached), TOKENS, 1
        if isinstance(model, ClosedForm) and device.type == "cpu" and model.embedding_table().dtype == torch.float32:
            gradient, budget = closed_form(model, detached), CLOSED_FORM_TOKENS
            threads = torch.get_num_threads()

        def work(rows: Rows) -> None:
            batch = data.batch(rows).to(device)
            p, batch_scores, batch_importance = gradient(batch)
            found[rows] = p.float().cpu().numpy()
            scores.store(rows, batch_scores)
            attention.store(rows, masked_softmax(batch_scores, batch.mask))
            importance.store(rows, batch_importance)

        for rows in side_by_side(work, token_batches(widths(data), tokens or budget, rows=1024), threads):
            advance(len(rows))
    return Reading(found, attention, scores), importance


def by_autograd(model: SequenceClassifier, detached: bool) -> Callable[[Batch], Found]:
    """The gradient of a batch by one backward pass, for any model, device and precision."""

    def gradient(batch: Batch) -> Found:
        vectors = model.embed(batch).detach().requires_grad_()
        states, scores = model.encode(vectors, batch)
        p = probabilities(model.decode(states, scores.detach() if detached else scores, batch))
        (slope,) = torch.autograd.grad(p.amax(dim=1).sum(), vectors)
        importance = (slope * vectors.detach()).sum(dim=-1).abs()
        return p.detach(), scores.detach(), importance[:, : batch.ids.shape[1]]

    return gradient


def closed_form(model: ClosedForm, detached: bool) -> Callable[[Batch], Found]:
    """The same numbers by the BiLSTM's closed form; autograd only works above its states."""
    weights, own = Weights(model.encoder), threading.local()

    def gradient(batch: Batch) -> Found:
        if not hasattr(own, "buffers"):
            own.buffers = Buffers()
        with torch.no_grad():
            distinct, words = torch.unique(batch.ids, return_inverse=True)
            vectors = model.embed(Batch(distinct[None], torch.tensor([len(distinct)])))[0]
            trace = BiLSTMTrace(weights, own.buffers, words, batch.lengths, vectors)
            states = trace.padded().requires_grad_()
            question = _question_state(model, batch)
        with torch.set_grad_enabled(not detached):
            scores = model.attention(states, question)
        with torch.enable_grad():
            p = probabilities(model.decode(States(states, question), scores, batch))
            (slope,) = torch.autograd.grad(p.amax(dim=1).sum(), states)
        with torch.no_grad():
            return p.detach(), scores.detach(), trace.gradient_times_input(slope).abs_()

    return gradient


def _question_state(model: ClosedForm, batch: Batch) -> Tensor | None:
    """The question's last state in pair tasks (B, m): no word of the attended text moves it."""
    if not isinstance(model, PairSequenceClassifier) or batch.question is None:
        return None
    question, reader = batch.question, model.question_encoder
    states = reader(model.embed(question), question.lengths, question.mask)
    return reader.last(states, question.lengths)
