"""fastText's binary models, against gensim's reader, with words in and out of their dictionary."""

from __future__ import annotations

import gzip
import struct
from pathlib import Path

import numpy as np
import pytest
from gensim.models import FastText as GensimFastText
from gensim.models.fasttext import load_facebook_vectors, save_facebook_model

from attnvat.errors import UserError
from attnvat.text.fasttext_binary import FastText, ngram_hashes, open_fasttext
from attnvat.text.vectors import load_vectors, vector_words

SENTENCES = [["the", "wörd", "film", "</s>"], ["film", "of", "the", "北京", "year"], ["the", "Paris", "wörd"]] * 20


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    model = GensimFastText(SENTENCES, vector_size=12, min_count=1, bucket=500, epochs=1, seed=3, workers=1)
    path = tmp_path_factory.mktemp("fasttext") / "model.bin"
    save_facebook_model(model, str(path))
    return path


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ATTNVAT_CACHE", str(tmp_path / "cache"))


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("cache", [False, True])
def test_vectors_are_those_of_gensim(path: Path, tmp_path: Path, packed: bool, cache: bool) -> None:
    theirs = load_facebook_vectors(str(path))
    source = path
    if packed:
        source = tmp_path / "model.bin.gz"
        source.write_bytes(gzip.compress(path.read_bytes()))
    words = ["the", "wörd", "北京", "films", "unseenwörd", "京都", "x"]
    for _ in range(2):
        vectors = load_vectors(source, words, cache=cache)
        assert vectors.found.all()
        assert vectors.from_subwords == 4
        np.testing.assert_allclose(vectors.matrix, np.stack([theirs[word] for word in words]), rtol=1e-5, atol=1e-8)
        assert vector_words(source, cache=cache) == theirs.index_to_key
    assert any((tmp_path / "cache").rglob("*.bin")) == (packed and cache)


def test_a_known_spelling_comes_before_ngrams(path: Path) -> None:
    theirs = load_facebook_vectors(str(path))
    vectors = load_vectors(path, ["paris", "FILM"])
    np.testing.assert_allclose(vectors.matrix, np.stack([theirs["Paris"], theirs["film"]]), rtol=1e-5)
    assert vectors.from_subwords == 0


def test_hashes_worked_by_hand() -> None:
    # FNV-1a of "<a>" and its parts; single brackets are no n-grams.
    def fnv(text: str) -> int:
        value = 2166136261
        for byte in text.encode():
            value = ((value ^ byte) * 16777619) % 2**32
        return value

    assert ngram_hashes("a", 1, 3) == [fnv("<a"), fnv("<a>"), fnv("a"), fnv("a>")]
    assert ngram_hashes("a", 3, 6) == [fnv("<a>")]
    assert ngram_hashes("", 3, 6) == []


def test_a_word_without_ngrams_has_no_vector() -> None:
    model = FastText({"a": 0}, np.ones((1, 2), dtype=np.float32), 1, 0, 3, 6)
    assert model.vector("b") is None
    assert model.vector("a") is not None


def test_every_truncation_is_named(path: Path, tmp_path: Path) -> None:
    content = path.read_bytes()
    broken = tmp_path / "broken.bin"
    for length in [*range(4, 300, 7), len(content) // 2, len(content) * 2 // 3]:
        broken.write_bytes(content[:length])
        with pytest.raises(UserError, match=r"broken\.bin: ends .*truncated"):
            open_fasttext(broken, str(broken))
    broken.write_bytes(gzip.compress(content)[:-40])
    broken = broken.rename(tmp_path / "broken.bin.gz")
    for cache in (True, False):
        with pytest.raises(UserError, match=r"broken\.bin\.gz: damaged or truncated"):
            load_vectors(broken, ["the"], cache=cache)


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        (0, struct.pack("<i", 5), "not a fastText model"),
        (4, struct.pack("<i", 99), "fastText format 99"),
        (8, struct.pack("<i", 13), "truncated or damaged"),
    ],
)
def test_a_wrong_header_is_named(path: Path, tmp_path: Path, place: int, value: bytes, message: str) -> None:
    content = bytearray(path.read_bytes())
    content[place : place + 4] = value
    broken = tmp_path / "broken.bin"
    broken.write_bytes(content)
    with pytest.raises(UserError, match=rf"broken\.bin: .*{message}"):
        open_fasttext(broken, str(broken))


def test_a_quantised_model_is_refused(path: Path, tmp_path: Path) -> None:
    content = bytearray(path.read_bytes())
    entries, dimension = len(load_facebook_vectors(str(path)).index_to_key), 12
    shape = struct.pack("<2q", entries + 500, dimension)
    place = content.index(shape) - 1
    assert content[place] == 0
    content[place] = 1
    broken = tmp_path / "model.ftz"
    broken.write_bytes(content)
    with pytest.raises(UserError, match=r"model\.ftz: a quantised fastText model"):
        load_vectors(broken, ["the"])


def test_an_undecodable_word_is_named(path: Path, tmp_path: Path) -> None:
    content = path.read_bytes().replace("wörd".encode() + b"\0", b"w\xff\xffrd\0")
    broken = tmp_path / "broken.bin"
    broken.write_bytes(content)
    with pytest.raises(UserError, match=r"broken\.bin: word \d+ is not UTF-8"):
        open_fasttext(broken, str(broken))
