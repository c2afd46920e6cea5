"""A corpus as loaded: its splits, its labels, and a record of what was read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from attnvat.corpora.example import Example
from attnvat.text.tokenizer import Text

Metric = Literal["f1", "accuracy", "micro-f1"]


@dataclass
class Corpus:
    """Labelled splits, unlabelled text, and the notes a person should read before trusting a number."""

    name: str
    labels: tuple[str, ...]
    """Class names in the order of their numbers; `labels[1]` is the positive class of F1."""
    train: list[Example]
    validation: list[Example]
    test: list[Example]
    unlabelled: list[Example] = field(default_factory=list)
    extra: dict[str, list[Example]] = field(default_factory=dict)
    """Further evaluation splits by name, such as `test-full`."""
    metric: Metric = "accuracy"
    notes: list[str] = field(default_factory=list)
    """What was left out, cut or found to be a part, in sentences."""
    files: dict[str, str] = field(default_factory=dict)
    """Each file or folder read, with the SHA-256 of its content."""

    @property
    def pair(self) -> bool:
        """Whether every example is a pair of texts."""
        return any(example.pair is not None for example in (self.train or self.unlabelled)[:1])

    def splits(self) -> dict[str, list[Example]]:
        """All non-empty splits by name, the unlabelled one included."""
        named = {"train": self.train, "validation": self.validation, "test": self.test}
        named |= {"unlabelled": self.unlabelled, **self.extra}
        return {name: examples for name, examples in named.items() if examples}


def evaluation_texts(corpus: Corpus) -> Iterator[Text]:
    """Every text a model is judged on (validation, test, further test splits): what no pool may contain."""
    for examples in (corpus.validation, corpus.test, *corpus.extra.values()):
        for example in examples:
            yield example.text
            if example.pair is not None:
                yield example.pair
