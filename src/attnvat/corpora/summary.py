"""What there is to know of a corpus before training: class balance, lengths in words, vocabulary."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from attnvat.corpora.corpus import Corpus
from attnvat.corpora.example import Example
from attnvat.text.tokenizer import Tokenizer

SAMPLE = 5_000
"""Texts of each split whose length is measured; all of them where there are fewer."""


@dataclass(frozen=True)
class Lengths:
    """Numbers of words of a split's texts (pairs counted together)."""

    mean: float
    median: int
    most: int
    """Nineteen in twenty texts are this long or shorter."""
    longest: int


def class_balance(examples: Sequence[Example]) -> dict[str, int]:
    """How many examples each label has, unlabelled ones left out."""
    return dict(Counter(example.label for example in examples if example.label is not None))


def lengths(examples: Sequence[Example], tokenizer: Tokenizer) -> Lengths:
    """The lengths of at most `SAMPLE` texts, taken at even steps through the split."""
    chosen = examples[:: -(-len(examples) // SAMPLE)]
    counts = np.array([len(words_of(example, tokenizer)) for example in chosen])
    median, most = np.percentile(counts, [50, 95])
    return Lengths(float(counts.mean()), round(median), round(most), int(counts.max()))


def word_counts(corpus: Corpus, tokenizer: Tokenizer) -> Counter[str]:
    """How often each word comes in the training split; in the unlabelled one where there is no training split."""
    counts: Counter[str] = Counter()
    for example in corpus.train or corpus.unlabelled:
        counts.update(words_of(example, tokenizer))
    return counts


def words_of(example: Example, tokenizer: Tokenizer) -> list[str]:
    """The words of an example's text and of its second text."""
    words = tokenizer.words(example.text)
    return words if example.pair is None else words + tokenizer.words(example.pair)
