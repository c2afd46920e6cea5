"""The two common models: shapes, padding, decoders, class masking, dropout."""

from __future__ import annotations

import pytest
import torch

from attnvat.errors import UserError
from attnvat.models import ModelConfig
from attnvat.models.dropout import same_dropout
from attnvat.models.probability import kl_divergence, log_probabilities, predictions, probabilities
from attnvat.text.batch import Batch
from batches import make_batch, make_model, widen


@pytest.mark.parametrize("pair", [False, True])
@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("decoder", ["paper", "joint"])
def test_shapes_and_padding(pair: bool, classes: int, decoder: str) -> None:
    model = make_model(pair, classes, decoder=decoder)
    batch = make_batch([4, 1, 7], pair, classes)
    logits, attention = model(batch)
    assert logits.shape == ((3,) if classes == 2 else (3, classes))
    torch.testing.assert_close(attention.sum(dim=1), torch.ones(3, dtype=torch.float64))
    assert (attention[~batch.mask] == 0).all()
    wider, _ = model(widen(batch, 5))
    torch.testing.assert_close(logits, wider)


def test_pair_attention_reads_the_question_and_only_joint_decodes_it() -> None:
    batch = make_batch([5, 5], pair=True)
    other = Batch(batch.ids, batch.lengths, batch.labels, make_batch([5, 5], seed=9))
    model = make_model(pair=True)
    assert not torch.allclose(model(batch)[1], model(other)[1])
    flat = torch.zeros(2, 5, dtype=torch.float64)
    for decoder, alike in (("paper", True), ("joint", False)):
        model = make_model(pair=True, decoder=decoder)
        first, second = (model.decode(model.encode(model.embed(b), b)[0], flat, b) for b in (batch, other))
        assert torch.allclose(first, second) is alike


def test_additive_attention_by_hand() -> None:
    # With W = I (first two of three units), b = 0 and c = (1, 2): score = tanh(h₁) + 2 tanh(h₂).
    model = make_model()
    attention = model.attention
    with torch.no_grad():
        attention.project.weight.zero_()
        attention.project.bias.zero_()
        attention.project.weight[0, 0] = attention.project.weight[1, 1] = 1
        attention.score.weight.zero_()
        attention.score.weight[0, 0], attention.score.weight[0, 1] = 1, 2
    states = torch.zeros(1, 2, 8, dtype=torch.float64)
    states[0, 0, 0], states[0, 1, 1] = 0.5, -1.0
    expected = torch.tensor([[0.46211716, -1.52318831]], dtype=torch.float64)
    torch.testing.assert_close(attention(states), expected)


def test_class_masking_leaves_impossible_classes_no_probability_and_no_nan() -> None:
    model = make_model(pair=True, classes=4)
    batch = make_batch([4, 3], pair=True, classes=2)
    allowed = torch.tensor([[True, True, False, False], [True, True, True, False]])
    masked = Batch(batch.ids, batch.lengths, batch.labels, batch.question, allowed)
    logits, _ = model(masked)
    assert (probabilities(logits)[~allowed] == 0).all()
    torch.testing.assert_close(probabilities(logits).sum(dim=1), torch.ones(2, dtype=torch.float64))
    perturbed = model.decode(*model.encode(model.embed(masked) * 1.1, masked), masked)
    kl = kl_divergence(logits.detach(), perturbed)
    kl.sum().backward()
    assert torch.isfinite(kl).all()
    assert (kl > 0).all()
    assert all(torch.isfinite(p.grad).all() for p in model.parameters() if p.grad is not None)


def test_two_sided_kl_by_hand() -> None:
    # p = (0.2, 0.8), q = (0.5, 0.5): 0.2 ln 0.4 + 0.8 ln 1.6 = -0.183258 + 0.376003 = 0.192745
    p, q = torch.logit(torch.tensor([0.8], dtype=torch.float64)), torch.zeros(1, dtype=torch.float64)
    torch.testing.assert_close(kl_divergence(p, q), torch.tensor([0.192745], dtype=torch.float64), atol=1e-6, rtol=0)


def test_predictions_threshold_the_probability_at_one_half() -> None:
    logits = torch.tensor([0.1, 0.4, -0.1, 0.6])  # p = 0.52, 0.60, 0.48, 0.65: a logit of 0.4 is a positive
    assert predictions(logits).tolist() == [1, 1, 0, 1]
    assert predictions(log_probabilities(logits)).tolist() == [1, 1, 0, 1]


def test_half_precision_is_raised_before_the_logarithm() -> None:
    assert log_probabilities(torch.tensor([12.0], dtype=torch.bfloat16)).dtype == torch.float32


def test_same_dropout_in_every_pass_of_a_step() -> None:
    model = make_model(dropout=0.5)
    model.train()
    batch = make_batch([6, 4])
    with same_dropout():
        first, second = model(batch)[0], model(batch)[0]
    assert torch.equal(first, second)
    assert not torch.equal(first, model(batch)[0])


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"classes": 1}, "classes"),
        ({"hidden": 7}, "hidden"),
        ({"decoder": "x"}, "decoder"),
        ({"dropout": 1.0}, "dropout"),
    ],
)
def test_impossible_configs_are_refused_by_name(options: dict[str, object], named: str) -> None:
    with pytest.raises(UserError, match=named):
        ModelConfig(10, 5, **options)  # type: ignore[arg-type]
