"""Choose the part of a pool to train on: at random, or as the nearest neighbours of the labelled texts.

All strategies give exactly as many texts as asked for, so that they compare at equal size.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from attnvat.corpora.example import plain
from attnvat.errors import UserError, nearest
from attnvat.pool.bag_of_words import Weighting, bow_neighbours
from attnvat.pool.embedding import AverageEmbedding, embedding_neighbours
from attnvat.pool.nearest import Neighbours
from attnvat.pool.neighbours import engine_named
from attnvat.pool.pool import Pool
from attnvat.pool.random_sample import random_rows
from attnvat.pool.selection import Selection
from attnvat.text.tokenizer import Text

Strategy = Literal["random", "bow", "embedding"]
DEPTH_ENTRIES = 1 << 26
"""The most neighbours looked at over all labelled texts (800 MB): a bound on how deep the topping up goes."""


def select(
    pool: Pool,
    labelled: Sequence[Text],
    strategy: str,
    size: int,
    neighbours: int = 10,
    seed: int = 0,
    *,
    vectors: str | Path | AverageEmbedding | None = None,
    engine: str = "exact",
    weighting: Weighting = "counts",
    labelled_name: str = "",
    data_dir: Path | str | None = None,
) -> Selection:
    """Exactly `size` rows of the pool, chosen by `strategy` with respect to the labelled texts.

    By neighbours: those among the first `neighbours` of any labelled text come first, nearest first; where they are
    too few, everybody's next neighbour follows, and the next, until there are enough.
    """
    if strategy not in get_args(Strategy):
        raise UserError(f"no strategy {strategy!r}; {nearest(strategy, get_args(Strategy))}")
    if not 1 <= size <= len(pool):
        raise UserError(
            f"{pool.path}: {size:,} texts asked for where the pool has {len(pool):,}; ask for 1 to {len(pool):,}"
        )
    made: dict[str, Any] = {
        "strategy": strategy,
        "size": size,
        "seed": seed,
        "pool": {"fingerprint": pool.fingerprint, "rows": len(pool)},
        "labelled": {"name": labelled_name, "texts": len(labelled), "sha256": texts_digest(labelled)},
        "versions": {name: importlib.metadata.version(name) for name in ("attnvat", "numpy", "scipy", "faiss-cpu")},
    }
    if strategy == "random":
        nothing = np.zeros(size, dtype=np.int32)
        rows = random_rows(len(pool), size, seed)
        return Selection(rows, nothing - 1, nothing, np.full(size, np.nan, dtype=np.float32), made)
    if not labelled:
        raise UserError(f"strategy {strategy!r} needs labelled texts to find the neighbours of")
    if neighbours < 1:
        raise UserError(f"--neighbours {neighbours}: at least 1 is needed")
    made["neighbours"] = neighbours
    if strategy == "bow":
        made["weighting"] = weighting
        found = deepened(
            lambda depth: bow_neighbours(pool, labelled, depth, weighting=weighting), pool, labelled, size, neighbours
        )
    else:
        chosen = engine_named(engine)
        if not isinstance(vectors, AverageEmbedding):
            vectors = AverageEmbedding.from_vectors(vectors or "learn", pool, labelled, data_dir=data_dir)
        embedding = vectors
        made |= {"engine": engine, "vectors": embedding.source, "dimension": int(embedding.matrix.shape[1])}
        found = deepened(
            lambda depth: embedding_neighbours(pool, labelled, depth, embedding=embedding, engine=chosen),
            pool,
            labelled,
            size,
            neighbours,
        )
    return chosen_rows(found, size, neighbours, made)


def deepened(
    search: Callable[[int], Neighbours], pool: Pool, labelled: Sequence[Text], size: int, neighbours: int
) -> Neighbours:
    """Neighbours to such a depth that at least `size` different rows are among them."""
    limit = min(len(pool), max(neighbours, DEPTH_ENTRIES // len(labelled)))
    # Labelled texts share neighbours: eight times the even share is usually enough, and cheap.
    depth = min(limit, max(neighbours, 8 * -(-size // len(labelled))))
    while True:
        found = search(depth)
        rows = len(np.unique(found.rows[found.rows >= 0]))
        if rows >= size:
            return found
        if depth == limit:
            raise UserError(
                f"{pool.path}: only {rows:,} of its {len(pool):,} texts are among the first {depth:,} neighbours of a "
                f"labelled text; ask for at most that many, or take --strategy random"
            )
        # A little more than in proportion, since each step deeper finds fewer new rows.
        depth = min(limit, max(depth + 1, int(depth * min(8.0, 1.5 * size / max(rows, 1)))))


def chosen_rows(found: Neighbours, size: int, neighbours: int, made: dict[str, Any]) -> Selection:
    """The first `size` rows: neighbours within the first `neighbours` by distance, then rank by rank by distance."""
    queries, ranks = np.nonzero(found.rows >= 0)
    rows, similarity = found.rows[queries, ranks], found.similarity[queries, ranks]
    tier = np.maximum(ranks - (neighbours - 1), 0)
    order = first_of_each(rows, np.lexsort((rows, -similarity, tier)))[:size]
    chosen = rows[order]
    closest = first_of_each(rows, np.lexsort((queries, -similarity)))
    closest = closest[np.argsort(rows[closest])]
    closest = closest[np.searchsorted(rows[closest], chosen)]
    made["from_neighbours"] = int((tier[order] == 0).sum())
    made["depth"] = int(ranks[order].max()) + 1
    return Selection(
        chosen,
        queries[closest].astype(np.int32),
        (ranks[order] + 1).astype(np.int32),
        np.maximum(1 - similarity[closest], 0).astype(np.float32),
        made,
    )


def first_of_each(values: NDArray[np.int64], order: NDArray[np.int64]) -> NDArray[np.int64]:
    """The part of `order` at which each value occurs for the first time, in that order."""
    return order[np.sort(np.unique(values[order], return_index=True)[1])]


def texts_digest(texts: Sequence[Text]) -> str:
    """A digest of texts and their order."""
    digest = hashlib.sha256()
    for text in texts:
        digest.update(plain(text).encode("utf-8", "surrogatepass") + b"\n")
    return digest.hexdigest()
