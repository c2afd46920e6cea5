"""AG News: World against Business as in the paper (`agnews`), or all four topics (`agnews4`).

Title and description are joined. The official files write a line break inside a text as a backslash; it
becomes a space.
"""

from __future__ import annotations

import csv
import io
from functools import partial

from attnvat.corpora.archive import Archive, Member
from attnvat.corpora.corpus import Corpus, Metric
from attnvat.corpora.example import Example
from attnvat.corpora.official import Official
from attnvat.corpora.split import stratified
from attnvat.corpora.table1 import against_table1
from attnvat.errors import UserError

TOPICS = ("World", "Sports", "Business", "Sci/Tech")
SIZES = {"train.csv": 120_000, "test.csv": 7_600}
VALIDATION_SHARE = 0.15


def load(name: str, labels: tuple[str, ...], archive: Archive, *, seed: int) -> Corpus:
    """The articles on the topics in `labels`, 15% of train for validation."""
    files = {member.name.rpartition("/")[2]: read_articles(member) for member in archive.members(wanted)}
    for file in SIZES:
        if not files.get(file):
            raise UserError(f"{archive.path}: no articles in {file}; take the official {OFFICIAL.file}")
    chosen = {file: [article for article in files[file] if article.label in labels] for file in SIZES}
    train, validation = stratified(chosen["train.csv"], VALIDATION_SHARE, seed)
    fingerprint = {str(archive.path): archive.fingerprint(wanted)}
    metric: Metric = "f1" if len(labels) == 2 else "micro-f1"
    corpus = Corpus(name, labels, train, validation, chosen["test.csv"], metric=metric, files=fingerprint)
    corpus.notes.append(f"{VALIDATION_SHARE:.0%} of train set aside for validation, each topic in proportion")
    corpus.notes += against_table1(corpus, {file: (len(files[file]), size) for file, size in SIZES.items()})
    return corpus


def wanted(name: str) -> bool:
    """Whether a member is one of the two article files."""
    return name.rpartition("/")[2] in SIZES and "__MACOSX" not in name


def read_articles(member: Member) -> list[Example]:
    """Every article of one file, labelled with its topic."""
    file, start, articles = member.name.rpartition("/")[2], 1, []
    reader = csv.reader(io.StringIO(member.text(), newline=""), strict=True)
    try:
        for fields in reader:
            where, start = f"{member.where}: line {start}", reader.line_num + 1
            if not fields:
                continue
            if len(fields) != 3 or fields[0] not in ("1", "2", "3", "4"):
                raise UserError(f'{where}: not "class 1 to 4","title","description"; download the file again')
            text = " ".join(" ".join(fields[1:]).replace("\\", " ").split())
            articles.append(Example(text, label=TOPICS[int(fields[0]) - 1], id=f"{file}:{reader.line_num}"))
    except csv.Error as error:
        raise UserError(f"{member.where}: line {reader.line_num}: {error}; download the file again") from error
    return articles


def _official(name: str, title: str, labels: tuple[str, ...]) -> Official:
    read = partial(load, name, labels)
    return Official(name, title, "single", "ag_news_csv.tar.gz", ("ag_news_csv",), read)


OFFICIAL = _official("agnews", "AG News, World against Business", ("World", "Business"))
FOUR = _official("agnews4", "AG News, four topics", TOPICS)
