"""A batch of token ids: what every model reads."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import torch
from torch import Tensor


@dataclass(frozen=True)
class Batch:
    """B texts as token ids padded to (B, T), with a second text each for pair tasks.

    The attended text is `ids` (the paper's S or P); `question` is the text it is read against (the paper's Q).
    """

    ids: Tensor
    """Token ids, 0 on padding (B, T)."""
    lengths: Tensor
    """Number of real tokens of each text, at least 1 (B,)."""
    labels: Tensor | None = None
    """Class numbers (B,)."""
    question: Batch | None = None
    """The second text of each pair."""
    classes: Tensor | None = None
    """Which classes are possible for each example, for cloze questions (B, C)."""
    rows: Tensor | None = None
    """Row numbers in the data set the batch was made from (B,)."""

    def __len__(self) -> int:
        return self.ids.shape[0]

    @cached_property
    def mask(self) -> Tensor:
        """True on real tokens of the attended text (B, T)."""
        return torch.arange(self.ids.shape[1], device=self.ids.device) < self.lengths[:, None]

    @cached_property
    def word_ids(self) -> Tensor:
        """Ids of all words a word perturbation touches: the text, then its question (B, T + T_Q)."""
        return self.ids if self.question is None else torch.cat([self.ids, self.question.ids], dim=1)

    @cached_property
    def word_mask(self) -> Tensor:
        """True on the real tokens of `word_ids` (B, T + T_Q)."""
        return self.mask if self.question is None else torch.cat([self.mask, self.question.mask], dim=1)

    @property
    def tokens(self) -> int:
        """Number of real tokens, the question's included."""
        return int(self.lengths.sum()) + (self.question.tokens if self.question else 0)

    def to(self, device: torch.device | str) -> Batch:
        """The same batch on `device`."""

        def move(tensor: Tensor | None) -> Tensor | None:
            return None if tensor is None else tensor.to(device)

        return Batch(
            self.ids.to(device),
            self.lengths.to(device),
            move(self.labels),
            self.question and self.question.to(device),
            move(self.classes),
            move(self.rows),
        )

    def without_labels(self) -> Batch:
        """The same texts as unlabelled ones."""
        return replace(self, labels=None)
