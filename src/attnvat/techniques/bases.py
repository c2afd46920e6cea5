"""In which coordinates a perturbation is sought: its own, differences of attention, or directions to near words."""

from __future__ import annotations

from typing import Protocol

from torch import Tensor

from attnvat.errors import UserError, nearest
from attnvat.models.contract import AttentionModel
from attnvat.techniques.difference import READINGS
from attnvat.techniques.neighbours import nearest_words, neighbour_direction
from attnvat.techniques.sites import Pass, Site
from attnvat.text.batch import Batch


class Basis(Protocol):
    """Turns the gradient in r into the direction of r that the basis allows."""

    name: str

    def direction(self, g: Tensor, clean: Pass, batch: Batch, site: Site) -> Tensor:
        """The direction of r for a gradient g of the same shape, up to its length."""
        ...

    def start(self, u: Tensor, clean: Pass, batch: Batch, site: Site) -> Tensor:
        """A random direction u brought into the basis."""
        ...

    def refresh(self, model: AttentionModel) -> None:
        """Bring what the basis keeps of the model up to date, once an epoch."""
        ...


class FreeBasis:
    """r is its own coordinates."""

    name = "free"

    def direction(self, g: Tensor, clean: Pass, batch: Batch, site: Site) -> Tensor:  # noqa: ARG002
        """g itself."""
        return g

    def start(self, u: Tensor, clean: Pass, batch: Batch, site: Site) -> Tensor:  # noqa: ARG002
        """u itself."""
        return u

    def refresh(self, model: AttentionModel) -> None:
        """Nothing is kept."""


class DifferenceBasis:
    """r_t combines the differences between word t's attention score and all others (the paper's i-variants)."""

    name = "difference"

    def __init__(self, reading: str) -> None:
        if reading not in READINGS:
            raise UserError(f"unknown reading {reading!r} of the difference basis; {nearest(reading, READINGS)}")
        self.reading = reading

    def direction(self, g: Tensor, clean: Pass, batch: Batch, site: Site) -> Tensor:
        """The reading's closed form of the step in w, mapped back to r (B, T)."""
        return READINGS[self.reading](g, clean.scores.detach().to(g.dtype), site.mask(batch))

    def start(self, u: Tensor, clean: Pass, batch: Batch, site: Site) -> Tensor:
        """u, or its image in the two-dimensional space that the reading `shared` allows (B, T)."""
        return self.direction(u, clean, batch, site) if self.reading == "shared" else u

    def refresh(self, model: AttentionModel) -> None:
        """Nothing is kept."""


class NeighbourBasis:
    """r_t is a combination of unit directions from word t to its nearest words (Sato's interpretable perturbation)."""

    name = "neighbour"

    def __init__(self, neighbours: int) -> None:
        self.neighbours = neighbours
        self.nearest: Tensor | None = None
        """Ids of each word's nearest words as of the last refresh (V, K); part of a run's checkpoint."""
        self._table: Tensor | None = None

    def direction(self, g: Tensor, clean: Pass, batch: Batch, site: Site) -> Tensor:  # noqa: ARG002
        """g projected onto each word's directions and mapped back (B, T, d)."""
        if self.nearest is None or self._table is None:
            raise ValueError("refresh(model) must come before the first direction")
        return neighbour_direction(g, site.ids(batch), self._table, self.nearest)

    def start(self, u: Tensor, clean: Pass, batch: Batch, site: Site) -> Tensor:
        """u brought into the span of each word's directions (B, T, d)."""
        return self.direction(u, clean, batch, site)

    def attach(self, model: AttentionModel) -> None:
        """Read word vectors from `model` from now on; finds the nearest words if that was never done."""
        self._table = model.embedding_table()
        if self.nearest is None:
            self.refresh(model)

    def refresh(self, model: AttentionModel) -> None:
        """Find every word's nearest words anew."""
        self._table = model.embedding_table()
        self.nearest = nearest_words(self._table, self.neighbours)
