"""One table over all techniques, models and readings: what every perturbation and every loss must keep."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor
from torch.func import functional_call

from attnvat.models import SequenceClassifier
from attnvat.models.probability import kl_divergence, negative_log_likelihood
from attnvat.techniques import TECHNIQUES, PerturbationTechnique, technique
from attnvat.techniques.sites import clean_pass
from attnvat.text.batch import Batch
from batches import make_batch, make_model, rows_of, widen
from technique_cases import CASES, LENGTHS, both_models, build, over

every_case = over(CASES)


def seeded(seed: int = 7) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def touched(chosen: PerturbationTechnique, batch: Batch) -> Tensor:
    return batch.mask if chosen.site.name == "attention" else batch.word_mask


def gradients(model: SequenceClassifier, loss: Tensor) -> list[Tensor]:
    model.zero_grad()
    loss.backward()
    return [p.grad.clone() if p.grad is not None else torch.zeros_like(p) for p in model.parameters()]


@every_case
@both_models
@pytest.mark.parametrize("epsilon", [0.01, 2.5])
def test_norm_is_epsilon_over_real_tokens_and_padding_is_zero(
    name: str, options: dict[str, Any], pair: bool, epsilon: float
) -> None:
    model, batch = make_model(pair, dtype=torch.float32), widen(make_batch(LENGTHS, pair), 3)
    chosen = build(name, options, epsilon=epsilon)
    r = chosen.perturb(model, batch, generator=seeded())
    mask = touched(chosen, batch)
    assert (r[~mask] == 0).all()
    norms = torch.stack([row[real].norm() for row, real in zip(r, mask, strict=True)])
    torch.testing.assert_close(norms, torch.full((4,), epsilon), atol=1e-4, rtol=1e-4)


@every_case
@both_models
def test_more_padding_changes_neither_loss_nor_gradient(name: str, options: dict[str, Any], pair: bool) -> None:
    model, batch = make_model(pair), make_batch(LENGTHS, pair)
    chosen = build(name, options)
    narrow = chosen.loss(model, batch, generator=seeded())
    wide = chosen.loss(model, widen(batch, 6), generator=seeded())
    torch.testing.assert_close(narrow.total, wide.total, atol=1e-5, rtol=0)
    for a, b in zip(gradients(model, narrow.total), gradients(model, wide.total), strict=True):
        torch.testing.assert_close(a, b, atol=1e-5, rtol=0)


@every_case
@both_models
def test_a_perturbation_does_not_depend_on_batch_mates(name: str, options: dict[str, Any], pair: bool) -> None:
    model, batch = make_model(pair), make_batch(LENGTHS, pair)
    chosen = build(name, options)
    together = chosen.perturb(model, batch, generator=seeded())
    for rows in ([2], [3, 0], [1, 2, 3]):
        part = rows_of(batch, rows)
        alone = chosen.perturb(model, part, generator=seeded())
        mask, whole_mask = touched(chosen, part), touched(chosen, batch)[rows]
        torch.testing.assert_close(alone[mask], together[rows][whole_mask], atol=1e-8, rtol=1e-6)


@every_case
@both_models
def test_perturbed_loss_is_not_below_the_clean_one(name: str, options: dict[str, Any], pair: bool) -> None:
    model, batch = make_model(pair), make_batch(LENGTHS, pair)
    chosen = build(name, options, epsilon=1e-2)
    clean = clean_pass(model, batch)
    found = chosen.find(model, clean, batch, seed=3)
    perturbed = chosen.site.perturbed(model, clean, found.r, batch)
    before = chosen.objective(clean.logits, clean.logits, batch)
    after = chosen.objective(perturbed, clean.logits, batch)
    if options.get("reading") == "released" and not chosen.virtual:
        assert (after < before).all()
    else:
        assert (after > before).all()


@every_case
@both_models
def test_the_inner_step_touches_no_parameter_gradient(name: str, options: dict[str, Any], pair: bool) -> None:
    model, batch = make_model(pair), make_batch(LENGTHS, pair)
    chosen = build(name, options)
    marks = [torch.randn_like(p) for p in model.parameters()]
    for parameter, mark in zip(model.parameters(), marks, strict=True):
        parameter.grad = mark.clone()
    chosen.perturb(model, batch, generator=seeded())
    chosen.loss(model, batch, generator=seeded())
    assert all(
        torch.equal(p.grad, mark) for p, mark in zip(model.parameters(), marks, strict=True) if p.grad is not None
    )


def frozen_loss(
    model: SequenceClassifier, chosen: PerturbationTechnique, batch: Batch, r: Tensor, target: Tensor
) -> Any:
    """The outer loss as a function of the parameters alone, written out: r and the target prediction stand still."""

    class Written(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self) -> Tensor:
            vectors = self.model.embed(batch)
            states, scores = self.model.encode(vectors, batch)
            clean = negative_log_likelihood(self.model.decode(states, scores, batch), batch.labels)
            if chosen.site.name == "word":
                states, scores = self.model.encode(vectors + r, batch)
                logits = self.model.decode(states, scores, batch)
            else:
                logits = self.model.decode(states, scores + r, batch)
            worse = kl_divergence(target, logits) if chosen.virtual else negative_log_likelihood(logits, batch.labels)
            return clean.mean() + chosen.weight * worse.mean()

    return Written()


@every_case
@both_models
def test_outer_loss_gradcheck(name: str, options: dict[str, Any], pair: bool) -> None:
    model, batch = make_model(pair), make_batch([4, 2, 3], pair)
    chosen = build(name, options, epsilon=0.3, weight=0.7)
    r = chosen.perturb(model, batch, generator=seeded())
    target = model(batch)[0].detach()
    written = frozen_loss(model, chosen, batch, r, target)
    names = [key for key, _ in written.named_parameters()]

    def of_parameters(*values: Tensor) -> Tensor:
        result: Tensor = functional_call(written, dict(zip(names, values, strict=True)), ())
        return result

    parameters = tuple(p.detach().clone().requires_grad_() for p in written.parameters())
    # A random projection of the numerical Jacobian: the full one would take minutes over 32 cases.
    assert torch.autograd.gradcheck(of_parameters, parameters, fast_mode=True)

    ours = gradients(model, chosen.loss(model, batch, generator=seeded()).total)
    expected = torch.autograd.grad(of_parameters(*parameters), parameters)
    for a, b in zip(ours, expected, strict=True):
        torch.testing.assert_close(a, b, atol=1e-10, rtol=1e-7)


@every_case
@both_models
def test_same_seed_same_numbers(name: str, options: dict[str, Any], pair: bool) -> None:
    model, batch = make_model(pair), make_batch(LENGTHS, pair)
    chosen = build(name, options)
    first, second = (chosen.perturb(model, batch, generator=seeded(5)) for _ in range(2))
    assert torch.equal(first, second)


@pytest.mark.parametrize("name", TECHNIQUES)
@both_models
def test_loss_has_its_parts(name: str, pair: bool) -> None:
    model, batch = make_model(pair, classes=3), make_batch(LENGTHS, pair, classes=3)
    chosen = technique(name, **({} if name == "vanilla" else {"weight": 0.5}))
    virtual = chosen.virtual
    unlabelled = make_batch([3, 5], pair, seed=4).without_labels() if virtual else None
    step = chosen.loss(model, batch, unlabelled, generator=seeded())
    torch.testing.assert_close(step.total.detach(), step.clean + 0.5 * step.adversarial)
    assert int(step.vanished) == 0
    torch.testing.assert_close(step.norm.double(), torch.tensor(0.0 if name == "vanilla" else 0.5).double())


@pytest.mark.parametrize("name", [n for n in TECHNIQUES if n.endswith("vat")])
def test_adversarial_loss_is_the_mean_over_labelled_and_unlabelled(name: str) -> None:
    model, labelled = make_model(), make_batch([4, 6, 3])
    unlabelled = make_batch([5, 2], seed=8).without_labels()
    chosen = technique(name)
    assert isinstance(chosen, PerturbationTechnique)
    both = chosen.loss(model, labelled, unlabelled, generator=seeded())
    alone = chosen.loss(model, labelled, generator=seeded())
    clean = clean_pass(model, unlabelled)
    found = chosen.find(model, clean, unlabelled, int(torch.randint(0, 2**62, (), generator=seeded())))
    terms = chosen.objective(chosen.site.perturbed(model, clean, found.r, unlabelled), clean.logits, unlabelled)
    torch.testing.assert_close(both.adversarial, (3 * alone.adversarial + terms.detach().sum()) / 5)
    torch.testing.assert_close(both.clean, alone.clean)


@pytest.mark.parametrize("name", [n for n in TECHNIQUES if n.endswith("vat")])
def test_vat_holds_predictions_of_unlabelled_texts_to_those_of_a_teacher(name: str) -> None:
    model, labelled = make_model(), make_batch([4, 6, 3])
    unlabelled = make_batch([5, 2], seed=8).without_labels()
    chosen = build(name, {}, epsilon=0.0)
    taught = torch.tensor([3.0, -0.5]).double()
    # Unperturbed, labelled texts have no divergence, and the others that of the model from the teacher.
    p, q = torch.special.expit(taught), torch.special.expit(model(unlabelled)[0])
    expected = (p * (p / q).log() + (1 - p) * ((1 - p) / (1 - q)).log()).sum() / 5
    found = chosen.loss(model, labelled, unlabelled, taught=taught)
    assert found.adversarial.item() == pytest.approx(expected.item(), rel=1e-5)
    assert chosen.loss(model, labelled, unlabelled).adversarial.item() == 0.0


@pytest.mark.parametrize("name", [n for n in TECHNIQUES if n.startswith("attention")])
@both_models
def test_attention_techniques_run_the_encoder_once_a_batch(name: str, pair: bool) -> None:
    model, labelled = make_model(pair), make_batch(LENGTHS, pair)
    unlabelled = make_batch([3, 5], pair, seed=4).without_labels() if name.endswith("vat") else None
    calls = []
    model.encoder.register_forward_hook(lambda *_: calls.append(1))
    technique(name).loss(model, labelled, unlabelled)
    assert len(calls) == (2 if unlabelled is not None else 1)


@over([case for case in CASES if "vat" not in case[0]])
@both_models
def test_at_finds_on_the_clean_graph_what_a_pass_of_its_own_finds(
    name: str, options: dict[str, Any], pair: bool
) -> None:
    model, batch, chosen = make_model(pair), make_batch(LENGTHS, pair), build(name, options)
    clean = clean_pass(model, batch)
    again = chosen.find(model, clean.detach(), batch, seed=0)
    found = chosen.find(model, clean, batch, seed=0)
    torch.testing.assert_close(found.r, again.r, rtol=1e-4, atol=1e-6)
    assert found.r.abs().sum() > 0
    assert all(parameter.grad is None for parameter in model.parameters())


@pytest.mark.parametrize(("classes", "passes"), [(2, 2), (3, 3)])
@pytest.mark.parametrize("name", ["word-vat", "word-ivat"])
def test_word_vat_needs_a_pass_to_find_its_perturbation_with_three_classes_only(
    name: str, classes: int, passes: int
) -> None:
    model = make_model(classes=classes)
    calls = []
    model.encoder.register_forward_hook(lambda *_: calls.append(1))
    technique(name).loss(model, make_batch(LENGTHS, classes=classes))
    assert len(calls) == passes


@pytest.mark.parametrize("name", ["word-at", "word-iat"])
def test_word_at_needs_no_pass_to_find_its_perturbation(name: str) -> None:
    model = make_model()
    calls = []
    model.encoder.register_forward_hook(lambda *_: calls.append(1))
    technique(name).loss(model, make_batch(LENGTHS))
    assert len(calls) == 2


@pytest.mark.parametrize("name", ["word-at", "word-iat", "word-vat", "word-ivat"])
def test_word_techniques_go_back_through_the_encoder_once_a_pass(name: str) -> None:
    model, calls = make_model(), []
    model.encoder.register_full_backward_hook(lambda *_: calls.append(1))
    technique(name).loss(model, make_batch(LENGTHS)).total.backward()
    assert len(calls) == 2
