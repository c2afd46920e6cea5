"""The language models that experiments start from, pretrained once on a pool and shared by all runs."""

from __future__ import annotations

import fcntl
from pathlib import Path
from typing import Any

from attnvat.corpora import Corpus
from attnvat.experiments.pools import PREFIX, open_pool
from attnvat.training.pretrain import PretrainOptions, pretrain


def open_language_of(
    name: str, corpus: Corpus, work: Path, data_dir: str | None, vectors: str | None, hidden: int
) -> tuple[str, dict[str, Any]]:
    """The folder of the language model of the pool `pool:NAME`, pretrained if that was not done, and what it is."""
    pool = open_pool(name, corpus, None, work, data_dir, vectors)
    folder = work / "languages" / f"{name.removeprefix(PREFIX)}-for-{corpus.name}-{hidden}"
    folder.parent.mkdir(parents=True, exist_ok=True)
    with folder.with_name(f".{folder.name}.lock").open("w") as handle:
        # Runs that start together wait here for the one that pretrains.
        fcntl.flock(handle, fcntl.LOCK_EX)
        learnt = pretrain(PretrainOptions(pool.spec, vectors=vectors, hidden=hidden), folder, data_dir)
    options = {key: value for key, value in learnt.description["options"].items() if key != "texts"}
    return str(folder), {**learnt.description, "options": options, "pool": pool.description}
