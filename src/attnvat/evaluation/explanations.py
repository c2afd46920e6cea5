"""Examples to look at: words with their attention and their importance side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from attnvat.corpora.example import Example
from attnvat.errors import UserError, nearest
from attnvat.evaluation.importances import IMPORTANCES, importances
from attnvat.evaluation.subject import encode_examples
from attnvat.models import Pretrained
from attnvat.text.tokenizer import Text, Tokenizer


@dataclass(frozen=True)
class Explanation:
    """One text as the model read it."""

    words: list[str]
    """The words as written, one for each position of `attention`."""
    attention: list[float]
    importance: dict[str, list[float]]
    """Name of an importance → a number a word."""
    probabilities: list[float]
    prediction: int
    label: int | None
    rationale: list[tuple[int, int]] | None
    """Spans [start, end) of words that people marked."""
    question: list[str] | None
    labels: tuple[str, ...]
    id: str | None


def explain(
    pretrained: Pretrained, examples: Sequence[Example], importance: Sequence[str] = ("gradient",)
) -> list[Explanation]:
    """What the model sees in each example: `importance` names any of gradient, integrated-gradients, leave-one-out."""
    for name in importance:
        if name not in IMPORTANCES:
            raise UserError(f"unknown importance {name!r}; {nearest(name, IMPORTANCES)}")
    data = encode_examples(pretrained, examples)
    reading, values = importances(pretrained, data, importance)
    number = {label: place for place, label in enumerate(pretrained.labels)}
    return [
        Explanation(
            words=as_written(pretrained.tokenizer, example.text),
            attention=reading.attention[row].tolist(),
            importance={name: values[name][row].tolist() for name in importance},
            probabilities=reading.probabilities[row].tolist(),
            prediction=int(reading.predictions[row]),
            label=None if example.label is None else number.get(example.label),
            rationale=None if example.rationale is None else list(example.rationale),
            question=as_written(pretrained.tokenizer, example.pair)
            if data.questions is not None and example.pair is not None
            else None,
            labels=pretrained.labels,
            id=example.id,
        )
        for row, example in enumerate(examples)
    ]


def as_written(tokenizer: Tokenizer, text: Text) -> list[str]:
    """The words of a text before normalisation, one for each token the model reads; an empty text is one empty word."""
    words = [text[start:end] for start, end in tokenizer.spans(text)] if isinstance(text, str) else list(text)
    return words or [""]
