"""Each reading's closed form equals the T×T computation that autograd does."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from attnvat.models.probability import kl_divergence, negative_log_likelihood
from attnvat.techniques import technique
from attnvat.techniques.difference import READINGS, Differences
from attnvat.techniques.noise import sentence_noise
from attnvat.techniques.norms import unit
from attnvat.techniques.sites import clean_pass
from batches import make_batch, make_model, widen


def differences(scores: Tensor) -> Tensor:
    """d_tk = s_t − s_k (T, T)."""
    return scores[:, None] - scores[None, :]


def direct(reading: str, scores: Tensor, loss: object, r0: Tensor, epsilon: float) -> Tensor:
    """r of one sentence by autograd through the T×T coordinates w, normalised as the reading says."""
    d = differences(scores)
    rows = d / d.norm(dim=1, keepdim=True)
    whole = d / d.norm()
    if reading == "shared":
        w = torch.zeros(len(scores), dtype=scores.dtype, requires_grad=True)
        (g,) = torch.autograd.grad(loss(r0 + rows @ w), w)  # type: ignore[operator]
        r = rows @ (g / g.norm())
    else:
        basis = whole if reading == "matrix" else rows
        w = torch.zeros_like(d, requires_grad=True)
        (g,) = torch.autograd.grad(loss(r0 + (w * basis).sum(dim=1)), w)  # type: ignore[operator]
        step = g / g.norm(dim=1, keepdim=True) if reading == "per-word" else g / g.norm()
        r = (step * basis).sum(dim=1)
        if reading == "released":
            r = -r
    return epsilon * r / r.norm()


@pytest.mark.parametrize("reading", READINGS)
@pytest.mark.parametrize("kind", ["iat", "ivat"])
@pytest.mark.parametrize("classes", [2, 3])
def test_closed_form_equals_the_matrix_computation(reading: str, kind: str, classes: int) -> None:
    model = make_model(classes=classes)
    lengths = [7, 3, 2, 11]
    batch = widen(make_batch(lengths, classes=classes), 2)
    chosen = technique(f"attention-{kind}", reading=reading, epsilon=1.3)
    seed = 11
    clean = clean_pass(model, batch)
    ours = chosen.find(model, clean, batch, seed).r  # type: ignore[union-attr]

    for row, length in enumerate(lengths):
        scores = clean.scores[row, :length].detach()
        words = clean.states.words[row : row + 1, :length].detach()
        single = make_batch([length], classes=classes)

        def logits(r: Tensor, scores: Tensor = scores, words: Tensor = words, single: object = single) -> Tensor:
            attention = torch.softmax(scores + r, dim=0)
            return model.decoder((attention[:, None] * words[0]).sum(dim=0)).squeeze(-1 if classes == 2 else 0)

        if kind == "iat":
            r0 = torch.zeros_like(scores)

            def loss(r: Tensor, row: int = row, logits: object = logits) -> Tensor:
                out = logits(r).view(1, -1).squeeze(-1)  # type: ignore[operator]
                return negative_log_likelihood(out, batch.labels[row : row + 1]).sum()
        else:
            u = sentence_noise(batch.ids[row : row + 1], batch.mask[row : row + 1], 1, seed, torch.float64)[
                0, :length, 0
            ]
            if reading == "shared":
                d = differences(scores)
                rows = d / d.norm(dim=1, keepdim=True)
                u = rows @ (rows.T @ u)
            # With two classes the direction is that of a vanishing step.
            xi = 1e-6 if classes == 2 else chosen.xi  # type: ignore[union-attr]
            r0 = xi * unit(u[None])[0][0]

            def loss(r: Tensor, row: int = row, logits: object = logits) -> Tensor:
                out = logits(r).view(1, -1).squeeze(-1)  # type: ignore[operator]
                return kl_divergence(clean.logits[row : row + 1].detach(), out).sum()

        expected = direct(reading, scores, loss, r0, 1.3)
        torch.testing.assert_close(ours[row, :length], expected, atol=1e-5, rtol=0)


@pytest.mark.parametrize("kind", ["at", "vat"])
def test_the_paper_reading_is_the_plain_technique(kind: str) -> None:
    model, batch = make_model(), make_batch([7, 3, 5])
    plain = technique(f"attention-{kind}").perturb(model, batch, generator=torch.Generator().manual_seed(1))  # type: ignore[union-attr]
    reading = technique(f"attention-i{kind}", reading="paper")
    as_printed = reading.perturb(model, batch, generator=torch.Generator().manual_seed(1))  # type: ignore[union-attr]
    assert torch.equal(plain, as_printed)


def test_squared_norms_of_differences_without_cancellation() -> None:
    # Scores far from zero with small differences: n s² − 2 s Σs + Σs² would lose every digit in float32.
    scores = torch.tensor([[100.01, 100.02, 100.04, 0.0]])
    mask = torch.tensor([[True, True, True, False]])
    exact = differences(scores[0, :3].double()).square().sum(dim=1)
    torch.testing.assert_close(Differences.of(scores, mask).squared[0, :3].double(), exact, rtol=0.01, atol=0)
    assert torch.equal(Differences.of(scores, mask).there, mask)
    assert Differences.of(scores, mask).inverse[0, 3] == 0


@pytest.mark.parametrize("reading", READINGS)
def test_equal_scores_have_no_difference_directions(reading: str) -> None:
    scores = torch.full((1, 5), 0.1) * torch.tensor([1, 1, 1, 1 + 1e-7, 1])
    mask = torch.ones(1, 5, dtype=torch.bool)
    assert (READINGS[reading](torch.randn(1, 5), Differences.of(scores, mask)) == 0).all()


def test_shared_by_hand() -> None:
    # s = (1, 0): d_1 = (0, 1), d_2 = (−1, 0), both of norm 1. D̃ᵀg = (−g₂, g₁); D̃ of that = (g₁, g₂).
    g = torch.tensor([[2.0, 5.0]])
    mask = torch.ones(1, 2, dtype=torch.bool)
    torch.testing.assert_close(READINGS["shared"](g, Differences.of(torch.tensor([[1.0, 0.0]]), mask)), g)
