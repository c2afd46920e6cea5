"""Attention-based classifiers behind one contract: embed → encode → decode."""

from attnvat.models.attention import masked_softmax
from attnvat.models.classifiers import (
    PairSequenceClassifier,
    SequenceClassifier,
    SingleSequenceClassifier,
    build_model,
)
from attnvat.models.config import ModelConfig
from attnvat.models.contract import AttentionModel, States
from attnvat.models.pretrained import Pretrained, from_pretrained, save_pretrained

__all__ = [
    "AttentionModel",
    "ModelConfig",
    "PairSequenceClassifier",
    "Pretrained",
    "SequenceClassifier",
    "SingleSequenceClassifier",
    "States",
    "build_model",
    "from_pretrained",
    "masked_softmax",
    "save_pretrained",
]
