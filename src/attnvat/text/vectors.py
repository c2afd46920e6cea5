"""Pretrained word vectors for a vocabulary: GloVe and fastText text, word2vec and fastText binaries."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch

from attnvat.progress import progress
from attnvat.storage import atomic_write
from attnvat.text.fasttext_binary import FastText, open_fasttext
from attnvat.text.vector_binary import read_word2vec_vectors
from attnvat.text.vector_cache import VectorTable, cache_or_note, cache_path, forget_earlier, open_table, write_table
from attnvat.text.vector_files import VectorFile, find_vectors
from attnvat.text.vector_text import BLOCK_BYTES, Block, read_text_vectors


@dataclass(frozen=True, eq=False)
class Vectors:
    """A vector for each word of a list, zero where there is none."""

    matrix: npt.NDArray[np.float32]
    """Vectors in the order of the words (N, d)."""
    found: npt.NDArray[np.bool_]
    """Whether each word has a vector (N,)."""
    dimension: int
    """Length of a vector, d."""
    source: str
    """Where they come from."""
    from_subwords: int = 0
    """How many of the words found are not known to the source, but were put together from their n-grams."""

    @property
    def coverage(self) -> float:
        """The share of the words that have a vector."""
        return float(self.found.mean()) if len(self.found) else 0.0


def load_vectors(
    source: str | Path, words: Sequence[str], *, data_dir: Path | str | None = None, cache: bool = True
) -> Vectors:
    """The vectors of `words` from a file, given by its path or by a name such as `glove.6B.100d`.

    A name is looked for in the data folders. A word not in the file is looked up in lower case, with a capital
    and in capitals, in this order; a fastText model makes up a vector from the word's n-grams after that.
    """
    file = find_vectors(source, data_dir)
    if file.format() == "fasttext":
        with _fasttext(file, cache) as model:
            return _from_fasttext(model, words, str(file))
    table = _cached(file) if cache else None
    if table is None:
        table = _read_only(file, {spelling for word in words for spelling in spellings(word)})
    return pick(table, words, str(file))


def vector_words(source: str | Path, *, data_dir: Path | str | None = None, cache: bool = True) -> list[str]:
    """The words that have a vector of their own in a file, each once and in its order: the commonest first, mostly."""
    file = find_vectors(source, data_dir)
    if file.format() == "fasttext":
        with _fasttext(file, cache) as model:
            return list(model.words)
    table = _cached(file) if cache else None
    words = table.words if table else (word for words, _ in _blocks(file) for word in words)
    return list(dict.fromkeys(words))


def spellings(word: str) -> tuple[str, ...]:
    """The spellings under which a word is looked up, best first."""
    return word, word.lower(), word.capitalize(), word.upper()


def pick(table: VectorTable, words: Sequence[str], source: str) -> Vectors:
    """The vectors of `words` out of a table, each under its best spelling."""
    # A file may hold a word twice: the first counts, so it is put into the dictionary last.
    row_of = dict(zip(reversed(table.words), range(len(table.words) - 1, -1, -1), strict=True))
    rows = np.array([row_of.get(word, -1) for word in words], dtype=np.int64)
    for number in np.flatnonzero(rows < 0).tolist():
        rows[number] = next((row_of[other] for other in spellings(words[number]) if other in row_of), -1)
    return Vectors(table.rows(rows), rows >= 0, table.dimension, source)


def _blocks(file: VectorFile) -> Iterator[Block]:
    """The words and vectors of a file that is no fastText model, with progress shown."""
    read = read_word2vec_vectors if file.format() == "word2vec" else read_text_vectors
    with file.open() as handle, progress(f"reading {file.path.name}") as advance:
        for words, matrix in read(handle, str(file)):
            yield words, matrix
            advance(len(words))


def _cached(file: VectorFile) -> VectorTable | None:
    """The cached copy of a file, made now if there is none; None where no cache can be written."""
    path = cache_path(file)
    table = open_table(path)
    if table is None:
        with cache_or_note(path):
            forget_earlier(path)
            write_table(path, _blocks(file))
            table = open_table(path)
    return table


def _read_only(file: VectorFile, wanted: set[str]) -> VectorTable:
    """The rows of a file whose words are wanted, in memory."""
    words: list[str] = []
    parts: list[npt.NDArray[np.float32]] = []
    for names, matrix in _blocks(file):
        rows = [row for row, word in enumerate(names) if word in wanted]
        words += [names[row] for row in rows]
        parts.append(matrix[rows])
    return VectorTable(words, torch.from_numpy(np.concatenate(parts)))


@contextmanager
def _fasttext(file: VectorFile, cache: bool) -> Iterator[FastText]:
    """The fastText model in a file; a compressed one is unpacked, into the cache or for this once."""
    if file.plain:
        yield open_fasttext(file.path, str(file))
        return
    path = cache_path(file, ".bin")
    if cache and not path.exists():
        with cache_or_note(path):
            forget_earlier(path)
            with file.open() as packed, atomic_write(path, "wb") as plain:
                shutil.copyfileobj(packed, plain, BLOCK_BYTES)
    if cache and path.exists():
        yield open_fasttext(path, str(file))
        return
    with tempfile.NamedTemporaryFile(suffix=".bin") as plain:
        with file.open() as packed:
            shutil.copyfileobj(packed, plain, BLOCK_BYTES)
        plain.flush()
        yield open_fasttext(Path(plain.name), str(file))


def _from_fasttext(model: FastText, words: Sequence[str], source: str) -> Vectors:
    """The vectors of `words` from a fastText model: known spellings first, n-grams after that."""
    matrix = np.zeros((len(words), model.dimension), dtype=np.float32)
    found = np.zeros(len(words), dtype=np.bool_)
    made_up = 0
    for number, word in enumerate(words):
        known = next((spelling for spelling in spellings(word) if spelling in model.words), None)
        vector = model.vector(word if known is None else known)
        if vector is not None:
            matrix[number], found[number] = vector, True
            made_up += known is None
    return Vectors(matrix, found, model.dimension, source, made_up)
