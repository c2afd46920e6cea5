"""word2vec's binary format, against gensim's own writer, and damaged in every way."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from gensim.models import KeyedVectors

from attnvat.errors import UserError
from attnvat.text import vector_binary
from attnvat.text.vector_binary import read_word2vec_vectors
from attnvat.text.vector_files import VectorFile
from attnvat.text.vectors import load_vectors


def read(content: bytes) -> tuple[list[str], np.ndarray]:
    blocks = list(read_word2vec_vectors(io.BytesIO(content), "v.bin"))
    return [word for words, _ in blocks for word in words], np.concatenate([matrix for _, matrix in blocks])


def entry(word: bytes, *numbers: float) -> bytes:
    return word + b" " + np.array(numbers, dtype="<f4").tobytes()


@pytest.fixture
def model(tmp_path: Path) -> tuple[Path, KeyedVectors]:
    words = [f"wörd{row}" for row in range(300)]
    vectors = KeyedVectors(vector_size=16)
    vectors.add_vectors(words, np.random.default_rng(0).normal(size=(300, 16)).astype(np.float32))
    path = tmp_path / "v.bin"
    vectors.save_word2vec_format(path, binary=True)
    return path, vectors


@pytest.mark.parametrize("block", [1, 1000, 1 << 20])
def test_the_same_as_gensim_wrote(
    model: tuple[Path, KeyedVectors], monkeypatch: pytest.MonkeyPatch, block: int
) -> None:
    path, theirs = model
    monkeypatch.setattr(vector_binary, "BLOCK_BYTES", block)
    monkeypatch.setattr(vector_binary, "LONGEST_WORD", 32)
    words, matrix = read(path.read_bytes())
    assert words == theirs.index_to_key
    np.testing.assert_array_equal(matrix, theirs.vectors)


def test_loaded_by_format_not_by_name(
    model: tuple[Path, KeyedVectors], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ATTNVAT_CACHE", str(tmp_path / "cache"))
    path, theirs = model
    other = path.rename(tmp_path / "vectors.txt")
    assert VectorFile(other).format() == "word2vec"
    vectors = load_vectors(other, ["wörd7", "nothing", "Wörd299"])
    np.testing.assert_array_equal(vectors.matrix[[0, 2]], theirs.vectors[[7, 299]])
    assert vectors.found.tolist() == [True, False, True]


def test_vectors_may_end_with_a_newline() -> None:
    words, matrix = read(b"2 2\n" + entry(b"a", 1, 2) + b"\n" + entry(b"b", 3, 4) + b"\n")
    assert words == ["a", "b"]
    assert matrix.tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", r"v\.bin: 1: not word2vec's binary format"),
        (b"\x00\x01\x02", r"v\.bin: 1: not word2vec's binary format"),
        (b"0 2\n", r"v\.bin: 1: .*nothing to read"),
        (b"2 2\n" + entry(b"a", 1, 2), r"v\.bin: ends after 1 of 2 vectors; truncated"),
        (b"2 2\n" + entry(b"a", 1, 2) + entry(b"b", 3, 4)[:-1], r"v\.bin: ends after 1 of 2 vectors"),
        (b"1 2\n" + entry(b"\xff", 1, 2), r"v\.bin: vector 1: the word is not UTF-8"),
        (b"2 2\n" + entry(b"a", 1, 2) + entry(b"b", 1, np.nan), r"v\.bin: vector 2: .*not finite"),
        (b"2 2\n" + entry(b"a", 1, 2) + b"x" * (9 << 20), r"v\.bin: vector 2: no word where one must begin"),
    ],
)
def test_what_cannot_be_read_is_named(content: bytes, message: str) -> None:
    with pytest.raises(UserError, match=message):
        read(content)


@pytest.mark.parametrize("share", [0.001, 0.01, 0.3, 0.9, 0.9999])
def test_any_truncation_is_noticed(model: tuple[Path, KeyedVectors], share: float) -> None:
    content = model[0].read_bytes()
    with pytest.raises(UserError, match=r"v\.bin"):
        read(content[: int(len(content) * share)])
