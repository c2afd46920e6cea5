"""Corpora from their official files, and people's own data."""

from attnvat.corpora.corpus import Corpus, evaluation_texts
from attnvat.corpora.example import Example, plain
from attnvat.corpora.registry import CORPORA, load_corpus, unlabelled_examples

__all__ = ["CORPORA", "Corpus", "Example", "evaluation_texts", "load_corpus", "plain", "unlabelled_examples"]
