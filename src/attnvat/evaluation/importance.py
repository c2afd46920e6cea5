"""Word importance by gradient × input: |∂ŷ/∂e_t · e_t|, ŷ the probability of the predicted class.

This is the importance of Jain & Wallace, of Mohankumar et al. and so of the paper (appendix C). Their decoder stops the
gradient at the attention, the paper does not say whether it does: `detached` offers both and is on by default.
Detached, ŷ depends on a word only through the states that are summed, not through how much attention each one gets.

One backward pass serves a whole batch: the sentences of a batch do not touch one another, so the gradient of the sum of
their ŷ holds each sentence's own. On the CPU the way through the BiLSTM is taken in closed form (`lstm_gradient`),
elsewhere, and where
phrases have vectors, by autograd; a test holds the two together.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeGuard

import numpy as np
import torch
from torch import Tensor

from attnvat.evaluation.batches import TOKENS, Rows, token_batches, widths
from attnvat.evaluation.lstm_gradient import BiLSTMTrace, Buffers, Weights, WordTable
from attnvat.evaluation.reading import Reading
from attnvat.evaluation.side_by_side import side_by_side
from attnvat.evaluation.still import held_still, model_of
from attnvat.evaluation.token_values import TokenValues
from attnvat.models import (
    PairSequenceClassifier,
    Pretrained,
    SequenceClassifier,
    SingleSequenceClassifier,
    masked_softmax,
)
from attnvat.models.attention import AdditiveAttention
from attnvat.models.probability import probabilities
from attnvat.progress import progress
from attnvat.text.batch import Batch
from attnvat.text.encoding import EncodedDataset

CLOSED_FORM_TOKENS = 8 * TOKENS
"""Tokens of a batch of the closed form: every step should hold many texts (480 MB a thread at the paper's sizes)."""
SCORED_TOKENS = 2048
"""Tokens whose attention scores are computed at once."""
SHARED_TABLE = 2**29
"""Bytes of a table of all the data's words; a larger one is made anew for the words of each batch."""

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
        if has_closed_form(model, device):
            gradient, budget = closed_form(model, data, detached), CLOSED_FORM_TOKENS
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


def has_closed_form(model: SequenceClassifier, device: torch.device) -> TypeGuard[ClosedForm]:
    """Whether the closed form can be taken: it reads each word's vector from a table, which phrases would change."""
    known = isinstance(model, ClosedForm) and model.phrases is None
    return known and device.type == "cpu" and model.embedding_table().dtype == torch.float32


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


def closed_form(model: ClosedForm, data: EncodedDataset, detached: bool) -> Callable[[Batch], Found]:
    """The same numbers by the BiLSTM's closed form; autograd only works above its states."""
    weights, own, shared = Weights(model.encoder), threading.local(), None
    distinct = torch.unique(torch.from_numpy(data.texts.ids))
    if 0 < len(distinct) * weights.table_bytes <= SHARED_TABLE:
        shared = word_table(model, weights, distinct)

    def gradient(batch: Batch) -> Found:
        if not hasattr(own, "buffers"):
            own.buffers = Buffers()
        with torch.no_grad():
            table = shared or word_table(model, weights, torch.unique(batch.ids))
            trace = BiLSTMTrace(weights, own.buffers, batch.ids, batch.lengths, table)
            states = trace.padded()
            question = _question_state(model, batch)
        moved = states if detached else states.detach().requires_grad_()
        with torch.set_grad_enabled(not detached):
            scores = (
                fast_scores(model.attention, states, question, own.buffers)
                if detached
                else model.attention(moved, question)
            )
            attention = masked_softmax(scores, batch.mask)
            summary = torch.bmm(attention[:, None], states).squeeze(1)
        with torch.enable_grad():
            if detached:
                summary.requires_grad_()
            p = probabilities(model.classify(summary, question, batch))
            slope, *scored = torch.autograd.grad(p.amax(dim=1).sum(), [summary] if detached else [summary, moved])
        with torch.no_grad():
            importance = trace.gradient_times_input(attention.detach(), slope, *scored).abs_()
            return p.detach(), scores.detach(), importance

    return gradient


def fast_scores(attention: AdditiveAttention, states: Tensor, question: Tensor | None, buffers: Buffers) -> Tensor:
    """The attention's scores (B, T), with tanh(x) as 2σ(2x) − 1 and a few texts at a time, which stay in the cache."""
    weight, bias, last = 2 * attention.project.weight.T, 2 * attention.project.bias, attention.score.weight[0]
    scores = states.new_empty(states.shape[:2])
    together = max(1, SCORED_TOKENS // states.shape[1])
    asked = None
    if attention.project_question is not None and question is not None:
        asked = 2 * attention.project_question(question)[:, None]
    for start in range(0, len(states), together):
        rows = slice(start, start + together)
        read = states[rows].flatten(0, 1)
        hidden = torch.addmm(bias, read, weight, out=buffers.take("scored", len(read), len(bias)))
        if asked is not None:
            hidden.view(-1, states.shape[1], hidden.shape[1]).add_(asked[rows])
        torch.mv(hidden.sigmoid_(), 2 * last, out=scores[rows].view(-1)).sub_(last.sum())
    return scores


def word_table(model: ClosedForm, weights: Weights, distinct: Tensor) -> WordTable:
    """The table of these words, in growing order."""
    with torch.no_grad():
        vectors = model.embed(Batch(distinct[None], torch.tensor([len(distinct)])))[0]
        return WordTable(weights, distinct, vectors)


def _question_state(model: ClosedForm, batch: Batch) -> Tensor | None:
    """The question's last state in pair tasks (B, m): no word of the attended text moves it."""
    if not isinstance(model, PairSequenceClassifier) or batch.question is None:
        return None
    question, reader = batch.question, model.question_encoder
    states = reader(model.embed(question), question.lengths, question.mask)
    return reader.last(states, question.lengths)
