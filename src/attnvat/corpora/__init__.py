"""Corpora from their official files, and people's own data."""

from attnvat.corpora.corpus import Corpus, evaluation_texts
from attnvat.corpora.example import Example, plain
from attnvat.corpora.own import load_own, read_unlabelled
from attnvat.corpora.registry import CORPORA, load, load_corpus, unlabelled_examples

__all__ = [
    "CORPORA",
    "Corpus",
    "Example",
    "evaluation_texts",
    "load",
    "load_corpus",
    "load_own",
    "plain",
    "read_unlabelled",
    "unlabelled_examples",
]
