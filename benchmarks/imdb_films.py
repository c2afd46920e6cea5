"""Does IMDB's validation split share its films with training, and do later epochs look better on it than on test?

    python benchmarks/imdb_films.py        # needs $ATTNVAT_DATA with IMDB's archive; reads results/

Prints the figures of docs/techniques.md, "Long reviews".
"""

from __future__ import annotations

import random
import re
from collections import Counter
from pathlib import Path

from scipy.stats import spearmanr

from attnvat.corpora import Example, load_corpus
from attnvat.experiments.records import Records

Place = tuple[str, int]
RARE = range(2, 31)
"""A name that tells a film is in so many reviews."""


def place(example: Example) -> Place:
    """The class and the number of a review."""
    found = re.search(r"(pos|neg)/(\d+)_", str(example.id))
    assert found
    return found[1], int(found[2])


def films() -> None:
    """How often neighbouring reviews, and a validation review and a training review beside it, share a rare name."""
    corpus = load_corpus("imdb")
    names = {
        place(one): set(re.findall(r"[A-Z][a-z]{3,}", str(one.text))) for one in (*corpus.train, *corpus.validation)
    }
    counts = Counter(name for some in names.values() for name in some)
    rare = {key: {name for name in some if counts[name] in RARE} for key, some in names.items()}
    keys = sorted(rare)
    beside = [(key, (key[0], key[1] + 1)) for key in keys if (key[0], key[1] + 1) in rare]
    draw = random.Random(0)
    drawn = [(draw.choice(keys), draw.choice(keys)) for _ in beside]
    for title, pairs in (("neighbouring reviews", beside), ("random pairs", drawn)):
        print(f"{title} that share a rare name: {sum(bool(rare[a] & rare[b]) for a, b in pairs) / len(pairs):.1%}")
    train, validation = ({place(one) for one in split} for split in (corpus.train, corpus.validation))
    known = sum(any((c, n + d) in train and rare[c, n] & rare[c, n + d] for d in (-2, -1, 1, 2)) for c, n in validation)
    print(f"validation reviews with such a training review at most two numbers away: {known / len(validation):.1%}")


def gaps() -> None:
    """How far validation lies above test, by the epoch that was kept, over the runs on record with all labels."""
    runs = [
        (
            run["result"]["epoch"] + 1,
            100 * (run["result"]["validation"] - run["measured"]["test"]["prediction"]["score"]),
        )
        for run in Records(Path("results")).runs.values()
        if run["data"]["corpus"] == "imdb" and not run["config"]["labeled_size"]
    ]
    found = spearmanr(*zip(*runs, strict=True)).statistic
    print(f"{len(runs)} runs, Spearman's correlation of epoch and gap: {found:.2f}")
    for first, last in ((1, 3), (4, 5), (6, 99)):
        some = [gap for epoch, gap in runs if first <= epoch <= last]
        print(f"epochs {first} to {last}: {len(some)} runs, validation − test {sum(some) / len(some):.1f} points")


if __name__ == "__main__":
    films()
    gaps()
