"""Hostile and plain texts, and a tiny untrained model that reads them."""

from __future__ import annotations

import torch

from attnvat.corpora.example import Example
from attnvat.evaluation.subject import Subject
from attnvat.evaluation.suite import Options
from attnvat.models import ModelConfig, Pretrained, build_model
from attnvat.text.tokenizer import Text, Tokenizer
from attnvat.text.vocabulary import Vocabulary

HOSTILE = [
    "<script>alert(1)</script> is </style><script>bad()</script> a film",
    'he said "onmouseover=alert(2) x=" and <img src=x onerror=alert(3)> left',
    "abc \u202egnirts\u202c \x00 \x1b[31mred\x1b[0m {{ 7*7 }} {% raw %} end & done",
    "a lone \ud800 surrogate and a ]]> <!-- comment",
]
PLAIN = [
    "a warm and funny film about nothing much",
    "dull , slow and far too long",
    "the cast is good but the story is bad",
    "I laughed twice",
]


def tiny_model(seed: int, labels: tuple[str, ...], pair: bool = False) -> Pretrained:
    """An untrained model over the words of the texts above, its weights large enough to disagree with itself."""
    tokenizer = Tokenizer()
    words = sorted({word for text in HOSTILE + PLAIN for word in tokenizer.tokenize(text)})
    vocabulary = Vocabulary(["<pad>", "<unk>", *words])
    torch.manual_seed(seed)
    config = ModelConfig(vocabulary=len(vocabulary), dimension=8, hidden=8, attention=6, classes=len(labels), pair=pair)
    model = build_model(config)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(3)
    return Pretrained(model.eval(), vocabulary, tokenizer, labels)


def some_examples(labels: tuple[str, ...], pair: bool = False) -> list[Example]:
    """Plain and hostile texts, each with a rationale over its first words."""
    # Words that come ready-made are the dangerous ones: a tokenizer would take tags apart.
    texts: list[Text] = [*PLAIN * 2, *HOSTILE, *(tuple(text.split(" ")) for text in HOSTILE)]
    return [
        Example(
            text,
            ("what", "</p><script>x()</script>", "of", "it") if pair else None,
            labels[i % len(labels)],
            rationale=((0, 2),),
            id=f"<b>{i}</b>",
        )
        for i, text in enumerate(texts)
    ]


LABELS = ("bad", 'good"><script>alert(4)</script>')
QUICK = Options(importances=("gradient", "leave-one-out"), epsilons=(0.1, 1.0))


def tiny_subject(seed: int = 0, pair: bool = False) -> Subject:
    """A tiny model on the texts above, with hostile labels and ids."""
    return Subject(tiny_model(seed, LABELS, pair), some_examples(LABELS, pair), "f1", "tiny")
