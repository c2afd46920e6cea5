import numpy as np
import pytest
import torch
from measured import LENGTHS, tiny

from attnvat.evaluation import importance
from attnvat.evaluation.importance import by_autograd, closed_form, gradient_importance
from attnvat.evaluation.subject import Subject
from attnvat.models.attention import masked_softmax
from attnvat.models.probability import probabilities

KINDS = [(False, 2, "paper"), (False, 3, "paper"), (True, 2, "paper"), (True, 3, "paper"), (True, 3, "joint")]


def one_sentence(subject: Subject, row: int, detached: bool) -> np.ndarray:
    """|∂ŷ/∂e · e| of one text alone, written out with backward()."""
    model, batch = subject.pretrained.model, subject.data.batch([row])
    vectors = model.embed(batch).detach().requires_grad_()
    states, scores = model.encode(vectors, batch)
    p = probabilities(model.decode(states, scores.detach() if detached else scores, batch))
    p.max().backward()
    model.zero_grad()
    assert vectors.grad is not None
    return (vectors.grad * vectors).sum(-1).abs()[0, : subject.data.lengths[row]].detach().numpy()


@pytest.mark.parametrize(("pair", "classes", "decoder"), KINDS)
@pytest.mark.parametrize("detached", [True, False])
@pytest.mark.parametrize("phrases", [False, True])
def test_importance_is_autograd_one_sentence_at_a_time(
    pair: bool, classes: int, decoder: str, detached: bool, phrases: bool
) -> None:
    subject = tiny(pair, classes, decoder, phrases=phrases)
    reading, importance = gradient_importance(subject.pretrained, subject.data, detached)
    for row in range(len(subject.data)):
        expected = one_sentence(subject, row, detached)
        np.testing.assert_allclose(importance[row], expected, atol=1e-6, rtol=1e-4)
        batch = subject.data.batch([row])
        with torch.no_grad():
            _, scores = subject.pretrained.model.encode(subject.pretrained.model.embed(batch), batch)
        np.testing.assert_allclose(reading.attention[row], masked_softmax(scores, batch.mask)[0], atol=1e-6)


def test_detaching_the_attention_matters() -> None:
    subject = tiny()
    _, detached = gradient_importance(subject.pretrained, subject.data, detached=True)
    _, through = gradient_importance(subject.pretrained, subject.data, detached=False)
    assert np.abs(detached.values - through.values).max() > 1e-3


@pytest.mark.parametrize(("pair", "classes", "decoder"), KINDS)
@pytest.mark.parametrize("detached", [True, False])
@pytest.mark.parametrize("shared_table", [True, False])
def test_closed_form_and_autograd_agree(
    pair: bool, classes: int, decoder: str, detached: bool, shared_table: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not shared_table:
        monkeypatch.setattr(importance, "SHARED_TABLE", 0)
    subject = tiny(pair, classes, decoder)
    batch = subject.data.batch(range(len(LENGTHS)))
    ours = closed_form(subject.pretrained.model, subject.data, detached)(batch)
    autograd = by_autograd(subject.pretrained.model, detached)(batch)
    for found, expected in zip(ours, autograd, strict=True):
        mask = batch.mask if found.shape == batch.ids.shape else torch.tensor(1.0)
        torch.testing.assert_close(found * mask, expected * mask)


def test_double_precision_takes_autograd_and_agrees_with_single() -> None:
    single, double = tiny(), tiny(dtype=torch.float64)
    _, ours = gradient_importance(single.pretrained, single.data)
    # The same random weights, drawn in single precision and widened.
    double.pretrained.model.load_state_dict(single.pretrained.model.state_dict())
    _, reference = gradient_importance(double.pretrained, double.data)
    np.testing.assert_allclose(ours.values, reference.values, atol=1e-6, rtol=1e-4)


@pytest.mark.parametrize("threads", [1, 2])
def test_batch_mates_padding_and_threads_change_nothing(threads: int) -> None:
    subject = tiny(lengths=LENGTHS * 3)
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        _, together = gradient_importance(subject.pretrained, subject.data)
        _, apart = gradient_importance(subject.pretrained, subject.data, tokens=12)
        assert torch.get_num_threads() == threads
    finally:
        torch.set_num_threads(before)
    np.testing.assert_allclose(together.values, apart.values, atol=1e-6)


def test_no_parameter_gets_a_gradient() -> None:
    subject = tiny()
    gradient_importance(subject.pretrained, subject.data)
    model = subject.pretrained.model
    assert all(parameter.grad is None and parameter.requires_grad for parameter in model.parameters())
