"""The language models that experiments start from, pretrained once on a pool and shared by all runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from attnvat.corpora import Corpus
from attnvat.experiments.pools import PREFIX, open_pool
from attnvat.storage import one_at_a_time
from attnvat.training.pretrain import PretrainOptions, pretrain


def language_named(pool: str, passes: int) -> str:
    """What `Config.language_model` says in an experiment: `pool:NAME`, or `pool:NAME:PASSES` for several passes."""
    return f"{PREFIX}{pool}" + (f":{passes}" if passes > 1 else "")


def pool_and_passes(name: str) -> tuple[str, int]:
    """The pool's name and the passes over it that a language model's name tells."""
    pool, _, passes = name.removeprefix(PREFIX).partition(":")
    return pool, int(passes or 1)


def open_language_of(
    name: str, corpus: Corpus, work: Path, data_dir: str | None, vectors: str | None, hidden: int
) -> tuple[str, dict[str, Any]]:
    """The folder of the language model so named, pretrained if that was not done, and what it is."""
    kind, passes = pool_and_passes(name)
    pool = open_pool(kind, corpus, None, work, data_dir, vectors)
    folder = work / "languages" / f"{name.removeprefix(PREFIX).replace(':', '-')}-for-{corpus.name}-{hidden}"
    with one_at_a_time(folder):
        options = PretrainOptions(pool.spec, vectors=vectors, hidden=hidden, passes=passes)
        learnt = pretrain(options, folder, data_dir)
    told = {key: value for key, value in learnt.description["options"].items() if key != "texts"}
    return str(folder), {**learnt.description, "options": told, "pool": pool.description}
