"""The penalty on what a word's state holds of the words around it."""

from __future__ import annotations

import pytest
import torch

from attnvat.techniques import TECHNIQUES, technique
from attnvat.techniques.context import context
from attnvat.techniques.sites import clean_pass
from batches import make_batch, make_model, widen

LENGTHS = [6, 1, 9, 4]
both_models = pytest.mark.parametrize("pair", [False, True], ids=["single", "pair"])


@both_models
def test_it_is_the_mean_squared_distance_from_the_words_read_one_by_one(pair: bool) -> None:
    model, batch = make_model(pair), make_batch(LENGTHS, pair)
    clean = clean_pass(model, batch)
    expected = []
    for row, length in enumerate(LENGTHS):
        words = clean.vectors[row, :length, None]
        alone = model.encoder(words, torch.ones(length, dtype=torch.long), torch.ones(length, 1, dtype=torch.bool))
        expected.append((clean.states.words[row, :length] - alone[:, 0]).square().sum(dim=1).mean())
    found = context(model, clean, batch)
    torch.testing.assert_close(found, torch.stack(expected))
    assert found[1] < 1e-20  # one word has no context
    assert (found[[0, 2, 3]] > 1e-6).all()


@pytest.mark.parametrize("name", TECHNIQUES)
@both_models
def test_every_technique_adds_it_to_its_loss_over_all_texts(name: str, pair: bool) -> None:
    model, batch = make_model(pair), make_batch(LENGTHS, pair)
    unlabelled = make_batch([3, 7], pair).without_labels() if technique(name).virtual else None
    plain, held = (
        technique(name, context_penalty=penalty).loss(
            model, batch, unlabelled, generator=torch.Generator().manual_seed(1)
        )
        for penalty in (0.0, 0.5)
    )
    texts = [batch] if unlabelled is None else [batch, unlabelled]
    mean = torch.cat([context(model, clean_pass(model, one), one) for one in texts]).mean()
    assert plain.context == 0
    torch.testing.assert_close(held.context, mean.detach())
    torch.testing.assert_close(held.total, plain.total + 0.5 * mean)


@both_models
def test_more_padding_changes_nothing(pair: bool) -> None:
    model, batch = make_model(pair), make_batch(LENGTHS, pair)
    wide = widen(batch, 5)
    torch.testing.assert_close(
        context(model, clean_pass(model, wide), wide), context(model, clean_pass(model, batch), batch)
    )


@both_models
def test_a_large_penalty_leaves_states_that_know_their_word_alone(pair: bool) -> None:
    model, batch = make_model(pair, dtype=torch.float32), make_batch(LENGTHS, pair)
    chosen = technique("vanilla", context_penalty=100.0)
    optimiser = torch.optim.Adam(model.parameters(), lr=0.01)
    first = chosen.loss(model, batch).context
    for _ in range(60):
        optimiser.zero_grad()
        chosen.loss(model, batch).total.backward()
        optimiser.step()
    assert chosen.loss(model, batch).context < 0.1 * first
