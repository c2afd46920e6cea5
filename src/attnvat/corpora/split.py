"""Seeded splits that do not depend on the order of files in an archive or on a library's version."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from attnvat.corpora.example import Example, plain


def shuffled(examples: Sequence[Example], seed: int) -> list[Example]:
    """The examples in an order that depends on the seed and the examples alone, not on how they came."""
    order = sorted(examples, key=_place)
    random.Random(seed).shuffle(order)
    return order


def stratified(examples: Sequence[Example], share: float, seed: int) -> tuple[list[Example], list[Example]]:
    """Two lists, the second with `share` of the examples (rounded up), each class in proportion."""
    by_label: dict[str | None, list[Example]] = defaultdict(list)
    for example in shuffled(examples, seed):
        by_label[example.label].append(example)
    # Dealing the classes out evenly and cutting once keeps the total exact; cutting each class rounds it.
    places = [
        ((place + 0.5) / len(members), str(label), example)
        for label, members in by_label.items()
        for place, example in enumerate(members)
    ]
    places.sort(key=lambda entry: entry[:2])
    cut = len(places) - ceiling(share * len(places))
    ordered = [example for _, _, example in places]
    return shuffled(ordered[:cut], seed), shuffled(ordered[cut:], seed)


def halves(examples: Sequence[Example], seed: int) -> tuple[list[Example], list[Example]]:
    """A random half of the examples, and the other half (one more when odd) with its labels taken away."""
    order = shuffled(examples, seed)
    middle = len(order) // 2
    return order[:middle], [replace(example, label=None) for example in order[middle:]]


def by_id(splits: dict[str, list[Example]]) -> dict[str, list[Example]]:
    """The splits each in the order of its ids, since archives of the same corpus order their files differently."""
    return {name: sorted(splits[name], key=_place) for name in sorted(splits)}


def ceiling(number: float) -> int:
    """The number rounded up, forgiving the last bits of a product such as 0.15 * 60,000."""
    return -int(-round(number, 6) // 1)


def _place(example: Example) -> str:
    return example.id or f"{plain(example.text)}\0{plain(example.pair or '')}"
