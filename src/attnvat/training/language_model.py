"""A language model in the shape of the classifiers' encoder: what unlabelled text alone can teach it.

The forward states foretell the next word, the backward states the one before. A softmax over tens of thousands of words
at every place would cost more than the encoder itself, so training holds the true word against a sample of others drawn
by their frequency, and corrects each score by how often it is drawn on average (sampled softmax; Jean et al., 2015).
For words that are drawn more than once that is an approximation.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from attnvat.models.lstm import BiLSTM
from attnvat.text.batch import Batch
from attnvat.text.vocabulary import UNKNOWN_ID

NEVER = -1e4
"""Score of a word that is no rival, because it is the true one."""


class LanguageModel(nn.Module):
    """Word vectors, the BiLSTM, and for each direction a layer that turns its states into an expected word."""

    def __init__(self, vocabulary: int, dimension: int, hidden: int, dropout: float) -> None:
        super().__init__()
        self.keep = 1 - dropout
        self.embedding = nn.Embedding(vocabulary, dimension, padding_idx=0, sparse=True)
        self.encoder = BiLSTM(dimension, hidden // 2)
        self.ahead = nn.Linear(hidden // 2, dimension)
        self.behind = nn.Linear(hidden // 2, dimension)
        self.output = nn.Embedding(vocabulary, dimension + 1, sparse=True)
        """What each word looks like to the two layers; the last number is its bias."""
        with torch.no_grad():
            self.output.weight[:, -1] = 0

    def look_alike(self) -> None:
        """Let the words look to the layers as they are read."""
        with torch.no_grad():
            self.output.weight[:, :-1] = self.embedding.weight

    def expected(self, batch: Batch, generator: torch.Generator | None = None) -> tuple[Tensor, Tensor]:
        """What is expected at each place that has a known word, from both sides (n, d + 1), and that word (n,).

        With a generator, entries of vectors and states are dropped by it.
        """
        vectors = self._dropped(self.embedding(batch.ids), generator)
        states = self.encoder(vectors, batch.lengths, batch.mask)
        size, ids = self.encoder.hidden, batch.ids
        both = batch.mask[:, 1:]
        sides = (
            (self.ahead, states[:, :-1, :size], ids[:, 1:]),
            (self.behind, states[:, 1:, size:], ids[:, :-1]),
        )
        expected, words = [], []
        for layer, known, target in sides:
            chosen = both & (target > UNKNOWN_ID)
            expected.append(layer(self._dropped(known[chosen], generator)))
            words.append(target[chosen])
        found = torch.cat(expected)
        return torch.cat([found, found.new_ones(len(found), 1)], dim=1), torch.cat(words)

    def sampled_loss(self, expected: Tensor, words: Tensor, rivals: Tensor, log_chance: Tensor) -> Tensor:
        """Mean −log p of the words among themselves and the rivals (K,); `log_chance` is log K·q of each word (V,)."""
        true = torch.linalg.vecdot(expected, self.output(words)) - log_chance[words]
        # Scores of words and rivals are the largest table of a step: it is made once, and no copy of it.
        drawn, times = torch.unique(rivals, return_counts=True)
        others = torch.addmm(times.log() - log_chance[drawn], expected, self.output(drawn).T)
        place = torch.searchsorted(drawn, words).clamp(max=len(drawn) - 1)
        (same,) = (drawn[place] == words).nonzero(as_tuple=True)
        others.index_put_((same, place[same]), others.new_tensor(NEVER))
        loss: Tensor = (torch.logaddexp(true, others.logsumexp(dim=1)) - true).mean()
        return loss

    @torch.no_grad()
    def exact_losses(self, batch: Batch) -> Tensor:
        """−log p of every foretold word among all known words (n,)."""
        expected, words = self.expected(batch)
        scores = expected @ self.output.weight[UNKNOWN_ID + 1 :].T
        true: Tensor = torch.linalg.vecdot(expected, self.output.weight[words])
        return scores.logsumexp(dim=1) - true

    def _dropped(self, values: Tensor, generator: torch.Generator | None) -> Tensor:
        if generator is None or self.keep == 1:
            return values
        return values * (torch.rand(values.shape, generator=generator) < self.keep) / self.keep
