"""Pretraining: a language model of unlabelled text, resumable at any step and the same however often it was stopped."""

from __future__ import annotations

import dataclasses
import math
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from attnvat.errors import UserError
from attnvat.text.batching import BatchStream
from attnvat.text.encoding import EncodedDataset, encode_texts
from attnvat.text.tokenizer import Tokenizer
from attnvat.text.vector_cache import VectorTable
from attnvat.text.vectors import load_vectors
from attnvat.text.vocabulary import UNKNOWN_ID, Vocabulary, build_vocabulary
from attnvat.training.checkpoint import prefixed, section
from attnvat.training.config import Config
from attnvat.training.language_model import LanguageModel
from attnvat.training.learnt_language import FILE, LearntLanguage, open_language
from attnvat.training.memory import keep_memory
from attnvat.training.optimiser import TouchedRowsAdam, optimiser_tensors, restore_optimisers
from attnvat.training.prepare import digest, fill
from attnvat.training.run import CHECKPOINTS, check_folder, locked
from attnvat.training.stoppable import learn_to_the_end, refuse_others
from attnvat.training.unlabelled import Unlabelled
from attnvat.training.words import DIMENSION

HELD_OUT = 1_000
"""Texts kept apart at most, a hundredth of all, to see how well the model foretells words it has not read."""
STEP_TOKENS = 2_048
"""A model of long texts needs as many steps as one of sentences, not as many texts a step."""
MOST_TEXTS = 64
CLIP = 1.0
TILT = 0.75
"""Rivals are drawn by frequency to this power, so that rare words are drawn more often than they occur."""


@dataclass(frozen=True)
class PretrainOptions:
    """Everything that decides a pretraining."""

    texts: str
    """POOL[:SELECTION] or a file of texts."""
    size: int | None = None
    """So many of the texts, drawn by the seed."""
    text: str | None = None
    skip_bad: bool = False
    vectors: str | None = None
    dimension: int | None = None
    hidden: int = 256
    lower: bool = True
    numbers: bool = True
    min_frequency: int = 2
    max_vocabulary: int | None = 50_000
    max_length: int | None = 400
    passes: float = 1.0
    batch_size: int | None = None
    """Texts a step; None for as many as make `STEP_TOKENS`, `MOST_TEXTS` at most."""
    learning_rate: float = 2e-3
    dropout: float = 0.2
    rivals: int = 1_000
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("size", "dimension", "max_vocabulary", "max_length", "min_frequency", "batch_size", "rivals"):
            if getattr(self, name) is not None and getattr(self, name) < 1:
                raise UserError(f"{name} is {getattr(self, name)}; it must be at least 1")
        for name in ("passes", "learning_rate"):
            if not getattr(self, name) > 0:
                raise UserError(f"{name} is {getattr(self, name)}; it must be above 0")
        if not 0 <= self.dropout < 1:
            raise UserError(f"dropout is {self.dropout}; it must be 0 or more and below 1")
        if self.hidden < 2 or self.hidden % 2:
            raise UserError(f"hidden is {self.hidden}; it must be even, half for each direction")
        if not 0 <= self.seed < 2**32:
            raise UserError(f"seed is {self.seed}; it must be 0 or more and below 2^32")


@dataclass(frozen=True)
class Material:
    """The texts as ids, and the words they are made of."""

    read: EncodedDataset
    held_out: EncodedDataset
    vocabulary: Vocabulary
    tokenizer: Tokenizer


def pretrain(
    options: PretrainOptions, folder: Path, data_dir: str | None = None, checkpoint_every: int = 1_000
) -> LearntLanguage:
    """The language model of the texts, also left in `folder`; a stopped one is gone on with, a finished one is read."""
    asked = dataclasses.asdict(options)
    if (folder / FILE).exists():
        known = open_language(folder)
        refuse(folder, known.description["options"], asked)
        return known
    keep_memory()
    material = read_texts(options)
    learner = Learner(options, material, begin(options, material, data_dir))
    used = asked | {"batch_size": learner.texts}
    hashes = {"texts": digest(material.read.texts.ids, material.read.texts.offsets)}

    check_folder(folder)
    with locked(folder):
        record = {"options": used, "hashes": hashes}
        learn_to_the_end(
            learner, folder, "pretraining", record, lambda known: refuse(folder, known, asked), checkpoint_every
        )
        learnt = learner.learnt(str(folder), used)
        learnt.write(folder)
        shutil.rmtree(folder / CHECKPOINTS, ignore_errors=True)
    return learnt


class Learner:
    """A language model, its optimisers and its place in the texts.

    All that is random is drawn by seed and step, so a stopped pretraining has nothing random to keep.
    """

    def __init__(self, options: PretrainOptions, material: Material, model: LanguageModel) -> None:
        self.options, self.material, self.model = options, material, model
        self.step = 0
        self.texts = options.batch_size or texts_a_step(material.read)
        self._stream = BatchStream(material.read.lengths, self.texts, options.seed)
        self.steps = max(1, round(options.passes * self._stream.batches_per_epoch))
        self._network = [p for name, p in model.named_parameters() if not name.startswith(("embedding", "output"))]
        tables = (model.embedding.weight, model.output.weight)
        self._rates = [options.learning_rate] + [options.learning_rate / 2] * len(tables)
        self._optimisers: list[torch.optim.Optimizer] = [
            torch.optim.Adam(self._network, lr=self._rates[0]),
            *(TouchedRowsAdam([table], rate, 0.0) for table, rate in zip(tables, self._rates[1:], strict=True)),
        ]
        chances = chances_of(material.read, len(material.vocabulary))
        self._cumulated = np.cumsum(chances)
        self._log_chance = torch.from_numpy(np.log(np.maximum(options.rivals * chances, 1e-30))).float()

    def learn(self) -> None:
        """One step; the learning rate falls to nothing over all of them."""
        drawn = np.random.default_rng([self.options.seed, self.step]).random(self.options.rivals)
        rivals = torch.from_numpy(np.searchsorted(self._cumulated, drawn).clip(max=len(self._cumulated) - 1))
        generator = torch.Generator().manual_seed(self.options.seed + (self.step << 32))
        expected, words = self.model.expected(self.material.read.batch(next(self._stream)), generator)
        if len(words):  # texts of one word foretell nothing
            loss = self.model.sampled_loss(expected, words, rivals, self._log_chance)
            if not torch.isfinite(loss):
                raise UserError(f"step {self.step}: the loss is {loss.item()}; use a smaller learning rate")
            for optimiser in self._optimisers:
                optimiser.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            torch.nn.utils.clip_grad_norm_(self._network, CLIP)
            for optimiser, rate in zip(self._optimisers, self._rates, strict=True):
                optimiser.param_groups[0]["lr"] = rate * (1 - self.step / self.steps)
                optimiser.step()
        self.step += 1

    def tensors(self) -> dict[str, Tensor]:
        """All that the next steps depend on, but for the number of this one."""
        moments = optimiser_tensors(self._optimisers)
        return {**prefixed("model", self.model.state_dict()), **prefixed("optimiser", moments)}

    def restore(self, step: int, tensors: dict[str, Tensor]) -> None:
        """Go on from a step and its `tensors`."""
        self.step = step
        self.model.load_state_dict(section("model", tensors))
        restore_optimisers(self._optimisers, section("optimiser", tensors))
        epoch, position = divmod(step, self._stream.batches_per_epoch)
        self._stream.restore({**self._stream.state(), "epoch": epoch, "position": position})

    def learnt(self, source: str, options: dict[str, Any]) -> LearntLanguage:
        """What is kept: word vectors and encoder, and what they come from."""
        first, material = UNKNOWN_ID + 1, self.material
        table = VectorTable(list(material.vocabulary.words[first:]), self.model.embedding.weight.detach()[first:])
        description = {
            "options": options,
            "tokenizer": material.tokenizer.to_dict(),
            "texts": len(material.read),
            "tokens": len(material.read.texts.ids),
            "words": len(table.words),
            "steps": self.steps,
            "perplexity": perplexity(self.model, material.held_out),
        }
        return LearntLanguage(table, self.model.encoder.state_dict(), description, source)


def read_texts(options: PretrainOptions) -> Material:
    """The texts and their words; a few are kept apart."""
    tokenizer = Tokenizer(lower=options.lower, numbers=options.numbers)
    config = Config(text=options.text, skip_bad=options.skip_bad, seed=options.seed)
    source = Unlabelled.named(options.texts, config, options.size).first(options.size, options.seed)

    def tokens() -> Iterator[list[str]]:
        yield from map(tokenizer.words, source.texts())

    vocabulary = build_vocabulary(tokens(), options.min_frequency, options.max_vocabulary)
    if len(vocabulary) <= UNKNOWN_ID + 1:
        raise UserError(f"{options.texts}: no word comes {options.min_frequency} times; give more text")
    encoded = EncodedDataset(encode_texts(source.texts(), tokenizer, vocabulary, options.max_length))
    apart = min(HELD_OUT, len(encoded) // 100)
    order = np.random.default_rng([options.seed, 2]).permutation(len(encoded))
    return Material(
        encoded.select(np.sort(order[apart:])), encoded.select(np.sort(order[:apart])), vocabulary, tokenizer
    )


def texts_a_step(data: EncodedDataset) -> int:
    """As many texts as make about `STEP_TOKENS`."""
    return int(np.clip(round(STEP_TOKENS / max(1.0, float(data.lengths.mean()))), 1, MOST_TEXTS))


def begin(options: PretrainOptions, material: Material, data_dir: str | None) -> LanguageModel:
    """The model before its first step: word vectors where there are any, the rest random by the seed."""
    words = material.vocabulary.words
    vectors = load_vectors(options.vectors, words, data_dir=data_dir) if options.vectors else None
    torch.manual_seed(options.seed)
    dimension = vectors.dimension if vectors else options.dimension or DIMENSION
    model = LanguageModel(len(words), dimension, options.hidden, options.dropout)
    fill(model.embedding.weight, vectors)
    model.look_alike()
    return model


def chances_of(data: EncodedDataset, words: int) -> npt.NDArray[np.float64]:
    """How likely each word is to be drawn as a rival (V,): never padding or the unknown word."""
    counts = np.bincount(data.texts.ids, minlength=words).astype(np.float64)
    counts[: UNKNOWN_ID + 1] = 0
    tilted = counts**TILT
    return np.asarray(tilted / tilted.sum())


def perplexity(model: LanguageModel, data: EncodedDataset) -> float | None:
    """Among how many equally likely words the model hesitates at each place of texts it has not read."""
    stream = BatchStream(data.lengths, 32, 0, shuffle=False) if len(data) else None
    losses = [model.exact_losses(data.batch(next(stream))) for _ in range(stream.batches_per_epoch)] if stream else []
    joined = torch.cat(losses) if losses else torch.empty(0)
    return math.exp(float(joined.mean())) if len(joined) else None


def refuse(folder: Path, known: dict[str, Any], asked: dict[str, Any]) -> None:
    """Raise if a folder holds a pretraining with other options; a batch size that was left open may be any."""

    def alike(name: str, there: Any, here: Any) -> bool:
        if name == "texts":
            return Path(there).resolve() == Path(here).resolve()
        return bool(there == here) or (name == "batch_size" and here is None)

    refuse_others(folder, "pretraining", known, asked, alike)
