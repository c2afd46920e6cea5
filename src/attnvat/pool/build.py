"""Build a pool: read the sources once, keep what is worth keeping, and write it as Arrow files.

First pass: each record is cut into texts, and texts too short, too long or found in an evaluation split are left out;
the rest are staged on disk with a 64-bit key each. Then the keys tell which texts repeat an earlier one, and the staged
files are copied without them. Nothing that grows with the pool is held in memory: one file's texts, a bounded number
of keys, and mapped files.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from attnvat.corpora.example import plain
from attnvat.errors import UserError
from attnvat.pool.duplicates import evaluation_keys
from attnvat.pool.intake import BuildOptions, stage
from attnvat.pool.pool import MANIFEST, STAGING, Pool
from attnvat.pool.sentences import split_sentences
from attnvat.pool.shards import write_shards
from attnvat.pool.sources import Source
from attnvat.pool.staging import last_position, staged_files
from attnvat.progress import stderr
from attnvat.storage import read_json, write_json
from attnvat.text.tokenizer import Text

PLAN = "plan.json"


def build_pool(
    sources: Sequence[Source],
    out: Path | str,
    *,
    exclude: Iterable[Text] = (),
    excluded: Sequence[str] = (),
    options: BuildOptions | None = None,
    overwrite: bool = False,
) -> Pool:
    """The pool in the folder `out`, built from the sources without the texts of `exclude`.

    `excluded` names the corpora those texts are from, for the record. An interrupted build goes on where it was, to
    the same result; a finished one of the same sources and options is left as it is.
    """
    out, options = Path(out), options or BuildOptions()
    check_options(sources, options)
    texts = [plain(text) for text in exclude]
    if options.sentences:
        texts += [sentence for text in texts for sentence in split_sentences(text)]
    forbidden = evaluation_keys(texts)
    plan = {
        "sources": [{"name": source.name, "stamp": source.stamp} for source in sources],
        "options": asdict(options),
        "excluded": list(excluded),
        "exclude": hashlib.sha256(np.array(sorted(forbidden), dtype="<u8").tobytes()).hexdigest(),
    }
    with locked(out):
        if overwrite:
            clear(out)
        if (out / MANIFEST).exists():
            return finished_pool(out, plan)
        staging = begin(out, plan)
        position = last_position(staged_files(staging))
        try:
            if not position.finished:
                position = stage(sources, staging, forbidden, options, position)
            write_shards(out, staging, plan, position, remove_duplicates=options.duplicates != "keep")
        except KeyboardInterrupt:
            kept = last_position(staged_files(staging)).records
            stderr.print(f"{out}: {kept:,} records are kept; run the same command again to go on", soft_wrap=True)
            raise
        shutil.rmtree(staging)
    return Pool.open(out)


def check_options(sources: Sequence[Source], options: BuildOptions) -> None:
    """Refuse what cannot give a pool."""
    if not sources:
        raise UserError("no source to build a pool from; name a corpus (1bw, news, imdb) or a file")
    if options.min_tokens < 1 or (options.max_tokens is not None and options.max_tokens < options.min_tokens):
        raise UserError(
            f"texts of at least {options.min_tokens} and at most {options.max_tokens} tokens: there are none; "
            "give 1 ≤ --min-tokens ≤ --max-tokens"
        )


@contextmanager
def locked(out: Path) -> Iterator[None]:
    """Hold the folder against a second build at the same time."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(out, os.O_RDONLY)
    except OSError as error:
        raise UserError(f"{out}: cannot be used as the pool's folder: {error.strerror}") from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError as error:
        raise UserError(f"{out}: another build is writing here; wait for it or choose another folder") from error
    finally:
        os.close(descriptor)


def clear(out: Path) -> None:
    """Remove a pool or an unfinished build, but nothing else that may be in the folder."""
    (out / MANIFEST).unlink(missing_ok=True)
    shutil.rmtree(out / STAGING, ignore_errors=True)
    for file in out.glob("shard-*.arrow"):
        file.unlink()


def finished_pool(out: Path, plan: dict[str, Any]) -> Pool:
    """The pool that is already there, if it is the one asked for."""
    pool = Pool.open(out)
    refuse_other(out, "a pool", pool.manifest["plan"], plan)
    shutil.rmtree(out / STAGING, ignore_errors=True)
    stderr.print(f"{out}: already built", soft_wrap=True)
    return pool


def begin(out: Path, plan: dict[str, Any]) -> Path:
    """The folder of the build, new or left by an interrupted one with the same plan."""
    staging = out / STAGING
    if (staging / PLAN).exists():
        refuse_other(out, "an unfinished build", read_json(staging / PLAN), plan)
        for folder in (out, staging):
            for file in folder.glob(".*.part"):
                file.unlink()
        return staging
    strangers = [file.name for file in out.iterdir() if file != staging]
    if strangers:
        raise UserError(f"{out}: not empty (it holds {strangers[0]!r}) and not a pool; choose another folder")
    staging.mkdir(exist_ok=True)
    write_json(staging / PLAN, plan)
    return staging


def refuse_other(out: Path, what: str, there: dict[str, Any], wanted: dict[str, Any]) -> None:
    """Refuse to mix two builds in one folder."""
    different = [key for key in wanted if there.get(key) != wanted[key]]
    if different:
        raise UserError(
            f"{out}: holds {what} made otherwise (different: {', '.join(different)}); choose another folder, "
            "or give --overwrite to replace it"
        )
