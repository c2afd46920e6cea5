"""A technique is site × objective × basis; its loss is one training step's whole loss."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor

from attnvat.errors import UserError
from attnvat.models.contract import AttentionModel
from attnvat.models.dropout import same_dropout
from attnvat.models.probability import negative_log_likelihood
from attnvat.techniques.bases import Basis, Frame, NeighbourBasis, at_least_float32
from attnvat.techniques.context import context
from attnvat.techniques.gradient_ahead import gradient_ahead
from attnvat.techniques.noise import draw_seed, sentence_noise
from attnvat.techniques.norms import dot, normalised, sentence_norm, unit
from attnvat.techniques.objectives import Objective
from attnvat.techniques.sites import Pass, Site, clean_pass, pass_of
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
    """Mean l2 norm of the perturbation over all sentences; not that of words which are moved besides."""
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
        taught: Tensor | None = None,  # noqa: ARG002
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
    """Norm of the step at which VAT's gradient is taken, ξ, where its objective has no slope."""
    iterations: int
    """Number of power iterations of VAT, likewise."""
    weight: float
    """λ, the weight of the adversarial loss."""
    context_penalty: float = 0.0
    """Weight of the context in the words' states."""
    words: PerturbationTechnique | None = None
    """What moves the words before attention is moved, in the same pass, if anything does."""

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
        taught: Tensor | None = None,
    ) -> StepLoss:
        """The whole loss of one step.

        NLL over the labelled texts + λ · mean over all texts of the perturbed loss, and the penalty on context, which
        is of the moved words where words are moved besides.
        `taught` are the logits that VAT holds those of the unlabelled texts to, where they are not the model's own.
        """
        if not self.virtual:
            refuse_unlabelled(self.name, unlabelled)
        seed = draw_seed(generator) if self.virtual else 0
        terms, norms, vanished, contexts = [], [], [], []
        for batch in (labelled,) if unlabelled is None else (labelled, unlabelled):
            with same_dropout():
                clean, g = clean_pass(model, batch), None
                first, read = self.words or self, clean
                if batch is labelled:
                    supervised = _supervised(clean, labelled).mean()
                    if first.loss_gives_direction(clean):
                        supervised, g = gradient_ahead(supervised, clean.vectors, model)
                found = first.find(model, clean, batch, seed, g)
                vanished.append(found.vanished)
                if self.words:
                    read = pass_of(model, clean.vectors + found.r, batch)
                    found = self.find_further(model, read, clean.logits, batch)
                    vanished[-1] = vanished[-1] | found.vanished
                perturbed = self.site.perturbed(model, read, found.r, batch)
                target = clean.logits if batch is labelled or taught is None else taught
                terms.append(self.objective(perturbed, target, batch))
            norms.append(sentence_norm(found.r))
            contexts.append(context(model, read, batch) if self.context_penalty else torch.zeros_like(norms[-1]))
        adversarial, held = joined(terms).mean(), joined(contexts).mean()
        return StepLoss(
            total=supervised + self.weight * adversarial + self.context_penalty * held,
            clean=supervised.detach(),
            adversarial=adversarial.detach(),
            norm=joined(norms).mean(),
            vanished=joined(vanished).sum(),
            context=held.detach(),
        )

    def loss_gives_direction(self, clean: Pass) -> bool:
        """Whether the gradient of the labelled texts' loss in the word vectors is that of the slope, up to its length.

        AT's is. With two classes so is VAT's: the loss moves with the one logit. Under autocast the loss is too small
        for half precision, and where context is penalised the clean graph is needed once more.
        """
        alike = not self.virtual or clean.logits.dim() == 1
        whole = clean.vectors.requires_grad and not torch.is_autocast_enabled(clean.vectors.device.type)
        return self.site.name == "word" and alike and whole and not self.context_penalty

    def find(
        self, model: AttentionModel, clean: Pass, batch: Batch, seed: int, g: Tensor | None = None
    ) -> Perturbation:
        """The worst perturbation of a clean pass that is kept fixed: no parameter's gradient is touched.

        `g` is the gradient of the objective's slope at r = 0, up to its length, where it is already known.
        """
        held, mask = clean.detach(), self.site.mask(batch)
        frame = self.basis.frame(model, held, batch, self.site)
        g = self.slope_gradient(model, clean, batch) if g is None else g
        if not self.virtual:
            assert g is not None
            return self.along(g, frame, mask)
        real, dtype = mask.view(mask.shape[:2]), at_least_float32(self.site.value(held))
        start = frame.start(lambda width: sentence_noise(self.site.ids(batch), real, width, seed, dtype))
        direction, line = normalised(start), None if g is None else unit(g * mask)[0]
        for _ in range(self.iterations):
            if line is None:
                worse = self.gradient(
                    model, held, batch, self.xi * direction, partial(self.objective, target=held.logits)
                )
            else:
                # What a step along `direction` does to the logit decides which way along the line is uphill.
                worse = line * dot(line, direction).sign()
            direction, vanished = unit(frame.direction(worse) * mask)
        return Perturbation(self.epsilon * direction, vanished)

    def find_further(self, model: AttentionModel, moved: Pass, target: Tensor, batch: Batch) -> Perturbation:
        """The worst perturbation where words have been moved already: straight uphill, for nothing is flat there."""
        held = moved.detach()
        value = self.site.value(held)
        further = partial(self.objective.further, target=target)
        g = self.gradient(model, held, batch, torch.zeros_like(value, dtype=at_least_float32(value)), further)
        return self.along(g, self.basis.frame(model, held, batch, self.site), self.site.mask(batch))

    def along(self, g: Tensor, frame: Frame, mask: Tensor) -> Perturbation:
        """The perturbation of norm ε that goes along a gradient as far as the basis allows."""
        direction, vanished = unit(frame.direction(g) * mask)
        return Perturbation(self.epsilon * direction, vanished)

    def slope_gradient(self, model: AttentionModel, clean: Pass, batch: Batch) -> Tensor | None:
        """The gradient in r of the objective's slope at r = 0; None where it has none."""
        slope, known = self.objective.slope(clean.logits, batch), self.site.value(clean)
        dtype = at_least_float32(known)
        if slope is None:
            return None
        if known.requires_grad and known.dtype == dtype:
            # The clean pass has already been at r = 0: no further pass is needed.
            return torch.autograd.grad(slope, known, torch.ones_like(slope), retain_graph=True)[0]
        return self.gradient(model, clean.detach(), batch, torch.zeros_like(known, dtype=dtype), self.objective.slope)

    def gradient(
        self, model: AttentionModel, held: Pass, batch: Batch, r: Tensor, of: Callable[..., Tensor | None]
    ) -> Tensor:
        """The gradient in r of what `of` makes of the logits that r moves."""
        r = r.detach().requires_grad_()
        with torch.enable_grad():
            made = of(self.site.perturbed(model, held, r, batch), batch=batch)
            assert made is not None
            return torch.autograd.grad(made, r, torch.ones_like(made))[0]

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
