"""What a perturbation makes worse: the loss of the label (AT) or the prediction itself (VAT)."""

from __future__ import annotations

from typing import Protocol

from torch import Tensor

from attnvat.models.probability import kl_divergence, negative_log_likelihood
from attnvat.text.batch import Batch


class Objective(Protocol):
    """A loss of perturbed logits, one number a sentence."""

    name: str
    virtual: bool
    """Whether it needs no labels and a start away from zero."""

    def __call__(self, logits: Tensor, target: Tensor, batch: Batch) -> Tensor:
        """How bad the perturbed logits are (B,); `target` are the logits that VAT holds them to."""
        ...

    def slope(self, logits: Tensor, batch: Batch) -> Tensor | None:
        """What has the worst direction as its gradient at r = 0, up to sign (B,); None where nothing has."""
        ...

    def further(self, logits: Tensor, target: Tensor, batch: Batch) -> Tensor:
        """What grows as logits that have left the clean ones, `target`, get worse (B,)."""
        ...


class SupervisedLoss:
    """AT: the negative log-likelihood of the label under the perturbation."""

    name = "at"
    virtual = False

    def __call__(self, logits: Tensor, target: Tensor, batch: Batch) -> Tensor:  # noqa: ARG002
        """−log p(y | x + r) (B,)."""
        return self.slope(logits, batch)

    def slope(self, logits: Tensor, batch: Batch) -> Tensor:
        """The loss itself (B,)."""
        if batch.labels is None:
            raise ValueError("adversarial training needs labels")
        return negative_log_likelihood(logits, batch.labels)

    def further(self, logits: Tensor, target: Tensor, batch: Batch) -> Tensor:  # noqa: ARG002
        """The loss again (B,)."""
        return self.slope(logits, batch)


class VirtualLoss:
    """VAT: how far the perturbed prediction is from the clean one, or a teacher's, which is held fixed."""

    name = "vat"
    virtual = True

    def __call__(self, logits: Tensor, target: Tensor, batch: Batch) -> Tensor:  # noqa: ARG002
        """KL(p(x) ‖ p(x + r)) (B,)."""
        return kl_divergence(target.detach(), logits)

    def slope(self, logits: Tensor, batch: Batch) -> Tensor | None:  # noqa: ARG002
        """Two classes: their one logit z (B,). More classes: None.

        The KL divergence is flat at r = 0, and its curvature there is Jᵀ F J, with J = ∂logits/∂r and F the Fisher
        information of the classes. One logit makes that p(1 − p) ∇z ∇zᵀ: it has one direction only, ± ∇z, which power
        iterations from anywhere would find at once if ξ could be 0.
        """
        return logits if logits.dim() == 1 else None

    def further(self, logits: Tensor, target: Tensor, batch: Batch) -> Tensor:
        """Two classes: how far the logit is from where it was, which rounding does not blur (B,). More: the KL."""
        return (logits - target.detach()).abs() if logits.dim() == 1 else self(logits, target, batch)
