"""Do predictions hold when attention or words are pushed: worst-case against random perturbations of the same norm.

The direction is found once, by the techniques' own search, and scaled to every ε: `vat` moves the prediction most,
`at` the loss of the true label, `random` is a random direction. The KL divergence that VAT climbs is even to second
order, so its direction has no sign of its own: both signs are tried and the one that moves the prediction further
counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from attnvat.evaluation.batches import TOKENS, token_batches, widths
from attnvat.evaluation.divergence import total_variation
from attnvat.evaluation.still import held_still, model_of
from attnvat.models import Pretrained, SequenceClassifier
from attnvat.models.probability import probabilities
from attnvat.progress import progress
from attnvat.techniques import PerturbationTechnique, technique
from attnvat.techniques.noise import sentence_noise
from attnvat.techniques.norms import unit
from attnvat.techniques.sites import Pass, Site, clean_pass
from attnvat.text.batch import Batch
from attnvat.text.encoding import EncodedDataset

ITERATIONS = 5
"""Power iterations of the virtual search with three classes or more: a measurement can afford to converge."""


@dataclass(frozen=True)
class Curve:
    """What perturbations of one kind do to N predictions at each of E norms."""

    epsilons: tuple[float, ...]
    tvd: npt.NDArray[np.float64]
    """Total variation distance to the clean prediction (N, E)."""
    flipped: npt.NDArray[np.bool_]
    """Whether the predicted class changed (N, E)."""
    right: npt.NDArray[np.bool_] | None
    """Whether the perturbed prediction is the label; None without labels (N, E)."""
    vanished: int
    """Texts without a direction to move in: their gradient vanished, and they count as not moved."""

    def figures(self) -> dict[str, Any]:
        """Means over texts at each ε."""
        points = [
            {
                "epsilon": epsilon,
                "tvd": float(self.tvd[:, e].mean()),
                "tvd_sd": float(self.tvd[:, e].std()),
                "flip_rate": float(self.flipped[:, e].mean()),
                "accuracy": None if self.right is None else float(self.right[:, e].mean()),
            }
            for e, epsilon in enumerate(self.epsilons)
        ]
        return {"points": points, "vanished": self.vanished}


def perturbation_curves(
    source: Pretrained | SequenceClassifier,
    data: EncodedDataset,
    site: str,
    epsilons: Sequence[float],
    seed: int = 0,
    tokens: int = TOKENS,
) -> dict[str, Curve]:
    """Curves of the kinds `vat`, `random` and, with labels, `at`, for the site `attention` or `word`."""
    model = model_of(source)
    kinds = ("vat", "random") if data.labels is None else ("vat", "at", "random")
    searches = {
        "vat": technique(f"{site}-vat", epsilon=1.0, iterations=ITERATIONS),
        "at": technique(f"{site}-at", epsilon=1.0),
    }
    shape = (len(data), len(epsilons))
    tvd = {kind: np.zeros(shape) for kind in kinds}
    flipped = {kind: np.zeros(shape, dtype=np.bool_) for kind in kinds}
    right = {kind: np.zeros(shape, dtype=np.bool_) for kind in kinds}
    vanished = dict.fromkeys(kinds, 0)
    with held_still(model, gradients=True) as device, progress(f"perturbed {site}s", len(data)) as advance:
        for rows in token_batches(widths(data), tokens):
            batch = data.batch(rows).to(device)
            with torch.no_grad():
                clean = clean_pass(model, batch)
            for kind in kinds:
                search = searches["vat" if kind == "random" else kind]
                assert isinstance(search, PerturbationTechnique)
                if kind == "random":
                    direction, none = random_direction(search.site, clean, batch, seed)
                else:
                    found = search.find(model, clean, batch, seed)
                    direction, none = found.r, found.vanished
                vanished[kind] += int(none.sum())
                for e, epsilon in enumerate(epsilons):
                    moved, q = _pushed(model, search.site, clean, batch, epsilon * direction, both=kind == "vat")
                    tvd[kind][rows, e] = moved.double().cpu().numpy()
                    predicted = q.argmax(dim=1)
                    clean_class = probabilities(clean.logits).argmax(dim=1)
                    flipped[kind][rows, e] = (predicted != clean_class).cpu().numpy()
                    if batch.labels is not None:
                        right[kind][rows, e] = (predicted == batch.labels).cpu().numpy()
            advance(len(rows))
    labelled = data.labels is not None
    return {
        kind: Curve(tuple(epsilons), tvd[kind], flipped[kind], right[kind] if labelled else None, vanished[kind])
        for kind in kinds
    }


def random_direction(site: Site, clean: Pass, batch: Batch, seed: int) -> tuple[Tensor, Tensor]:
    """A random direction of norm 1 over each sentence's real tokens, its own whatever it is batched with."""
    value, mask = site.value(clean), site.mask(batch)
    noise = sentence_noise(site.ids(batch), mask.view(mask.shape[:2]), value[0, 0].numel(), seed, value.dtype)
    return unit(noise.view_as(value) * mask)


@torch.no_grad()
def _pushed(
    model: SequenceClassifier, site: Site, clean: Pass, batch: Batch, r: Tensor, both: bool
) -> tuple[Tensor, Tensor]:
    """The distance moved (B,) and the probabilities (B, C) under r, or under −r where that moves further."""
    p = probabilities(clean.logits)
    q = probabilities(site.perturbed(model, clean, r, batch))
    moved = total_variation(p, q)
    if both:
        other = probabilities(site.perturbed(model, clean, -r, batch))
        further = total_variation(p, other)
        q = torch.where((further > moved)[:, None], other, q)
        moved = torch.maximum(moved, further)
    return moved, q
