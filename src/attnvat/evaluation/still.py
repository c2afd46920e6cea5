"""A model held still while it is measured."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import nn

from attnvat.models import Pretrained, SequenceClassifier


@contextmanager
def held_still(model: nn.Module, gradients: bool = False) -> Iterator[torch.device]:
    """Within the block the model is in evaluation mode and its parameters take no gradient; gives its device.

    With `gradients`, those by input work there on a GPU too: cuDNN refuses the backward pass of an LSTM in evaluation
    mode ("cudnn RNN backward can only be called in training mode"), so torch's own kernels take its place.
    """
    mode = {module: module.training for module in model.modules()}
    trainable = [parameter for parameter in model.parameters() if parameter.requires_grad]
    model.eval()
    for parameter in trainable:
        parameter.requires_grad_(False)
    try:
        with torch.backends.cudnn.flags(enabled=torch.backends.cudnn.enabled and not gradients):
            yield next(model.parameters()).device
    finally:
        for parameter in trainable:
            parameter.requires_grad_(True)
        for module, training in mode.items():
            module.training = training


def model_of(source: Pretrained | SequenceClassifier) -> SequenceClassifier:
    """The model itself, of a bundle or bare."""
    return source.model if isinstance(source, Pretrained) else source
