from __future__ import annotations

import numpy as np

from attnvat.pool.nearest import NearestSoFar


def test_the_best_of_each_query_whatever_the_order_they_come_in() -> None:
    generator = np.random.default_rng(0)
    similarity = generator.integers(0, 50, (7, 400)).astype(np.float32)  # many ties
    queries, rows = (grid.ravel() for grid in np.indices(similarity.shape))
    nearest = NearestSoFar(7, 9)
    for part in np.array_split(np.arange(similarity.size), 13):
        nearest.add(queries[part], rows[part], similarity.ravel()[part])
        nearest._sort()
    found = nearest.result()
    for query, values in enumerate(similarity):
        expected = np.lexsort((np.arange(400), -values))[:9]
        assert found.rows[query].tolist() == expected.tolist()
        assert found.similarity[query].tolist() == values[expected].tolist()


def test_missing_neighbours_are_minus_one() -> None:
    nearest = NearestSoFar(3, 2)
    lists = np.array([[4, -1], [5, 6]])
    nearest.add_lists(np.array([0, 2]), lists, np.array([[0.5, 0.9], [0.1, 0.2]], dtype=np.float32))
    assert nearest.result().rows.tolist() == [[4, -1], [-1, -1], [6, 5]]
