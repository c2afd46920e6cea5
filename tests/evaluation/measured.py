"""Small models with small data for the tests of measures."""

from __future__ import annotations

import numpy as np
import torch

from attnvat.corpora.example import Example
from attnvat.evaluation.subject import Subject
from attnvat.models import Pretrained
from attnvat.text.tokenizer import Tokenizer
from attnvat.text.vocabulary import Vocabulary
from batches import make_model

WORDS = tuple(f"w{chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(38))
LENGTHS = (7, 1, 12, 3, 5, 9, 2, 4)


def tiny(
    pair: bool = False,
    classes: int = 2,
    decoder: str = "paper",
    lengths: tuple[int, ...] = LENGTHS,
    dtype: torch.dtype = torch.float32,
    seed: int = 0,
    phrases: bool = False,
) -> Subject:
    """A random model (vocabulary 40) and random texts of the given lengths, with labels, genres and rationales."""
    model = make_model(pair=pair, classes=classes, dtype=dtype, decoder=decoder, seed=seed, phrases=phrases).eval()
    labels = tuple("abc"[:classes])
    rng = np.random.default_rng(seed)

    def text(length: int) -> str:
        return " ".join(rng.choice(WORDS, length))

    examples = [
        Example(
            text(length),
            pair=text(int(rng.integers(1, 6))) if pair else None,
            label=labels[int(rng.integers(classes))],
            rationale=((0, (length + 1) // 2),),
            id=f"text {place}",
            genre="xy"[place % 2],
        )
        for place, length in enumerate(lengths)
    ]
    pretrained = Pretrained(model, Vocabulary(WORDS), Tokenizer(), labels)
    return Subject(pretrained, examples, "accuracy", "tiny")
