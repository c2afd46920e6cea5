"""The paper's single-sequence model and VAT written the usual way: what attnvat's speed is measured against.

Packed LSTM, shuffled torch DataLoader with padding to the longest of the batch, plain Adam over all parameters, and VAT
as three passes through the whole network.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import cycle

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence
from torch.utils.data import DataLoader

from attnvat.text.encoding import EncodedDataset

Item = tuple[Tensor, float]


class UsualModel(nn.Module):
    """Embedding, packed BiLSTM, additive attention, linear output."""

    def __init__(self, vectors: Tensor, hidden: int = 128) -> None:
        super().__init__()
        self.embedding = nn.Embedding.from_pretrained(vectors.clone(), freeze=False, padding_idx=0)
        self.lstm = nn.LSTM(vectors.shape[1], hidden, batch_first=True, bidirectional=True)
        self.project = nn.Linear(2 * hidden, hidden)
        self.score = nn.Linear(hidden, 1, bias=False)
        self.output = nn.Linear(2 * hidden, 1)

    def encode(self, vectors: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        """States (B, T, m) and attention scores (B, T) of word vectors (B, T, d)."""
        packed = pack_padded_sequence(vectors, lengths, batch_first=True, enforce_sorted=False)
        states, _ = pad_packed_sequence(self.lstm(packed)[0], batch_first=True, total_length=vectors.shape[1])
        return states, self.score(torch.tanh(self.project(states))).squeeze(-1)

    def decode(self, states: Tensor, attention: Tensor) -> Tensor:
        """Logits (B,) of states weighted by attention (B, T)."""
        logits: Tensor = self.output((attention[:, :, None] * states).sum(dim=1)).squeeze(-1)
        return logits

    def forward(self, ids: Tensor, lengths: Tensor, perturbation: Tensor | None = None) -> Tensor:
        """Logits (B,), with a perturbation added to the attention scores (B, T)."""
        states, scores = self.encode(self.embedding(ids), lengths)
        if perturbation is not None:
            scores = scores + perturbation
        return self.decode(states, scores.masked_fill(ids == 0, -torch.inf).softmax(dim=1))


def collate(items: list[Item]) -> tuple[Tensor, Tensor, Tensor]:
    """Ids padded to the longest (B, T), lengths (B,) and labels (B,)."""
    texts = [text for text, _ in items]
    lengths = torch.tensor([len(text) for text in texts])
    return pad_sequence(texts, batch_first=True), lengths, torch.tensor([label for _, label in items])


def loader(data: EncodedDataset, batch_size: int) -> DataLoader[Item]:
    """A shuffled DataLoader over a data set."""
    items = [
        (torch.from_numpy(data.texts[row].astype("int64")), 0.0 if data.labels is None else float(data.labels[row]))
        for row in range(len(data))
    ]
    return DataLoader(items, batch_size=batch_size, shuffle=True, collate_fn=collate)  # type: ignore[arg-type]


def kl(target: Tensor, logits: Tensor) -> Tensor:
    """Mean two-sided Bernoulli KL."""
    p = torch.sigmoid(target)
    own = p * F.logsigmoid(target) + (1 - p) * F.logsigmoid(-target)
    return (own - p * F.logsigmoid(logits) - (1 - p) * F.logsigmoid(-logits)).mean()


def vat_loss(model: UsualModel, ids: Tensor, lengths: Tensor, epsilon: float = 0.5, xi: float = 0.1) -> Tensor:
    """VAT on attention in three passes: clean, with a random step, with the worst step."""
    with torch.no_grad():
        target = model(ids, lengths)
    real = (ids != 0).float()
    step = F.normalize(torch.randn_like(real) * real, dim=1).mul(xi).requires_grad_()
    (gradient,) = torch.autograd.grad(kl(target, model(ids, lengths, step)), step)
    return kl(target, model(ids, lengths, epsilon * F.normalize(gradient * real, dim=1)))


def steps(
    model: UsualModel, labelled: EncodedDataset, unlabelled: EncodedDataset | None, batch_size: int, ratio: int
) -> Iterator[int]:
    """Train step after step; gives the number of real tokens of each."""
    optimiser = torch.optim.Adam(model.parameters(), lr=1e-3, weight_decay=1e-5)
    more = cycle(loader(unlabelled, batch_size * ratio)) if unlabelled is not None else None
    while True:
        for ids, lengths, labels in loader(labelled, batch_size):
            loss = F.binary_cross_entropy_with_logits(model(ids, lengths), labels)
            tokens = int(lengths.sum())
            if more is not None:
                other, other_lengths, _ = next(more)
                loss = loss + vat_loss(model, ids, lengths) + vat_loss(model, other, other_lengths)
                tokens += int(other_lengths.sum())
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            yield tokens
