"""Phrases: which pairs of words they are, where their vectors go, and what training makes of them."""

from __future__ import annotations

import pytest
import torch

from attnvat.models.phrases import Phrases, common_phrases
from attnvat.techniques import PerturbationTechnique, technique
from attnvat.text.batch import Batch
from attnvat.text.encoding import EncodedTexts
from batches import VOCABULARY, make_batch, make_model, widen


def keys(*pairs: tuple[int, int], vocabulary: int = 10) -> list[int]:
    return [first * vocabulary + second for first, second in pairs]


def test_common_phrases_by_hand() -> None:
    # (2, 3) three times, (3, 2) twice, (4, 5) twice over both sets; (3, 4) stands at the end of one text and the start
    # of the next, 1 is the unknown word.
    first = EncodedTexts.from_lists([[2, 3, 2, 3], [4, 5, 1, 4], [5]])
    second = EncodedTexts.from_lists([[2, 3, 2], [4, 5]])
    assert common_phrases([first, second], 10, most=9, least=2).tolist() == keys((2, 3), (3, 2), (4, 5))
    assert common_phrases([first, second], 10, most=9, least=3).tolist() == keys((2, 3))
    assert common_phrases([first, second], 10, most=2, least=1).tolist() == keys((2, 3), (3, 2))
    assert common_phrases([EncodedTexts.from_lists([[2], [3]])], 10, most=9, least=1).tolist() == []


def test_a_phrase_adds_its_vector_to_its_second_word() -> None:
    phrases = Phrases(10, 2, 2)
    phrases.keys.copy_(torch.tensor(keys((2, 3), (5, 2))))
    with torch.no_grad():
        phrases.vectors.weight[1:] = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    ids = torch.tensor([[5, 2, 3, 3], [3, 2, 1, 0], [2, 3, 0, 0]])
    nothing = [0.0, 0.0]
    assert phrases(ids).tolist() == [
        [nothing, [3.0, 4.0], [1.0, 2.0], nothing],
        [nothing] * 4,
        [nothing, [1.0, 2.0], nothing, nothing],
    ]


@pytest.mark.parametrize("pair", [False, True])
def test_vectors_of_phrases_begin_at_zero_and_then_count(pair: bool) -> None:
    batch = make_batch([5, 3], pair)
    plain, model, moved = make_model(pair), make_model(pair), make_model(pair, phrases=True)
    every = torch.arange(2, VOCABULARY)
    model.know_phrases((every[:, None] * VOCABULARY + every).flatten())
    assert model(batch)[0].equal(plain(batch)[0])
    assert not torch.allclose(moved(batch)[0], plain(batch)[0])
    torch.testing.assert_close(moved(batch)[0], moved(widen(batch, 4))[0])


def test_no_phrase_reaches_from_a_text_to_its_question() -> None:
    model = make_model(pair=True, phrases=True)
    ids, lengths = torch.tensor([[4, 6]]), torch.tensor([2])
    together = model.embed(Batch(ids, lengths, question=Batch(ids + 2, lengths)))
    apart = torch.cat([model.embed(Batch(x, lengths)) for x in (ids, ids + 2)], dim=1)
    assert together.equal(apart)
    assert not torch.allclose(together, model.embedding(torch.tensor([[4, 6, 6, 8]])))


@pytest.mark.parametrize("name", ["word-at", "word-vat", "word-ivat"])
def test_a_backward_pass_for_two_uses_counts_phrases_once(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model, batch = make_model(phrases=True), make_batch([6, 2, 9])
    chosen = technique(name, **({"neighbours": 4} if name == "word-ivat" else {}))

    def gradients() -> list[torch.Tensor]:
        model.zero_grad()
        chosen.loss(model, batch, generator=torch.Generator().manual_seed(7)).total.backward()
        return [table.weight.grad.clone() for table in model.tables() if table.weight.grad is not None]

    ahead = gradients()
    monkeypatch.setattr(PerturbationTechnique, "loss_gives_direction", lambda *_: False)
    after = gradients()
    assert len(ahead) == len(after) == 2
    for one, other in zip(ahead, after, strict=True):
        assert other.abs().max() > 0
        torch.testing.assert_close(one, other)
