"""The Large Movie Review Dataset: the paper's reduced split (short reviews), the official one, and one by film.

The paper works on reviews of under 400 words in Keras' encoding of the corpus, which has no punctuation. So
what is counted here are our tokenizer's tokens that are words: 21,524 training reviews are under 400, against
the paper's 21,480. With punctuation counted as well only 20,365 would be, outside 1% of the paper's sizes.

The paper's validation reviews (`imdb`) are of films that training has as well; test reviews are not. `imdb-films` sets
films aside instead, and leaves test as it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from attnvat.corpora.archive import Archive
from attnvat.corpora.corpus import Corpus
from attnvat.corpora.example import Example
from attnvat.corpora.official import Official
from attnvat.corpora.parsed import Splits, parsed
from attnvat.corpora.split import by_id, shuffled, stratified
from attnvat.corpora.table1 import against_table1
from attnvat.errors import UserError
from attnvat.progress import track
from attnvat.storage import sha256
from attnvat.text import tokenizer as tokenizer_module
from attnvat.text.tokenizer import BREAK, Memo, Tokenizer, split

LABELS = ("negative", "positive")
SHORT = 400
"""A review of fewer words than this is in the paper's split."""
MEMBER = re.compile(r"(?:^|/)(train|test)/(pos|neg|unsup)/([^/]+)\.txt$")
NUMBER = re.compile(r"/(pos|neg)/(\d+)_")
SET_ASIDE = {"pos": [range(10_000, 12_500)], "neg": [range(3_100, 3_970), range(10_870, 12_500)]}
"""The numbers of the training reviews of a fifth of the films, which is about what they are of the reviews.

Reviews of a film follow each other. Films that have reviews of both kinds are in one order in both, and have the
negative numbers below 3,970; the others are of films without positive reviews. `benchmarks/imdb_films.py` shows it.
"""
SIZES = {"train": 25_000, "test": 25_000, "unsup": 50_000}

Divide = Callable[[Sequence[Example], int], tuple[list[Example], list[Example]]]
"""`divide(reviews, seed) -> train, validation`."""


def at_random(reviews: Sequence[Example], seed: int) -> tuple[list[Example], list[Example]]:
    """A fifth of the reviews for validation, as in the paper."""
    return stratified(reviews, 0.2, seed)


def by_film(reviews: Sequence[Example], seed: int) -> tuple[list[Example], list[Example]]:
    """The reviews of a fifth of the films for validation, always the same ones."""
    aside = [one for one in reviews if is_set_aside(one)]
    return shuffled([one for one in reviews if not is_set_aside(one)], seed), shuffled(aside, seed)


def is_set_aside(review: Example) -> bool:
    """Whether a training review is of a film that is set aside for validation."""
    found = NUMBER.search(str(review.id))
    return found is not None and any(int(found[2]) in numbers for numbers in SET_ASIDE[found[1]])


def load(name: str, divide: Divide, archive: Archive, *, seed: int, reduced: bool = True) -> Corpus:
    """The paper's reviews; `reduced=False` keeps long reviews too.

    The paper tests on a fifth of the short test reviews, drawn at random. All short ones are `test-short`, and with the
    long ones `test-full`.
    """
    # The parsed splits depend on the tokenizer through the word counts: another tokenizer, another cache.
    version = f"1-{sha256(Path(tokenizer_module.__file__))}"
    splits, fingerprint = parsed("imdb", archive, wanted, parse, version)
    train, test = splits.get("train", []), splits.get("test", [])
    long_train, long_test = splits.get("train-long", []), splits.get("test-long", [])
    full_test = [*test, *long_test]
    if not (train or long_train) or not full_test:
        raise UserError(f"{archive.path}: no reviews in train/ and test/ (pos, neg); take the official {OFFICIAL.file}")
    corpus = Corpus(name, LABELS, [], [], [], metric="f1", files={str(archive.path): fingerprint})
    corpus.train, corpus.validation = divide(train if reduced else [*train, *long_train], seed)
    if reduced:
        corpus.test = stratified(test, 0.2, seed)[1]
        corpus.extra |= {"test-short": shuffled(test, seed), "test-full": shuffled(full_test, seed)}
        corpus.notes.append(
            f"the paper's split: reviews under {SHORT} words ({len(long_train):,} longer left out of train), "
            f"20% of train for validation, 20% of the short test reviews (all {len(test):,}: test-short); "
            f"all {len(full_test):,} as test-full"
        )
    else:
        corpus.test = shuffled(full_test, seed)
    if divide is by_film:
        corpus.notes.append("not as in the paper: validation has a fifth of train's films to itself")
    corpus.unlabelled = splits.get("unsup", [])
    found = {"train": len(train) + len(long_train), "test": len(full_test), "unsup": len(corpus.unlabelled)}
    if reduced or found != SIZES:
        corpus.notes += against_table1(corpus, {name: (found[name], size) for name, size in SIZES.items()})
    return corpus


def wanted(name: str) -> bool:
    """Whether a member is a review."""
    return MEMBER.search(name) is not None


def parse(archive: Archive) -> Splits:
    """All reviews: train, train-long, test, test-long and unsup, where long is not under 400 words."""
    splits: Splits = {}
    tokenize = Tokenizer().tokenize
    words = Memo(lambda piece: sum(map(is_word, tokenize(piece))))
    for member in track(archive.members(wanted), f"reading {archive.path.name}", total=sum(SIZES.values())):
        found = MEMBER.search(member.name)
        assert found is not None
        part, kind, number = found.groups()
        text = member.text()
        if kind == "unsup":
            splits.setdefault("unsup", []).append(Example(text, id=f"unsup/{number}"))
            continue
        short = sum(map(words.__getitem__, split(text))) < SHORT
        example = Example(text, label=LABELS[kind == "pos"], id=f"{part}/{kind}/{number}")
        splits.setdefault(part if short else f"{part}-long", []).append(example)
    return by_id(splits)


def is_word(token: str) -> bool:
    """Whether a token is a word or number, not a punctuation mark or a line break."""
    return token != BREAK and any(map(str.isalnum, token))


def _official(name: str, title: str, divide: Divide) -> Official:
    return Official(name, title, "single", "aclImdb_v1.tar.gz", ("aclImdb",), partial(load, name, divide))


OFFICIAL = _official("imdb", "Large Movie Review Dataset", at_random)
BY_FILM = _official("imdb-films", "Large Movie Review Dataset, validated on films of its own", by_film)
