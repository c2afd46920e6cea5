from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from attnvat.errors import UserError
from attnvat.pool import Pool
from attnvat.pool.pool import MANIFEST
from attnvat.storage import read_json, write_json


def test_texts_by_row_in_any_order_across_shards(pool: Pool, make_sentences: Callable[..., list[str]]) -> None:
    expected = list(dict.fromkeys(make_sentences(1000)))
    assert len(pool) == len(expected)
    rows = np.random.default_rng(1).permutation(len(pool))[:300]
    assert pool.texts(rows) == [expected[row] for row in rows]
    assert pool.texts([5, 5]) == [expected[5]] * 2
    assert pool.texts([]) == []


@pytest.mark.parametrize("row", [-1, 10_000])
def test_a_row_that_is_not_there(pool: Pool, row: int) -> None:
    with pytest.raises(IndexError):
        pool.texts([0, row])


def test_blocks_are_the_whole_pool_in_order(pool: Pool) -> None:
    starts, texts = zip(*pool.blocks(40), strict=True)
    assert [len(block) for block in texts] == np.diff([*starts, len(pool)]).tolist()
    assert [text for block in texts for text in block] == pool.texts(np.arange(len(pool)))


def test_a_truncated_file_is_named_on_opening(pool: Pool) -> None:
    file = pool.path / pool.shards[2].file
    file.write_bytes(file.read_bytes()[:-10])
    with pytest.raises(UserError, match=r"shard-00002\.arrow: [\d,]+ bytes where .*truncated"):
        Pool.open(pool.path)


def test_a_missing_file_is_named_on_opening(pool: Pool) -> None:
    (pool.path / pool.shards[0].file).unlink()
    with pytest.raises(UserError, match=r"shard-00000\.arrow: missing"):
        Pool.open(pool.path)


def test_one_changed_byte_is_noticed_before_any_text_is_given_out(pool: Pool) -> None:
    file = pool.path / pool.shards[1].file
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    opened = Pool.open(pool.path)
    assert opened.texts([0])
    with pytest.raises(UserError, match=r"shard-00001\.arrow: damaged"):
        opened.texts([pool.starts[1]])
    with pytest.raises(UserError, match=r"shard-00001\.arrow: damaged"):
        Pool.open(pool.path).verify()


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [("format", "other", "not the manifest of a pool"), ("version", 99, "pool format 99"), ("shards", [{}], "damaged")],
)
def test_a_manifest_that_is_not_one(pool: Pool, key: str, value: object, message: str) -> None:
    write_json(pool.path / MANIFEST, read_json(pool.path / MANIFEST) | {key: value})
    with pytest.raises(UserError, match=message):
        Pool.open(pool.path)


def test_no_pool(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no such pool"):
        Pool.open(tmp_path / "nothing")
    with pytest.raises(UserError, match="not a pool"):
        Pool.open(tmp_path)
