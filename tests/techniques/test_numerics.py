"""The traps of virtual adversarial training, one test each."""

from __future__ import annotations

import copy

import pytest
import torch

from attnvat.models.probability import kl_divergence, log_probabilities
from attnvat.techniques import PerturbationTechnique, technique
from attnvat.techniques.catalogue import Options
from attnvat.techniques.norms import unit
from attnvat.techniques.sites import clean_pass
from batches import make_batch, make_model


def vat(name: str, **options: object) -> PerturbationTechnique:
    built = technique(name, **options)
    assert isinstance(built, PerturbationTechnique)
    return built


def cosine_with_float64(name: str, xi: float) -> float:
    batch = make_batch([9, 12, 7, 10], classes=3)
    exact = make_model(classes=3)
    rounded = copy.deepcopy(exact).float()
    chosen = vat(name, xi=xi)
    generators = [torch.Generator().manual_seed(2) for _ in range(2)]
    a = chosen.perturb(exact, batch, generator=generators[0]).flatten(1)
    b = chosen.perturb(rounded, batch, generator=generators[1]).flatten(1).double()
    return float(torch.cosine_similarity(a, b).mean())


@pytest.mark.parametrize("name", ["attention-vat", "word-vat", "attention-ivat", "word-ivat"])
def test_the_default_xi_gives_the_float64_direction_and_a_tiny_one_gives_noise(name: str) -> None:
    assert Options().xi >= 1e-2
    assert cosine_with_float64(name, Options().xi) > 0.999
    # `shared` has only two dimensions to move in: its gradient is smaller and needs the larger default.
    assert cosine_with_float64(name, 1e-2) > (0.4 if name == "attention-ivat" else 0.99)
    if name == "attention-vat":
        assert cosine_with_float64(name, 1e-7) < 0.9


def test_the_kl_gradient_is_zero_at_zero_so_vat_starts_elsewhere() -> None:
    model, batch = make_model(), make_batch([6, 4])
    clean = clean_pass(model, batch).detach()
    r = torch.zeros_like(clean.scores, requires_grad=True)
    kl = kl_divergence(clean.logits, model.decode(clean.states, clean.scores + r, batch))
    (g,) = torch.autograd.grad(kl.sum(), r)
    assert g.abs().max() < 1e-15
    assert vat("attention-vat").perturb(model, batch).norm() > 0


@pytest.mark.parametrize("name", ["attention-at", "attention-vat", "attention-iat", "attention-ivat"])
def test_a_vanished_gradient_gives_no_perturbation_and_is_counted(name: str) -> None:
    # A one-word sentence has attention 1 whatever its score: no attention perturbation can change anything.
    model, batch = make_model(), make_batch([1, 5, 1])
    r = technique(name).perturb(model, batch)  # type: ignore[union-attr]
    assert (r[[0, 2]] == 0).all()
    assert r[1].norm() > 0
    step = technique(name).loss(model, batch)
    assert int(step.vanished) == 2
    assert torch.isfinite(step.total)


def test_the_norm_is_the_true_one_even_for_tiny_gradients() -> None:
    # With a constant 1e-6 under the root, a gradient of norm 5e-30 would be scaled to almost nothing.
    direction, vanished = unit(torch.tensor([[3e-30, 4e-30], [0.0, 0.0], [float("nan"), 1.0]]))
    torch.testing.assert_close(direction, torch.tensor([[0.6, 0.8], [0.0, 0.0], [0.0, 0.0]]))
    assert vanished.tolist() == [False, True, True]


def test_the_target_distribution_is_detached() -> None:
    model, batch = make_model(), make_batch([6, 4])
    chosen = vat("attention-vat", epsilon=0.0)
    # With ε = 0 both distributions are equal; a target with a gradient would still leave one, ours leaves none.
    step = chosen.loss(model, batch, generator=torch.Generator().manual_seed(0))
    clean = technique("vanilla").loss(model, batch)
    for a, b in zip(
        torch.autograd.grad(step.total, list(model.parameters())),
        torch.autograd.grad(clean.total, list(model.parameters())),
        strict=True,
    ):
        torch.testing.assert_close(a, b)


@pytest.mark.parametrize("name", ["attention-vat", "word-vat"])
def test_dropout_alone_gives_no_divergence(name: str) -> None:
    model = make_model(dropout=0.5)
    model.train()
    step = vat(name, epsilon=0.0).loss(model, make_batch([6, 9, 4]))
    assert step.adversarial.abs() < 1e-15


def test_both_sides_of_the_sigmoid_count() -> None:
    # KL must grow when q moves to either side of p.
    p = torch.zeros(1)
    assert kl_divergence(p, torch.tensor([2.0])) > 0
    assert kl_divergence(p, torch.tensor([-2.0])) > 0


def test_log_space_survives_certainty() -> None:
    logits = torch.tensor([200.0, -200.0], requires_grad=True)
    kl = kl_divergence(torch.tensor([190.0, -190.0]), logits)
    kl.sum().backward()
    assert torch.isfinite(kl).all()
    assert torch.isfinite(logits.grad).all()
    assert torch.isfinite(log_probabilities(logits)).all()


def test_float32_island_under_autocast() -> None:
    model, batch = make_model(dtype=torch.float32), make_batch([6, 4, 9])
    with torch.autocast("cpu", dtype=torch.bfloat16):
        step = vat("attention-vat").loss(model, batch)
    assert step.total.dtype == torch.float32
    assert step.adversarial > 0
    torch.testing.assert_close(step.norm, torch.tensor(0.5))


def test_the_direction_is_the_top_eigenvector_of_the_hessian() -> None:
    model, batch = make_model(classes=4), make_batch([8], classes=4)
    clean = clean_pass(model, batch).detach()

    def divergence(r: torch.Tensor) -> torch.Tensor:
        return kl_divergence(clean.logits, model.decode(clean.states, clean.scores + r[None], batch)).sum()

    hessian = torch.autograd.functional.hessian(divergence, torch.zeros(8, dtype=torch.float64))
    top = torch.linalg.eigh(hessian).eigenvectors[:, -1]
    found = vat("attention-vat", iterations=5, xi=0.01, epsilon=1.0).perturb(model, batch)[0]
    assert torch.dot(found, top).abs() > 0.95
