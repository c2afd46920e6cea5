"""Jain & Wallace's probes: permuted attention, and attention as different as possible."""

import numpy as np
import pytest
import torch
from measured import LENGTHS, tiny

from attnvat.evaluation.adversarial_attention import Farthest, adversarial_attention
from attnvat.evaluation.divergence import jensen_shannon, total_variation
from attnvat.evaluation.permutation import permutation, permuted_attention
from attnvat.evaluation.reading import read
from attnvat.models.probability import probabilities


def test_permutations_move_real_tokens_only() -> None:
    batch = tiny().data.batch(range(len(LENGTHS)))
    order = permutation(batch, seed=0)
    for row, length in enumerate(LENGTHS):
        assert sorted(order[row, :length].tolist()) == list(range(length))
        assert order[row, length:].tolist() == list(range(length, batch.ids.shape[1]))
    assert (permutation(batch, seed=1) != order).any()


def test_equal_attention_can_be_permuted_freely() -> None:
    subject = tiny()
    with torch.no_grad():
        subject.pretrained.model.get_submodule("attention.score").weight.zero_()
    assert permuted_attention(subject.pretrained, subject.data, permutations=10).median.max() < 1e-6


def test_permuting_attention_matters_and_not_for_one_word() -> None:
    subject = tiny()
    found = permuted_attention(subject.pretrained, subject.data, permutations=20)
    assert found.median[LENGTHS.index(1)] == pytest.approx(0, abs=1e-7)
    assert found.median[LENGTHS.index(12)] > 1e-3
    assert found.figures()["median_tvd"]["examples"] == len(LENGTHS)


def test_median_is_over_all_permutations_of_two_words() -> None:
    # Two words have two orders. The median of many draws is 0, the distance of the swap, or the middle of both.
    subject = tiny(lengths=(2,))
    batch = subject.data.batch([0])
    model = subject.pretrained.model
    with torch.no_grad():
        states, scores = model.encode(model.embed(batch), batch)
        p = probabilities(model.decode(states, scores, batch))
        swapped = total_variation(p, probabilities(model.decode(states, scores.flip(1), batch))).item()
    found = permuted_attention(subject.pretrained, subject.data, permutations=51).median[0]
    assert min(abs(found - target) for target in (0, swapped)) < 1e-6


def test_batch_mates_and_padding_change_nothing() -> None:
    subject = tiny()
    for measure in (permuted_attention, adversarial_attention):
        few = {"permutations": 9} if measure is permuted_attention else {"steps": 5, "starts": 1}
        together = measure(subject.pretrained, subject.data, seed=1, **few)
        apart = measure(subject.pretrained, subject.data, seed=1, tokens=1, **few)
        name = "median" if measure is permuted_attention else "divergence"
        np.testing.assert_allclose(getattr(together, name), getattr(apart, name), atol=1e-5)


@pytest.mark.parametrize(("pair", "classes"), [(False, 2), (True, 3)])
def test_adversarial_attention_is_what_it_says(pair: bool, classes: int) -> None:
    subject = tiny(pair, classes)
    found = adversarial_attention(subject.pretrained, subject.data, bound=0.05)
    own = read(subject.pretrained, subject.data)
    model = subject.pretrained.model
    for row, length in enumerate(LENGTHS):
        batch = subject.data.batch([row])
        other = torch.from_numpy(found.attention[row])
        with torch.no_grad():
            states, _ = model.encode(model.embed(batch), batch)
            p = probabilities(model.decode(states, other.clamp_min(1e-30).log()[None], batch))
        assert other.sum().item() == pytest.approx(1, abs=1e-5)
        moved = total_variation(p, torch.from_numpy(own.probabilities[row])).item()
        assert moved == pytest.approx(found.distance[row], abs=1e-5)
        assert moved <= 0.05 + 1e-5
        divergence = jensen_shannon(other, torch.from_numpy(own.attention[row])).item()
        assert divergence == pytest.approx(found.divergence[row], abs=1e-5)
        assert length == 1 or divergence > 0.05
    assert found.divergence[LENGTHS.index(1)] == pytest.approx(0, abs=1e-6)


def test_a_model_that_ignores_attention_can_be_given_nearly_any() -> None:
    # With a zero output layer no attention changes the prediction, so the farthest one is a single word: the search
    # must come close to the best of those, found here by trying each.
    subject = tiny()
    with torch.no_grad():
        subject.pretrained.model.get_submodule("decoder").weight.zero_()
    found = adversarial_attention(subject.pretrained, subject.data)
    own = read(subject.pretrained, subject.data)
    for row in range(len(LENGTHS)):
        attention = torch.from_numpy(own.attention[row])
        best = jensen_shannon(torch.eye(len(attention)), attention).max().item()
        assert found.divergence[row] >= 0.95 * best - 1e-6


def test_only_attention_that_keeps_the_bound_is_taken() -> None:
    # The first sentence's new attention is farther and keeps the bound, the second's breaks it, the third's is nearer.
    best = Farthest(torch.zeros(3, 2), torch.full((3,), 0.2), torch.zeros(3))
    best.take(torch.ones(3, 2), torch.tensor([0.3, 0.6, 0.1]), torch.tensor([0.05, 0.06, 0.01]), bound=0.05)
    assert best.attention[:, 0].tolist() == [1, 0, 0]
    assert best.divergence.tolist() == pytest.approx([0.3, 0.2, 0.2])
    assert best.distance.tolist() == pytest.approx([0.05, 0, 0])
