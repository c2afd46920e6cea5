from __future__ import annotations

import lzma
from pathlib import Path

import pytest

from attnvat.corpora.example import plain
from attnvat.errors import UserError
from attnvat.pool.sources import open_source, path_stamp


def test_peoples_own_file_can_be_read_again_and_again(tmp_path: Path) -> None:
    file = tmp_path / "mine.csv"
    file.write_text("id,review\n1,first text here\n2,second text here\n")
    source = open_source(str(file), text="review")
    for _ in range(2):
        assert [example.text for example in source.read()] == ["first text here", "second text here"]
    assert open_source(str(file)).stamp != source.stamp


def test_a_corpus_by_name(tmp_path: Path) -> None:
    with lzma.open(tmp_path / "news_sentences.tsv.xz", "wt") as handle:
        handle.write("here\tIt rains today .\nthere\tIt does not .\n")
    source = open_source("news", data_dir=tmp_path)
    assert [plain(example.text) for example in source.read()] == ["It rains today .", "It does not ."]
    assert source.name == "news"


def test_a_changed_file_has_another_stamp(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one")
    stamps = {path_stamp(tmp_path), path_stamp(tmp_path / "a.txt")}
    (tmp_path / "a.txt").write_text("three")
    stamps |= {path_stamp(tmp_path), path_stamp(tmp_path / "a.txt")}
    assert len(stamps) == 4


def test_a_name_that_is_nothing() -> None:
    with pytest.raises(UserError, match="did you mean 'news'"):
        open_source("newss")
