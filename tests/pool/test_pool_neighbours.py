from __future__ import annotations

import importlib

import numpy as np
import pytest

from attnvat.errors import UserError
from attnvat.pool.neighbours import ENGINES, engine_named, optional

LIBRARY = {"voyager": "voyager", "usearch": "usearch", "annoy": "annoy"}


@pytest.mark.parametrize("name", ENGINES)
def test_every_engine_finds_the_nearest_with_their_cosines(name: str) -> None:
    if name in LIBRARY:
        pytest.importorskip(LIBRARY[name])
    generator = np.random.default_rng(0)
    centres = np.repeat(generator.standard_normal((40, 16)), 75, axis=0)
    vectors = (centres + 0.4 * generator.standard_normal((3000, 16))).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    queries = vectors[::60] + 0.1 * generator.standard_normal((50, 16)).astype(np.float32)
    queries /= np.linalg.norm(queries, axis=1, keepdims=True)
    similarity, places = engine_named(name).search(queries, vectors, 10)
    cosines = queries @ vectors.T
    expected = np.argsort(-cosines, axis=1)[:, :10]
    recall = np.mean([len(set(a) & set(b)) / 10 for a, b in zip(places.tolist(), expected.tolist(), strict=True)])
    assert recall == 1 if name == "exact" else recall >= 0.9
    assert (np.diff(similarity, axis=1) <= 1e-6).all()
    np.testing.assert_allclose(similarity, np.take_along_axis(cosines, places, axis=1), atol=1e-4)


@pytest.mark.parametrize("name", ENGINES)
def test_every_engine_takes_a_block_of_a_few_vectors(name: str) -> None:
    if name in LIBRARY:
        pytest.importorskip(LIBRARY[name])
    vectors = np.eye(3, dtype=np.float32)
    _, places = engine_named(name).search(vectors, vectors, 3)
    assert sorted(places[0].tolist()) == [0, 1, 2]
    assert places[:, 0].tolist() == [0, 1, 2]


def test_an_unknown_engine_and_a_library_that_is_not_there() -> None:
    with pytest.raises(UserError, match="did you mean 'voyager'"):
        engine_named("voyagr")
    with pytest.raises(ImportError):
        importlib.import_module("no_such_library")
    with pytest.raises(UserError, match=r"pip install 'attnvat\[neighbours\]'"):
        optional("no_such_library", "neighbours")
