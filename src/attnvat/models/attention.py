"""Additive attention and the softmax that gives padding exactly no weight."""

from __future__ import annotations

import torch
from torch import Tensor, nn


def masked_softmax(scores: Tensor, mask: Tensor) -> Tensor:
    """Attention weights of pre-softmax scores over real tokens, 0 on padding (B, T)."""
    return torch.softmax(torch.where(mask, scores, -torch.inf), dim=-1)


class AdditiveAttention(nn.Module):
    """Pre-softmax scores ã_t = cᵀ tanh(W h_t + b), or cᵀ tanh(W₁ h_t + W₂ q + b) against a question state q."""

    def __init__(self, state: int, size: int, question: int | None = None) -> None:
        super().__init__()
        self.project = nn.Linear(state, size)
        self.project_question = nn.Linear(question, size, bias=False) if question else None
        self.score = nn.Linear(size, 1, bias=False)

    def forward(self, states: Tensor, question: Tensor | None = None) -> Tensor:
        """Scores of states (B, T, m), given a question (B, m) in pair tasks (B, T)."""
        hidden = self.project(states)
        if self.project_question is not None and question is not None:
            hidden = hidden + self.project_question(question)[:, None]
        scores: Tensor = self.score(torch.tanh(hidden)).squeeze(-1)
        return scores
