"""The CNN cloze questions of Hermann and others: which entity of the paragraph fills the question's blank.

A `.question` file holds, with blank lines between: the address of the article, the paragraph, the question
with `@placeholder`, the answer, and one `@entityN:name` line for each entity. Texts are tokenised already.
"""

from __future__ import annotations

import re

from attnvat.corpora.archive import Archive, Member
from attnvat.corpora.corpus import Corpus
from attnvat.corpora.example import Example
from attnvat.corpora.official import Official
from attnvat.corpora.parsed import Splits, parsed
from attnvat.corpora.split import by_id, shuffled
from attnvat.corpora.split import halves as into_halves
from attnvat.corpora.table1 import against_table1
from attnvat.corpora.words import Words
from attnvat.errors import UserError
from attnvat.progress import track

MEMBER = re.compile(r"(?:^|/)(training|validation|test)/([^/.][^/]*)\.question$")
ENTITY = re.compile(r"@entity\d+")
SIZES = {"training": 380_298, "validation": 3_924, "test": 3_198}


def load(archive: Archive, *, seed: int, halves: bool = True) -> Corpus:
    """Paragraph and question pairs; half of train is unlabelled as in the paper unless `halves=False`."""
    splits, fingerprint = parsed("cnn", archive, wanted, parse, version="1")
    for name in SIZES:
        if not splits.get(name):
            raise UserError(f"{archive.path}: no questions/{name}/*.question; take the official {OFFICIAL.file}")
    answerable = {name: [q for q in splits[name] if q.label in (q.classes or ())] for name in SIZES}
    entities = {entity for name in SIZES for question in answerable[name] for entity in question.classes or ()}
    labels = tuple(sorted(entities, key=lambda entity: int(entity.removeprefix("@entity"))))
    train, validation, test = (answerable[name] for name in SIZES)
    corpus = Corpus("cnn", labels, shuffled(train, seed), validation, test, metric="accuracy")
    corpus.files[str(archive.path)] = fingerprint
    if halves:
        corpus.train, corpus.unlabelled = into_halves(train, seed)
        corpus.notes.append("a random half of train keeps its labels, the other half is the unlabelled data")
    lost = sum(len(splits[name]) - len(answerable[name]) for name in SIZES)
    if lost:
        corpus.notes.append(f"{lost:,} questions left out: their answer is not in the paragraph")
    parts = {f"questions/{name}": (len(splits[name]), size) for name, size in SIZES.items()}
    if halves or any(found < size for found, size in parts.values()):
        corpus.notes += against_table1(corpus, parts)
    return corpus


def wanted(name: str) -> bool:
    """Whether a member is a question."""
    return MEMBER.search(name) is not None


def parse(archive: Archive) -> Splits:
    """The questions of the three folders."""
    splits: Splits = {name: [] for name in SIZES}
    for member in track(archive.members(wanted), f"reading {archive.path.name}", total=sum(SIZES.values())):
        found = MEMBER.search(member.name)
        assert found is not None
        splits[found[1]].append(read_question(member, found[2]))
    return by_id(splits)


def read_question(member: Member, id_: str) -> Example:
    """One question: the paragraph as the attended text, its entities as the possible classes."""
    blocks = member.text().replace("\r\n", "\n").strip("\n").split("\n\n")
    if len(blocks) < 4 or not all(map(str.strip, blocks[1:4])) or not ENTITY.fullmatch(blocks[3].strip()):
        raise UserError(
            f"{member.where}: not a question file (address, paragraph, question, answer, entities, blank "
            "lines between); download the official archive again"
        )
    paragraph, question, answer = (block.split() for block in blocks[1:4])
    classes = tuple(sorted({entity for word in paragraph for entity in ENTITY.findall(word)}))
    return Example(Words(paragraph), Words(question), answer[0], classes, id=id_)


OFFICIAL = Official("cnn", "CNN cloze questions", "pair", "cnn.tgz", ("cnn",), load)
