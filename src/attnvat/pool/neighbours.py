"""Nearest-neighbour search of dense vectors, by the library a person names; all measure the cosine.

Every engine answers for one block of the pool at a time, and the answers are merged: time grows with the pool, memory
does not. `exact` compares everything with everything as matrix products. The others build an index for each block
first, which pays only when the same block is searched far more often than a selection does; `benchmarks/pool.py` has
the figures.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from attnvat.errors import UserError, nearest
from attnvat.pool.nearest import Floats

Found = tuple[Floats, NDArray[np.int64]]
"""Cosines and places in the block (Q, k), nearest first; a place of -1 is none."""
Index = Callable[[Floats, int], Found]
"""Searches a block for the k nearest of each query: `index(queries, k)`, with unit vectors (Q, d)."""


@dataclass(frozen=True)
class Engine:
    """A way to search blocks of unit vectors."""

    index: Callable[[Floats], Index]
    """Makes a block of vectors (N, d) ready to be searched."""
    block_rows: int
    """How many vectors a block should have: an index is better large, a matrix product small."""

    def search(self, queries: Floats, vectors: Floats, k: int) -> Found:
        """The k nearest of each query in a block that is searched only once."""
        return self.index(vectors)(queries, k)


def exact_index(vectors: Floats) -> Index:
    """All cosines by matrix products, the k largest of each query (faiss.knn): recall 1, nothing to prepare."""
    import faiss

    return lambda queries, k: faiss.knn(queries, vectors, k, metric=faiss.METRIC_INNER_PRODUCT)


def faiss_hnsw_index(vectors: Floats, *, links: int = 32, effort: int = 160, build_effort: int = 100) -> Index:
    """A graph of neighbours walked from the top (faiss HNSW)."""
    import faiss

    index = faiss.IndexHNSWFlat(vectors.shape[1], links, faiss.METRIC_INNER_PRODUCT)
    index.hnsw.efConstruction = build_effort
    index.add(vectors)

    def search(queries: Floats, k: int) -> Found:
        index.hnsw.efSearch = max(effort, 2 * k)
        similarity, places = index.search(queries, k)
        return similarity, places

    return search


def faiss_ivf_index(vectors: Floats, *, cells: int | None = None, probes: int | None = None) -> Index:
    """The cells nearest to the query of a k-means partition (faiss IVF)."""
    import faiss

    cells = cells or max(1, min(int(np.sqrt(len(vectors))), len(vectors) // 40))
    quantizer = faiss.IndexFlatIP(vectors.shape[1])
    index = faiss.IndexIVFFlat(quantizer, vectors.shape[1], cells, faiss.METRIC_INNER_PRODUCT)
    index.cp.seed = 1
    index.train(vectors[:: max(1, len(vectors) // (64 * cells))])
    index.add(vectors)
    index.nprobe = probes or max(1, min(cells, cells // 32 + 4))

    def search(queries: Floats, k: int) -> Found:
        similarity, places = index.search(queries, k)
        return similarity, places

    return search


def voyager_index(vectors: Floats, *, links: int = 16, effort: int = 200, build_effort: int = 150) -> Index:
    """A graph of neighbours (Voyager, Annoy's successor)."""
    voyager = optional("voyager", "neighbours")
    space, dimensions = voyager.Space.InnerProduct, vectors.shape[1]
    index = voyager.Index(space, num_dimensions=dimensions, M=links, ef_construction=build_effort, random_seed=1)
    index.add_items(vectors)

    def search(queries: Floats, k: int) -> Found:
        found, _ = index.query(queries, k=k, query_ef=max(effort, 2 * k))
        # Its distances have been seen not to be those of the places beside them: the cosines are taken anew.
        places = found.astype(np.int64)
        similarity = np.einsum("qd,qkd->qk", queries, vectors[places])
        order = np.argsort(-similarity, axis=1, kind="stable")
        return np.take_along_axis(similarity, order, axis=1), np.take_along_axis(places, order, axis=1)

    return search


def usearch_index(vectors: Floats, *, links: int = 16, effort: int = 200, build_effort: int = 150) -> Index:
    """A graph of neighbours (usearch)."""
    usearch = optional("usearch.index", "neighbours")
    options = {"connectivity": links, "expansion_add": build_effort}
    index = usearch.Index(ndim=vectors.shape[1], metric="ip", dtype="f32", **options)
    index.add(np.arange(len(vectors)), vectors)

    def search(queries: Floats, k: int) -> Found:
        index.expansion_search = max(effort, 2 * k)
        found = index.search(queries, k)
        keys = np.atleast_2d(found.keys)
        filled = np.arange(keys.shape[1]) < np.atleast_1d(found.counts)[:, None]
        similarity = 1 - np.atleast_2d(found.distances).astype(np.float32)
        return similarity, np.where(filled, keys.astype(np.int64), -1)

    return search


def annoy_index(vectors: Floats, *, trees: int = 100, search_k: int = 50_000) -> Index:
    """A forest of random hyperplanes (Annoy), as in the paper."""
    annoy = optional("annoy", "annoy")
    index = annoy.AnnoyIndex(vectors.shape[1], "angular")
    index.set_seed(1)
    for place, vector in enumerate(vectors):
        index.add_item(place, vector)
    index.build(trees)

    def search(queries: Floats, k: int) -> Found:
        places = np.full((len(queries), k), -1, dtype=np.int64)
        similarity = np.full((len(queries), k), -np.inf, dtype=np.float32)
        for number, query in enumerate(queries):
            found, distances = index.get_nns_by_vector(query, k, search_k, include_distances=True)
            places[number, : len(found)] = found
            # Annoy's angular distance is the chord, √(2 − 2 cos).
            similarity[number, : len(found)] = 1 - np.square(distances) / 2
        return similarity, places

    return search


INDEX_ROWS = 1 << 20
ENGINES: dict[str, Engine] = {
    "exact": Engine(exact_index, 1 << 17),
    "faiss-hnsw": Engine(faiss_hnsw_index, INDEX_ROWS),
    "faiss-ivf": Engine(faiss_ivf_index, INDEX_ROWS),
    "voyager": Engine(voyager_index, INDEX_ROWS),
    "usearch": Engine(usearch_index, INDEX_ROWS),
    "annoy": Engine(annoy_index, INDEX_ROWS),
}


def engine_named(name: str) -> Engine:
    """The engine of that name."""
    if name not in ENGINES:
        raise UserError(f"no search engine {name!r}; {nearest(name, ENGINES)}")
    return ENGINES[name]


def optional(module: str, extra: str) -> ModuleType:
    """A library that is not installed by default, or the command that installs it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        library = module.partition(".")[0]
        raise UserError(f"the library {library!r} is not installed; pip install 'attnvat[{extra}]'") from error
