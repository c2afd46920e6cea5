"""A technique is site × objective × basis; its loss is one training step's whole loss."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from attnvat.errors import UserError
from attnvat.models.contract import AttentionModel
from attnvat.models.dropout import same_dropout
from attnvat.models.probability import negative_log_likelihood
from attnvat.techniques.bases import Basis, NeighbourBasis, at_least_float32
from attnvat.techniques.context import context
from attnvat.techniques.noise import draw_seed, sentence_noise
from attnvat.techniques.norms import normalised, sentence_norm, unit
from attnvat.techniques.objectives import Objective
from attnvat.techniques.sites import Pass, Site, clean_pass
from attnvat.text.batch import Batch


@dataclass(frozen=True)
class StepLoss:
    """The loss of one training step and its parts, for the optimiser and for the log."""

    total: Tensor
    """What to call `backward()` on."""
    clean: Tensor
    """Mean negative log-likelihood of the labelled texts."""
    adversarial: Tensor
    """Mean loss under the perturbation, before λ; 0 for vanilla."""
    norm: Tensor
    """Mean l2 norm of the perturbation over all sentences."""
    vanished: Tensor
    """Number of sentences whose gradient vanished and that were therefore not perturbed."""
    context: Tensor
    """Mean context in the words' states, before its weight; 0 where it has none."""


@dataclass(frozen=True)
class Perturbation:
    """What was added, and where nothing could be."""

    r: Tensor
    """The perturbation, 0 on padding: (B, T) for attention, (B, T, d) for words."""
    vanished: Tensor
    """True for sentences whose gradient vanished: their r is 0 (B,)."""


@dataclass(frozen=True)
class Vanilla:
    """Plain training, with the same face as a technique."""

    name: str = "vanilla"
    virtual: bool = False
    context_penalty: float = 0.0
    """Weight of the context in the words' states."""

    def loss(
        self,
        model: AttentionModel,
        labelled: Batch,
        unlabelled: Batch | None = None,
        generator: torch.Generator | None = None,  # noqa: ARG002
    ) -> StepLoss:
        """The mean negative log-likelihood and the penalty on context."""
        refuse_unlabelled(self.name, unlabelled)
        clean = clean_pass(model, labelled)
        supervised = _supervised(clean, labelled).mean()
        zero = torch.zeros((), device=supervised.device)
        held = context(model, clean, labelled).mean() if self.context_penalty else zero
        return StepLoss(
            total=supervised + self.context_penalty * held,
            clean=supervised.detach(),
            adversarial=zero,
            norm=zero,
            vanished=zero,
            context=held.detach(),
        )

    def refresh(self, model: AttentionModel) -> None:
        """Nothing is kept between epochs."""

    def state(self) -> dict[str, Tensor]:
        """Nothing is kept between steps."""
        return {}

    def restore(self, state: dict[str, Tensor]) -> None:
        """Nothing is kept between steps."""


@dataclass(frozen=True)
class PerturbationTechnique:
    """Training under worst-case perturbations found at a site, for an objective, in a basis."""

    name: str
    site: Site
    objective: Objective
    basis: Basis
    epsilon: float
    """Norm of the perturbation of a whole sentence, ε."""
    xi: float
    """Norm of the step at which VAT's gradient is taken, ξ."""
    iterations: int
    """Number of power iterations of VAT."""
    weight: float
    """λ, the weight of the adversarial loss."""
    context_penalty: float = 0.0
    """Weight of the context in the words' states."""

    @property
    def virtual(self) -> bool:
        """Whether the technique needs no labels, and so can use unlabelled text."""
        return self.objective.virtual

    def perturb(self, model: AttentionModel, batch: Batch, generator: torch.Generator | None = None) -> Tensor:
        """The perturbation r of a batch, of norm ε over each sentence's real tokens and 0 on padding."""
        with same_dropout():
            with torch.no_grad():
                clean = clean_pass(model, batch)
            return self.find(model, clean, batch, draw_seed(generator)).r

    def loss(
        self,
        model: AttentionModel,
        labelled: Batch,
        unlabelled: Batch | None = None,
        generator: torch.Generator | None = None,
    ) -> StepLoss:
        """The whole loss of one step.

        NLL over the labelled texts + λ · mean over all texts of the perturbed loss, and the penalty on context.
        """
        if not self.virtual:
            refuse_unlabelled(self.name, unlabelled)
        seed = draw_seed(generator) if self.virtual else 0
        terms, norms, vanished, contexts = [], [], [], []
        for batch in (labelled,) if unlabelled is None else (labelled, unlabelled):
            with same_dropout():
                clean = clean_pass(model, batch)
                if batch is labelled:
                    supervised = _supervised(clean, labelled).mean()
                found = self.find(model, clean, batch, seed)
                perturbed = self.site.perturbed(model, clean, found.r, batch)
                terms.append(self.objective(perturbed, clean, batch))
            norms.append(sentence_norm(found.r))
            vanished.append(found.vanished)
            contexts.append(context(model, clean, batch) if self.context_penalty else torch.zeros_like(norms[-1]))
        adversarial, held = joined(terms).mean(), joined(contexts).mean()
        return StepLoss(
            total=supervised + self.weight * adversarial + self.context_penalty * held,
            clean=supervised.detach(),
            adversarial=adversarial.detach(),
            norm=joined(norms).mean(),
            vanished=joined(vanished).sum(),
            context=held.detach(),
        )

    def find(self, model: AttentionModel, clean: Pass, batch: Batch, seed: int) -> Perturbation:
        """The worst perturbation of a clean pass that is kept fixed: no parameter's gradient is touched."""
        held = clean.detach()
        value, mask = self.site.value(held), self.site.mask(batch)
        dtype = at_least_float32(value)
        frame = self.basis.frame(model, held, batch, self.site)
        known = self.site.value(clean)
        if not self.virtual and known.requires_grad and known.dtype == dtype:
            # AT's gradient is taken at r = 0, where the clean pass has already been: no further pass is needed.
            worse = self.objective(clean.logits, clean, batch)
            (g,) = torch.autograd.grad(worse, known, torch.ones_like(worse), retain_graph=True)
            direction, vanished = unit(frame.direction(g) * mask)
            return Perturbation(self.epsilon * direction, vanished)
        if self.virtual:
            real = mask.view(mask.shape[:2])
            start = frame.start(lambda width: sentence_noise(self.site.ids(batch), real, width, seed, dtype))
            direction = normalised(start)
        else:
            direction = torch.zeros_like(value, dtype=dtype)
        for _ in range(self.iterations if self.virtual else 1):
            r = (self.xi * direction).requires_grad_()
            with torch.enable_grad():
                worse = self.objective(self.site.perturbed(model, held, r, batch), held, batch)
                (g,) = torch.autograd.grad(worse, r, torch.ones_like(worse))
            direction, vanished = unit(frame.direction(g) * mask)
        return Perturbation(self.epsilon * direction, vanished)

    def refresh(self, model: AttentionModel) -> None:
        """Bring the basis up to date with the model; called at the start of each epoch."""
        self.basis.refresh(model)

    def state(self) -> dict[str, Tensor]:
        """What a run must keep to continue exactly: the nearest words as of the last refresh."""
        known = self.basis.nearest if isinstance(self.basis, NeighbourBasis) else None
        return {} if known is None else {"nearest": known}

    def restore(self, state: dict[str, Tensor]) -> None:
        """Take up a kept state."""
        if isinstance(self.basis, NeighbourBasis):
            self.basis.nearest = state.get("nearest")


Technique = Vanilla | PerturbationTechnique


def joined(parts: list[Tensor]) -> Tensor:
    """Numbers of the labelled and, where there are any, the unlabelled texts (B,)."""
    return parts[0] if len(parts) == 1 else torch.cat(parts)


def _supervised(clean: Pass, batch: Batch) -> Tensor:
    if batch.labels is None:
        raise ValueError("the labelled batch has no labels")
    return negative_log_likelihood(clean.logits, batch.labels)


def refuse_unlabelled(name: str, unlabelled: Batch | None) -> None:
    """Raise if a technique that needs labels is given texts without."""
    if unlabelled is not None:
        raise UserError(f"{name} needs labels and cannot use unlabelled text; use one of the VAT techniques for that")
