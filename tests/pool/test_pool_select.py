from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from attnvat.errors import UserError
from attnvat.pool import Pool, select
from attnvat.pool.embedding import AverageEmbedding
from attnvat.pool.nearest import Neighbours
from attnvat.pool.random_sample import random_rows
from attnvat.pool.select import chosen_rows
from attnvat.text.tokenizer import Tokenizer
from attnvat.text.vocabulary import Vocabulary

Make = Callable[..., list[str]]
STRATEGIES = ["random", "bow", "embedding"]


@pytest.fixture
def average(pool: Pool) -> AverageEmbedding:
    words = sorted({word for _, texts in pool.blocks() for text in texts for word in text.split()})
    vocabulary = Vocabulary(words)
    matrix = np.random.default_rng(3).standard_normal((len(vocabulary), 8)).astype(np.float32)
    return AverageEmbedding(vocabulary, matrix, "invented", Tokenizer())


@pytest.mark.parametrize("size", [1, 70, 400, 990])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_exactly_as_many_different_rows_as_asked_for(
    pool: Pool, average: AverageEmbedding, make_sentences: Make, strategy: str, size: int
) -> None:
    size = min(size, len(pool))
    chosen = select(pool, make_sentences(20, seed=7), strategy, size, vectors=average)
    assert len(chosen) == len(np.unique(chosen.rows)) == size
    assert chosen.rows.min() >= 0
    assert chosen.rows.max() < len(pool)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_same_again_and_a_smaller_selection_is_the_beginning_of_a_larger(
    pool: Pool, average: AverageEmbedding, make_sentences: Make, strategy: str
) -> None:
    labelled = make_sentences(20, seed=7)
    large, again, small = (select(pool, labelled, strategy, size, seed=4, vectors=average) for size in (300, 300, 80))
    assert large.rows.tolist() == again.rows.tolist()
    assert large.made == again.made
    assert small.rows.tolist() == large.rows[:80].tolist()


def test_neighbours_come_by_distance_and_are_topped_up_rank_by_rank() -> None:
    found = Neighbours(
        rows=np.array([[10, 11, 12, 13], [11, 14, 10, -1]]),
        similarity=np.array([[0.9, 0.6, 0.5, 0.4], [0.8, 0.7, 0.65, -np.inf]], dtype=np.float32),
    )
    # Two neighbours each: 10 (0.9), 11 (0.8), 14 (0.7). Then the third ones: 12 (0.5; 10 is in). Then 13.
    everything = chosen_rows(found, 5, 2, {})
    assert everything.rows.tolist() == [10, 11, 14, 12, 13]
    assert everything.nearest.tolist() == [0, 1, 1, 0, 0]
    np.testing.assert_allclose(everything.distance, [0.1, 0.2, 0.3, 0.5, 0.6], atol=1e-6)
    assert everything.rank.tolist() == [1, 1, 2, 3, 4]
    made: dict[str, object] = {}
    assert chosen_rows(found, 4, 2, made).rows.tolist() == [10, 11, 14, 12]
    assert made == {"from_neighbours": 3, "depth": 3}
    # With one neighbour each, 14 has to wait for everybody's second.
    assert chosen_rows(found, 4, 1, {}).rows.tolist() == [10, 11, 14, 12]
    assert chosen_rows(found, 2, 4, {}).rows.tolist() == [10, 11]


@pytest.mark.parametrize("strategy", ["bow", "embedding"])
def test_a_labelled_text_that_is_in_the_pool_selects_itself(
    pool: Pool, average: AverageEmbedding, strategy: str
) -> None:
    chosen = select(pool, pool.texts([17, 620]), strategy, 2, neighbours=1, vectors=average)
    assert set(chosen.rows.tolist()) == {17, 620}
    assert chosen.distance.max() < 1e-5
    assert {(int(r), int(n)) for r, n in zip(chosen.rows, chosen.nearest, strict=True)} == {(17, 0), (620, 1)}


def test_the_random_order_is_even_and_differs_by_seed() -> None:
    assert sorted(random_rows(1000, 1000, 0).tolist()) == list(range(1000))
    sample = random_rows(3_000_000, 3000, 1)
    # Thirds of the pool get a third each: binomial with a deviation of 26.
    counts = np.bincount(sample // 1_000_000, minlength=3)
    assert np.abs(counts - 1000).max() < 130
    shared = len(np.intersect1d(random_rows(10_000, 1000, 1), random_rows(10_000, 1000, 2)))
    assert 60 < shared < 140


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"strategy": "bov"}, "did you mean 'bow'"),
        ({"size": 0}, "0 texts asked for"),
        ({"size": 5000}, r"5,000 texts asked for where the pool has"),
        ({"labelled": []}, "needs labelled texts"),
        ({"neighbours": 0}, "--neighbours 0"),
        ({"labelled": ["zebra waa"], "size": 900}, "only [0-9]+ of its [0-9]+ texts are among"),
    ],
)
def test_what_cannot_be_done_is_said(pool: Pool, change: dict[str, object], message: str) -> None:
    arguments = {"labelled": ["waa wab"], "strategy": "bow", "size": 5} | change
    with pytest.raises(UserError, match=message):
        select(pool, **arguments)  # type: ignore[arg-type]
