"""Nearest words and the directions to them, against the plain computation."""

from __future__ import annotations

import subprocess
import sys

import pytest
import torch

from attnvat.errors import UserError
from attnvat.techniques import neighbours, technique
from attnvat.techniques.neighbours import WordDirections, nearest_words
from batches import make_batch, make_model


def test_nearest_words_by_cosine_without_itself_or_special_words() -> None:
    # Words 2 and 3 point the same way, 4 is close to them, 5 is opposite; ids 0 and 1 never count.
    table = torch.tensor([[1.0, 0.0], [1.0, 0.0], [1.0, 0.0], [2.0, 0.1], [1.0, 0.5], [-1.0, 0.0]])
    assert nearest_words(table, 2)[2].tolist() == [3, 4]
    assert nearest_words(table, 2)[5].tolist() == [4, 3]


def test_nearest_words_of_a_vocabulary_that_takes_several_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    torch.manual_seed(0)
    table = torch.randn(23, 6)
    whole = nearest_words(table, 4)
    monkeypatch.setattr(neighbours, "BLOCK", 23 * 5)
    assert torch.equal(nearest_words(table, 4), whole)
    monkeypatch.setattr(neighbours, "BLOCK", 1)
    assert torch.equal(nearest_words(table, 4), whole)


@pytest.mark.skipif(sys.platform != "linux", reason="the allocator that keeps freed blocks is Linux's")
def test_memory_does_not_grow_with_the_number_of_blocks() -> None:
    # Blocks that are made anew leave holes that the next one does not fit in: 20,000 words then take 1.4 GB.
    program = """
import resource, torch
from attnvat.techniques.neighbours import nearest_words
from attnvat.training.memory import keep_memory

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

assert keep_memory()
table = torch.randn(20_000, 8)
nearest_words(table[:2_000], 15)
before = peak()
nearest_words(table, 15)
print(peak() - before)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert float(done.stdout) < 300


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
