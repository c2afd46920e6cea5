"""The first pass of a build: which texts of the sources may enter the pool, and why the others may not."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from attnvat.corpora.example import plain
from attnvat.errors import UserError
from attnvat.pool.duplicates import Duplicates, text_key
from attnvat.pool.sentences import split_sentences
from attnvat.pool.sources import Source
from attnvat.pool.staging import Candidates, Position, staged_file, staged_files
from attnvat.progress import progress
from attnvat.text.tokenizer import Tokenizer

ADVANCE = 1000
"""Records between two movements of the progress bar."""
TOKENIZER = Tokenizer()
"""Counts tokens as training will, with its default options."""


@dataclass(frozen=True)
class BuildOptions:
    """What may enter a pool, and in which pieces."""

    min_tokens: int = 3
    max_tokens: int | None = 400
    sentences: bool = False
    """Cut each text into its sentences."""
    duplicates: Duplicates = "near"
    shard_rows: int = 131_072
    shard_characters: int = 1 << 26
    """A file is closed when it has this many rows or characters."""


def stage(
    sources: Sequence[Source], staging: Path, forbidden: set[int], options: BuildOptions, reached: Position
) -> Position:
    """Read the sources on from where an earlier build was, and stage what may enter; where the reading ended."""
    position, digest, candidates = Position(), hashlib.blake2b(), Candidates()
    position.counts = Counter(dict.fromkeys(("records", "in evaluation splits", "texts"), 0))
    position.counts.update(reached.counts)
    files = len(staged_files(staging))
    with progress("reading texts") as advance:
        for number, source in enumerate(sources):
            for example in source.read():
                text, pair = plain(example.text), None if example.pair is None else plain(example.pair)
                digest.update(f"{number}\0{text}\0{pair}\n".encode("utf-8", "surrogatepass"))
                position.records += 1
                if position.records % ADVANCE == 0:
                    advance(ADVANCE)
                if position.records <= reached.records:
                    if position.records == reached.records and digest.hexdigest() != reached.digest:
                        raise changed(staging.parent)
                    continue
                for piece, key in accepted(text, pair, forbidden, options, position.counts):
                    candidates.add(piece, pair, number, key)
                if len(candidates) >= options.shard_rows or candidates.characters >= options.shard_characters:
                    position.digest = digest.hexdigest()
                    candidates.write(staged_file(staging, files), position)
                    files, candidates = files + 1, Candidates()
    if position.records < reached.records:
        raise changed(staging.parent)
    position.digest, position.finished = digest.hexdigest(), True
    candidates.write(staged_file(staging, files), position)
    return position


def accepted(
    text: str, pair: str | None, forbidden: set[int], options: BuildOptions, counts: Counter[str]
) -> Iterator[tuple[str, int]]:
    """The pieces of one record that may enter, with their keys; what may not is counted under its reason."""
    counts["records"] += 1
    whole = text_key(text)
    if whole in forbidden or (pair is not None and text_key(pair) in forbidden):
        counts["in evaluation splits"] += 1
        return
    cut = options.sentences and pair is None
    pieces = split_sentences(text) if cut else [" ".join(text.split())]
    counts["texts"] += len(pieces)
    for piece in pieces:
        tokens = len(TOKENIZER.tokenize(piece))
        near = text_key(piece) if cut else whole
        if tokens < options.min_tokens:
            counts["too short"] += 1
        elif options.max_tokens is not None and tokens > options.max_tokens:
            counts["too long"] += 1
        elif near == WITHOUT_WORDS:
            counts["without words"] += 1
        elif near in forbidden:
            counts["sentences in evaluation splits"] += 1
        elif options.duplicates == "near" and pair is None:
            yield piece, near
        else:
            yield piece, text_key(piece, pair, exact=options.duplicates == "exact")


def changed(out: Path) -> UserError:
    """The refusal to go on with sources that are not those the build began with."""
    return UserError(f"{out}: a source has changed since this build was interrupted; give --overwrite to begin again")


WITHOUT_WORDS = text_key("")
"""The key of every text that has no letter and no digit."""
