import torch
from measured import tiny

from attnvat.evaluation.still import held_still


def test_cudnn_stands_aside_for_gradients_only() -> None:
    # cuDNN has no backward pass for LSTMs in evaluation mode; the flag is what decides, also on a machine without one.
    model = tiny().pretrained.model.train()
    before = torch.backends.cudnn.enabled
    with held_still(model, gradients=True) as device:
        assert not torch.backends.cudnn.enabled
        assert not model.training
        assert not any(parameter.requires_grad for parameter in model.parameters())
        assert device.type == "cpu"
    with held_still(model):
        assert torch.backends.cudnn.enabled == before
    assert torch.backends.cudnn.enabled == before
    assert model.training


def test_frozen_parameters_stay_frozen_and_modes_come_back_after_an_error() -> None:
    model = tiny().pretrained.model.train()
    model.embedding.weight.requires_grad_(False)
    model.dropout.eval()
    try:
        with held_still(model):
            raise KeyError
    except KeyError:
        pass
    assert not model.embedding.weight.requires_grad
    assert model.encoder.forwards.weight_ih_l0.requires_grad
    assert model.training
    assert not model.dropout.training
