"""Word vectors in word2vec's binary format: a header line, then each word, a space and its raw numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import BinaryIO

import numpy as np

from attnvat.errors import UserError
from attnvat.text.vector_text import AGAIN, BLOCK_BYTES, Block

LONGEST_WORD = 4096
"""Bytes; a longer "word" means that the numbers are not where the header says they are."""


def read_word2vec_vectors(handle: BinaryIO, file: str) -> Iterator[Block]:
    """All words and vectors of a word2vec `.bin`, some megabytes at a time; `file` names it in errors."""
    header = re.fullmatch(rb"(\d+) (\d+)\s*", handle.readline(64))
    if not header:
        raise UserError(f"{file}: 1: not word2vec's binary format: expected the number of words and of dimensions")
    expected, dimension = int(header[1]), int(header[2])
    if not expected or not dimension:
        raise UserError(f"{file}: 1: the header promises {expected} vectors of {dimension} numbers: nothing to read")
    size, seen, rest = 4 * dimension, 0, b""
    while seen < expected:
        fresh = handle.read(max(BLOCK_BYTES, size + LONGEST_WORD))
        data = rest + fresh
        words, vectors, place = [], [], 0
        while seen < expected:
            space = data.find(b" ", place, place + LONGEST_WORD)
            if space < 0 or space + 1 + size > len(data):
                break
            # The original program ends every vector with a newline, others do not.
            words.append(_word(data[place:space].lstrip(b"\n"), seen + 1, file))
            vectors.append(data[space + 1 : space + 1 + size])
            place = space + 1 + size
            seen += 1
        rest = data[place:]
        if words:
            matrix = np.frombuffer(b"".join(vectors), dtype="<f4").reshape(len(words), dimension)
            _check_finite(matrix, seen - len(words), file)
            yield words, matrix
        elif len(rest) > size + LONGEST_WORD:
            raise UserError(f"{file}: vector {seen + 1:,}: no word where one must begin; {AGAIN}")
        if not fresh and seen < expected:
            raise UserError(f"{file}: ends after {seen:,} of {expected:,} vectors; {AGAIN}")


def _word(raw: bytes, number: int, file: str) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise UserError(
            f"{file}: vector {number:,}: the word is not UTF-8 ({error.reason}); "
            "the header's dimension is wrong or the file is damaged: download it again"
        ) from error


def _check_finite(matrix: np.ndarray[tuple[int, ...], np.dtype[np.float32]], before: int, file: str) -> None:
    bad = ~np.isfinite(matrix).all(axis=1)
    if bad.any():
        number = before + int(bad.argmax()) + 1
        raise UserError(f"{file}: vector {number:,}: holds a number that is not finite; {AGAIN}")
