"""The Stanford Natural Language Inference corpus with its official split."""

from __future__ import annotations

from attnvat.corpora.archive import Archive
from attnvat.corpora.corpus import Corpus
from attnvat.corpora.nli import LABELS, agreed, cut_long, read_splits, set_halves
from attnvat.corpora.official import Official
from attnvat.corpora.split import shuffled
from attnvat.corpora.table1 import against_table1

FILES = {"snli_1.0_train.jsonl": "train", "snli_1.0_dev.jsonl": "validation", "snli_1.0_test.jsonl": "test"}
SIZES = {"train": 550_152, "validation": 10_000, "test": 10_000}


def load(archive: Archive, *, seed: int, halves: bool = True) -> Corpus:
    """Hypothesis and premise pairs; half of train is unlabelled as in the paper unless `halves=False`."""
    splits, files = read_splits("snli", archive, FILES, needed=("train", "validation", "test"))
    notes: list[str] = []
    kept = cut_long(agreed(splits, notes), notes)
    train = shuffled(kept["train"], seed)
    corpus = Corpus("snli", LABELS, train, kept["validation"], kept["test"], metric="micro-f1")
    corpus.notes, corpus.files = notes, files
    set_halves(corpus, halves, seed)
    parts = {file: (len(splits[split]), SIZES[split]) for file, split in FILES.items()}
    if halves or any(found < size for found, size in parts.values()):
        corpus.notes += against_table1(corpus, parts)
    return corpus


OFFICIAL = Official("snli", "Stanford Natural Language Inference", "pair", "snli_1.0.zip", ("snli_1.0",), load)
