"""Small batches and models for tests of the mathematics."""

from __future__ import annotations

import torch

from attnvat.models import ModelConfig, SequenceClassifier, build_model
from attnvat.text.batch import Batch

VOCABULARY = 40


def make_model(
    pair: bool = False,
    classes: int = 2,
    dtype: torch.dtype = torch.float64,
    seed: int = 0,
    decoder: str = "paper",
    dropout: float = 0.0,
    spread: float = 3.0,
    phrases: bool = False,
) -> SequenceClassifier:
    """A small random model; `spread` scales its attention so that scores differ clearly between words.

    With `phrases` every second pair of words has a random vector of its own.
    """
    torch.manual_seed(seed)
    config = ModelConfig(
        VOCABULARY, 6, classes=classes, pair=pair, hidden=8, attention=5, decoder=decoder, dropout=dropout
    )
    model = build_model(config)
    if phrases:
        words = torch.arange(2, VOCABULARY)
        model.know_phrases((words[:, None] * VOCABULARY + words).flatten()[::2])
        torch.nn.init.normal_(model.tables()[1].weight[1:].detach())
    model = model.to(dtype)
    with torch.no_grad():
        model.attention.score.weight.mul_(spread)
        model.decoder.weight.mul_(spread)
    return model


def make_batch(
    lengths: list[int], pair: bool = False, classes: int = 2, seed: int = 0, width: int | None = None
) -> Batch:
    """A batch of random sentences of the given lengths, padded to `width`."""
    generator = torch.Generator().manual_seed(seed)
    width = width or max(lengths)
    ids = torch.zeros(len(lengths), width, dtype=torch.long)
    for row, length in enumerate(lengths):
        ids[row, :length] = torch.randint(2, VOCABULARY, (length,), generator=generator)
    labels = torch.randint(0, classes, (len(lengths),), generator=generator)
    question = make_batch(lengths[::-1], seed=seed + 1) if pair else None
    return Batch(ids, torch.tensor(lengths), labels, question)


def widen(batch: Batch, extra: int) -> Batch:
    """The same batch with `extra` more columns of padding."""
    ids = torch.nn.functional.pad(batch.ids, (0, extra))
    question = widen(batch.question, extra) if batch.question else None
    return Batch(ids, batch.lengths, batch.labels, question, batch.classes)


def rows_of(batch: Batch, rows: list[int]) -> Batch:
    """Some rows of a batch, trimmed to their own longest."""
    lengths = batch.lengths[rows]
    question = rows_of(batch.question, rows) if batch.question else None
    labels = None if batch.labels is None else batch.labels[rows]
    return Batch(batch.ids[rows, : int(lengths.max())], lengths, labels, question)
