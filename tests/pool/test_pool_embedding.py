from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from attnvat.errors import UserError
from attnvat.pool import Pool, embedding
from attnvat.pool.embedding import AverageEmbedding, embedding_neighbours
from attnvat.pool.neighbours import Engine, engine_named, exact_index

Make = Callable[..., list[str]]


@pytest.fixture
def vectors(tmp_path: Path, pool: Pool) -> Path:
    """Vectors for two thirds of the words, in GloVe's format."""
    words = sorted({word for _, texts in pool.blocks() for text in texts for word in text.split()})
    matrix = np.random.default_rng(3).standard_normal((len(words), 8))
    lines = [f"{w} " + " ".join(f"{x:.5f}" for x in row) for w, row in zip(words, matrix, strict=True)]
    file = tmp_path / "tiny.txt"
    file.write_text("\n".join(line for number, line in enumerate(lines) if number % 3) + "\n")
    return file


def brute_force(file: Path, texts: list[str]) -> np.ndarray:
    """The average of each text's vectors, scaled to length 1, in plain double precision."""
    table = {line.split()[0]: np.array(line.split()[1:], dtype=float) for line in file.read_text().splitlines()}
    averages = []
    for text in texts:
        known = [table[word] for word in text.split() if word in table]
        average = np.mean(known, axis=0) if known else np.zeros(8)
        averages.append(average / max(np.linalg.norm(average), 1e-12))
    return np.array(averages)


def test_neighbours_by_average_vector_are_those_of_brute_force(pool: Pool, vectors: Path, make_sentences: Make) -> None:
    labelled = [*make_sentences(30, seed=9), "unheard of words"]
    average = AverageEmbedding.from_vectors(vectors, pool, labelled)
    found = embedding_neighbours(pool, labelled, 10, embedding=average, engine=Engine(exact_index, 100))
    texts = brute_force(vectors, pool.texts(np.arange(len(pool))))
    expected = brute_force(vectors, labelled)[:30] @ texts.T
    best = -np.sort(-expected, axis=1)[:, :10]
    np.testing.assert_allclose(found.similarity[:30], best, atol=1e-5)
    np.testing.assert_allclose(np.take_along_axis(expected, found.rows[:30], axis=1), best, atol=1e-5)
    assert (found.rows[30] == -1).all()
    unknown = np.flatnonzero(~texts.any(axis=1))
    assert len(unknown)
    everything = embedding_neighbours(pool, labelled, len(pool), embedding=average, engine=engine_named("exact"))
    assert not np.isin(everything.rows, unknown).any()
    assert (everything.rows[0] >= 0).sum() == len(pool) - len(unknown)


def test_of_a_large_table_only_the_words_that_occur_are_taken(
    pool: Pool, vectors: Path, make_sentences: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    with vectors.open("a") as handle:
        handle.write("neverseen " + " ".join(["1"] * 8) + "\n")
    labelled = make_sentences(5, seed=9)
    whole = AverageEmbedding.from_vectors(vectors, pool, labelled)
    monkeypatch.setattr(embedding, "MANY_WORDS", 10)
    part = AverageEmbedding.from_vectors(vectors, pool, labelled)
    assert len(part.vocabulary) == len(whole.vocabulary) - 1
    np.testing.assert_allclose(part.vectors(labelled), whole.vectors(labelled), atol=1e-6)


def test_vectors_can_be_learned_from_the_pool(
    pool: Pool, make_sentences: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ATTNVAT_CACHE", str(tmp_path / "cache"))
    average = AverageEmbedding.from_vectors("learn", pool, make_sentences(20, seed=9))
    found = embedding_neighbours(pool, pool.texts([3, 400]), 1, embedding=average, engine=engine_named("exact"))
    assert found.rows[:, 0].tolist() == [3, 400]


def test_labelled_texts_without_any_vector_are_an_error(pool: Pool, vectors: Path) -> None:
    average = AverageEmbedding.from_vectors(vectors, pool, ["nothing known"])
    with pytest.raises(UserError, match="no word of the labelled texts has a vector"):
        embedding_neighbours(pool, ["nothing known"], 3, embedding=average, engine=engine_named("exact"))
