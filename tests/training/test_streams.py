from __future__ import annotations

import json
from collections import Counter

import numpy as np
import pytest
import torch

from attnvat.text.batch import Batch
from attnvat.text.encoding import EncodedDataset, EncodedTexts
from attnvat.training.streams import Streams

Step = tuple[list[int], list[int] | None]


def dataset(count: int, seed: int = 0, labels: bool = True) -> EncodedDataset:
    """Texts of 1 to 12 words; a text's first word is its row number."""
    generator = np.random.default_rng(seed)
    texts = EncodedTexts.from_lists([[row, *[1] * int(generator.integers(12))] for row in range(count)])
    return EncodedDataset(texts, labels=np.arange(count) % 2 if labels else None)


def rows(batch: Batch | None) -> list[int] | None:
    return None if batch is None else batch.ids[:, 0].tolist()


def steps(streams: Streams, count: int) -> list[Step]:
    return [(rows(labelled) or [], rows(more)) for labelled, more in (streams.next() for _ in range(count))]


@pytest.mark.parametrize("ratio", [0.02, 0.3, 1, 1.7, 7.2])
@pytest.mark.parametrize("labelled", [101, 16, 5])
def test_an_epoch_visits_every_text_once(labelled: int, ratio: float) -> None:
    unlabelled = max(1, round(labelled * ratio))
    streams = Streams(dataset(labelled), dataset(unlabelled, 1, labels=False), 16, seed=0)
    assert streams.steps_per_epoch == -(-labelled // 16)
    orders = []
    for _ in range(3):
        assert streams.at_epoch_start
        epoch = steps(streams, streams.steps_per_epoch)
        orders.append(epoch)
        assert Counter(row for found, _ in epoch for row in found) == Counter(range(labelled))
        assert Counter(row for _, found in epoch for row in found or []) == Counter(range(unlabelled))
    assert streams.at_epoch_start
    if labelled > 16:
        assert orders[0] != orders[1] != orders[2]


def test_a_ratio_lets_steps_take_fewer_and_the_next_epoch_go_on_with_the_others() -> None:
    streams = Streams(dataset(64), dataset(192, 1, labels=False), 16, seed=0, ratio=1.5)
    for _ in range(2):  # two epochs of the labelled texts are one pass over the unlabelled
        taken = [more or [] for _ in range(2) for _, more in steps(streams, streams.steps_per_epoch)]
        assert [len(rows) for rows in taken] == [24] * 8
        assert Counter(row for rows in taken for row in rows) == Counter(range(192))
    assert streams.at_epoch_start


def test_a_ratio_above_what_there_is_changes_nothing() -> None:
    def order(ratio: float | None) -> list[Step]:
        return steps(Streams(dataset(90), dataset(200, labels=False), 16, 1, ratio=ratio), 12)

    assert order(None) == order(3) != order(2)


def test_few_unlabelled_batches_are_spread_over_the_epoch() -> None:
    streams = Streams(dataset(320), dataset(5, labels=False), 16, seed=0)
    due = [n for n, (_, more) in enumerate(steps(streams, 20)) if more]
    assert due == [3, 7, 11, 15, 19]


def test_unlabelled_batches_carry_no_labels_and_the_labelled_ones_their_own() -> None:
    labelled, more = Streams(dataset(40), dataset(40), 16, seed=0).next()
    assert labelled.labels is not None
    assert labelled.labels.equal(labelled.ids[:, 0] % 2)
    assert more is not None
    assert more.labels is None


def test_the_order_is_the_seeds() -> None:
    def order(seed: int) -> list[Step]:
        return steps(Streams(dataset(90), dataset(200, labels=False), 16, seed), 12)

    assert order(3) == order(3)
    assert order(3) != order(4)


@pytest.mark.parametrize("place", [0, 1, 5, 6, 13])
def test_restored_streams_go_on_as_the_first_ones_would_have(place: int) -> None:
    first = Streams(dataset(90), dataset(300, labels=False), 16, seed=2)
    steps(first, place)
    state = json.loads(json.dumps(first.state()))
    again = Streams(dataset(90), dataset(300, labels=False), 16, seed=2)
    again.restore(state)
    assert again.at_epoch_start == (place % 6 == 0)
    assert steps(again, 14) == steps(first, 14)


@pytest.mark.parametrize("ratio", [None, 2])
@pytest.mark.parametrize("processes", [2, 3])
def test_shares_of_all_processes_are_the_whole_batch(processes: int, ratio: float | None) -> None:
    labelled, unlabelled = dataset(96), dataset(288, 1, labels=False)
    whole = Streams(labelled, unlabelled, 8 * processes, seed=1, ratio=ratio)
    shares = [Streams(labelled, unlabelled, 8, 1, number, processes, ratio) for number in range(processes)]
    for _ in range(2 * whole.steps_per_epoch):
        (both,) = steps(whole, 1)
        parts = [steps(share, 1)[0] for share in shares]
        for which in (0, 1):
            assert len({len(part[which] or []) for part in parts}) == 1
            assert Counter(row for part in parts for row in part[which] or []) == Counter(both[which])


def test_a_short_batch_is_filled_up_so_that_all_shares_are_equal() -> None:
    shares = [Streams(dataset(5), None, 4, 0, number, 2) for number in range(2)]
    found = [steps(share, 1)[0][0] for share in shares]
    assert [len(part) for part in found] == [3, 3]
    assert set(found[0] + found[1]) == set(range(5))


@pytest.mark.parametrize("size", [1, 2, 4, 100])
def test_steps_share_an_update_and_the_last_of_an_epoch_may_be_fewer(size: int) -> None:
    streams = Streams(dataset(160), None, 16, seed=0)
    found = []
    for _ in range(20):
        found.append(streams.sharing(size))
        streams.next()
    groups = [min(size, 10 - start) for start in range(0, 10, size)]
    assert found == [number for number in groups for _ in range(number)] * 2


def test_batches_are_tensors_of_the_rows_in_the_data() -> None:
    data = dataset(30)
    batch, more = Streams(data, None, 8, seed=0).next()
    assert more is None
    assert batch.rows is not None
    torch.testing.assert_close(batch.ids, data.batch(batch.rows.numpy()).ids)
