"""ERASER's movie reviews with the words people marked as evidence for the label."""

from __future__ import annotations

import json
from typing import Any

from attnvat.corpora.archive import Archive, Member, decoded
from attnvat.corpora.corpus import Corpus
from attnvat.corpora.example import Example
from attnvat.corpora.official import Official
from attnvat.corpora.words import Words
from attnvat.errors import UserError

FILES = {"train.jsonl": "train", "val.jsonl": "validation", "test.jsonl": "test"}
LABELS = {"NEG": "negative", "POS": "positive"}
"""IMDB's names, so that a model trained there can be judged here."""
SIZES = {"train": 1_600, "validation": 200, "test": 199}
Annotation = tuple[str, dict[str, Any]]
"""Where an annotation stands, for messages, and the annotation."""


def load(archive: Archive, *, seed: int) -> Corpus:  # noqa: ARG001  the official split needs no seed
    """The official split, each review with the union of its evidences as token spans."""
    documents: dict[str, Words] = {}
    annotations: dict[str, list[Annotation]] = {split: [] for split in FILES.values()}
    for member in archive.members(wanted):
        folder, _, file = member.name.rpartition("/")
        if file in FILES and not folder.endswith("docs"):
            annotations[FILES[file]] = list(read_annotations(member))
        else:
            documents[file] = Words(member.text().split())
    for file, split in FILES.items():
        if not annotations[split]:
            raise UserError(f"{archive.path}: no annotations in {file}; take the official {OFFICIAL.file}")
    splits = {
        split: [example(annotation, where, documents) for where, annotation in found]
        for split, found in annotations.items()
    }
    train, validation, test = splits["train"], splits["validation"], splits["test"]
    corpus = Corpus("eraser-movies", tuple(LABELS.values()), train, validation, test, metric="f1")
    corpus.files = {str(archive.path): archive.fingerprint(wanted)}
    bare = sum(not review.rationale for reviews in splits.values() for review in reviews)
    if bare:
        corpus.notes.append(f"reviews without any evidence: {bare:,}")
    short = [f"{name} {len(splits[name]):,} of {size:,}" for name, size in SIZES.items() if len(splits[name]) != size]
    if short:
        corpus.notes.append(f"not the official release's sizes: {', '.join(short)}")
    return corpus


def wanted(name: str) -> bool:
    """Whether a member is a review or an annotation file."""
    folder, _, file = name.rpartition("/")
    in_docs = folder.rpartition("/")[2] == "docs" and not file.startswith(".")
    return (in_docs or file in FILES) and "__MACOSX" not in name


def read_annotations(member: Member) -> list[Annotation]:
    """The annotations of one file."""
    found = []
    for number, line in enumerate(member.lines(), 1):
        where = f"{member.where}: line {number}"
        try:
            found.append((where, dict(json.loads(decoded(line, where)))))
        except (ValueError, TypeError, RecursionError) as error:
            raise UserError(f"{where}: not a JSON object ({error}); download the archive again") from error
    return found


def example(annotation: dict[str, Any], where: str, documents: dict[str, Words]) -> Example:
    """The review an annotation is about, every evidence checked against the words it names."""
    try:
        name, label = annotation["annotation_id"], LABELS[annotation["classification"]]
        evidences = [evidence for group in annotation["evidences"] for evidence in group]
        document = documents[name]
        words = list(document)
        spans = []
        for evidence in evidences:
            start, end = int(evidence["start_token"]), int(evidence["end_token"])
            if start == end and not evidence["text"]:  # the official test file has a few empty ones
                continue
            if words[start:end] != evidence["text"].split() or not 0 <= start < end <= len(words):
                found = " ".join(words[max(start, 0) : end])
                raise UserError(
                    f"{where}: evidence {evidence['text']!r} is not at tokens {start} to {end} of {name} "
                    f"({found!r} is); take the official archive, documents and annotations together"
                )
            spans.append((start, end))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        problem = f"{type(error).__name__}: {error}"
        raise UserError(f"{where}: not an ERASER annotation ({problem}); take the official archive") from error
    return Example(document, label=label, rationale=union(spans), id=name)


def union(spans: list[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """The spans sorted, overlapping ones merged; spans that only touch stay two pieces of evidence."""
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((start, end))
    return tuple(merged)


OFFICIAL = Official("eraser-movies", "ERASER movie reviews", "single", "movies.tar.gz", ("movies",), load)
