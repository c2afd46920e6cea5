"""An unfinished build on disk: candidate texts in numbered Arrow files, each with all that is needed to go on after it.

A build may be killed at any instant. A file is whole or absent, and carries how many records were read when it was
closed, a digest of those records, and the counts so far; going on means reading the same records again up to there.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from attnvat.pool.pool import read_arrow
from attnvat.storage import atomic_write

STATE = b"attnvat"
"""The key of a file's schema metadata that holds its state."""


@dataclass
class Position:
    """How far the sources have been read, and what became of the texts."""

    records: int = 0
    digest: str = ""
    """Of all records read so far, to notice a source that has changed."""
    counts: Counter[str] = field(default_factory=Counter)
    finished: bool = False
    """Whether the sources are at their end."""

    def to_bytes(self) -> bytes:
        """The position as JSON."""
        return json.dumps(self.__dict__).encode()

    @classmethod
    def from_bytes(cls, content: bytes) -> Position:
        """The position of `to_bytes`."""
        value = json.loads(content)
        return cls(value["records"], value["digest"], Counter(value["counts"]), value["finished"])


@dataclass
class Candidates:
    """Texts on their way into a pool: gathered in memory, written as one file."""

    texts: list[str] = field(default_factory=list)
    pairs: list[str | None] = field(default_factory=list)
    sources: list[int] = field(default_factory=list)
    keys: list[int] = field(default_factory=list)
    characters: int = 0

    def add(self, text: str, pair: str | None, source: int, key: int) -> None:
        """Take in one text."""
        self.texts.append(text)
        self.pairs.append(pair)
        self.sources.append(source)
        self.keys.append(key)
        self.characters += len(text) + len(pair or "")

    def __len__(self) -> int:
        return len(self.texts)

    def write(self, file: Path, position: Position) -> None:
        """Write the texts and the position after them, whole or not at all."""
        columns = {
            "text": pa.array(self.texts, pa.large_string()),
            "source": pa.array(self.sources, pa.uint16()),
            "key": pa.array(np.array(self.keys, dtype=np.uint64)),
        }
        if any(pair is not None for pair in self.pairs):
            columns["pair"] = pa.array(self.pairs, pa.large_string())
        table = pa.table(columns).replace_schema_metadata({STATE: position.to_bytes()})
        write_arrow(file, table)


def write_arrow(file: Path, table: pa.Table) -> None:
    """Write a table as an Arrow file of one record batch, whole or not at all."""
    with (
        atomic_write(file, "wb") as handle,
        pa.ipc.new_file(handle, table.schema) as writer,
    ):
        writer.write_table(table.combine_chunks(), max_chunksize=max(len(table), 1))


def staged_file(folder: Path, number: int) -> Path:
    """The name of the n-th file of candidates."""
    return folder / f"{number:06d}.arrow"


def staged_files(folder: Path) -> list[Path]:
    """The files of candidates there are, in order."""
    return sorted(folder.glob("[0-9]*.arrow"))


def last_position(files: list[Path]) -> Position:
    """Where the last of the files ends; the beginning where there is none."""
    if not files:
        return Position()
    return Position.from_bytes(read_arrow(files[-1]).schema.metadata[STATE])


def key_parts(files: list[Path]) -> list[NDArray[np.uint64]]:
    """The keys of each file, mapped rather than read."""
    return [read_arrow(file).column("key").combine_chunks().to_numpy() for file in files]


def fingerprint(tables_digests: list[bytes]) -> str:
    """One digest for a pool from those of its parts, in order."""
    return hashlib.sha256(b"".join(tables_digests)).hexdigest()


def content_digest(table: pa.Table) -> bytes:
    """A digest of the texts of a table and their order, whatever the Arrow version that wrote them."""
    digest = hashlib.sha256()
    for column in [name for name in ("text", "pair") if name in table.column_names]:
        values = table.column(column).combine_chunks()
        lengths = pa.compute.binary_length(values).fill_null(-1).to_numpy(zero_copy_only=False)
        digest.update(column.encode() + b"\0" + lengths.astype("<i8").tobytes())
        digest.update(values.buffers()[2] or b"")
    return digest.digest()
