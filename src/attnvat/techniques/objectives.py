"""What a perturbation makes worse: the loss of the label (AT) or the prediction itself (VAT)."""

from __future__ import annotations

from typing import Protocol

from torch import Tensor

from attnvat.models.probability import kl_divergence, negative_log_likelihood
from attnvat.techniques.sites import Pass
from attnvat.text.batch import Batch


class Objective(Protocol):
    """A loss of perturbed logits, one number a sentence."""

    name: str
    virtual: bool
    """Whether it needs no labels and a start away from zero."""

    def __call__(self, logits: Tensor, clean: Pass, batch: Batch) -> Tensor:
        """How bad the perturbed logits are (B,)."""
        ...


class SupervisedLoss:
    """AT: the negative log-likelihood of the label under the perturbation."""

    name = "at"
    virtual = False

    def __call__(self, logits: Tensor, clean: Pass, batch: Batch) -> Tensor:  # noqa: ARG002
        """−log p(y | x + r) (B,)."""
        if batch.labels is None:
            raise ValueError("adversarial training needs labels")
        return negative_log_likelihood(logits, batch.labels)


class VirtualLoss:
    """VAT: how far the perturbed prediction is from the clean one, which is held fixed."""

    name = "vat"
    virtual = True

    def __call__(self, logits: Tensor, clean: Pass, batch: Batch) -> Tensor:  # noqa: ARG002
        """KL(p(x) ‖ p(x + r)) (B,)."""
        return kl_divergence(clean.logits.detach(), logits)
