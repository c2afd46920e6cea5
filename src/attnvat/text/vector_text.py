"""Word vectors as text: GloVe's lines of a word and its numbers, and fastText's `.vec` with a header."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import BinaryIO

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyarrow import csv

from attnvat.errors import UserError

Block = tuple[list[str], npt.NDArray[np.float32]]
"""Some words and their vectors (n, d)."""
BLOCK_BYTES = 2 << 20
"""Larger blocks are no faster, and take up to seven times their size in memory."""
LARGEST = float(np.finfo(np.float32).max)
AGAIN = "truncated or damaged: download it again"


def read_text_vectors(handle: BinaryIO, file: str) -> Iterator[Block]:
    """All words and vectors of a text file, some megabytes at a time; `file` names it in errors."""
    first = handle.readline()
    header = re.fullmatch(rb"(\d+) (\d+)\s*", first)
    expected, line = (int(header[1]), 2) if header else (None, 1)
    dimension = int(header[2]) if header else len(first.split(b" ")) - 1 - first.rstrip(b"\r\n").endswith(b" ")
    if dimension < 2:
        raise UserError(f"{file}: 1: not word vectors: expected a word and its numbers, separated by spaces")
    seen, rest = 0, b"" if header else first
    while True:
        data = rest + handle.read(BLOCK_BYTES)
        last = len(data) == len(rest)
        end = len(data) if last else data.rfind(b"\n") + 1
        block, rest = data[:end], data[end:]
        if block.strip():
            words, matrix = _fast(block, dimension) or _careful(block, dimension, file, line)
            seen += len(words)
            yield words, matrix
        line += block.count(b"\n")
        if last:
            break
    if not seen:
        raise UserError(f"{file}: holds no vectors")
    if expected is not None and seen < expected:
        raise UserError(f"{file}: {line}: ends after {seen:,} of {expected:,} vectors; {AGAIN}")


def _fast(block: bytes, dimension: int) -> Block | None:
    """The words and vectors of whole lines; None where any line is out of the ordinary."""
    names = ["word", *map(str, range(dimension))]
    types = {"word": pa.string(), **dict.fromkeys(names[1:], pa.float32())}
    if block[: block.find(b"\n")].rstrip(b"\r").endswith(b" "):
        names.append("after the last space")
        types[names[-1]] = pa.string()
    try:
        table = csv.read_csv(
            pa.BufferReader(block),
            # Two threads do not pay: they wait on one another for the columns of so small a block.
            csv.ReadOptions(column_names=names, use_threads=False, block_size=1 << 20),
            csv.ParseOptions(delimiter=" ", quote_char=False, escape_char=False),
            csv.ConvertOptions(column_types=types, null_values=[], strings_can_be_null=False),
        )
    except pa.ArrowInvalid:
        return None
    matrix = np.empty((table.num_rows, dimension), dtype=np.float32)
    for number in range(dimension):
        matrix[:, number] = table.column(number + 1).to_numpy()
    if not np.isfinite(matrix).all():
        return None
    return table.column(0).to_pylist(), matrix


def _careful(block: bytes, dimension: int, file: str, line: int) -> Block:
    """The words and vectors of lines that may hold words with spaces; a bad line is named."""
    words, rows = [], []
    lines = block.split(b"\n")
    for number, content in enumerate(lines, line):
        if not content.strip():
            continue
        word, *values = content.rstrip().rsplit(b" ", dimension)
        for value in values if len(values) == dimension else ():
            if not _finite(value):
                shown = value.decode("utf-8", "replace")
                raise UserError(f"{file}: {number}: {shown!r} is not a finite number; correct or remove the line")
        # Words with spaces exist (". . ."), but numbers after the first space are too many numbers.
        surplus = word.split(b" ")[1:]
        if len(values) != dimension or (surplus and all(map(_finite, surplus))):
            unfinished = number == line + len(lines) - 1 and len(values) < dimension
            remedy = AGAIN if unfinished else "all lines must be alike: correct or remove it"
            count = len(surplus) + len(values)
            raise UserError(f"{file}: {number}: {count} numbers, expected {dimension}; {remedy}")
        try:
            words.append(word.decode("utf-8"))
        except UnicodeDecodeError as error:
            raise UserError(
                f"{file}: {number}: the word is not UTF-8 ({error.reason}); "
                "convert the file to UTF-8 or remove the line"
            ) from error
        rows.append(np.array(values, dtype=np.float64).astype(np.float32))
    return words, np.stack(rows)


def _finite(value: bytes) -> bool:
    """Whether the text is a number that float32 can hold."""
    try:
        return abs(float(value)) <= LARGEST
    except ValueError:
        return False
