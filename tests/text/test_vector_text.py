"""Vectors written as text: what is read, and what is said about lines that cannot be."""

from __future__ import annotations

import io

import numpy as np
import pytest
from gensim.models import KeyedVectors
from hypothesis import given, settings
from hypothesis import strategies as st

from attnvat.errors import UserError
from attnvat.text import vector_text
from attnvat.text.vector_text import read_text_vectors


def read(content: bytes) -> tuple[list[str], np.ndarray]:
    blocks = list(read_text_vectors(io.BytesIO(content), "v.txt"))
    return [word for words, _ in blocks for word in words], np.concatenate([matrix for _, matrix in blocks])


@pytest.mark.parametrize(
    "content",
    [
        b"a 1 2\nb 3 4\n",
        b"a 1 2\nb 3 4",
        b"a 1 2\r\nb 3 4\r\n",
        b"2 2\na 1 2\nb 3 4\n",
        b"2 2\na 1 2 \nb 3 4 \n",
        b"a 1 2 \nb 3 4 \n",
        b"a 1 2 \nb 3 4\n",
        b"a 1 2\n\nb 3 4\n\n",
    ],
)
def test_every_way_of_writing_lines(content: bytes) -> None:
    words, matrix = read(content)
    assert words == ["a", "b"]
    assert matrix.tolist() == [[1, 2], [3, 4]]


def test_odd_words_are_read_as_they_are() -> None:
    odd = ['"', "''", ". . .", "at name@domain.com", "\u00a0", "\u0085", "na", "null", "NaN", "a,b", "\\", "1", "ﬁ", ""]
    content = "".join(f"{word} 1.5 -2\n" for word in odd).encode()
    words, matrix = read(b"x 1 1\n" + content)
    assert words == ["x", *odd]
    assert matrix[1:].tolist() == [[1.5, -2]] * len(odd)


def test_quotes_are_part_of_a_word() -> None:
    words, _ = read(b'"a" 1 2\n"b" 3 4\n')
    assert words == ['"a"', '"b"']


@settings(max_examples=40)
@given(st.data(), st.integers(2, 5), st.integers(20, 200))
def test_blocks_do_not_matter(data: st.DataObject, dimension: int, block: int) -> None:
    numbers = st.floats(width=32, allow_nan=False, allow_infinity=False)
    characters = st.characters(exclude_categories=["Cs"], exclude_characters="\r\n\0 ")
    names = data.draw(st.lists(st.text(characters, min_size=1, max_size=5).filter(str.strip), min_size=1, max_size=8))
    names = ["first", *[name.strip() or "x" for name in names]]
    rows = data.draw(
        st.lists(st.lists(numbers, min_size=dimension, max_size=dimension), min_size=len(names), max_size=len(names))
    )
    content = "".join(f"{name} {' '.join(map(repr, row))}\n" for name, row in zip(names, rows, strict=True))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vector_text, "BLOCK_BYTES", block)
        words, matrix = read(content.encode())
    assert words == names
    np.testing.assert_array_equal(matrix, np.array(rows, dtype=np.float32))


def test_the_same_as_gensim_reads(tmp_path) -> None:
    generator = np.random.default_rng(0)
    lines = [f"word{row} " + " ".join(f"{x:.5f}" for x in generator.normal(size=20)) for row in range(500)]
    path = tmp_path / "v.txt"
    path.write_text("\n".join(lines) + "\n")
    theirs = KeyedVectors.load_word2vec_format(path, no_header=True)
    words, matrix = read(path.read_bytes())
    assert words == theirs.index_to_key
    np.testing.assert_allclose(matrix, theirs.vectors, rtol=1e-7)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", r"v\.txt: 1: not word vectors"),
        (b"hello\nworld\n", r"v\.txt: 1: not word vectors"),
        (b"10 2\n", r"v\.txt: holds no vectors"),
        (b"a 1 2\nb 3\nc 5 6\n", r"v\.txt: 2: 1 numbers, expected 2; all lines must be alike"),
        (b"a 1 2\nb 3 4\nc 5", r"v\.txt: 3: 1 numbers, expected 2; truncated"),
        (b"a 1 2\nb x 4\n", r"v\.txt: 2: 'x' is not a finite number"),
        (b"a 1 2\nb 3 nan\n", r"v\.txt: 2: 'nan' is not a finite number"),
        (b"a 1 2\nb inf 3\n", r"v\.txt: 2: 'inf' is not a finite number"),
        (b"a 1 2\nb 3 1e99\n", r"v\.txt: 2: '1e99' is not a finite number"),
        (b"a 1 2\nb\xff 3 4\n", r"v\.txt: 2: the word is not UTF-8 .*convert the file"),
        (b"a 1 2\nb 3  4\n", r"v\.txt: 2: '' is not a finite number"),
        (b"3 2\na 1 2\nb 3 4\n", r"v\.txt: 4: ends after 2 of 3 vectors; truncated"),
        (b"3 2\na 1 2 3\nb 3 4\n", r"v\.txt: 2: 3 numbers, expected 2"),
    ],
)
def test_what_cannot_be_read_is_named_with_its_line(content: bytes, message: str) -> None:
    with pytest.raises(UserError, match=message):
        read(content)


def test_lines_are_counted_across_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vector_text, "BLOCK_BYTES", 64)
    with pytest.raises(UserError, match=r"v\.txt: 101: 1 numbers"):
        read(b"word 1 2\n" * 100 + b"bad 1\n" + b"word 1 2\n" * 10)
