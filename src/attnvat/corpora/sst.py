"""The Stanford Sentiment Treebank in two classes: root label 3 or 4 positive, 0 or 1 negative, 2 dropped."""

from __future__ import annotations

import re

from attnvat.corpora.archive import Archive, Member, decoded
from attnvat.corpora.corpus import Corpus
from attnvat.corpora.example import Example
from attnvat.corpora.official import Official
from attnvat.corpora.table1 import against_table1
from attnvat.corpora.words import Words
from attnvat.errors import UserError

FILES = {"train.txt": "train", "dev.txt": "validation", "test.txt": "test"}
LABELS = ("negative", "positive")
ESCAPES = {
    "-LRB-": "(",
    "-RRB-": ")",
    "-LSB-": "[",
    "-RSB-": "]",
    "-LCB-": "{",
    "-RCB-": "}",
    "``": '"',
    "''": '"',
}
"""How the Penn treebank writes brackets and quotes; word vectors and other texts have the plain marks."""
LEAF = re.compile(r"\([0-4] ([^()]+)\)")


def load(archive: Archive, *, seed: int) -> Corpus:  # noqa: ARG001  the official split needs no seed
    """The binary treebank with its official split and its own tokens."""
    splits: dict[str, list[Example]] = {name: [] for name in FILES.values()}
    dropped = 0
    for member in archive.members(wanted):
        split = FILES[member.name.rpartition("/")[2]]
        examples = [read_tree(line, member, number) for number, line in enumerate(member.lines(), 1) if line.strip()]
        splits[split] = [example for example in examples if example.label is not None]
        dropped += len(examples) - len(splits[split])
    missing = [file for file, split in FILES.items() if not splits[split]]
    if missing:
        raise UserError(f"{archive.path}: no trees in {', '.join(missing)}; take the official {OFFICIAL.file}")
    files = {str(archive.path): archive.fingerprint(wanted)}
    train, validation, test = splits["train"], splits["validation"], splits["test"]
    corpus = Corpus("sst", LABELS, train, validation, test, metric="f1", files=files)
    corpus.notes.append(f"{dropped:,} neutral sentences (root label 2) left out")
    corpus.notes += against_table1(corpus)
    return corpus


def wanted(name: str) -> bool:
    """Whether a member is one of the three tree files."""
    return name.rpartition("/")[2] in FILES and "__MACOSX" not in name


def read_tree(line: bytes, member: Member, number: int) -> Example:
    """The words and root label of one bracketed tree; a neutral one has no label."""
    where = f"{member.where}: line {number}"
    tree = decoded(line, where).strip()
    words = LEAF.findall(tree)
    if not words or tree[0] != "(" or tree[1] not in "01234" or tree.count("(") != tree.count(")"):
        raise UserError(f"{where}: not a tree such as (3 (2 good) (2 film)); download the official file again")
    root = int(tree[1])
    label = None if root == 2 else LABELS[root > 2]
    return Example(Words(map(unescaped, words)), label=label, id=f"{FILES[member.name.rpartition('/')[2]]}-{number}")


def unescaped(word: str) -> str:
    r"""The word as written in running text: `-LRB-` is `(`, `and\/or` is `and/or`."""
    return ESCAPES.get(word) or word.replace("\\/", "/").replace("\\*", "*")


OFFICIAL = Official("sst", "Stanford Sentiment Treebank", "single", "trainDevTestTrees_PTB.zip", ("trees",), load)
