"""What SNLI and MultiNLI share: pairs in JSON lines, pairs without an agreed label dropped, halves of train.

The attended text P is the hypothesis; Q is the premise it is read against.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from typing import Any

from attnvat.corpora.archive import Archive, Member, Wanted, decoded
from attnvat.corpora.corpus import Corpus
from attnvat.corpora.example import Example, plain
from attnvat.corpora.parsed import Splits, parsed
from attnvat.corpora.split import halves as into_halves
from attnvat.errors import UserError

LABELS = ("entailment", "neutral", "contradiction")
NO_AGREEMENT = "-"
PARSER = "1"
LONGEST = 500
"""Words of the longest sentence that is believed; the corpora's own have at most about 400."""


def read_splits(
    name: str, archive: Archive, files: dict[str, str], needed: tuple[str, ...]
) -> tuple[Splits, dict[str, str]]:
    """The pairs of each split, `files` giving the split of each file, and the fingerprint of what was read.

    A pair without an agreed label keeps None as its label.
    """

    def parse(archive: Archive) -> Splits:
        found = {files[_base(member.name)]: read_pairs(member) for member in archive.members(wanted)}
        return {split: found[split] for split in files.values() if split in found}

    wanted = _wanted(files)
    splits, fingerprint = parsed(name, archive, wanted, parse, PARSER)
    for file, split in files.items():
        if split in needed and not splits.get(split):
            raise UserError(f"{archive.path}: no pairs in {file}; take the official {name}_1.0.zip")
    return splits, {str(archive.path): fingerprint}


def read_pairs(member: Member) -> list[Example]:
    """The pairs of one file."""
    return [
        read_pair(line, f"{member.where}: line {number}", f"{_base(member.name)}:{number}")
        for number, line in enumerate(member.lines(), 1)
        if line.strip()
    ]


def read_pair(line: bytes, where: str, id_: str) -> Example:
    """One pair from its JSON line."""
    try:
        pair: Any = json.loads(decoded(line, where))
        label, premise, hypothesis = pair["gold_label"], pair["sentence1"], pair["sentence2"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        need = "an object with gold_label, sentence1 and sentence2"
        raise UserError(f"{where}: not {need} ({type(error).__name__}: {error}); download it again") from error
    if label not in (*LABELS, NO_AGREEMENT) or not isinstance(premise, str) or not isinstance(hypothesis, str):
        raise UserError(f"{where}: gold_label {label!r} is none of {', '.join(LABELS)}; download it again")
    genre = pair.get("genre")
    return Example(hypothesis, premise, None if label == NO_AGREEMENT else label, id=id_, genre=genre)


def agreed(splits: Splits, notes: list[str]) -> Splits:
    """The splits without the pairs that have no agreed label; how many those were goes into the notes."""
    kept = {name: [pair for pair in pairs if pair.label is not None] for name, pairs in splits.items()}
    dropped = Counter({name: len(splits[name]) - len(kept[name]) for name in splits})
    if dropped.total():
        listed = ", ".join(f"{name} {count:,}" for name, count in dropped.items() if count)
        notes.append(f"pairs without an agreed label ('{NO_AGREEMENT}') left out: {listed}")
    return kept


def cut_long(splits: Splits, notes: list[str]) -> Splits:
    """The splits with sentences of more than `LONGEST` words cut: there, records of the file have run together."""
    cut = 0

    def checked(pair: Example) -> Example:
        nonlocal cut
        texts = [plain(pair.text), plain(pair.pair or "")]
        if max(map(len, texts)) <= LONGEST:  # a word has a character at least
            return pair
        hypothesis, premise = (text.split() for text in texts)
        if max(len(hypothesis), len(premise)) <= LONGEST:
            return pair
        cut += 1
        return replace(pair, text=" ".join(hypothesis[:LONGEST]), pair=" ".join(premise[:LONGEST]))

    kept = {name: list(map(checked, pairs)) for name, pairs in splits.items()}
    if cut:
        notes.append(f"pairs with a sentence of more than {LONGEST} words (records run together), cut there: {cut}")
    return kept


def set_halves(corpus: Corpus, halves: bool, seed: int) -> None:
    """Make half of the training pairs unlabelled, as the paper does, or say that all keep their labels."""
    if halves:
        corpus.train, corpus.unlabelled = into_halves(corpus.train, seed)
        corpus.notes.append("a random half of train keeps its labels, the other half is the unlabelled data")
    else:
        corpus.notes.append("all of train keeps its labels (halves=False); the paper labels only half")


def _base(name: str) -> str:
    return name.rpartition("/")[2]


def _wanted(files: dict[str, str]) -> Wanted:
    return lambda name: _base(name) in files and "__MACOSX" not in name
