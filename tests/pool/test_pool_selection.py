from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from attnvat.errors import UserError
from attnvat.pool import Pool, Selection, build_pool, open_unlabelled, select, texts_source
from attnvat.pool.random_sample import random_rows


@pytest.fixture
def saved(pool: Pool) -> Path:
    selection = select(pool, ["waa wab wac"], "bow", 50, labelled_name="task")
    return selection.save(pool.path / "selections" / "near.arrow")


def test_a_selection_comes_back_as_it_was(pool: Pool, saved: Path) -> None:
    original = select(pool, ["waa wab wac"], "bow", 50, labelled_name="task")
    loaded = Selection.load(saved, pool)
    for column in ("rows", "nearest", "rank", "distance"):
        np.testing.assert_array_equal(getattr(loaded, column), getattr(original, column))
    assert loaded.made["pool"]["fingerprint"] == pool.fingerprint
    assert loaded.made["labelled"]["name"] == "task"
    assert saved.stat().st_size < 10_000


def test_another_pool_is_refused(saved: Path, tmp_path: Path) -> None:
    other = build_pool([texts_source("o", [f"waa text {'w' * n}" for n in range(1, 90)])], tmp_path / "other")
    with pytest.raises(UserError, match="made from another pool"):
        Selection.load(saved, other)
    with pytest.raises(UserError, match="made from another pool"):
        open_unlabelled(f"{other.path}:{saved}")


def test_a_pool_rebuilt_with_one_text_changed_is_another_pool(tmp_path: Path) -> None:
    texts = [f"waa text {'w' * n}" for n in range(1, 90)]
    pools = [
        build_pool([texts_source("o", part)], tmp_path / name)
        for name, part in {"a": texts, "b": [*texts[:-1], "another text here"], "c": texts[::-1], "d": texts}.items()
    ]
    assert len({pool.fingerprint for pool in pools}) == 3
    assert pools[0].fingerprint == pools[3].fingerprint
    # The same characters end to end, cut in another place.
    for name, part in {
        "e": ["one two threefour", "five six seven"],
        "f": ["one two three", "fourfive six seven"],
    }.items():
        pools.append(build_pool([texts_source("o", part)], tmp_path / name))
    assert pools[4].fingerprint != pools[5].fingerprint


def test_damaged_and_foreign_files_are_named(pool: Pool, saved: Path, tmp_path: Path) -> None:
    content = saved.read_bytes()
    rows = Selection.load(saved).rows
    at = content.index(rows.astype("<i8").tobytes())
    saved.write_bytes(content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :])
    with pytest.raises(UserError, match=r"near\.arrow: damaged"):
        Selection.load(saved, pool)
    saved.write_bytes(content[:-100])
    with pytest.raises(UserError, match=r"near\.arrow: not a readable Arrow file"):
        Selection.load(saved, pool)
    with pytest.raises(UserError, match=r"shard-00000\.arrow: not a selection"):
        Selection.load(pool.path / pool.shards[0].file)
    with pytest.raises(UserError, match=r"nothing\.arrow"):
        Selection.load(tmp_path / "nothing.arrow")


def test_open_unlabelled(pool: Pool, saved: Path) -> None:
    chosen = Selection.load(saved).rows
    for spec in (f"{pool.path}:near", f"{pool.path}:{saved}"):
        opened, rows = open_unlabelled(spec)
        assert opened.fingerprint == pool.fingerprint
        assert rows.tolist() == chosen.tolist()
    assert open_unlabelled(f"{pool.path}:near", size=7)[1].tolist() == chosen[:7].tolist()
    assert open_unlabelled(pool.path)[1].tolist() == list(range(len(pool)))
    sample = open_unlabelled(str(pool.path), size=9, seed=3)[1]
    assert sample.tolist() == random_rows(len(pool), 9, 3).tolist()


@pytest.mark.parametrize(
    ("selection", "size", "message"),
    [
        (":neer", None, "did you mean 'near'"),
        (":near", 51, "51 texts asked for where there are 50"),
        ("", 0, "0 texts"),
    ],
)
def test_what_cannot_be_opened_is_said(pool: Pool, saved: Path, selection: str, size: int | None, message: str) -> None:
    with pytest.raises(UserError, match=message):
        open_unlabelled(f"{pool.path}{selection}", size=size)
