"""How much of the words around it a word's state holds: what a penalty can take away.

Attention weighs states, and is read as if it weighed words. The two differ by what a state knows of the other words.
"""

from __future__ import annotations

from torch import Tensor

from attnvat.models.contract import AttentionModel
from attnvat.techniques.sites import Pass
from attnvat.text.batch import Batch


def context(model: AttentionModel, clean: Pass, batch: Batch) -> Tensor:
    """Squared distance of a word's state from the state of that word read alone, mean over each text's words (B,)."""
    moved = clean.states.words - model.alone(clean.vectors, batch)
    return moved.square().sum(dim=(1, 2)) / batch.lengths
