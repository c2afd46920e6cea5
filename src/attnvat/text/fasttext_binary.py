"""fastText's `.bin` models: vectors of known words, and of unknown words from the pieces they are made of.

A word's vector is the mean of its own row and of the rows of its character n-grams; a word the model does not
know has its n-grams alone. N-grams share a fixed number of rows by their hash (Bojanowski et al., 2017).
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np
import numpy.typing as npt

from attnvat.errors import UserError
from attnvat.text.vector_files import FASTTEXT_MAGIC
from attnvat.text.vector_text import AGAIN

VERSIONS = (11, 12)
SUPERVISED = 3
END_OF_SENTENCE = "</s>"


@dataclass(frozen=True)
class FastText:
    """A fastText model on disk: its words, and its rows by memory map."""

    words: dict[str, int]
    """The row of every known word."""
    matrix: npt.NDArray[np.float32]
    """Rows of the words, then of the hashed n-grams (words + labels + buckets, d)."""
    first_bucket: int
    buckets: int
    shortest: int
    longest: int

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        return int(self.matrix.shape[1])

    def vector(self, word: str) -> npt.NDArray[np.float32] | None:
        """The vector of any word (d,); None where neither the word nor any of its n-grams is known."""
        rows = self.rows(word)
        return self.matrix[rows].mean(axis=0, dtype=np.float32) if rows else None

    def rows(self, word: str) -> list[int]:
        """The rows whose mean is the word's vector."""
        own = [self.words[word]] if word in self.words else []
        if word == END_OF_SENTENCE or not self.buckets or self.longest <= 0:
            return own
        return own + [
            self.first_bucket + value % self.buckets for value in ngram_hashes(word, self.shortest, self.longest)
        ]


def ngram_hashes(word: str, shortest: int, longest: int) -> list[int]:
    """fastText's 32-bit hash of every character n-gram of `<word>`, in its order."""
    letters = [character.encode("utf-8", "surrogatepass") for character in f"<{word}>"]
    hashes = []
    for start in range(len(letters)):
        value = 2166136261
        for end in range(start, min(start + longest, len(letters))):
            for byte in letters[end]:
                # fastText widens a signed byte, so bytes from 128 on also flip the upper 24 bits.
                value = ((value ^ (byte | 0xFFFFFF00 if byte > 127 else byte)) * 16777619) & 0xFFFFFFFF
            length = end - start + 1
            lone_bracket = length == 1 and (start == 0 or end == len(letters) - 1)
            if length >= shortest and not lone_bracket:
                hashes.append(value)
    return hashes


def open_fasttext(path: Path, file: str) -> FastText:
    """The model in an uncompressed `.bin` file; `file` names it in errors."""
    try:
        with path.open("rb") as handle:
            return _read(handle, path, file)
    except (struct.error, IndexError) as error:
        raise UserError(f"{file}: ends before its vectors; {AGAIN}") from error


def _read(handle: BinaryIO, path: Path, file: str) -> FastText:
    def take(layout: str) -> tuple[int, ...]:
        return struct.unpack(f"<{layout}", handle.read(struct.calcsize(f"<{layout}")))

    if handle.read(4) != FASTTEXT_MAGIC:
        raise UserError(f"{file}: not a fastText model")
    (version,) = take("i")
    if version not in VERSIONS:
        raise UserError(f"{file}: fastText format {version}, known are {VERSIONS}; save it with fastText 0.9")
    dimension, _, _, _, _, _, _, model, buckets, shortest, longest, _ = take("12i")
    take("d")
    if version == 11 and model == SUPERVISED:
        longest = 0  # such models were written with an n-gram length they had not used
    entries, n_words, _ = take("3i")
    _, pruned = take("2q")
    words = _read_words(handle, entries, n_words, file)
    if pruned > 0 or take("?")[0]:
        raise UserError(f"{file}: a quantised fastText model (.ftz); take the full .bin model, or its .vec file")
    rows, columns = take("2q")
    start = handle.tell()
    if columns != dimension or rows < entries:
        raise UserError(f"{file}: {rows:,} × {columns} numbers for {entries:,} words × {dimension}; {AGAIN}")
    if path.stat().st_size < start + 4 * rows * columns:
        raise UserError(f"{file}: ends inside its vectors; {AGAIN}")
    matrix = np.memmap(path, dtype="<f4", mode="r", offset=start, shape=(rows, columns))
    return FastText(words, matrix, entries, min(buckets, rows - entries), shortest, longest)


def _read_words(handle: BinaryIO, entries: int, n_words: int, file: str) -> dict[str, int]:
    """The row of each word: entries are the word, a zero byte, its count (8 bytes) and its kind (1 byte)."""
    words: dict[str, int] = {}
    data, place = b"", 0
    for number in range(entries):
        while (end := data.find(b"\0", place)) < 0 or end + 10 > len(data):
            fresh = handle.read(1 << 20)
            if not fresh:
                raise UserError(f"{file}: ends after {number:,} of {entries:,} words; {AGAIN}")
            data, place = data[place:] + fresh, 0
        if number < n_words:
            try:
                words.setdefault(data[place:end].decode("utf-8"), number)
            except UnicodeDecodeError as error:
                raise UserError(f"{file}: word {number + 1:,} is not UTF-8 ({error.reason}); {AGAIN}") from error
        place = end + 10
    handle.seek(place - len(data), 1)
    return words
