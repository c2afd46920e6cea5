from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import permutations
from math import log, sqrt
from pathlib import Path

import numpy as np
import pytest

from attnvat.errors import UserError
from attnvat.pool import Pool, bag_of_words, build_pool, texts_source
from attnvat.pool.bag_of_words import Weighting, bow_neighbours


def cosines(labelled: list[str], texts: list[str], weighting: Weighting) -> np.ndarray:
    """Dense cosines of word counts over all words, in plain double precision."""
    bags = [[Counter(text.split()) for text in part] for part in (labelled, texts)]
    words = sorted(set().union(*bags[0], *bags[1]))
    with_word = Counter(word for bag in bags[0] for word in bag)
    idf = {w: log((1 + len(labelled)) / (1 + with_word[w])) + 1 if weighting == "tfidf" else 1.0 for w in words}
    dense = [np.array([[bag[w] * idf[w] for w in words] for bag in part]) for part in bags]
    unit = [part / np.linalg.norm(part, axis=1, keepdims=True) for part in dense]
    return unit[0] @ unit[1].T


@pytest.mark.parametrize("weighting", ["counts", "tfidf"])
@pytest.mark.parametrize("frequent", [0, 5, 1000])
def test_it_is_the_exact_cosine_of_counts(
    pool: Pool,
    make_sentences: Callable[..., list[str]],
    monkeypatch: pytest.MonkeyPatch,
    weighting: Weighting,
    frequent: int,
) -> None:
    monkeypatch.setattr(bag_of_words, "FREQUENT", frequent)
    monkeypatch.setattr(bag_of_words, "BLOCK", 64)
    monkeypatch.setattr(bag_of_words, "CHUNK", 7)
    labelled = make_sentences(40, seed=5, words=80)
    found = bow_neighbours(pool, labelled, 12, weighting=weighting)
    expected = cosines(labelled, pool.texts(np.arange(len(pool))), weighting)
    best = -np.sort(-expected, axis=1)[:, :12]
    np.testing.assert_allclose(found.similarity, best, atol=1e-6)
    np.testing.assert_allclose(np.take_along_axis(expected, found.rows, axis=1), best, atol=1e-6)


def test_equal_bags_come_out_equal_and_in_the_order_of_rows(tmp_path: Path) -> None:
    orders = [" ".join(words) for words in permutations(["the", "red", "fox", "ran"])]
    small = build_pool([texts_source("orders", orders)], tmp_path / "small")
    for depth in (24, 10):
        found = bow_neighbours(small, ["a fox ran", "the fox"], depth)
        assert found.rows.tolist() == [list(range(depth))] * 2
    assert len(np.unique(found.similarity)) == 2


def test_by_hand(pool: Pool) -> None:
    bags = bag_of_words.Bags(["a b b"], bag_of_words.Tokenizer())
    matrix, lengths = bags.bags(["a b c c", "d e"])
    # "a b c c" counts 1, 1 over the words a, b; its length is √(1 + 1 + 2²).
    assert matrix.toarray().tolist() == [[1, 1], [0, 0]]
    assert lengths.tolist() == pytest.approx([sqrt(6), sqrt(2)])


def test_a_text_without_a_common_word_is_no_neighbour(pool: Pool) -> None:
    found = bow_neighbours(pool, ["zebra", "waa"], 3)
    assert found.rows[0].tolist() == [-1, -1, -1]
    assert (found.rows[1] >= 0).all()
    with pytest.raises(UserError, match="have no words"):
        bow_neighbours(pool, [""], 3)
