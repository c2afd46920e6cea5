"""What pretraining leaves behind: word vectors and an encoder in one file, for classifiers to start from."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from attnvat.errors import UserError
from attnvat.models import SequenceClassifier
from attnvat.models.classifiers import PairSequenceClassifier
from attnvat.storage import atomic_write
from attnvat.text.tokenizer import Tokenizer
from attnvat.text.vector_cache import VectorTable
from attnvat.text.vectors import Vectors, pick
from attnvat.training.checkpoint import prefixed, section

FILE = "language.safetensors"


@dataclass(frozen=True)
class LearntLanguage:
    """Word vectors and an encoder that have read unlabelled text."""

    vectors: VectorTable
    encoder: dict[str, Tensor]
    description: dict[str, Any]
    """The options and the outcome of the pretraining, as plain values."""
    source: str

    @property
    def hidden(self) -> int:
        """Size of a state, both directions together."""
        return 2 * int(self.encoder["forwards.weight_hh_l0"].shape[1])

    @property
    def digest(self) -> str:
        """A hash of the encoder's weights."""
        total = hashlib.sha256()
        for name in sorted(self.encoder):
            total.update(self.encoder[name].numpy().tobytes())
        return total.hexdigest()

    def refuse_misfits(self, hidden: int, tokenizer: Tokenizer, vectors: Vectors | None) -> None:
        """Raise where a classifier with these options cannot start from it."""
        if hidden != self.hidden:
            raise UserError(
                f"{self.source}: its states have {self.hidden} numbers, the classifier's {hidden}; set hidden to "
                f"{self.hidden}, or pretrain with --hidden {hidden}"
            )
        read = self.description["tokenizer"]
        if tokenizer.to_dict() != read:
            differing = ", ".join(f"{name} was {value}" for name, value in read.items())
            raise UserError(f"{self.source}: has read its texts otherwise ({differing}); use the same options")
        if vectors is not None and vectors.dimension != self.vectors.dimension:
            raise UserError(
                f"{self.source}: its word vectors have {self.vectors.dimension} numbers, those of {vectors.source} "
                f"{vectors.dimension}; use the vectors it was pretrained with"
            )

    def over(self, vectors: Vectors | None, words: Sequence[str]) -> Vectors:
        """The vectors of `words`: its own where it knows a word, the given ones for the others."""
        own = pick(self.vectors, words, self.source)
        if vectors is None:
            return own
        matrix = np.where(own.found[:, None], own.matrix, vectors.matrix)
        return Vectors(matrix, own.found | vectors.found, own.dimension, f"{self.source}, then {vectors.source}")

    def begin(self, model: SequenceClassifier) -> None:
        """Give the model's encoder its weights; of a model of pairs, both encoders."""
        model.encoder.load_state_dict(self.encoder)
        if isinstance(model, PairSequenceClassifier):
            model.question_encoder.load_state_dict(self.encoder)

    def write(self, folder: Path) -> None:
        """Put it into a folder, whole or not at all."""
        words = np.frombuffer(json.dumps(self.vectors.words).encode(), dtype=np.uint8).copy()
        tensors = {"words": torch.from_numpy(words), "matrix": self.vectors.matrix, **prefixed("encoder", self.encoder)}
        contiguous = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
        folder.mkdir(parents=True, exist_ok=True)
        with atomic_write(folder / FILE, "wb") as handle:
            handle.write(save(contiguous, metadata={"attnvat": json.dumps(self.description)}))


def open_language(folder: Path | str) -> LearntLanguage:
    """What `attnvat pretrain` left in a folder; a missing or damaged file is named."""
    path = Path(folder) / FILE
    if not path.exists():
        raise UserError(f"{folder}: no language model here (no {FILE}); make one with: attnvat pretrain")
    try:
        with safe_open(path, framework="pt") as file:
            description = json.loads((file.metadata() or {})["attnvat"])
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        words = json.loads(tensors["words"].numpy().tobytes())
        table = VectorTable(words, tensors["matrix"])
    except (SafetensorError, OSError, KeyError, ValueError) as error:
        raise UserError(f"{path}: damaged or not attnvat's ({error}); pretrain again") from error
    return LearntLanguage(table, section("encoder", tensors), description, str(folder))
