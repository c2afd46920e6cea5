from __future__ import annotations

from pathlib import Path

from corpus_layouts import LAYOUTS, pack

from attnvat.corpora import load_corpus
from attnvat.corpora.archive import Archive
from attnvat.corpora.example import Example
from attnvat.corpora.parsed import Splits, parsed, read_splits, write_splits
from attnvat.corpora.words import Words

SPLITS: Splits = {
    "train": [
        Example("a text", None, "x", id="1"),
        Example(Words("some words"), Words("a question"), "y", ("x", "y"), ((0, 1), (1, 2)), "2", "fiction"),
        Example("", "premise", None, (), ()),
    ],
    "test": [Example("ünï\u2028code", label="x")],
}


def test_examples_come_back_as_they_were(tmp_path: Path) -> None:
    write_splits(tmp_path / "x.arrow", SPLITS)
    assert read_splits(tmp_path / "x.arrow") == SPLITS


def test_the_cache_spares_the_second_parse_of_the_same_content(tmp_path: Path) -> None:
    calls = []

    def parse(archive: Archive) -> Splits:
        calls.append(archive.path)
        return SPLITS

    archive = Archive(pack(tmp_path, "folder", {"top/a": b"one"}))
    assert parsed("t", archive, lambda _: True, parse, "1")[0] == SPLITS
    assert parsed("t", archive, lambda _: True, parse, "1")[0] == SPLITS
    assert len(calls) == 1
    parsed("t", archive, lambda _: True, parse, "2")
    (tmp_path / "top" / "a").write_bytes(b"two")
    parsed("t", archive, lambda _: True, parse, "1")
    assert len(calls) == 3


def test_only_the_latest_parses_are_kept(tmp_path: Path, kept_cache: Path) -> None:
    archive = Archive(pack(tmp_path, "folder", {"top/a": b"kept"}))
    for version in range(6):
        parsed("kept", archive, lambda _: True, lambda _: SPLITS, str(version))
    assert len(list(kept_cache.rglob("kept-*.arrow"))) == 3
    assert parsed("kept", archive, lambda _: True, lambda _: {}, "5")[0] == SPLITS


def test_a_damaged_cache_is_made_again(tmp_path: Path, kept_cache: Path) -> None:
    stem, files = LAYOUTS["imdb"]
    pack(tmp_path, f"{stem}.zip", files() | {"aclImdb/train/unsup/99_0.txt": b"only here"})
    for earlier in kept_cache.rglob("imdb-*.arrow"):
        earlier.unlink()
    first = load_corpus("imdb", data_dir=tmp_path)
    (path,) = kept_cache.rglob("imdb-*.arrow")
    for content in (b"", path.read_bytes()[:-100], b"x" * 500):
        path.write_bytes(content)
        assert load_corpus("imdb", data_dir=tmp_path) == first


def test_a_cache_that_cannot_be_written_does_not_stop(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    write_splits(tmp_path / "file" / "x.arrow", SPLITS)
    assert read_splits(tmp_path / "file" / "x.arrow") is None
