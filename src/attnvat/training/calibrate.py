"""Confidence set right on the validation texts: one scale and one shift a class for the output layer.

Dropout and averaged weights can leave a trained model leaning to one class. Attention stays as it is, and with two
classes so does the order of the texts.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from attnvat.evaluation.prediction import predict
from attnvat.models import SequenceClassifier
from attnvat.text.encoding import EncodedDataset

LEAST = 1e-7
"""Probability that a class is taken to have at least."""


def calibrate(model: SequenceClassifier, validation: EncodedDataset) -> None:
    """Scale and shift the output layer so that the validation labels are likeliest."""
    assert validation.labels is not None
    logs = torch.from_numpy(np.log(np.maximum(predict(model, validation).astype(np.float64), LEAST)))
    logits = logs[:, 1:] - logs[:, :1] if logs.shape[1] == 2 else logs
    scale, shift = likeliest(logits, torch.from_numpy(validation.labels))
    with torch.no_grad():
        for part in (model.decoder.weight, model.decoder.bias):
            part.mul_(scale)
        model.decoder.bias.add_(shift.to(model.decoder.bias))


def likeliest(logits: Tensor, labels: Tensor) -> tuple[float, Tensor]:
    """The scale and the shifts (C,), or (1,) for two classes, under which labels (N,) are likeliest.

    Leaving all as it is counts as much as one text: texts that are all told apart would ask for an endless scale.
    """
    log_scale = torch.zeros((), dtype=logits.dtype, requires_grad=True)
    shift = torch.zeros(logits.shape[1], dtype=logits.dtype, requires_grad=True)
    optimiser = torch.optim.LBFGS([log_scale, shift], max_iter=100, line_search_fn="strong_wolfe")

    def loss() -> Tensor:
        optimiser.zero_grad()
        moved = log_scale.exp() * logits + shift
        two = moved.shape[1] == 1
        nll = (
            functional.binary_cross_entropy_with_logits(moved[:, 0], labels.to(moved), reduction="sum")
            if two
            else functional.cross_entropy(moved, labels, reduction="sum")
        )
        total = (nll + (log_scale**2 + shift.square().sum()) / 2) / len(labels)
        total.backward()  # type: ignore[no-untyped-call]
        return total

    optimiser.step(loss)  # type: ignore[no-untyped-call]
    return float(log_scale.detach().exp()), shift.detach()
