"""What is evaluated: a model with the examples it is judged on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from attnvat.corpora.corpus import Metric
from attnvat.corpora.example import Example
from attnvat.errors import UserError, nearest
from attnvat.models import Pretrained
from attnvat.text.encoding import EncodedDataset, EncodedTexts, encode_texts
from attnvat.text.tokenizer import Text


@dataclass(frozen=True)
class Subject:
    """A model, the examples it is judged on, and the metric that counts for them."""

    pretrained: Pretrained
    examples: list[Example]
    metric: Metric = "accuracy"
    name: str = ""

    @cached_property
    def data(self) -> EncodedDataset:
        """The examples as the model reads them, whole: nothing is cut, so positions fit rationales and heat maps."""
        return encode_examples(self.pretrained, self.examples)

    def select(self, rows: Sequence[int]) -> Subject:
        """The same model on the examples of these rows."""
        return Subject(self.pretrained, [self.examples[row] for row in rows], self.metric, self.name)


def encode_examples(
    pretrained: Pretrained, examples: Sequence[Example], max_length: int | None = None
) -> EncodedDataset:
    """The examples as ids of the model's vocabulary; labels only where every example has one."""
    tokenizer, vocabulary = pretrained.tokenizer, pretrained.vocabulary
    questions = None
    if pretrained.model.config.pair:
        questions = encode_texts(_questions(examples), tokenizer, vocabulary, max_length)
    labels = None
    if examples and all(example.label is not None for example in examples):
        number = _numbers(pretrained.labels, examples)
        labels = np.array([number[str(example.label)] for example in examples], dtype=np.int64)
    classes = None
    if any(example.classes is not None for example in examples):
        known = {label: place for place, label in enumerate(pretrained.labels)}
        everything = list(range(len(known)))
        classes = EncodedTexts.from_lists(
            everything if e.classes is None else [known[name] for name in e.classes if name in known] or everything
            for e in examples
        )
    return EncodedDataset(
        encode_texts((example.text for example in examples), tokenizer, vocabulary, max_length),
        questions,
        labels,
        classes,
        len(pretrained.labels),
    )


def _questions(examples: Sequence[Example]) -> list[Text]:
    """The second text of every example."""
    found = []
    for place, example in enumerate(examples):
        if example.pair is None:
            raise UserError(
                f"example {example.id or place + 1} has one text, but the model reads pairs; name its second column"
            )
        found.append(example.pair)
    return found


def _numbers(labels: Sequence[str], examples: Sequence[Example]) -> dict[str, int]:
    """The class number of each label; a label the model does not know is named."""
    number = {label: place for place, label in enumerate(labels)}
    for place, example in enumerate(examples):
        if example.label not in number:
            raise UserError(
                f"example {example.id or place + 1} has the label {example.label!r}, which the model does not know; "
                f"{nearest(str(example.label), labels)}"
            )
    return number
