"""The second pass of a build: the staged texts without their duplicates, and the manifest that makes them a pool."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from attnvat.errors import UserError
from attnvat.pool.duplicates import mark_repeats
from attnvat.pool.pool import FORMAT, MANIFEST, VERSION, read_arrow
from attnvat.pool.staging import (
    Position,
    content_digest,
    fingerprint,
    key_parts,
    staged_files,
    write_arrow,
)
from attnvat.progress import progress
from attnvat.storage import sha256, write_json


def write_shards(
    out: Path, staging: Path, plan: dict[str, Any], position: Position, *, remove_duplicates: bool
) -> None:
    """Copy the staged files into `out` without repeated texts, then write the manifest.

    The result depends on the staged files alone, so a shard that an interrupted build has written is not written
    again. The manifest comes last: a folder without one is not yet a pool.
    """
    files = staged_files(staging)
    keys = key_parts(files)
    rows = sum(len(part) for part in keys)
    repeats = mapped_flags(staging / "repeats", rows)
    duplicates = mark_repeats(keys, repeats) if remove_duplicates else 0
    if rows == duplicates:
        counted = ", ".join(f"{name} {count:,}" for name, count in position.counts.items())
        shutil.rmtree(staging)
        raise UserError(f"{out}: nothing is left to make a pool of ({counted or 'the sources are empty'})")
    shards: list[dict[str, Any]] = []
    digests: list[bytes] = []
    start = 0
    with progress("writing pool", total=rows) as advance:
        for file, part in zip(files, keys, strict=True):
            keep = ~repeats[start : start + len(part)]
            start += len(part)
            if keep.any():
                name = f"shard-{len(shards):05d}.arrow"
                if not (out / name).exists():
                    kept = read_arrow(file).drop_columns("key").filter(pa.array(keep))
                    write_arrow(out / name, kept.replace_schema_metadata(None))
                digests.append(content_digest(read_arrow(out / name)))
                size = (out / name).stat().st_size
                shards.append({"file": name, "rows": int(keep.sum()), "bytes": size, "sha256": sha256(out / name)})
            advance(len(part))
    manifest = {
        "format": FORMAT,
        "version": VERSION,
        "rows": rows - duplicates,
        "fingerprint": fingerprint(digests),
        "counts": {**position.counts, "duplicates": duplicates, "kept": rows - duplicates},
        "pairs": any("pair" in read_arrow(out / shard["file"]).column_names for shard in shards),
        "plan": plan,
        "shards": shards,
    }
    write_json(out / MANIFEST, manifest)


def mapped_flags(file: Path, rows: int) -> NDArray[np.bool_]:
    """One false flag a row, in a file rather than in memory."""
    if not rows:
        return np.zeros(0, dtype=np.bool_)
    return np.memmap(file, dtype=np.bool_, mode="w+", shape=(rows,))
