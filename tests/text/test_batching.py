"""The order of batches: every row once an epoch, little padding, and a state that continues identically."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnvat.errors import UserError
from attnvat.text.batching import CHUNK_BATCHES, BatchStream, padding_waste, sorted_batches

LENGTHS = st.lists(st.integers(1, 60), min_size=1, max_size=120)


def epoch(stream: BatchStream) -> list[list[int]]:
    return [next(stream).tolist() for _ in range(stream.batches_per_epoch)]


@given(LENGTHS, st.integers(1, 20), st.integers(0, 2**40), st.booleans())
def test_every_row_comes_once_an_epoch(lengths: list[int], size: int, seed: int, shuffle: bool) -> None:
    stream = BatchStream(np.array(lengths), size, seed, shuffle)
    for number in range(3):
        assert (stream.epoch, stream.position) == (number, 0)
        batches = epoch(stream)
        assert sorted(row for rows in batches for row in rows) == list(range(len(lengths)))
        assert max(map(len, batches)) <= size


@given(LENGTHS, st.integers(1, 20), st.integers(0, 2**40), st.booleans(), st.integers(0, 60))
def test_a_restored_state_continues_identically(
    lengths: list[int], size: int, seed: int, shuffle: bool, drawn: int
) -> None:
    stream = BatchStream(lengths, size, seed, shuffle)
    for _ in range(drawn):
        next(stream)
    state = json.loads(json.dumps(stream.state()))
    other = BatchStream(lengths, size, seed + 1, shuffle)
    next(other)
    other.restore(state)
    for _ in range(2 * stream.batches_per_epoch + 1):
        assert next(stream).tolist() == next(other).tolist()
    assert stream.state() == other.state()


def test_order_depends_on_seed_and_epoch() -> None:
    lengths = np.random.default_rng(0).integers(1, 50, 500)
    first, again, other = (BatchStream(lengths, 8, seed) for seed in (1, 1, 2))
    batches = epoch(first)
    assert batches == epoch(again)
    assert batches != epoch(other)
    assert batches != epoch(first)


def test_rows_of_like_length_meet_others_in_the_next_epoch() -> None:
    """A bucket that never changed would show the same 32 texts together for ever."""
    stream = BatchStream(np.ones(640), 32, 0)
    together = {frozenset(rows) for rows in epoch(stream)}
    assert not together & {frozenset(rows) for rows in epoch(stream)}


def test_long_and_short_batches_are_mixed() -> None:
    lengths = np.arange(1, 1025)
    means = [lengths[rows].mean() for rows in epoch(BatchStream(lengths, 32, 0))]
    # Sorted batches would have a correlation of ±1 between place and length.
    assert abs(np.corrcoef(means, np.arange(len(means)))[0, 1]) < 0.6


@pytest.mark.parametrize(("shape", "scale", "longest"), [(4.0, 5.0, 55), (1.5, 160.0, 2000)])
def test_padding_is_under_five_percent(shape: float, scale: float, longest: int) -> None:
    """Lengths spread like those of SST's sentences and of whole film reviews."""
    rows = 32 * CHUNK_BATCHES * 3
    lengths = np.random.default_rng(0).gamma(shape, scale, rows).astype(np.int64).clip(1, longest)
    stream = BatchStream(lengths, 32, 0)
    assert padding_waste(lengths, [next(stream) for _ in range(stream.batches_per_epoch)]) < 0.05


def test_padding_waste_is_the_share_of_empty_cells() -> None:
    # Batches of lengths (1, 3) and (2,): 2·3 + 1·2 = 8 cells, 6 of them filled.
    assert padding_waste([1, 3, 2], [np.array([0, 1]), np.array([2])]) == pytest.approx(2 / 8)


def test_evaluation_batches_are_longest_first_and_complete() -> None:
    batches = sorted_batches(np.array([3, 9, 1, 9, 5]), 2)
    assert [rows.tolist() for rows in batches] == [[1, 3], [4, 0], [2]]


@pytest.mark.parametrize(
    "change",
    [{"rows": 9}, {"batch_size": 3}, {"shuffle": False}, {"position": 5}, {"position": -1}, {"epoch": -1}],
)
def test_a_state_of_other_data_is_refused(change: dict[str, int]) -> None:
    stream = BatchStream(np.ones(10), 2, 0)
    with pytest.raises(UserError, match="saved place"):
        stream.restore({**stream.state(), **change})


def test_nothing_to_batch_is_a_user_error() -> None:
    with pytest.raises(UserError, match="empty"):
        BatchStream([], 2, 0)
    with pytest.raises(UserError, match="batch size 0"):
        BatchStream([1], 0, 0)
