"""A finished run that another goes on from: its words, its phrases and all its weights, whatever trained them."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from attnvat.corpora import Corpus
from attnvat.errors import UserError
from attnvat.models import Pretrained, from_pretrained
from attnvat.models.pretrained import WEIGHTS
from attnvat.text.vector_cache import VectorTable
from attnvat.text.vocabulary import UNKNOWN_ID, Vocabulary
from attnvat.training.config import Config
from attnvat.training.learnt_language import LearntLanguage

SPECIAL = UNKNOWN_ID + 1
"""Words that every vocabulary begins with: padding and the unknown word."""
APART = ("embedding.", "phrases.")
"""Weights that hang on the vocabulary."""


@dataclass(frozen=True)
class StartingRun:
    """The model of a finished run, for another run to start from."""

    bundle: Pretrained
    source: str

    @property
    def digest(self) -> str:
        """A hash of its weights."""
        return hashlib.sha256((Path(self.source) / WEIGHTS).read_bytes()).hexdigest()

    def refuse_misfits(self, config: Config, corpus: Corpus) -> None:
        """Raise where a run with these options on this corpus cannot start from it."""
        model = self.bundle.model.config
        if self.bundle.labels != tuple(corpus.labels) or model.pair != corpus.pair:
            kinds = "pairs" if model.pair else "single texts"
            raise UserError(
                f"{self.source}: tells {', '.join(self.bundle.labels)} apart in {kinds}; start from a run on the "
                "same task"
            )
        for name in ("hidden", "attention", "decoder"):
            own, wanted = getattr(model, name), getattr(config, name)
            if own != wanted:
                raise UserError(f"{self.source}: its {name} is {own}, this run's {wanted}; set {name} to {own}")

    def language(self) -> LearntLanguage:
        """What it knows of words: their vectors and its encoder, as if it had been pretrained alone."""
        model = self.bundle.model
        table = VectorTable(list(self.bundle.vocabulary.words[SPECIAL:]), model.embedding.weight.detach()[SPECIAL:])
        read = {"tokenizer": self.bundle.tokenizer.to_dict()}
        return LearntLanguage(table, model.encoder.state_dict(), read, self.source)

    def phrases(self, vocabulary: Vocabulary) -> tuple[Tensor, Tensor]:
        """The phrases it knows as this vocabulary numbers words, in rising order (P,), and their vectors (P, d)."""
        own = self.bundle.model.phrases
        if own is None:
            return torch.empty(0, dtype=torch.int64), self.bundle.model.embedding.weight[:0]
        number = torch.tensor([vocabulary.ids.get(word, -1) for word in self.bundle.vocabulary.words])
        first, second = number[own.keys // own.vocabulary], number[own.keys % own.vocabulary]
        (known,) = ((first >= 0) & (second >= 0)).nonzero(as_tuple=True)
        keys, order = (first * len(vocabulary) + second)[known].sort()
        return keys, own.vectors.weight[known[order] + 1]

    @torch.no_grad()
    def begin(self, bundle: Pretrained) -> None:
        """Give a model that has its words and phrases all its other weights."""
        model = bundle.model
        weights = {name: value for name, value in self.bundle.model.state_dict().items() if not name.startswith(APART)}
        model.load_state_dict(weights, strict=False)
        model.embedding.weight[UNKNOWN_ID] = self.bundle.model.embedding.weight[UNKNOWN_ID]
        if model.phrases is not None:
            keys, vectors = self.phrases(bundle.vocabulary)
            model.phrases.vectors.weight[torch.searchsorted(model.phrases.keys, keys) + 1] = vectors


def open_start(folder: Path | str) -> StartingRun:
    """The run in a folder; a missing or damaged file is named."""
    return StartingRun(from_pretrained(folder), str(folder))
