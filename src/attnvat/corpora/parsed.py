"""Parsed corpora kept as Arrow in the cache: the second start does not read 100,000 small files again."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pyarrow as pa

from attnvat.corpora.archive import Archive, Wanted
from attnvat.corpora.example import Example, plain
from attnvat.corpora.words import Words
from attnvat.errors import UserError
from attnvat.storage import atomic_write, cache_dir
from attnvat.text.tokenizer import Text

FORMAT = 1
Splits = dict[str, list[Example]]
STRINGS = pa.list_(pa.string())
SCHEMA = pa.schema(
    {
        "split": pa.string(),
        "text": pa.large_string(),
        "text_is_words": pa.bool_(),
        "pair": pa.large_string(),
        "pair_is_words": pa.bool_(),
        "label": pa.string(),
        "classes": STRINGS,
        "rationale": pa.list_(pa.int32()),
        "id": pa.string(),
        "genre": pa.string(),
    }
)
ROWS = 10_000
KEY_LENGTH = 20
KEPT = 3
"""Parses of one corpus kept in the cache, the latest ones: IMDB's takes 140 MB."""


def parsed(
    name: str, archive: Archive, wanted: Wanted, parse: Callable[[Archive], Splits], version: str
) -> tuple[Splits, str]:
    """The splits `parse` makes of the archive, and the archive's fingerprint.

    They come from the cache where the same content was parsed before by the same `version` of the parser.
    """
    fingerprint = archive.fingerprint(wanted)
    key = hashlib.sha256(f"{FORMAT} {name} {version} {fingerprint}".encode()).hexdigest()[:KEY_LENGTH]
    path = cache_dir() / "corpora" / f"{name}-{key}.arrow"
    splits = read_splits(path)
    if splits is None:
        splits = parse(archive)
        write_splits(path, splits)
        forget_earlier(path, name)
    return splits, fingerprint


def read_splits(path: Path) -> Splits | None:
    """The splits stored at `path`; None where there is no file or it is damaged."""
    try:
        with pa.memory_map(str(path)) as source:
            table = pa.ipc.open_file(source).read_all()
    except (OSError, pa.ArrowInvalid):
        return None
    if table.schema != SCHEMA:
        return None
    splits: Splits = {}
    for batch in table.to_batches():
        columns = [batch.column(name).to_pylist() for name in SCHEMA.names]
        for split, text, text_words, pair, pair_words, label, classes, rationale, id_, genre in zip(
            *columns, strict=True
        ):
            example = Example(
                Words(text) if text_words else text,
                Words(pair) if pair_words else pair,
                label,
                None if classes is None else tuple(classes),
                None if rationale is None else tuple(zip(rationale[::2], rationale[1::2], strict=True)),
                id_,
                genre,
            )
            splits.setdefault(split, []).append(example)
    return splits


def write_splits(path: Path, splits: Splits) -> None:
    """Store the splits at `path`; a cache that cannot be written is no reason to stop."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_write(path, "wb") as handle, pa.ipc.new_file(handle, SCHEMA) as writer:
            for rows in _rows(splits):
                writer.write_batch(pa.RecordBatch.from_pylist(rows, schema=SCHEMA))
    except (OSError, UserError):
        return


def forget_earlier(path: Path, name: str) -> None:
    """Remove all but the latest parses of the corpus from the cache folder."""
    others = [other for other in path.parent.glob(f"{name}-{'?' * KEY_LENGTH}.arrow") if other != path]
    with suppress(OSError):  # another process may be doing the same
        for other in sorted(others, key=lambda other: other.stat().st_mtime, reverse=True)[KEPT - 1 :]:
            other.unlink()


def _rows(splits: Splits) -> Iterator[list[dict[str, object]]]:
    for split, examples in splits.items():
        for start in range(0, len(examples), ROWS):
            yield [_row(split, example) for example in examples[start : start + ROWS]]


def _row(split: str, example: Example) -> dict[str, object]:
    return {
        "split": split,
        "text": plain(example.text),
        "text_is_words": _is_words(example.text),
        "pair": None if example.pair is None else plain(example.pair),
        "pair_is_words": _is_words(example.pair),
        "label": example.label,
        "classes": example.classes,
        "rationale": None if example.rationale is None else [token for span in example.rationale for token in span],
        "id": example.id,
        "genre": example.genre,
    }


def _is_words(text: Text | None) -> bool:
    return text is not None and not isinstance(text, str)
