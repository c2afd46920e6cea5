import numpy as np
import pytest
import torch
from measured import tiny

from attnvat.evaluation.integrated_gradients import batch_shares, integrated_gradients, repeated
from attnvat.models.probability import probabilities
from attnvat.text.batch import Batch


def p_of(model: torch.nn.Module, vectors: torch.Tensor, batch: Batch) -> torch.Tensor:
    states, scores = model.encode(vectors, batch)
    return probabilities(model.decode(states, scores, batch))


@pytest.mark.parametrize(("pair", "classes"), [(False, 2), (True, 3)])
def test_shares_are_a_plain_riemann_sum(pair: bool, classes: int) -> None:
    subject = tiny(pair, classes)
    model = subject.pretrained.model
    for row in (0, 2):
        batch = subject.data.batch([row])
        vectors = model.embed(batch).detach()
        predicted = p_of(model, vectors, batch).argmax()
        # The middles of 300 steps from nothing to the text, all in one batch.
        along = (torch.arange(300) + 0.5) / 300
        moved = (along[:, None, None] * vectors).requires_grad_()
        p = p_of(model, moved, repeated(batch, 300))[:, predicted]
        slopes = torch.autograd.grad(p.sum(), moved)[0]
        expected = (vectors * slopes.mean(dim=0)).sum(-1)[:, : batch.ids.shape[1]]
        torch.testing.assert_close(batch_shares(model, batch, 64), expected, atol=1e-4, rtol=1e-3)


def test_shares_add_up_to_what_the_words_did() -> None:
    subject = tiny()
    model, batch = subject.pretrained.model, subject.data.batch([2])
    vectors = model.embed(batch).detach()
    p, nothing = p_of(model, vectors, batch)[0], p_of(model, torch.zeros_like(vectors), batch)[0]
    predicted = p.argmax()
    assert batch_shares(model, batch, 64).sum().item() == pytest.approx((p - nothing)[predicted].item(), abs=1e-4)


def test_batch_mates_and_padding_change_nothing() -> None:
    subject = tiny()
    together = integrated_gradients(subject.pretrained, subject.data, steps=8)
    apart = integrated_gradients(subject.pretrained, subject.data, steps=8, tokens=1)
    np.testing.assert_allclose(together.values, apart.values, atol=1e-6)
    assert together.values.max() > 1e-3
