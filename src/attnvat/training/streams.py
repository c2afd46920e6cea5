"""The labelled and the unlabelled stream side by side.

An epoch visits every labelled text once, and every unlabelled one too unless a ratio says that steps take fewer: then
the unlabelled stream goes on in the next epoch where it stopped.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from attnvat.text.batch import Batch
from attnvat.text.batching import BatchStream
from attnvat.text.encoding import EncodedDataset


class Streams:
    """Pairs of batches, without end; on several processes each takes its share of every batch."""

    def __init__(
        self,
        labelled: EncodedDataset,
        unlabelled: EncodedDataset | None,
        batch_size: int,
        seed: int,
        process: int = 0,
        processes: int = 1,
        ratio: float | None = None,
    ) -> None:
        self._data = labelled
        self._more = unlabelled
        self._process, self._processes = process, processes
        self.labelled = BatchStream(labelled.lengths, batch_size * processes, seed)
        self.unlabelled: BatchStream | None = None
        if unlabelled is not None:
            # As many unlabelled batches as labelled ones, so that an epoch is one pass over both.
            size = -(-len(unlabelled) // self.labelled.batches_per_epoch)
            if ratio is not None:
                size = min(size, math.ceil(ratio * batch_size * processes))
            self.unlabelled = BatchStream(unlabelled.lengths, size, seed + 1)

    @property
    def steps_per_epoch(self) -> int:
        """Number of steps that visit every labelled text once."""
        return self.labelled.batches_per_epoch

    @property
    def at_epoch_start(self) -> bool:
        """Whether the next batch is the first of an epoch."""
        return self.labelled.position == 0

    def sharing(self, size: int) -> int:
        """How many steps share the update that the next step belongs to, if `size` do; an epoch's last may be fewer."""
        begun = self.labelled.position % size
        return min(size, self.steps_per_epoch - self.labelled.position + begun)

    def next(self) -> tuple[Batch, Batch | None]:
        """The next labelled batch, and the unlabelled one that goes with it."""
        step = self.labelled.position
        labelled = self._data.batch(self._share(next(self.labelled)))
        if self.unlabelled is None or self._more is None or not self._due(step, self.unlabelled.batches_per_epoch):
            return labelled, None
        return labelled, self._more.batch(self._share(next(self.unlabelled))).without_labels()

    def _due(self, step: int, batches: int) -> bool:
        """Whether this step takes an unlabelled batch: fewer batches than steps are spread evenly."""
        steps = self.steps_per_epoch
        return (step + 1) * batches // steps > step * batches // steps

    def _share(self, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """This process' rows of a batch; a short one is filled up from its start so that all shares are equal."""
        if self._processes == 1:
            return rows
        size = -(-len(rows) // self._processes)
        return np.resize(rows, size * self._processes)[self._process :: self._processes]

    def state(self) -> dict[str, Any]:
        """The place in both streams, as JSON can hold it."""
        return {
            "labelled": self.labelled.state(),
            "unlabelled": self.unlabelled.state() if self.unlabelled else None,
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from `state`."""
        self.labelled.restore(state["labelled"])
        if self.unlabelled and state["unlabelled"]:
            self.unlabelled.restore(state["unlabelled"])
