"""What decides a model's shape."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from attnvat.errors import UserError


@dataclass(frozen=True)
class ModelConfig:
    """Sizes of a model; saved with its weights as `config.json`."""

    vocabulary: int
    """Number of words, padding and unknown included."""
    dimension: int
    """Size of a word vector."""
    classes: int = 2
    pair: bool = False
    hidden: int = 256
    """Size of a state: both directions of the BiLSTM together."""
    attention: int = 128
    """Size of the attention's hidden layer, the paper's d'."""
    decoder: Literal["paper", "joint"] = "paper"
    dropout: float = 0.0
    phrases: int = 0
    """Number of pairs of words that have a vector of their own."""

    def __post_init__(self) -> None:
        for name in ("vocabulary", "dimension", "hidden", "attention"):
            if getattr(self, name) < 1:
                raise UserError(f"model option {name} is {getattr(self, name)}; it must be at least 1")
        if self.phrases < 0:
            raise UserError(f"model option phrases is {self.phrases}; it must be 0 or more")
        if self.classes < 2:
            raise UserError(f"a classifier needs at least two classes, not {self.classes}")
        if self.hidden % 2:
            raise UserError(f"model option hidden is {self.hidden}; it is split over two directions, so make it even")
        if self.decoder not in ("paper", "joint"):
            raise UserError(f"model option decoder is {self.decoder!r}; it is 'paper' or 'joint'")
        if not 0 <= self.dropout < 1:
            raise UserError(f"model option dropout is {self.dropout}; it must be at least 0 and below 1")

    @property
    def outputs(self) -> int:
        """Number of logits: one sigmoid for two classes, a softmax for more."""
        return 1 if self.classes == 2 else self.classes
