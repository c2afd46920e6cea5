"""Nearest words and the directions to them, against the plain computation."""

from __future__ import annotations

import pytest
import torch

from attnvat.errors import UserError
from attnvat.techniques import technique
from attnvat.techniques.neighbours import WordDirections, nearest_words
from batches import make_batch, make_model


def test_nearest_words_by_cosine_without_itself_or_special_words() -> None:
    # Words 2 and 3 point the same way, 4 is close to them, 5 is opposite; ids 0 and 1 never count.
    table = torch.tensor([[1.0, 0.0], [1.0, 0.0], [1.0, 0.0], [2.0, 0.1], [1.0, 0.5], [-1.0, 0.0]])
    assert nearest_words(table, 2)[2].tolist() == [3, 4]
    assert nearest_words(table, 2)[5].tolist() == [4, 3]


def test_direction_equals_the_explicit_tensor() -> None:
    torch.manual_seed(0)
    table = torch.randn(30, 6, dtype=torch.float64)
    nearest = nearest_words(table, 5)
    ids = torch.randint(2, 30, (3, 4))
    g = torch.randn(3, 4, 6, dtype=torch.float64)
    towards = table[nearest[ids]] - table[ids][:, :, None]
    towards = towards / towards.norm(dim=-1, keepdim=True)
    w = torch.einsum("btd,btkd->btk", g, towards)
    expected = torch.einsum("btk,btkd->btd", w, towards)
    directions = WordDirections(ids, table, nearest)
    torch.testing.assert_close(directions.onto(g), w)
    torch.testing.assert_close(directions.back(w), expected)


def test_more_neighbours_than_words_are_refused() -> None:
    model, batch = make_model(), make_batch([4])
    with pytest.raises(UserError, match="neighbours is 38"):
        technique("word-iat", neighbours=38).loss(model, batch)


def test_nearest_words_stay_until_refreshed_and_can_be_restored() -> None:
    model, batch = make_model(), make_batch([4, 6])
    chosen = technique("word-iat", neighbours=3)
    chosen.refresh(model)
    before = chosen.state()["nearest"].clone()
    with torch.no_grad():
        model.embedding.weight.copy_(torch.randn_like(model.embedding.weight))
    chosen.loss(model, batch)
    assert torch.equal(chosen.state()["nearest"], before)
    other = technique("word-iat", neighbours=3)
    other.restore(chosen.state())
    assert torch.equal(other.perturb(model, batch), chosen.perturb(model, batch))  # type: ignore[union-attr]
    chosen.refresh(model)
    assert not torch.equal(chosen.state()["nearest"], before)
