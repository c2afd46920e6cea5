"""The paper's two common models (appendix A): one text, or a text read against a question."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace

import torch
from torch import Tensor, nn

from attnvat.models.attention import AdditiveAttention, masked_softmax
from attnvat.models.config import ModelConfig
from attnvat.models.contract import States
from attnvat.models.dropout import HeldDropout
from attnvat.models.lstm import BiLSTM
from attnvat.models.phrases import Phrases
from attnvat.models.precision import full_precision
from attnvat.text.batch import Batch


class SequenceClassifier(nn.Module, ABC):
    """What the single and the pair model share: trainable word vectors, attention-weighted sum, output layer."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        self.embedding = nn.Embedding(config.vocabulary, config.dimension, padding_idx=0)
        self.phrases = Phrases(config.vocabulary, config.dimension, config.phrases) if config.phrases else None
        self.encoder = BiLSTM(config.dimension, config.hidden // 2)
        self.dropout = HeldDropout(config.dropout)
        self.output_dropout = HeldDropout(config.dropout)
        self.decoder: nn.Linear

    def embedding_table(self) -> Tensor:
        """The word vectors of the whole vocabulary (V, d)."""
        return self.embedding.weight

    def tables(self) -> list[nn.Embedding]:
        """The tables that `embed` takes rows of: the words' and, where there are any, the phrases'."""
        return [self.embedding] if self.phrases is None else [self.embedding, self.phrases.vectors]

    def know_phrases(self, keys: Tensor) -> None:
        """Give phrases (P,) vectors of their own, zero so far."""
        self.config = replace(self.config, phrases=len(keys))
        self.phrases = Phrases(self.config.vocabulary, self.config.dimension, len(keys))
        self.phrases.keys.copy_(keys)

    def embed(self, batch: Batch) -> Tensor:
        """Word vectors of the text and, behind it, of its question (B, T + T_Q, d)."""
        vectors: Tensor = self.embedding(batch.word_ids)
        if self.phrases is not None:
            texts = [batch.ids] if batch.question is None else [batch.ids, batch.question.ids]
            vectors = vectors + torch.cat([self.phrases(ids) for ids in texts], dim=1)
        dropped: Tensor = self.dropout(vectors)
        return dropped

    @abstractmethod
    def encode(self, vectors: Tensor, batch: Batch) -> tuple[States, Tensor]:
        """States of the words and their pre-softmax attention scores (B, T)."""

    def alone(self, vectors: Tensor, batch: Batch) -> Tensor:
        """States of the attended text's words, each read as if it were the whole text (B, T, m)."""
        return self.encoder.alone(vectors[:, : batch.ids.shape[1]], batch.mask)

    def decode(self, states: States, scores: Tensor, batch: Batch) -> Tensor:
        """Logits from states weighted by attention: (B,) for two classes, (B, C) for more.

        Full precision also under autocast: half precision cannot resolve a small perturbation of the attention.
        """
        with full_precision(scores.device):
            states, scores = states.to(self.decoder.weight.dtype), scores.to(self.decoder.weight.dtype)
            attention = masked_softmax(scores, batch.mask)
            return self.classify(torch.bmm(attention[:, None], states.words).squeeze(1), states.question, batch)

    def classify(self, summary: Tensor, question: Tensor | None, batch: Batch) -> Tensor:
        """Logits from the weighted sum h_a of the states (B, m): (B,) for two classes, (B, C) for more."""
        logits = self.output(self.output_dropout(summary), question)
        if batch.classes is not None:
            logits = logits.masked_fill(~batch.classes, -torch.inf)
        return logits.squeeze(-1) if logits.shape[-1] == 1 else logits

    @abstractmethod
    def output(self, summary: Tensor, question: Tensor | None) -> Tensor:
        """The output layer's logits of the weighted sum h_a (B, 1 or C)."""

    def forward(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Logits and attention weights (B, T) of a batch."""
        states, scores = self.encode(self.embed(batch), batch)
        return self.decode(states, scores, batch), masked_softmax(scores, batch.mask)


class SingleSequenceClassifier(SequenceClassifier):
    """BiLSTM with additive attention over one text; Dec is one linear layer."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(config)
        self.attention = AdditiveAttention(config.hidden, config.attention)
        self.decoder = nn.Linear(config.hidden, config.outputs)

    def encode(self, vectors: Tensor, batch: Batch) -> tuple[States, Tensor]:
        """States of the words and their pre-softmax attention scores (B, T)."""
        states = self.encoder(vectors, batch.lengths, batch.mask)
        return States(states), self.attention(states)

    def output(self, summary: Tensor, question: Tensor | None) -> Tensor:  # noqa: ARG002
        """Logits of the weighted sum (B, 1 or C)."""
        logits: Tensor = self.decoder(summary)
        return logits


class PairSequenceClassifier(SequenceClassifier):
    """Two BiLSTMs; the text's attention depends on the question's last state.

    `paper` decodes from the weighted sum h_a alone, as the paper says; `joint` joins it with the question state, as the
    models it is compared with do.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(config)
        self.question_encoder = BiLSTM(config.dimension, config.hidden // 2)
        self.attention = AdditiveAttention(config.hidden, config.attention, question=config.hidden)
        if config.decoder == "joint":
            self.join: nn.Linear | None = nn.Linear(2 * config.hidden, config.attention)
            self.decoder = nn.Linear(config.attention, config.outputs)
        else:
            self.join = None
            self.decoder = nn.Linear(config.hidden, config.outputs)

    def encode(self, vectors: Tensor, batch: Batch) -> tuple[States, Tensor]:
        """States of the words, the question's last state, and the words' pre-softmax attention scores (B, T)."""
        question = batch.question
        if question is None:
            raise ValueError("a pair model needs batches with a question")
        width = batch.ids.shape[1]
        words = self.encoder(vectors[:, :width], batch.lengths, batch.mask)
        read = self.question_encoder(vectors[:, width:], question.lengths, question.mask)
        last = self.question_encoder.last(read, question.lengths)
        return States(words, last), self.attention(words, last)

    def output(self, summary: Tensor, question: Tensor | None) -> Tensor:
        """Logits of the weighted sum, joined with the question where the decoder is `joint` (B, 1 or C)."""
        if self.join is not None and question is not None:
            summary = torch.tanh(self.join(torch.cat([summary, question], dim=-1)))
        logits: Tensor = self.decoder(summary)
        return logits


def build_model(config: ModelConfig) -> SequenceClassifier:
    """A freshly initialised model of the kind `config` describes."""
    return PairSequenceClassifier(config) if config.pair else SingleSequenceClassifier(config)
