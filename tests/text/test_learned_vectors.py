"""Vectors learnt from the texts at hand: the same for the same seed, cached, and telling like words."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from attnvat.errors import UserError
from attnvat.text import learned_vectors as module
from attnvat.text.learned_vectors import learn_vectors

ANIMALS, FOODS = ["cat", "dog", "horse"], ["bread", "cheese", "soup"]


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ATTNVAT_CACHE", str(tmp_path / "cache"))


def texts(count: int = 1500) -> list[list[str]]:
    """Sentences in which words of a group stand among the same neighbours."""
    generator = np.random.default_rng(0)
    frames = [(ANIMALS, ["runs", "sleeps", "barks"]), (FOODS, ["tastes", "smells", "cooks"])]
    picked = (frames[row % 2] for row in range(count))
    return [["the", generator.choice(names), *generator.permutation(verbs).tolist()] for names, verbs in picked]


def test_words_used_alike_get_vectors_alike() -> None:
    vectors = learn_vectors(texts(), [*ANIMALS, *FOODS, "unseen"], dimension=16, sample=0, epochs=10)
    assert vectors.found.tolist() == [True] * 6 + [False]
    assert vectors.matrix.shape == (7, vectors.dimension) == (7, 16)
    unit = vectors.matrix[:6] / np.linalg.norm(vectors.matrix[:6], axis=1, keepdims=True)
    cosines = unit @ unit.T
    within = np.concatenate([cosines[:3, :3][np.triu_indices(3, 1)], cosines[3:, 3:][np.triu_indices(3, 1)]])
    assert within.min() > cosines[:3, 3:].max()


def test_one_worker_is_deterministic() -> None:
    first, again, other = (
        learn_vectors(iter(texts(300)), ANIMALS, dimension=8, seed=seed, cache=False).matrix for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


def test_the_second_time_is_from_the_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    words = ["cat", "unseen", "soup"]
    first = learn_vectors(texts(300), words, dimension=8)
    monkeypatch.setattr(module, "Word2Vec", lambda *args, **options: pytest.fail("learnt again"))
    again = learn_vectors(texts(300), words, dimension=8)
    np.testing.assert_array_equal(first.matrix, again.matrix)
    assert learn_vectors(texts(300), ["dog"], dimension=8).found.all()
    for change in ({"seed": 1}, {"dimension": 9}, {"epochs": 2}):
        with pytest.raises(pytest.fail.Exception, match="learnt again"):
            learn_vectors(texts(300), words, **{"dimension": 8, **change})
    with pytest.raises(pytest.fail.Exception, match="learnt again"):
        learn_vectors(texts(299), words, dimension=8)


@pytest.mark.parametrize("token_lists", [[], [[]], [["once"], ["each"]]])
def test_too_little_text_is_a_user_error(token_lists: list[list[str]]) -> None:
    with pytest.raises(UserError, match="no word vectors can be learnt"):
        learn_vectors(token_lists, ["once"])
