"""A model held still while it is measured."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import nn

from attnvat.models import Pretrained, SequenceClassifier


@contextmanager
def held_still(model: nn.Module) -> Iterator[torch.device]:
    """Within the block the model is in evaluation mode and its parameters take no gradient; gives its device.

    Gradients by input work there: cuDNN refuses the backward pass of an LSTM in evaluation mode, so it stands aside
    wherever gradients are being recorded, and only input gradients are computed, which is what makes them cheap.
    """
    mode = {module: module.training for module in model.modules()}
    trainable = [parameter for parameter in model.parameters() if parameter.requires_grad]
    model.eval()
    for parameter in trainable:
        parameter.requires_grad_(False)
    try:
        with torch.backends.cudnn.flags(enabled=not torch.is_grad_enabled()):
            yield next(model.parameters()).device
    finally:
        for parameter in trainable:
            parameter.requires_grad_(True)
        for module, training in mode.items():
            module.training = training


def model_of(source: Pretrained | SequenceClassifier) -> SequenceClassifier:
    """The model itself, of a bundle or bare."""
    return source.model if isinstance(source, Pretrained) else source
