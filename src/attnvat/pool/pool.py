"""A pool of unlabelled texts: Arrow files on disk, mapped into memory, never read whole."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike, NDArray

from attnvat.errors import UserError
from attnvat.storage import read_json, sha256

FORMAT, VERSION = "attnvat-pool", 1
MANIFEST = "manifest.json"
STAGING = "staging"
"""The folder that holds an unfinished build."""


@dataclass(frozen=True)
class Shard:
    """One Arrow file of a pool, as the manifest describes it."""

    file: str
    rows: int
    bytes: int
    sha256: str


class Pool:
    """Unlabelled texts (or pairs of texts) by row number."""

    def __init__(self, path: Path, manifest: dict[str, Any]) -> None:
        self.path, self.manifest = path, manifest
        self.shards = [Shard(**shard) for shard in manifest["shards"]]
        self.fingerprint: str = manifest["fingerprint"]
        """Changes with any text or its place: what a selection is tied to."""
        self.starts = np.cumsum([0, *(shard.rows for shard in self.shards)])
        """The row number at which each shard starts, and the number of rows."""
        self._tables: dict[int, pa.Table] = {}

    @classmethod
    def open(cls, path: Path | str) -> Pool:
        """The pool in a folder; missing and truncated files are named, damaged ones when they are first read."""
        path = Path(path)
        if not (path / MANIFEST).exists():
            raise UserError(_no_pool(path))
        manifest = read_json(path / MANIFEST)
        if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
            raise UserError(f"{path / MANIFEST}: not the manifest of a pool; build one with `attnvat pool build`")
        if manifest.get("version") != VERSION:
            found = manifest.get("version")
            raise UserError(f"{path / MANIFEST}: pool format {found}, this program reads {VERSION}; build it again")
        try:
            pool = cls(path, manifest)
        except (KeyError, TypeError) as error:
            raise UserError(f"{path / MANIFEST}: damaged (at {error}); build the pool again") from error
        for shard in pool.shards:
            file = path / shard.file
            if not file.exists():
                raise UserError(f"{file}: missing from the pool; build it again with --overwrite")
            if file.stat().st_size != shard.bytes:
                raise UserError(
                    f"{file}: {file.stat().st_size:,} bytes where {shard.bytes:,} were written (truncated?); "
                    "build the pool again with --overwrite"
                )
        return pool

    def __len__(self) -> int:
        return int(self.starts[-1])

    @property
    def has_pairs(self) -> bool:
        """Whether the texts are pairs of texts."""
        return bool(self.manifest["pairs"])

    @property
    def source_names(self) -> list[str]:
        """What the pool was built from, in order."""
        return [source["name"] for source in self.manifest["plan"]["sources"]]

    def texts(self, rows: ArrayLike) -> list[str]:
        """The texts of the given rows, in their order."""
        return self._take("text", rows)

    def pairs(self, rows: ArrayLike) -> list[str | None]:
        """The second texts of the given rows (None where a row has none)."""
        return self._take("pair", rows) if self.has_pairs else [None] * len(np.asarray(rows))

    def sources(self, rows: ArrayLike) -> list[str]:
        """The source each of the given rows came from."""
        names = self.source_names
        return [names[number] for number in self._take("source", rows)]

    def blocks(self, rows: int = 8192) -> Iterator[tuple[int, list[str]]]:
        """The whole pool in order, up to `rows` texts at a time with the number of the first; pairs as one text."""
        for number, shard in enumerate(self.shards):
            table = self._table(number)
            for offset in range(0, shard.rows, rows):
                part = table.slice(offset, rows)
                texts = part.column("text").to_pylist()
                if "pair" in part.column_names:
                    pairs = part.column("pair").to_pylist()
                    texts = [t if p is None else f"{t} {p}" for t, p in zip(texts, pairs, strict=True)]
                yield int(self.starts[number]) + offset, texts

    def verify(self) -> None:
        """Read every file and compare it with its checksum; the first damaged one is named."""
        for number in range(len(self.shards)):
            self._table(number)

    def _take(self, column: str, rows: ArrayLike) -> list[Any]:
        wanted: NDArray[np.int64] = np.asarray(rows, dtype=np.int64).reshape(-1)
        if len(wanted) and (wanted.min() < 0 or wanted.max() >= len(self)):
            raise IndexError(f"rows {wanted.min()}…{wanted.max()} of a pool of {len(self)}")
        shards = np.searchsorted(self.starts, wanted, side="right") - 1
        order = np.argsort(shards, kind="stable")
        cuts = np.flatnonzero(np.diff(shards[order])) + 1
        taken: list[Any] = [None] * len(wanted)
        for places in np.split(order, cuts) if len(wanted) else []:
            number = int(shards[places[0]])
            table = self._table(number)
            if column in table.column_names:
                values = table.column(column).take(pa.array(wanted[places] - self.starts[number])).to_pylist()
                for place, value in zip(places.tolist(), values, strict=True):
                    taken[place] = value
        return taken

    def _table(self, number: int) -> pa.Table:
        """A shard's mapped table; its checksum is compared the first time."""
        if number not in self._tables:
            shard = self.shards[number]
            file = self.path / shard.file
            if sha256(file) != shard.sha256:
                raise UserError(f"{file}: damaged (not what the build wrote); build the pool again with --overwrite")
            self._tables[number] = read_arrow(file)
        return self._tables[number]


def read_arrow(file: Path) -> pa.Table:
    """The mapped table of an Arrow file; a damaged file is named."""
    try:
        with pa.memory_map(str(file)) as mapped:
            return pa.ipc.open_file(mapped).read_all()
    except (pa.ArrowInvalid, OSError) as error:
        raise UserError(f"{file}: not a readable Arrow file ({error}); make it again") from error


def _no_pool(path: Path) -> str:
    if (path / STAGING).is_dir():
        return f"{path}: its build was interrupted; run the same `attnvat pool build` command again to go on"
    if path.exists():
        return f"{path}: not a pool (no {MANIFEST}); build one with `attnvat pool build SOURCE --out {path}`"
    return f"{path}: no such pool; build it with `attnvat pool build SOURCE --out {path}`"
