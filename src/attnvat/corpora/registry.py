"""Every corpus by name, and the one function that loads whatever a person names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from attnvat.corpora import imdb, sst
from attnvat.corpora.corpus import Corpus
from attnvat.corpora.official import SPLIT_SEED, Official
from attnvat.errors import UserError, nearest

CORPORA: dict[str, Official] = {corpus.name: corpus for corpus in (sst.OFFICIAL, imdb.OFFICIAL)}


def load_corpus(
    name: str, *, data_dir: Path | str | None = None, seed: int = SPLIT_SEED, **options: Any
) -> Corpus:
    """The named corpus from its official archive or unpacked folder.

    `seed` decides the splits only and is best left alone, so that runs with different training seeds compare.
    """
    if name not in CORPORA:
        raise UserError(f"no corpus {name!r}; {nearest(name, CORPORA)}")
    official = CORPORA[name]
    return official.read(official.require(data_dir), seed=seed, **options)
