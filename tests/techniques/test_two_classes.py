"""With two classes VAT's worst direction is the gradient of the one logit, up to sign: no ξ, no power iterations."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import torch
from torch import Tensor

from attnvat.models import SequenceClassifier
from attnvat.models.probability import kl_divergence
from attnvat.techniques import PerturbationTechnique, technique
from attnvat.techniques.noise import sentence_noise
from attnvat.techniques.norms import dot, normalised, unit
from attnvat.techniques.sites import clean_pass
from attnvat.text.batch import Batch
from batches import make_batch, make_model
from technique_cases import CASES, LENGTHS, both_models, build, over

SEED = 5
every_case = over([case for case in CASES if "vat" in case[0]])


def iterated(chosen: PerturbationTechnique, model: SequenceClassifier, batch: Batch, xi: float) -> Tensor:
    """The perturbation as written: power iterations on the gradient of the divergence, a step ξ away from 0."""
    clean, mask = clean_pass(model, batch).detach(), chosen.site.mask(batch)
    frame, real = chosen.basis.frame(model, clean, batch, chosen.site), mask.view(mask.shape[:2])
    direction = normalised(
        frame.start(lambda width: sentence_noise(chosen.site.ids(batch), real, width, SEED, torch.float64))
    )
    for _ in range(chosen.iterations):
        r = (xi * direction).requires_grad_()
        divergence = kl_divergence(clean.logits, chosen.site.perturbed(model, clean, r, batch))
        direction = unit(frame.direction(torch.autograd.grad(divergence.sum(), r)[0]) * mask)[0]
    return chosen.epsilon * direction


@every_case
@both_models
@pytest.mark.parametrize("iterations", [1, 2, 5])
def test_it_is_the_limit_of_power_iterations_with_a_vanishing_step(
    name: str, options: dict[str, Any], pair: bool, iterations: int
) -> None:
    model, batch = make_model(pair), make_batch(LENGTHS, pair)
    chosen = build(name, options, epsilon=1.3, iterations=iterations)
    for clean in (clean_pass(model, batch), clean_pass(model, batch).detach()):
        found = chosen.find(model, clean, batch, SEED).r
        torch.testing.assert_close(found, iterated(chosen, model, batch, xi=1e-6), atol=1e-4, rtol=0)


@both_models
@pytest.mark.parametrize("site", ["word", "attention"])
def test_it_is_the_direction_of_at_up_to_sign(site: str, pair: bool) -> None:
    model, batch = make_model(pair), make_batch(LENGTHS, pair)
    clean = clean_pass(model, batch)
    virtual, labelled = (
        build(f"{site}-{kind}", {}, epsilon=1.0).find(model, clean, batch, SEED).r for kind in ("vat", "at")
    )
    torch.testing.assert_close(dot(virtual, labelled).flatten().abs(), torch.ones(4, dtype=torch.float64))


@every_case
def test_certain_predictions_keep_their_direction_in_float32(name: str, options: dict[str, Any]) -> None:
    # The divergence of a prediction this certain is below what float32 can tell from 0; its logit is not.
    exact, batch = make_model(), make_batch(LENGTHS)
    with torch.no_grad():
        exact.decoder.bias.fill_(30.0)
    rounded, chosen = copy.deepcopy(exact).float(), build(name, options, epsilon=1.0)
    found = chosen.loss(rounded, batch)
    assert int(found.vanished) == 0
    a, b = (chosen.find(model, clean_pass(model, batch), batch, SEED).r for model in (exact, rounded))
    assert (dot(a, b.double()) > 0.999).all()


def test_the_gradient_taken_ahead_is_that_of_training() -> None:
    # Without a weight on the perturbed loss, what is left is vanilla's loss and gradient, dropout included.
    model, batch = make_model(dropout=0.3), make_batch(LENGTHS)
    model.train()
    chosen = build("word-vat", {}, weight=0.0)
    torch.manual_seed(0)
    ahead = chosen.loss(model, batch, generator=torch.Generator().manual_seed(1)).total
    assert all(parameter.grad is None for parameter in model.parameters())
    torch.manual_seed(0)
    plain = technique("vanilla").loss(model, batch).total
    torch.testing.assert_close(ahead, plain)
    parameters = list(model.parameters())
    for a, b in zip(
        torch.autograd.grad(0.5 * ahead, parameters), torch.autograd.grad(0.5 * plain, parameters), strict=True
    ):
        torch.testing.assert_close(a, b)


@pytest.mark.parametrize(("name", "options"), [("word-vat", {}), ("attention-vat", {"word_epsilon": 0.4})])
def test_words_under_autocast(name: str, options: dict[str, Any]) -> None:
    model, batch = make_model(dtype=torch.float32), make_batch(LENGTHS)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        step = build(name, options, epsilon=0.5).loss(model, batch)
    step.total.backward()
    torch.testing.assert_close(step.norm, torch.tensor(0.5))
    assert all(torch.isfinite(parameter.grad).all() for parameter in model.parameters() if parameter.grad is not None)
