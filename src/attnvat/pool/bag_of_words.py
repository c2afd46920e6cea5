"""Neighbours by bag of words: the exact cosine of word counts, without ever forming a wide dense matrix.

A product of counts needs only the words that occur in labelled texts; the length of a pool text's vector needs all of
its words. A few words (`the`, `of`, the comma) are in half of all texts: in a sparse product they cost a hundred times
what all others do together, so those are multiplied as a narrow dense matrix and the others sparsely.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from attnvat.errors import UserError
from attnvat.pool.nearest import Floats, NearestSoFar, Neighbours
from attnvat.pool.pool import Pool
from attnvat.progress import progress
from attnvat.text.tokenizer import Text, Tokenizer

Weighting = Literal["counts", "tfidf"]
FREQUENT = 64
"""How many of the commonest words are multiplied densely."""
BLOCK, CHUNK = 8192, 128
"""Pool texts and labelled texts multiplied at a time: 4 MB of similarities, which stay in the processor's cache."""


class Bags:
    """Turns texts into sparse rows of weighted counts over the words of the labelled texts."""

    def __init__(self, labelled: Sequence[Text], tokenizer: Tokenizer, weighting: Weighting = "counts") -> None:
        self.tokenizer = tokenizer
        tokens = [tokenizer.words(text) for text in labelled]
        self.ids = {word: number for number, word in enumerate(dict.fromkeys(chain.from_iterable(tokens)))}
        texts_with = np.zeros(len(self.ids))
        for words in tokens:
            texts_with[[self.ids[word] for word in set(words)]] += 1
        self.by_frequency = np.argsort(-texts_with, kind="stable")
        # Smoothed idf over the labelled texts; a word they lack counts as one that no text has.
        total = 1 + len(tokens)
        self.idf = np.log(total / (1 + texts_with)) + 1 if weighting == "tfidf" else np.ones(len(self.ids))
        self.idf_unknown = np.log(total) + 1 if weighting == "tfidf" else 1.0

    def bags(self, texts: Sequence[Text]) -> tuple[Any, Floats]:
        """The rows of the texts (N, words) as a CSR matrix, and their lengths over all their words (N,)."""
        tokens = [self.tokenizer.words(text) for text in texts]
        ids = _Growing(self.ids)
        flat = np.fromiter(map(ids.__getitem__, chain.from_iterable(tokens)), dtype=np.int32)
        offsets = np.cumsum([0, *map(len, tokens)], dtype=np.int64)
        counts = sparse.csr_matrix((np.ones(len(flat), np.float32), flat, offsets), shape=(len(texts), len(ids)))
        counts.sum_duplicates()
        weights = np.full(len(ids), self.idf_unknown, dtype=np.float32)
        weights[: len(self.ids)] = self.idf
        counts.data *= weights[counts.indices]
        lengths = np.sqrt(np.asarray(counts.multiply(counts).sum(axis=1)).ravel())
        return counts[:, : len(self.ids)], lengths.astype(np.float32)


class _Growing(dict[str, int]):
    """Numbers words it does not know as they come, after those it knows."""

    def __missing__(self, word: str) -> int:
        number = self[word] = len(self)
        return number


@dataclass(frozen=True)
class _Split:
    """A matrix of bags in two: the columns of the commonest words dense, the others sparse."""

    dense: Floats
    sparse: Any

    @classmethod
    def of(cls, matrix: Any, frequent: NDArray[np.int64], others: NDArray[np.int64]) -> _Split:
        return cls(np.ascontiguousarray(matrix[:, frequent].toarray()), matrix[:, others])


def bow_neighbours(
    pool: Pool,
    labelled: Sequence[Text],
    depth: int,
    *,
    weighting: Weighting = "counts",
    tokenizer: Tokenizer | None = None,
) -> Neighbours:
    """The pool texts with the greatest cosine to each labelled text; a text without a common word is none."""
    bags = Bags(labelled, tokenizer or Tokenizer(), weighting)
    if not bags.ids:
        raise UserError("the labelled texts have no words; bag of words cannot compare them")
    frequent, others = np.split(bags.by_frequency, [FREQUENT])
    matrix, lengths = bags.bags(labelled)
    queries = _Split.of(matrix, frequent, others)
    nearest = NearestSoFar(len(labelled), depth)
    nearest.similarity[:] = 0.0  # a cosine of zero is no neighbour
    with progress("comparing bags of words", total=len(pool)) as advance:
        for start, texts in pool.blocks(BLOCK):
            block, block_lengths = bags.bags(texts)
            products(queries, _Split.of(block, frequent, others), block_lengths, start, nearest)
            advance(len(texts))
    found = nearest.result()
    similarity = np.where(found.rows >= 0, found.similarity / np.maximum(lengths, 1e-30)[:, None], -np.inf)
    return Neighbours(found.rows, similarity.astype(np.float32))


def products(queries: _Split, block: _Split, lengths: Floats, start: int, nearest: NearestSoFar) -> None:
    """Hand `nearest` the products of all labelled texts with a block of the pool, over the block's lengths.

    Products of counts are whole numbers, exact in float32 whatever the order of summation: equal texts come out equal,
    and the result does not depend on the number of threads.
    """
    width = len(lengths)
    transposed = block.sparse.T.tocsr()
    inverse = (1.0 / np.maximum(lengths, 1e-30)).astype(np.float32)
    for first in range(0, len(queries.dense), CHUNK):
        chunk = slice(first, first + CHUNK)
        similarity = queries.dense[chunk] @ block.dense.T
        rest = queries.sparse[chunk] @ transposed
        places = np.repeat(np.arange(len(similarity)) * width, np.diff(rest.indptr)) + rest.indices
        similarity.reshape(-1)[places] += rest.data
        similarity *= inverse
        least = nearest.threshold[chunk, None]
        if start == 0 and width > nearest.depth:  # nothing is known yet: the block's own best are enough
            best = np.partition(similarity, width - nearest.depth, axis=1)[:, width - nearest.depth, None]
            least = np.maximum(least, np.nextafter(best, np.float32(-np.inf)))
        better = np.flatnonzero(similarity > least)
        nearest.add(better // width + first, better % width + start, similarity.reshape(-1)[better])
