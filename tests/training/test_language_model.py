from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from attnvat.text.batch import Batch
from attnvat.text.encoding import EncodedDataset, EncodedTexts
from attnvat.text.vocabulary import UNKNOWN_ID
from attnvat.training.language_model import LanguageModel

WORDS = 12


def batch(*texts: list[int]) -> Batch:
    return EncodedDataset(EncodedTexts.from_lists(texts)).batch(np.arange(len(texts)))


def model(dropout: float = 0.0) -> LanguageModel:
    torch.manual_seed(0)
    made = LanguageModel(WORDS, 5, 8, dropout).double()
    torch.nn.init.normal_(made.output.weight)
    return made


def test_every_word_is_foretold_from_both_sides_but_unknown_ones_and_padding() -> None:
    _, words = model().expected(batch([2, 3, UNKNOWN_ID, 4], [5, 6], [7]))
    # Forwards 3, 4 and 6; backwards 2, 3 and 5: the unknown word is read, but nobody has to foretell it.
    assert sorted(words.tolist()) == [2, 3, 3, 4, 5, 6]


def test_what_is_foretold_is_not_seen() -> None:
    made = model()
    for place in range(5):
        text = [2, 3, 4, 5, 6]
        first, words = made.expected(batch(text))
        other = [*text[:place], 9, *text[place + 1 :]]
        second, _ = made.expected(batch(other))
        forward, backward = slice(0, 4), slice(4, 8)
        # Forwards, word t + 1 is foretold in row t, from the words up to t; backwards, word t from those after t.
        same_forward = (first[forward] == second[forward]).all(dim=1).tolist()
        same_backward = (first[backward] == second[backward]).all(dim=1).tolist()
        assert same_forward == [place > row for row in range(4)]
        assert same_backward == [place < row + 1 for row in range(4)]
        assert words.tolist() == [3, 4, 5, 6, 2, 3, 4, 5]


def test_padding_and_batch_mates_change_nothing() -> None:
    made = model()
    alone = made.exact_losses(batch([2, 3, 4]))
    together = made.exact_losses(batch([2, 3, 4], [5, 6, 7, 8, 9, 10]))
    forward, backward = together[:2], together[7:9]
    torch.testing.assert_close(torch.cat([forward, backward]), alone)


def test_the_sampled_loss_against_all_words_is_the_exact_one() -> None:
    made = model()
    texts = batch([2, 3, 4, 11], [5, 6])
    expected, words = made.expected(texts)
    everyone = torch.arange(UNKNOWN_ID + 1, WORDS)
    sampled = made.sampled_loss(expected, words, everyone, torch.zeros(WORDS, dtype=torch.double))
    torch.testing.assert_close(sampled, made.exact_losses(texts).mean())


def test_the_sampled_loss_corrects_by_chance_counts_repeated_rivals_and_spares_the_true_word() -> None:
    made = model().requires_grad_(False)
    expected, words = made.expected(batch([2, 3, 4, 11], [5, 6]))
    rivals, log_chance = torch.tensor([3, 7, 7, 10]), torch.linspace(-3, 2, WORDS, dtype=torch.double)
    by_hand = []
    for place, word in enumerate(words.tolist()):
        scores = {w: float(expected[place] @ made.output.weight[w] - log_chance[w]) for w in (word, 3, 7, 10)}
        total = math.exp(scores[word]) + sum(math.exp(scores[w]) for w in rivals.tolist() if w != word)
        by_hand.append(math.log(total) - scores[word])
    found = made.sampled_loss(expected, words, rivals, log_chance)
    assert found.item() == pytest.approx(sum(by_hand) / len(by_hand))


def test_dropout_is_the_generators() -> None:
    made, texts = model(dropout=0.5), batch([2, 3, 4, 5])

    def drawn(seed: int) -> torch.Tensor:
        return made.expected(texts, torch.Generator().manual_seed(seed))[0]

    assert drawn(1).equal(drawn(1))
    assert not drawn(1).equal(drawn(2))
    assert not drawn(1).equal(made.expected(texts)[0])
