"""What must hold between the splits of people's data: known classes, nothing shared, every split there."""

from __future__ import annotations

from collections import defaultdict

from attnvat.corpora.bad_rows import BadRows
from attnvat.corpora.corpus import Corpus
from attnvat.corpora.example import Example, plain
from attnvat.corpora.split import stratified
from attnvat.errors import UserError, nearest

SHARE = 0.1
"""Of the labelled examples, for each of validation and test where no file is given."""
Key = tuple[str, str | None]


def check_classes(name: str, train: list[Example], bad: BadRows) -> tuple[str, ...]:
    """The classes of the training examples, numbers by size and others by name; fewer than two is an error."""
    labels = {example.label for example in train if example.label is not None}
    if len(labels) < 2:
        bad.settle()  # what is wrong with the rows explains it better
        found = f"all rows have the label {next(iter(labels))!r}" if labels else "no sound rows"
        raise UserError(f"{name}: {found}; a classifier needs two classes or more, so check the label column")
    if all(label.lstrip("-").isdecimal() for label in labels):
        return tuple(sorted(labels, key=int))
    return tuple(sorted(labels))


def check_known(name: str, examples: list[Example], labels: tuple[str, ...], bad: BadRows) -> list[Example]:
    """The examples whose label the training examples have; the others are bad rows."""
    known = set(labels)
    for example in examples:
        if example.label not in known:
            bad.add(
                f"{name}: {_where(example)}",
                "unknown label",
                f"{example.label!r}; {nearest(example.label or '', known)}",
            )
    return [example for example in examples if example.label in known]


def without_shared(names: dict[str, str], splits: dict[str, list[Example]], bad: BadRows) -> dict[str, list[Example]]:
    """The splits with no text in two of them: a shared one is a bad row of the split it may be taken from.

    It stays where it is judged: a text of test is taken from validation and train, one of validation from train.
    """
    seen: dict[Key, str] = {}
    kept = {}
    for split in sorted(splits, key=["test", "validation", "train"].index):
        unique = []
        for example in splits[split]:
            other = seen.get(_key(example))
            if other is None:
                unique.append(example)
            else:
                bad.add(f"{names[split]}: {_where(example)}", "duplicate across splits", f"also {other}")
        for example in splits[split]:
            seen.setdefault(_key(example), f"in {split}: {_where(example)}")
        kept[split] = unique
    return kept


def complete(name: str, labels: tuple[str, ...], splits: dict[str, list[Example]], seed: int) -> Corpus:
    """The corpus, with validation and test split off train where they are not given."""
    corpus = Corpus(name, labels, splits["train"], splits.get("validation", []), splits.get("test", []))
    corpus.metric = "f1" if len(labels) == 2 else "micro-f1"
    missing = [split for split in ("test", "validation") if not splits.get(split)]
    for split in missing:
        # Of the training examples as given, so that two splits get the same number.
        share = SHARE * len(splits["train"]) / len(corpus.train)
        corpus.train, part = _split_off(corpus.train, share, seed)
        setattr(corpus, split, part)
    if missing:
        listed = " and ".join(f"{len(getattr(corpus, split)):,} for {split}" for split in missing)
        corpus.notes.append(f"split off train (seed {seed}, each class in proportion): {listed}")
    lost = sorted(set(labels) - {example.label or "" for example in corpus.train})
    if lost or not corpus.validation or not corpus.test:
        which = f"class {lost[0]!r} has none left for training" if lost else "a split is empty"
        raise UserError(f"{name}: too few examples to split ({which}); give validation and test files, or more data")
    return corpus


def _split_off(examples: list[Example], share: float, seed: int) -> tuple[list[Example], list[Example]]:
    """A stratified split in which examples with the same text stay on the same side."""
    groups: dict[Key, list[Example]] = defaultdict(list)
    for example in examples:
        groups[_key(example)].append(example)
    rest, part = stratified([group[0] for group in groups.values()], share, seed)
    return _members(rest, groups), _members(part, groups)


def _members(chosen: list[Example], groups: dict[Key, list[Example]]) -> list[Example]:
    return [example for first in chosen for example in groups[_key(first)]]


def _key(example: Example) -> Key:
    return plain(example.text), None if example.pair is None else plain(example.pair)


def _where(example: Example) -> str:
    return (example.id or "").partition(": ")[2]
