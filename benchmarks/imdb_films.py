"""Does IMDB's validation split share its films with training, and do later epochs look better on it than on test?

    python benchmarks/imdb_films.py        # needs $ATTNVAT_DATA with IMDB's archive; reads results/

Prints the figures of docs/long-reviews.md.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path

import numpy as np
from scipy.stats import spearmanr

from attnvat.corpora import Corpus, Example, load_corpus
from attnvat.experiments.records import Records
from attnvat.text.tokenizer import Tokenizer
from attnvat.training.linear_teacher import LinearTeacher

Place = tuple[str, int]
RARE = range(2, 31)
"""A name that tells a film is in so many reviews."""


def place(example: Example) -> Place:
    """The class and the number of a review."""
    found = re.search(r"(pos|neg)/(\d+)_", str(example.id))
    assert found
    return found[1], int(found[2])


def names_of(reviews: Iterable[Example]) -> dict[Place, set[str]]:
    """The names in each review that are in few of them."""
    names = {place(one): set(re.findall(r"[A-Z][a-z]{3,}", str(one.text))) for one in reviews}
    counts = Counter(name for some in names.values() for name in some)
    return {key: {name for name in some if counts[name] in RARE} for key, some in names.items()}


def films(rare: dict[Place, set[str]]) -> None:
    """How often neighbouring reviews share a rare name."""
    keys = sorted(rare)
    beside = [(key, (key[0], key[1] + 1)) for key in keys if (key[0], key[1] + 1) in rare]
    draw = random.Random(0)
    drawn = [(draw.choice(keys), draw.choice(keys)) for _ in beside]
    for title, pairs in (("neighbouring reviews", beside), ("random pairs", drawn)):
        print(f"{title} that share a rare name: {sum(bool(rare[a] & rare[b]) for a, b in pairs) / len(pairs):.1%}")


def order(rare: dict[Place, set[str]]) -> None:
    """Whether films are in one order among positive and negative reviews: where names that are near in each stand."""
    found: dict[str, dict[str, list[int]]] = {}
    for (kind, number), names in rare.items():
        for name in names:
            found.setdefault(name, {}).setdefault(kind, []).append(number)
    both = [
        places for places in found.values() if len(places) == 2 and all(max(n) - min(n) < 30 for n in places.values())
    ]
    means = {kind: np.array([np.mean(places[kind]) for places in both]) for kind in ("pos", "neg")}
    edges = np.linspace(0, 12_500, 26)
    middle = [
        np.median(means["neg"][(means["pos"] >= a) & (means["pos"] < b) & (means["neg"] < 4_200)])
        for a, b in pairwise(edges)
    ]
    beside = np.abs(means["neg"] - np.interp(means["pos"], (edges[:-1] + edges[1:]) / 2, middle)) < 100
    print(f"names near in both kinds: {len(both)}; on one line: {beside.mean():.0%}, at random: {200 / 12_500:.1%}")
    print("positive number: negative number on that line")
    print(", ".join(f"{(a + b) / 2:,.0f}: {n:,.0f}" for (a, b), n in zip(pairwise(edges), middle, strict=True)))


def shared(rare: dict[Place, set[str]], corpus: Corpus) -> None:
    """How many validation reviews have a training review beside them that shares a rare name."""
    train, validation = ({place(one) for one in split} for split in (corpus.train, corpus.validation))
    known = sum(any((c, n + d) in train and rare[c, n] & rare[c, n + d] for d in (-2, -1, 1, 2)) for c, n in validation)
    print(f"{corpus.name}: validation reviews with such a training review beside them: {known / len(validation):.1%}")


def linear(corpus: Corpus) -> None:
    """What a linear model of words and words in a row knows of validation and test reviews."""
    splits = {"train": corpus.train, "validation": corpus.validation, "test": corpus.test}
    positive = {name: np.array([one.label == "positive" for one in split]) for name, split in splits.items()}
    model = LinearTeacher(Tokenizer(), [one.text for one in corpus.train], positive["train"].astype(np.int64), 2)
    for name in ("validation", "test"):
        right = np.mean((model.decide(one.text for one in splits[name])[:, 0] > 0) == positive[name])
        print(f"{corpus.name}: accuracy of a linear model on {name}: {right:.1%}")


def gaps() -> None:
    """How far validation lies above test, by the epoch that was kept, over untaught runs on record with all labels."""
    runs = [
        (
            run["result"]["epoch"] + 1,
            100 * (run["result"]["validation"] - run["measured"]["test"]["prediction"]["score"]),
        )
        for run in Records(Path("results")).runs.values()
        if run["data"]["corpus"] == "imdb" and not (run["config"]["labeled_size"] or run["config"].get("teacher"))
    ]
    found = spearmanr(*zip(*runs, strict=True)).statistic
    print(f"{len(runs)} runs, Spearman's correlation of epoch and gap: {found:.2f}")
    for first, last in ((1, 3), (4, 5), (6, 99)):
        some = [gap for epoch, gap in runs if first <= epoch <= last]
        print(f"epochs {first} to {last}: {len(some)} runs, validation − test {sum(some) / len(some):.1f} points")


def main() -> None:
    """Print all of it."""
    corpora = [load_corpus(name) for name in ("imdb", "imdb-films")]
    rare = names_of([*corpora[0].train, *corpora[0].validation])
    films(rare)
    order(rare)
    for corpus in corpora:
        shared(rare, corpus)
        linear(corpus)
    gaps()


if __name__ == "__main__":
    main()
