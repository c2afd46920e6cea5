"""The One Billion Word Benchmark: 30 million tokenised news sentences, one a line, read as a stream."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from attnvat.corpora.archive import Archive, decoded
from attnvat.corpora.corpus import Corpus
from attnvat.corpora.example import Example
from attnvat.corpora.official import Official
from attnvat.corpora.words import Words
from attnvat.errors import UserError

SHARD = re.compile(r"(?:^|/)news\.en(?:\.heldout)?-\d{5}-of-\d{5}$")
OFFICIAL_SENTENCES = 30_301_028 + 306_688
"""Training and held-out sentences of the release."""
LIMIT = 1_000_000


def load(archive: Archive, *, seed: int, limit: int = LIMIT) -> Corpus:  # noqa: ARG001  nothing is split
    """The first `limit` sentences as unlabelled text; `stream` gives all of them without holding them."""
    sentences = list(islice(stream(archive), limit + 1))
    corpus = Corpus("1bw", (), [], [], [], unlabelled=sentences[:limit])
    corpus.files[str(archive.path)] = archive.fingerprint(wanted)
    if not sentences:
        raise UserError(f"{archive.path}: no news.en-*-of-* shards; take the official {OFFICIAL.file}")
    if len(sentences) > limit:
        corpus.notes.append(f"the first {limit:,} sentences; a pool is built from all of them")
    elif len(sentences) < OFFICIAL_SENTENCES:
        part = f"{len(sentences):,} of {OFFICIAL_SENTENCES:,} sentences"
        corpus.notes.append(f"only a part of the official release is here ({part})")
    return corpus


def wanted(name: str) -> bool:
    """Whether a member is a shard of sentences."""
    return SHARD.search(name) is not None


def stream(archive: Archive) -> Iterator[Example]:
    """Every sentence, one at a time."""
    for member in archive.members(wanted):
        for number, line in enumerate(member.lines(), 1):
            words = decoded(line, f"{member.where}: line {number}").split()
            if words:
                yield Example(Words(words))


OFFICIAL = Official(
    "1bw",
    "One Billion Word Benchmark",
    "unlabelled",
    "1-billion-word-language-modeling-benchmark-r13output.tar.gz",
    (),
    load,
    stream=stream,
)
