"""In which coordinates a perturbation is sought: its own, differences of attention, or directions to near words."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

import torch
from torch import Tensor

from attnvat.errors import UserError, nearest
from attnvat.models.contract import AttentionModel
from attnvat.techniques.difference import READINGS, Differences
from attnvat.techniques.neighbours import WordDirections, nearest_words
from attnvat.techniques.sites import Pass, Site
from attnvat.text.batch import Batch

Noise = Callable[[int], Tensor]
"""Gives standard normal numbers, so many for each word: width → (B, T, width)."""


class Frame(NamedTuple):
    """A basis for one batch; both functions give directions of r up to their length."""

    direction: Callable[[Tensor], Tensor]
    """The direction of r for a gradient in r, both of the site's shape."""
    start: Callable[[Noise], Tensor]
    """A random direction of r."""


class Basis(Protocol):
    """Turns the gradient in r into the direction of r that the basis allows."""

    name: str

    def frame(self, model: AttentionModel, clean: Pass, batch: Batch, site: Site) -> Frame:
        """The basis for one batch."""
        ...

    def refresh(self, model: AttentionModel) -> None:
        """Bring what the basis keeps of the model up to date, once an epoch."""
        ...


class FreeBasis:
    """r is its own coordinates."""

    name = "free"

    def frame(self, model: AttentionModel, clean: Pass, batch: Batch, site: Site) -> Frame:  # noqa: ARG002
        """The gradient, and the noise, as they are."""
        value = site.value(clean)
        return Frame(lambda g: g, lambda noise: noise(value[0, 0].numel()).view_as(value))

    def refresh(self, model: AttentionModel) -> None:
        """Nothing is kept."""


class DifferenceBasis:
    """r_t combines the differences between word t's attention score and all others (the paper's i-variants)."""

    name = "difference"

    def __init__(self, reading: str) -> None:
        if reading not in READINGS:
            raise UserError(f"unknown reading {reading!r} of the difference basis; {nearest(reading, READINGS)}")
        self.reading = reading

    def frame(self, model: AttentionModel, clean: Pass, batch: Batch, site: Site) -> Frame:  # noqa: ARG002
        """The reading's closed form; `shared` starts in the two dimensions it allows, the others anywhere."""
        scores = clean.scores.detach()
        differences, reading = (
            Differences.of(scores.to(at_least_float32(scores)), site.mask(batch)),
            READINGS[self.reading],
        )

        def start(noise: Noise) -> Tensor:
            u = noise(1).squeeze(-1)
            return reading(u, differences) if self.reading == "shared" else u

        return Frame(lambda g: reading(g, differences), start)

    def refresh(self, model: AttentionModel) -> None:
        """Nothing is kept."""


class NeighbourBasis:
    """r_t combines unit directions from word t to its nearest words (Sato's interpretable perturbation)."""

    name = "neighbour"

    def __init__(self, neighbours: int) -> None:
        self.neighbours = neighbours
        self.nearest: Tensor | None = None
        """Ids of each word's nearest words as of the last refresh (V, K); part of a run's checkpoint."""

    def frame(self, model: AttentionModel, clean: Pass, batch: Batch, site: Site) -> Frame:  # noqa: ARG002
        """The gradient in w mapped back to word vectors, and a random w mapped likewise."""
        if self.nearest is None:
            self.refresh(model)
        assert self.nearest is not None
        directions = WordDirections(site.ids(batch), model.embedding_table(), self.nearest)
        return Frame(
            lambda g: directions.back(directions.onto(g)), lambda noise: directions.back(noise(self.neighbours))
        )

    def refresh(self, model: AttentionModel) -> None:
        """Find every word's nearest words anew."""
        self.nearest = nearest_words(model.embedding_table(), self.neighbours)


def at_least_float32(x: Tensor) -> torch.dtype:
    """float32, or x's own type where that is finer."""
    return torch.promote_types(x.dtype, torch.float32)
