"""The Multi-Genre NLI corpus. Its test labels were never published, so the paper makes its own split.

Table 1's sizes tell how: the two halves of train and the validation set add up to the 392,702 official
training pairs, 80% and 20%; its 19,647 test pairs are the 9,815 matched and the 9,832 mismatched development
pairs together.
"""

from __future__ import annotations

from dataclasses import replace

from attnvat.corpora.archive import Archive
from attnvat.corpora.corpus import Corpus
from attnvat.corpora.example import Example, plain
from attnvat.corpora.nli import LABELS, agreed, cut_long, read_splits, set_halves
from attnvat.corpora.official import Official
from attnvat.corpora.split import stratified
from attnvat.corpora.table1 import against_table1

FILES = {
    "multinli_1.0_train.jsonl": "train",
    "multinli_1.0_dev_matched.jsonl": "test-matched",
    "multinli_1.0_dev_mismatched.jsonl": "test-mismatched",
}
SIZES = {"train": 392_702, "test-matched": 10_000, "test-mismatched": 10_000}
"""Pairs in the official files, those without an agreed label included."""
VALIDATION_SHARE = 0.2


def load(archive: Archive, *, seed: int, halves: bool = True, single: bool = False) -> Corpus:
    """Hypothesis and premise pairs; `single=True` joins premise and hypothesis into one text."""
    splits, files = read_splits("multinli", archive, FILES, needed=("train", "test-matched"))
    notes: list[str] = []
    kept = cut_long(agreed(splits, notes), notes)
    if single:
        kept = {name: list(map(joined, pairs)) for name, pairs in kept.items()}
    train, validation = stratified(kept.pop("train"), VALIDATION_SHARE, seed)
    test = [pair for pairs in kept.values() for pair in pairs]
    corpus = Corpus("multinli", LABELS, train, validation, test, extra=kept, metric="micro-f1", files=files)
    corpus.notes = notes
    corpus.notes.append(f"{VALIDATION_SHARE:.0%} of train for validation; test is the official development pairs")
    if "test-mismatched" not in kept:
        corpus.notes.append("no multinli_1.0_dev_mismatched.jsonl in the archive: test is the matched pairs alone")
    set_halves(corpus, halves, seed)
    parts = {file: (len(splits.get(split, ())), SIZES[split]) for file, split in FILES.items()}
    if halves or any(found < size for found, size in parts.values()):
        corpus.notes += against_table1(corpus, parts)
    return corpus


def joined(pair: Example) -> Example:
    """The pair as one text, premise first."""
    return replace(pair, text=f"{plain(pair.pair or '')} {plain(pair.text)}".strip(), pair=None)


OFFICIAL = Official("multinli", "Multi-Genre NLI", "pair", "multinli_1.0.zip", ("multinli_1.0",), load)
