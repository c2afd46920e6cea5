"""Class probabilities, losses and divergences in log space, the same for one sigmoid and for a softmax.

Two classes are one logit z with p(1) = σ(z): logits of shape (B,). More classes are logits of shape (B, C). All of it
is computed in at least float32, also under autocast.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor


def log_probabilities(logits: Tensor) -> Tensor:
    """log p of every class, from a sigmoid's or a softmax's logits (B, C)."""
    logits = logits.float() if logits.dtype in (torch.float16, torch.bfloat16) else logits
    if logits.dim() == 1:
        return F.logsigmoid(torch.stack([-logits, logits], dim=-1))
    return torch.log_softmax(logits, dim=-1)


def probabilities(logits: Tensor) -> Tensor:
    """p of every class (B, C)."""
    return log_probabilities(logits).exp()


def predictions(logits: Tensor) -> Tensor:
    """The predicted class: p > 0.5 (logit above 0) for two classes, the most probable for more (B,)."""
    return (logits > 0).long() if logits.dim() == 1 else logits.argmax(dim=-1)


def negative_log_likelihood(logits: Tensor, labels: Tensor) -> Tensor:
    """−log p(label) of each example (B,)."""
    return -log_probabilities(logits).gather(-1, labels[:, None]).squeeze(-1)


def kl_divergence(target: Tensor, logits: Tensor) -> Tensor:
    """KL(p ‖ q) of each example, p from `target` logits and q from `logits`; both sides of a sigmoid count (B,)."""
    log_p, log_q = log_probabilities(target), log_probabilities(logits)
    p, ratio = log_p.exp(), log_p - log_q
    if logits.dim() > 1:
        # An impossible class has log p = log q = −∞; its share is 0, and so is its gradient.
        ratio = torch.where(p > 0, ratio, 0.0)
    divergence: Tensor = torch.linalg.vecdot(p, ratio)
    return divergence
