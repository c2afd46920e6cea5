"""A selection: the rows of a pool chosen for training, how they were chosen, and the file both are kept in."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from attnvat.errors import UserError, nearest
from attnvat.pool.pool import Pool, read_arrow
from attnvat.pool.random_sample import random_rows
from attnvat.pool.staging import write_arrow

FORMAT, VERSION = "attnvat-selection", 1
FOLDER = "selections"
"""Where selections lie inside their pool's folder."""
METADATA = b"attnvat"


@dataclass(frozen=True)
class Selection:
    """Chosen rows in order: the first n of them are the selection of size n."""

    rows: NDArray[np.int64]
    nearest: NDArray[np.int32]
    """The number of the labelled text each row is nearest to, of those it is a neighbour of; -1 in a random sample."""
    rank: NDArray[np.int32]
    """As how-manieth neighbour of a labelled text the row came in, counted from 1; 0 in a random sample."""
    distance: NDArray[np.float32]
    """1 − cosine to that nearest labelled text; nan in a random sample."""
    made: dict[str, Any]
    """How: strategy, seed, pool fingerprint, labelled texts, versions, examples."""

    def __len__(self) -> int:
        return len(self.rows)

    def save(self, file: Path) -> Path:
        """Write the selection as one Arrow file, whole or not at all."""
        file.parent.mkdir(parents=True, exist_ok=True)
        columns = {"row": self.rows, "nearest": self.nearest, "rank": self.rank, "distance": self.distance}
        made = {"format": FORMAT, "version": VERSION, **self.made, "rows_sha256": rows_digest(self.rows)}
        table = pa.table({name: pa.array(column) for name, column in columns.items()})
        write_arrow(file, table.replace_schema_metadata({METADATA: json.dumps(made, ensure_ascii=False)}))
        return file

    @classmethod
    def load(cls, file: Path | str, pool: Pool | None = None) -> Selection:
        """The selection in a file; refused where it was made from another pool than `pool`."""
        file = Path(file)
        table = read_arrow(file)
        made = json.loads((table.schema.metadata or {}).get(METADATA, b"{}"))
        if made.get("format") != FORMAT or made.get("version") != VERSION:
            raise UserError(f"{file}: not a selection this program reads; make it with `attnvat pool select`")
        rows = table.column("row").to_numpy()
        if rows_digest(rows) != made["rows_sha256"]:
            raise UserError(f"{file}: damaged (its rows are not those written); make it again")
        if pool is not None and made["pool"]["fingerprint"] != pool.fingerprint:
            raise UserError(
                f"{file}: made from another pool ({made['pool']['rows']:,} texts, {made['pool']['fingerprint'][:12]}) "
                f"than {pool.path} ({len(pool):,} texts, {pool.fingerprint[:12]}); select again from this one"
            )
        near, rank, distance = (table.column(name).to_numpy() for name in ("nearest", "rank", "distance"))
        return cls(rows, near, rank, distance, made)


def rows_digest(rows: NDArray[np.int64]) -> str:
    """A digest of row numbers and their order."""
    return hashlib.sha256(rows.astype("<i8").tobytes()).hexdigest()


def selection_file(pool: Pool, name: str) -> Path:
    """The file of a selection given by name (in the pool's folder) or by path; a misspelt name gets the nearest."""
    inside = pool.path / FOLDER / f"{name}.arrow"
    if inside.exists():
        return inside
    if Path(name).is_file():
        return Path(name)
    known = [file.stem for file in (pool.path / FOLDER).glob("*.arrow")]
    hint = nearest(name, known) if known else f"make one with `attnvat pool select {pool.path} --for CORPUS`"
    raise UserError(f"{pool.path}: no selection {name!r}; {hint}")


def open_unlabelled(spec: str | Path, size: int | None = None, seed: int = 0) -> tuple[Pool, NDArray[np.int64]]:
    """The pool and the rows to train on that `POOL` or `POOL:SELECTION` names.

    `size` takes the best so many of a selection, or a random sample by `seed` of a pool without one.
    """
    path, name = str(spec), ""
    if not Path(path).is_dir() and ":" in path:
        path, _, name = path.rpartition(":")
    pool = Pool.open(path)
    available = len(pool)
    if name:
        selection = Selection.load(selection_file(pool, name), pool)
        available = len(selection)
    if size is not None and not 1 <= size <= available:
        raise UserError(f"{spec}: {size:,} texts asked for where there are {available:,}; ask for 1 to {available:,}")
    if name:
        return pool, selection.rows[:size]
    return pool, random_rows(available, size or available, seed) if size else np.arange(available)
