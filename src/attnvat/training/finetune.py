"""Fine-tuning a pretrained transformer on labelled texts, resumable at any step and the same however often stopped."""

from __future__ import annotations

import dataclasses
import hashlib
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from attnvat.corpora import Corpus
from attnvat.errors import UserError
from attnvat.evaluation.classification import score
from attnvat.storage import read_json
from attnvat.text.batching import BatchStream
from attnvat.training.checkpoint import prefixed, section
from attnvat.training.memory import keep_memory
from attnvat.training.optimiser import optimiser_tensors, restore_optimisers
from attnvat.training.run import CHECKPOINTS, check_folder, locked
from attnvat.training.stoppable import learn_to_the_end, refuse_others
from attnvat.training.transformer import DESCRIPTION, TextTransformer, is_transformer

DECAY = 0.01
"""AdamW's weight decay."""
CLIP = 1.0


@dataclass(frozen=True)
class FinetuneOptions:
    """Everything that decides a fine-tuning but the texts."""

    model: str
    """Folder of a pretrained encoder, or its name on the hub."""
    epochs: int = 2
    batch_size: int = 16
    learning_rate: float = 1e-4
    """AdamW's at its highest: it rises over the first steps, then falls to nothing."""
    warmup: float = 0.1
    """The share of the steps over which it rises."""
    max_length: int = 256
    """Pieces of words that are read of a text."""
    seed: int = 0
    mixed_precision: Literal["no", "bf16"] = "no"
    """Arithmetic of the encoder; that of the output layer and of the optimiser is exact to 32 bits."""

    def __post_init__(self) -> None:
        for name in ("epochs", "batch_size"):
            if getattr(self, name) < 1:
                raise UserError(f"{name} is {getattr(self, name)}; it must be at least 1")
        if self.max_length < 8:
            raise UserError(f"max_length is {self.max_length}; it must be at least 8")
        if not self.learning_rate > 0:
            raise UserError(f"learning_rate is {self.learning_rate}; it must be above 0")
        if not 0 <= self.warmup < 1:
            raise UserError(f"warmup is {self.warmup}; it must be 0 or more and below 1")
        if not 0 <= self.seed < 2**32:
            raise UserError(f"seed is {self.seed}; it must be 0 or more and below 2^32")


def finetune(options: FinetuneOptions, corpus: Corpus, folder: Path, checkpoint_every: int = 200) -> dict[str, Any]:
    """What came out of a fine-tuning, which is left in `folder`: a stopped one goes on, a finished one is read."""
    asked = dataclasses.asdict(options)

    def refuse(known: dict[str, Any]) -> None:
        refuse_others(folder, "fine-tuning", known, asked)

    if is_transformer(folder):
        finished = read_json(folder / DESCRIPTION)
        refuse(finished["options"])
        return finished  # type: ignore[no-any-return]
    if not corpus.train or not corpus.validation:
        raise UserError(f"{corpus.name}: fine-tuning needs a training and a validation split; one of them is empty")
    keep_memory()
    learner = Learner(options, corpus)
    hashes = {"texts": digest_of_pieces(learner.pieces)}
    check_folder(folder)
    with locked(folder):
        record = {"options": asked, "hashes": hashes}
        learn_to_the_end(learner, folder, "fine-tuning", record, refuse, checkpoint_every)
        described = {"options": asked, "steps": learner.steps} | learner.judged(corpus)
        learner.model.save(folder, described)
        shutil.rmtree(folder / CHECKPOINTS, ignore_errors=True)
    return read_json(folder / DESCRIPTION)  # type: ignore[no-any-return]


class Learner:
    """A transformer, its optimiser and its place in the texts.

    It learns without dropout: it reads each text once or twice, and knows the language already.
    """

    def __init__(self, options: FinetuneOptions, corpus: Corpus) -> None:
        self.options = options
        labels = list(corpus.labels)
        self.model = TextTransformer.begun(
            options.model, labels, corpus.pair, options.max_length, options.seed, options.mixed_precision
        )
        self.pieces = self.model.read_examples(corpus.train)
        self._labels = torch.tensor([labels.index(str(example.label)) for example in corpus.train])
        self._stream = BatchStream([len(one) for one in self.pieces], options.batch_size, options.seed)
        self.step, self.steps = 0, options.epochs * self._stream.batches_per_epoch
        self._optimiser = torch.optim.AdamW(
            self.model.parameters(), lr=options.learning_rate, weight_decay=DECAY, fused=True
        )

    def learn(self) -> None:
        """One step."""
        rows = next(self._stream)
        logits = self.model(*self.model.batch([self.pieces[row] for row in rows]))
        loss = functional.cross_entropy(logits, self._labels[torch.from_numpy(rows)].to(logits.device))
        if not torch.isfinite(loss):
            raise UserError(f"step {self.step}: the loss is {loss.item()}; use a smaller learning rate")
        self._optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), CLIP)
        self._optimiser.param_groups[0]["lr"] = self.options.learning_rate * self.rate()
        self._optimiser.step()
        self.step += 1

    def rate(self) -> float:
        """The share of the highest learning rate that this step has."""
        rising = self.options.warmup * self.steps
        if self.step < rising:
            return (self.step + 1) / (rising + 1)
        return (self.steps - self.step) / (self.steps - rising)

    def tensors(self) -> dict[str, Tensor]:
        """All that the next steps depend on, but for the number of this one."""
        moments = optimiser_tensors([self._optimiser])
        return {**prefixed("model", self.model.state_dict()), **prefixed("optimiser", moments)}

    def restore(self, step: int, tensors: dict[str, Tensor]) -> None:
        """Go on from a step and its `tensors`."""
        self.step = step
        self.model.load_state_dict(section("model", tensors))
        restore_optimisers([self._optimiser], section("optimiser", tensors))
        epoch, position = divmod(step, self._stream.batches_per_epoch)
        self._stream.restore({**self._stream.state(), "epoch": epoch, "position": position})

    def judged(self, corpus: Corpus) -> dict[str, Any]:
        """How well it predicts the validation texts."""
        chances = np.exp(self.model.log_chances(self.model.read_examples(corpus.validation)))
        known = np.array([list(corpus.labels).index(str(example.label)) for example in corpus.validation])
        right = float((chances.argmax(1) == known).mean())
        return {"metric": corpus.metric, "validation": score(corpus.metric, chances, known), "accuracy": right}


def digest_of_pieces(pieces: Sequence[Sequence[int]]) -> str:
    """One hash of all texts as they are read."""
    total = hashlib.sha256()
    for one in pieces:
        total.update(np.array([len(one), *one], dtype=np.int64).tobytes())
    return total.hexdigest()
