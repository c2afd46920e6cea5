"""A file of news sentences, `source TAB sentence` a line: an unlabelled source of moderate size."""

from __future__ import annotations

from collections.abc import Iterator

from attnvat.corpora.archive import Archive, decoded, readable
from attnvat.corpora.corpus import Corpus
from attnvat.corpora.example import Example
from attnvat.corpora.official import Official
from attnvat.errors import UserError
from attnvat.storage import open_binary


def load(archive: Archive, *, seed: int) -> Corpus:  # noqa: ARG001  nothing is split
    """All sentences as unlabelled text, the source of each as its genre."""
    corpus = Corpus("news", (), [], [], [], unlabelled=list(stream(archive)))
    corpus.files[str(archive.path)] = archive.fingerprint()
    if not corpus.unlabelled:
        raise UserError(f"{archive.path}: no sentence in it; it should have a source, a tab and a sentence a line")
    return corpus


def stream(archive: Archive) -> Iterator[Example]:
    """Every sentence, one at a time."""
    path = archive.path
    with readable(path), open_binary(path) as handle:
        for number, line in enumerate(handle, 1):
            source, tab, sentence = decoded(line, f"{path}: line {number}").strip("\r\n").partition("\t")
            if not tab or not sentence.strip():
                raise UserError(f"{path}: line {number}: expected a source, a tab and a sentence; put it right")
            yield Example(sentence.strip(), genre=source)


OFFICIAL = Official(
    "news",
    "News sentences",
    "unlabelled",
    "news_sentences.tsv.xz",
    (),
    load,
    suffixes=(".tsv", ".tsv.xz", ".tsv.gz", ".tsv.bz2"),
    stream=stream,
)
