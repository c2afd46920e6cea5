"""Pools of unlabelled texts on disk, and the choice of the part of them to train on."""

from attnvat.pool.build import build_pool
from attnvat.pool.intake import BuildOptions
from attnvat.pool.pool import Pool
from attnvat.pool.select import select
from attnvat.pool.selection import Selection, open_unlabelled
from attnvat.pool.sources import Source, open_source, texts_source

__all__ = [
    "BuildOptions",
    "Pool",
    "Selection",
    "Source",
    "build_pool",
    "open_source",
    "open_unlabelled",
    "select",
    "texts_source",
]
