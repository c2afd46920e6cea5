"""The pools of unlabelled texts that experiments name, built once without the texts a corpus is judged on."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from attnvat.corpora import Corpus, evaluation_texts
from attnvat.errors import UserError, nearest
from attnvat.pool import BuildOptions, Pool, build_pool, open_source, select
from attnvat.pool.selection import FOLDER
from attnvat.storage import one_at_a_time

PREFIX = "pool:"


@dataclass(frozen=True)
class PoolPlan:
    """Where a pool's texts come from."""

    source: str
    title: str
    sentences: bool = False


POOLS = {
    "news": PoolPlan("news", "news sentences (One Billion Word's held-out part, Reuters, other news)"),
    "1bw": PoolPlan("1bw", "sentences of the One Billion Word benchmark"),
    "reviews": PoolPlan("imdb", "IMDB's unlabelled reviews"),
    "review-sentences": PoolPlan("imdb", "sentences of IMDB's unlabelled reviews", sentences=True),
}
"""By the name that follows `pool:` in a trial's config."""


@dataclass(frozen=True)
class OpenedPool:
    """A pool on this machine."""

    spec: str
    """What `Config.unlabeled` takes: POOL or POOL:SELECTION."""
    description: dict[str, Any]
    """What a record says of it."""


def open_pool(
    name: str, corpus: Corpus, size: int | None, work: Path, data_dir: str | None, vectors: str | None
) -> OpenedPool:
    """The pool `NAME[:STRATEGY]` for a corpus, built and selected from if that was not done before."""
    kind, _, strategy = name.removeprefix(PREFIX).partition(":")
    if kind not in POOLS:
        raise UserError(f"no pool {kind!r}; {nearest(kind, POOLS)}")
    plan = POOLS[kind]
    folder = work / "pools" / f"{kind}-for-{corpus.name}"
    with one_at_a_time(folder):
        pool = built(plan, corpus, folder, data_dir)
        described: dict[str, Any] = {
            "name": kind,
            "title": plan.title,
            "texts": len(pool),
            "fingerprint": pool.fingerprint,
            "without": f"validation and test texts of {corpus.name}",
            "strategy": strategy or "random",
        }
        if not strategy:
            return OpenedPool(str(folder), described)
        if size is None:
            raise UserError(f"{name}: a selection needs a size; set unlabeled_size")
        label = f"{corpus.name}-{strategy}-{size}"
        file = folder / FOLDER / f"{label}.arrow"
        if not file.exists():
            labelled = [example.text for example in corpus.train]
            chosen = select(pool, labelled, strategy, size, vectors=vectors or "learn", data_dir=data_dir)
            chosen.save(file)
    return OpenedPool(f"{folder}:{label}", described)


def built(plan: PoolPlan, corpus: Corpus, folder: Path, data_dir: str | None) -> Pool:
    """The pool in its folder, made where it is not there yet."""
    if (folder / "manifest.json").exists():
        return Pool.open(folder)
    source = open_source(plan.source, data_dir=data_dir)
    options = BuildOptions(sentences=plan.sentences)
    return build_pool([source], folder, exclude=evaluation_texts(corpus), excluded=[corpus.name], options=options)
