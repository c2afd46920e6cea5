"""Attention techniques that move words as well: words first, attention from where they leave it, in one pass."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from attnvat.models import SequenceClassifier
from attnvat.models.probability import kl_divergence, negative_log_likelihood
from attnvat.techniques import PerturbationTechnique, technique
from attnvat.techniques.context import context
from attnvat.techniques.sites import clean_pass, pass_of
from attnvat.text.batch import Batch
from batches import make_batch, make_model, widen
from technique_cases import CASES, LENGTHS, both_models, build, over

SEED = 7
every_case = over([case for case in CASES if case[0].startswith("attention")])
both_counts = pytest.mark.parametrize("classes", [2, 3])


def seeded() -> torch.Generator:
    return torch.Generator().manual_seed(SEED)


def worse(chosen: PerturbationTechnique, logits: Tensor, target: Tensor, batch: Batch) -> Tensor:
    return kl_divergence(target, logits) if chosen.virtual else negative_log_likelihood(logits, batch.labels)


def written_out(
    model: SequenceClassifier, chosen: PerturbationTechnique, batch: Batch, options: dict[str, Any]
) -> tuple[Tensor, Tensor]:
    """The loss step by step, and the logits of moved words with attention as it then is."""
    vectors = model.embed(batch)
    states, scores = model.encode(vectors, batch)
    clean = model.decode(states, scores, batch)
    target = clean.detach()
    kind = "vat" if chosen.virtual else "at"
    moved = build(f"word-{kind}", {}, epsilon=0.4).perturb(model, batch, generator=seeded())
    states, scores = model.encode(vectors + moved, batch)
    r = torch.zeros_like(scores, requires_grad=True)
    gradient = torch.autograd.grad(
        worse(chosen, model.decode(states.detach(), scores.detach() + r, batch), target, batch).sum(), r
    )[0]
    read = pass_of(model, (vectors + moved).detach(), batch)
    frame = build(chosen.name, options).basis.frame(model, read.detach(), batch, chosen.site)
    direction = frame.direction(gradient) * batch.mask
    r = chosen.epsilon * direction / direction.norm(dim=1, keepdim=True)
    total = negative_log_likelihood(clean, batch.labels).mean()
    total = total + chosen.weight * worse(chosen, model.decode(states, scores + r, batch), target, batch).mean()
    return total, model.decode(states, scores, batch)


@every_case
@both_models
@both_counts
def test_loss_and_gradient_are_those_of_the_steps_written_out(
    name: str, options: dict[str, Any], pair: bool, classes: int
) -> None:
    model, batch = make_model(pair, classes), make_batch(LENGTHS, pair, classes)
    chosen = build(name, options, epsilon=0.3, weight=0.7, word_epsilon=0.4)
    expected, _ = written_out(model, chosen, batch, options)
    found = chosen.loss(model, batch, generator=seeded())
    torch.testing.assert_close(found.total, expected)
    torch.testing.assert_close(found.norm, torch.tensor(0.3).double())
    assert int(found.vanished) == 0
    parameters = list(model.parameters())
    ours, theirs = (torch.autograd.grad(one, parameters, allow_unused=True) for one in (found.total, expected))
    for a, b in zip(ours, theirs, strict=True):
        assert (a is None) == (b is None)
        if a is not None and b is not None:
            torch.testing.assert_close(a, b, atol=1e-9, rtol=1e-6)


@every_case
@both_models
@both_counts
def test_attention_takes_the_prediction_further_the_way_that_words_took_it(
    name: str, options: dict[str, Any], pair: bool, classes: int
) -> None:
    model, batch = make_model(pair, classes), make_batch(LENGTHS, pair, classes)
    chosen = build(name, options, epsilon=1e-3, word_epsilon=0.4)
    _, by_words = written_out(model, chosen, batch, options)
    target = clean_pass(model, batch).logits
    by_both = chosen.loss(model, batch, generator=seeded()).adversarial
    further = by_both - worse(chosen, by_words, target, batch).mean()
    assert further < 0 if options.get("reading") == "released" else further > 0


@both_models
def test_unlabelled_texts_are_moved_likewise_and_held_to_a_teacher(pair: bool) -> None:
    model, labelled = make_model(pair), make_batch(LENGTHS, pair)
    unlabelled = make_batch([5, 2], pair, seed=8).without_labels()
    chosen = build("attention-vat", {}, word_epsilon=0.4)
    taught = torch.tensor([3.0, -0.5]).double()
    own, held = (chosen.loss(model, labelled, unlabelled, seeded(), one) for one in (None, taught))
    alone = chosen.loss(model, labelled, generator=seeded())
    # The same texts moved by the same perturbation, against their own predictions and against the teacher's.
    clean = clean_pass(model, unlabelled)
    words = chosen.words
    assert words is not None
    seed = int(torch.randint(0, 2**62, (), generator=seeded()))
    read = pass_of(model, clean.vectors + words.find(model, clean, unlabelled, seed).r, unlabelled)
    r = chosen.find_further(model, read, clean.logits, unlabelled).r
    logits = chosen.site.perturbed(model, read, r, unlabelled)
    for step, target in ((own, clean.logits), (held, taught)):
        expected = (4 * alone.adversarial + kl_divergence(target.detach(), logits).sum()) / 6
        torch.testing.assert_close(step.adversarial, expected.detach())


@both_models
def test_context_is_that_of_the_moved_words(pair: bool) -> None:
    model, batch = make_model(pair), make_batch(LENGTHS, pair)
    moved = build("word-vat", {}, epsilon=0.4).perturb(model, batch, generator=seeded())
    read = pass_of(model, model.embed(batch) + moved, batch)
    plain, held = (
        build("attention-vat", {}, word_epsilon=0.4, context_penalty=penalty).loss(model, batch, generator=seeded())
        for penalty in (0.0, 0.5)
    )
    mean = context(model, read, batch).mean()
    torch.testing.assert_close(held.context, mean.detach())
    torch.testing.assert_close(held.total, plain.total + 0.5 * mean)


@every_case
def test_more_padding_changes_nothing(name: str, options: dict[str, Any]) -> None:
    model, batch = make_model(), make_batch(LENGTHS)
    chosen = build(name, options, word_epsilon=0.4)
    narrow, wide = (chosen.loss(model, one, generator=seeded()).total for one in (batch, widen(batch, 5)))
    torch.testing.assert_close(narrow, wide)


def test_certain_predictions_keep_their_direction_in_float32() -> None:
    # The divergence of a prediction this certain is below what float32 can tell from 0; its logit is not.
    model, batch = make_model(dtype=torch.float32), make_batch(LENGTHS)
    with torch.no_grad():
        model.decoder.bias.fill_(30.0)
    assert int(build("attention-vat", {}, word_epsilon=0.4).loss(model, batch).vanished) == 0


def test_it_takes_two_passes_and_goes_back_through_each_once() -> None:
    model, batch, ahead, back = make_model(), make_batch(LENGTHS), [], []
    model.encoder.register_forward_hook(lambda *_: ahead.append(1))
    model.encoder.register_full_backward_hook(lambda *_: back.append(1))
    build("attention-vat", {}, word_epsilon=0.4, context_penalty=0.1).loss(model, batch).total.backward()
    assert (len(ahead), len(back)) == (2, 2)


def test_without_a_norm_words_stay_where_they_are() -> None:
    assert build("attention-vat", {}, word_epsilon=0.0).words is None
    assert isinstance(technique("attention-ivat", word_epsilon=1.5), PerturbationTechnique)


def test_same_dropout_in_both_passes() -> None:
    # With steps of next to nothing the two passes agree, unless their masks differ.
    model, batch = make_model(dropout=0.5), make_batch(LENGTHS)
    model.train()
    step = build("attention-vat", {}, epsilon=1e-4, word_epsilon=1e-4).loss(model, batch, generator=seeded())
    assert 0 < step.adversarial < 1e-6
