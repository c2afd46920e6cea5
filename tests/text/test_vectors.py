"""Vectors for a vocabulary: spellings, the cache, where files are found, and every way of packing them."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import resource
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from attnvat.errors import UserError
from attnvat.text import vectors as module
from attnvat.text.vector_cache import cache_path, open_table
from attnvat.text.vector_files import find_vectors
from attnvat.text.vectors import load_vectors, vector_words

GLOVE = "the 0.5 -1 2\nfilm 1e-3 0 4\nParis 7 8 9\n. . 1 1 1\nthe 9 9 9\n"
WORDS = ["film", "The", "zzz", "paris", ". ."]
EXPECTED = [[0.001, 0, 4], [0.5, -1, 2], [0, 0, 0], [7, 8, 9], [1, 1, 1]]


def pack_zip(path: Path, content: bytes) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("folder/vectors.txt", content)


PACKINGS: dict[str, Callable[[Path, bytes], object]] = {
    "": Path.write_bytes,
    ".gz": lambda path, content: path.write_bytes(gzip.compress(content)),
    ".xz": lambda path, content: path.write_bytes(lzma.compress(content)),
    ".bz2": lambda path, content: path.write_bytes(bz2.compress(content)),
    ".zip": pack_zip,
}


@pytest.fixture(autouse=True)
def _own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ATTNVAT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("ATTNVAT_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "data").mkdir()


@pytest.mark.parametrize("packing", PACKINGS)
@pytest.mark.parametrize("cache", [True, False])
def test_vectors_come_in_the_order_of_the_words(tmp_path: Path, packing: str, cache: bool) -> None:
    path = tmp_path / f"vectors.txt{packing}"
    PACKINGS[packing](path, GLOVE.encode())
    for _ in range(2):
        vectors = load_vectors(path, WORDS, cache=cache)
        np.testing.assert_array_equal(vectors.matrix, np.array(EXPECTED, dtype=np.float32))
        assert vectors.matrix.dtype == np.float32
        assert vectors.found.tolist() == [True, True, False, True, True]
        assert vectors.coverage == pytest.approx(4 / 5)
        assert (vectors.dimension, vectors.from_subwords) == (3, 0)
        assert str(path) in vectors.source
        assert vector_words(path, cache=cache) == ["the", "film", "Paris", ". ."]
    assert any((tmp_path / "cache").rglob("*.safetensors")) == cache


def test_the_exact_spelling_comes_before_others(tmp_path: Path) -> None:
    path = tmp_path / "v.txt"
    path.write_text("us 1 1\nUs 2 2\nUS 3 3\nNato 4 4\nNATO 5 5\n")
    matrix = load_vectors(path, ["US", "us", "uS", "nato"]).matrix
    assert matrix[:, 0].tolist() == [3, 1, 1, 4]


def test_the_second_reading_is_from_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "v.txt"
    path.write_text(GLOVE)
    load_vectors(path, ["film"])
    monkeypatch.setattr(module, "_blocks", lambda file: pytest.fail("the file was read again"))
    assert load_vectors(path, WORDS).found.sum() == 4
    assert len(vector_words(path)) == 4


def test_a_changed_file_is_read_again_and_its_old_copy_goes(tmp_path: Path) -> None:
    path = tmp_path / "v.txt"
    path.write_text("film 1 2\n")
    status = path.stat()
    assert load_vectors(path, ["film"]).matrix.tolist() == [[1, 2]]
    path.write_text("film 3 4\n")
    # The same size and time: the content decides.
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert load_vectors(path, ["film"]).matrix.tolist() == [[3, 4]]
    assert len(list((tmp_path / "cache" / "vectors").iterdir())) == 1


def test_a_damaged_cache_is_made_again(tmp_path: Path) -> None:
    path = tmp_path / "v.txt"
    path.write_text(GLOVE)
    load_vectors(path, WORDS)
    copy = cache_path(find_vectors(path))
    copy.write_bytes(copy.read_bytes()[:-7])
    assert open_table(copy) is None
    assert load_vectors(path, WORDS).found.sum() == 4
    assert open_table(copy) is not None


def test_a_cache_that_cannot_be_written_is_noted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "taken").write_text("a file, not a folder")
    monkeypatch.setenv("ATTNVAT_CACHE", str(tmp_path / "taken"))
    path = tmp_path / "v.txt"
    path.write_text(GLOVE)
    assert load_vectors(path, WORDS).found.sum() == 4
    assert "not cached" in capsys.readouterr().err


def test_a_full_disk_is_noted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "v.txt"
    path.write_text("".join(f"word{row} 1 2 3\n" for row in range(5000)))
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, before[1]))
    try:
        vectors = load_vectors(path, ["word7", "word4999"])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert vectors.matrix.tolist() == [[1, 2, 3]] * 2
    assert "not cached" in capsys.readouterr().err
    assert not list((tmp_path / "cache" / "vectors").iterdir())


def test_an_archive_with_a_password_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "v.zip"
    pack_zip(path, b"film 1 2\n")
    content = bytearray(path.read_bytes())
    # The flags stand 6 bytes into the member's own header and 8 bytes into its entry of the directory.
    content[content.index(b"PK\3\4") + 6] |= 1
    content[content.index(b"PK\1\2") + 8] |= 1
    path.write_bytes(content)
    with pytest.raises(UserError, match=r"v\.zip: asks for a password"):
        load_vectors(path, ["film"])


def test_a_bad_file_leaves_no_cache(tmp_path: Path) -> None:
    path = tmp_path / "v.txt"
    path.write_text("film 1 2\nbad 1\n")
    for _ in range(2):
        with pytest.raises(UserError, match=r"v\.txt: 2: 1 numbers, expected 2"):
            load_vectors(path, WORDS)
    assert not [file for file in (tmp_path / "cache").rglob("*") if file.is_file()]


@pytest.mark.parametrize("name", ["glove.6B.3d", "glove.6B.3d.txt", "glove.6B.3d.vec", "glove.6B.3d.bin"])
def test_a_name_is_found_in_the_data_folders(tmp_path: Path, name: str) -> None:
    (tmp_path / "data" / f"{name}.gz").write_bytes(gzip.compress(GLOVE.encode()))
    assert load_vectors("glove.6B.3d", WORDS).coverage == pytest.approx(4 / 5)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / name).write_text("film 5 5 5 5\n")
    assert load_vectors("glove.6B.3d", WORDS, data_dir=tmp_path / "other").dimension == 4


def test_a_name_is_found_inside_the_official_archive(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "data" / "glove.6B.zip", "w") as archive:
        archive.writestr("glove.6B.2d.txt", "film 1 2\n")
        archive.writestr("glove.6B.3d.txt", GLOVE)
    assert load_vectors("glove.6B.3d", WORDS).dimension == 3
    assert load_vectors("glove.6B.2d", WORDS).dimension == 2
    with pytest.raises(UserError, match=r"holds glove\.6B\.2d\.txt, glove\.6B\.3d\.txt; unpack it"):
        load_vectors(tmp_path / "data" / "glove.6B.zip", WORDS)


def test_a_missing_name_says_where_it_was_looked_for(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"glove\.6B\.zip") as error:
        load_vectors("glove.6B.300d", WORDS)
    assert str(tmp_path / "data") in str(error.value)
    assert ".txt,.vec,.bin" in str(error.value)
    with pytest.raises(UserError, match=r"no word vectors 'mine'.*give the path"):
        load_vectors("mine", WORDS)
    with pytest.raises(UserError, match=r"gone/v\.txt: no such file"):
        vector_words(tmp_path / "gone" / "v.txt")


@pytest.mark.parametrize("packing", [".gz", ".xz", ".bz2", ".zip"])
@pytest.mark.parametrize("cache", [True, False])
@pytest.mark.parametrize("damage", [None, 0, 255])
def test_a_damaged_archive_is_named(tmp_path: Path, packing: str, cache: bool, damage: int | None) -> None:
    """Cut in the middle, or with some bytes of the middle overwritten."""
    generator = np.random.default_rng(0)
    lines = [f"word{row} " + " ".join(map(str, generator.normal(size=5))) for row in range(2000)]
    path = tmp_path / f"v.txt{packing}"
    PACKINGS[packing](path, "\n".join(lines).encode())
    content = bytearray(path.read_bytes())
    middle = len(content) // 2
    content[middle:] = b"" if damage is None else bytes([damage] * 64) + content[middle + 64 :]
    path.write_bytes(content)
    with pytest.raises(UserError, match=r"v\.txt\.\w+.*(damaged|truncated)"):
        load_vectors(path, ["word1"], cache=cache)


@pytest.mark.real_data
def test_real_glove_covers_common_words(real_data: Path) -> None:
    vectors = load_vectors("glove.6B.50d", ["the", "movie", "film", "qqqzzz"], data_dir=real_data)
    assert vectors.dimension == 50
    assert vectors.found.tolist() == [True, True, True, False]
    the, movie, film = (row / np.linalg.norm(row) for row in vectors.matrix[:3])
    assert movie @ film > 0.9 > the @ movie
