"""Neighbours by average word embedding: texts as the mean of their words' vectors, compared by cosine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, islice
from pathlib import Path

import numpy as np
from scipy import sparse

from attnvat.errors import UserError
from attnvat.pool.nearest import Floats, NearestSoFar, Neighbours, Rows
from attnvat.pool.neighbours import Engine
from attnvat.pool.pool import Pool
from attnvat.progress import progress
from attnvat.text.encoding import encode_texts
from attnvat.text.tokenizer import Text, Tokenizer
from attnvat.text.vectors import load_vectors, vector_words
from attnvat.text.vocabulary import Vocabulary, build_vocabulary

LEARN = "learn"
"""The name that stands for vectors learned from the pool itself."""
LEARN_TEXTS = 200_000
MANY_WORDS = 500_000
"""Of a larger table of vectors only the words that occur in the texts are taken: 200 MB at 100 dimensions."""


class AverageEmbedding:
    """Turns texts into unit vectors: the direction of the average of their words' vectors."""

    def __init__(self, vocabulary: Vocabulary, matrix: Floats, source: str, tokenizer: Tokenizer) -> None:
        self.vocabulary, self.matrix, self.source, self.tokenizer = vocabulary, matrix, source, tokenizer

    @classmethod
    def from_vectors(
        cls,
        source: str | Path,
        pool: Pool,
        labelled: Sequence[Text],
        *,
        tokenizer: Tokenizer | None = None,
        data_dir: Path | str | None = None,
    ) -> AverageEmbedding:
        """With pretrained vectors, from a path or a name such as `glove.6B.100d`; `learn` learns them from the pool."""
        tokenizer = tokenizer or Tokenizer()
        if str(source) == LEARN:
            return cls.learned(pool, labelled, tokenizer)
        words = set(tokenizer.normalise(vector_words(source, data_dir=data_dir)))
        if len(words) > MANY_WORDS:
            words = seen_words(pool, labelled, tokenizer, words)
        vocabulary = Vocabulary(sorted(words))
        vectors = load_vectors(source, vocabulary.words, data_dir=data_dir)
        return cls(vocabulary, vectors.matrix, str(source), tokenizer)

    @classmethod
    def learned(cls, pool: Pool, labelled: Sequence[Text], tokenizer: Tokenizer) -> AverageEmbedding:
        """With vectors learned from the labelled texts and the first of the pool's."""
        from attnvat.text.learned_vectors import learn_vectors  # gensim takes a second to import

        texts = islice(chain.from_iterable(block for _, block in pool.blocks()), LEARN_TEXTS)
        tokens = [tokenizer.words(text) for text in chain(labelled, texts)]
        vocabulary = build_vocabulary(tokens, min_frequency=2)
        vectors = learn_vectors(tokens, vocabulary.words)
        return cls(vocabulary, vectors.matrix, LEARN, tokenizer)

    def vectors(self, texts: Sequence[Text]) -> Floats:
        """One unit vector a text (N, d); zero for a text none of whose words has a vector."""
        encoded = encode_texts(texts, self.tokenizer, self.vocabulary)
        ones = np.ones(len(encoded.ids), dtype=np.float32)
        shape = (len(encoded), len(self.vocabulary))
        # The sum points where the average does; unknown words have a row of zeros.
        total: Floats = np.asarray(sparse.csr_matrix((ones, encoded.ids, encoded.offsets), shape=shape) @ self.matrix)
        length = np.linalg.norm(total, axis=1, keepdims=True)
        np.divide(total, length, out=total, where=length > 1e-12)
        return total

    def blocks(self, pool: Pool, rows: int) -> Iterator[tuple[Rows, Floats]]:
        """The pool's vectors in blocks of `rows` (fewer at its end), with their row numbers; zero vectors left out."""
        numbers: list[Rows] = []
        parts: list[Floats] = []
        for start, texts in pool.blocks(min(rows, 8192)):
            vectors = self.vectors(texts)
            known = np.flatnonzero(vectors.any(axis=1))
            numbers.append(known + start)
            parts.append(vectors[known])
            if sum(map(len, numbers)) >= rows:
                yield np.concatenate(numbers), np.concatenate(parts)
                numbers, parts = [], []
        if sum(map(len, numbers)):
            yield np.concatenate(numbers), np.concatenate(parts)


def embedding_neighbours(
    pool: Pool, labelled: Sequence[Text], depth: int, *, embedding: AverageEmbedding, engine: Engine
) -> Neighbours:
    """The pool texts nearest to each labelled text; one none of whose words has a vector has no neighbours."""
    queries = embedding.vectors(labelled)
    known = np.flatnonzero(queries.any(axis=1))
    if not len(known):
        raise UserError(f"no word of the labelled texts has a vector in {embedding.source}; choose other --vectors")
    nearest = NearestSoFar(len(labelled), depth)
    with progress("comparing embeddings", total=len(pool)) as advance:
        for rows, vectors in embedding.blocks(pool, engine.block_rows):
            similarity, places = engine.search(queries[known], vectors, min(depth, len(rows)))
            found = np.where(places >= 0, rows[places], -1)
            nearest.add_lists(known, found, similarity)
            advance(len(rows))
    return nearest.result()


def seen_words(pool: Pool, labelled: Sequence[Text], tokenizer: Tokenizer, known: set[str]) -> set[str]:
    """Those of the known words that occur in the labelled texts or in the pool."""
    seen = {word for text in labelled for word in tokenizer.words(text)} & known
    with progress("collecting words", total=len(pool)) as advance:
        for _, texts in pool.blocks():
            for text in texts:
                seen.update(known.intersection(tokenizer.tokenize(text)))
            advance(len(texts))
    return seen
