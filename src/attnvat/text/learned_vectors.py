"""Word vectors learnt from the texts at hand by skip-gram, for when no pretrained ones are to be had."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import gensim
import torch
from gensim.models import Word2Vec
from gensim.models.callbacks import CallbackAny2Vec

from attnvat.errors import UserError
from attnvat.progress import progress
from attnvat.storage import cache_dir
from attnvat.text.vector_cache import VectorTable, cache_or_note, forget_earlier, open_table, write_table
from attnvat.text.vectors import Vectors, pick


def learn_vectors(
    token_lists: Iterable[Sequence[str]],
    words: Sequence[str],
    *,
    dimension: int = 100,
    epochs: int = 5,
    window: int = 5,
    min_frequency: int = 2,
    sample: float = 1e-4,
    seed: int = 0,
    workers: int = 1,
    cache: bool = True,
) -> Vectors:
    """The vectors of `words`, learnt from the texts by skip-gram with negative sampling (Mikolov et al., 2013).

    With one worker the vectors depend on the texts, the options and the seed alone. More workers are faster but
    update one another's numbers, so no two runs agree. The result is cached under a hash of texts and options.
    `sample` is the frequency above which a word is skipped now and then.
    """
    texts = token_lists if isinstance(token_lists, list) else list(token_lists)
    options = {
        "vector_size": dimension,
        "epochs": epochs,
        "window": window,
        "min_count": min_frequency,
        "sample": sample,
        "seed": seed,
        "workers": workers,
    }
    path = _cache_path(texts, options)
    table = open_table(path) if cache else None
    if table is None:
        table = _learn(texts, options)
        if cache:
            with cache_or_note(path):
                forget_earlier(path)
                write_table(path, [(table.words, table.matrix.numpy())])
    return pick(table, words, f"skip-gram on {len(texts):,} texts (seed {seed})")


def _learn(texts: list[Sequence[str]], options: dict[str, Any]) -> VectorTable:
    """All words seen often enough, with their vectors."""
    tokens = sum(map(len, texts))
    # The learning rate falls from job to job: small data needs small jobs for it to fall smoothly.
    job = min(10_000, max(100, tokens // (20 * options["workers"])))
    try:
        with progress("learning word vectors", options["epochs"]) as advance:
            model = Word2Vec(texts, sg=1, batch_words=job, callbacks=[_EachEpoch(advance)], **options)
    except RuntimeError as error:
        if "vocabulary" not in str(error):
            raise
        raise UserError(
            f"no word vectors can be learnt: {tokens:,} tokens, and no word comes {options['min_count']} times; "
            "give more text or a lower minimum frequency"
        ) from error
    return VectorTable(list(model.wv.index_to_key), torch.from_numpy(model.wv.vectors))


class _EachEpoch(CallbackAny2Vec):  # type: ignore[misc]
    """Reports every epoch of gensim's as progress."""

    def __init__(self, advance: Callable[[], None]) -> None:
        self._advance = advance

    def on_epoch_end(self, model: Word2Vec) -> None:  # noqa: ARG002 (gensim's signature)
        self._advance()


def _cache_path(texts: list[Sequence[str]], options: dict[str, Any]) -> Path:
    """Where vectors learnt from these texts with these options are kept."""
    digest = hashlib.sha256(json.dumps([gensim.__version__, options], sort_keys=True).encode())
    for tokens in texts:
        digest.update("\x1f".join(tokens).encode("utf-8", "surrogatepass") + b"\n")
    return cache_dir() / "vectors" / f"learned-{digest.hexdigest()[:32]}.safetensors"
