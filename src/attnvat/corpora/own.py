"""People's own data: files or folders of any of the formats as a corpus, with everything unsound reported."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from attnvat.corpora.archive import Archive, decoded, readable
from attnvat.corpora.bad_rows import BadRows
from attnvat.corpora.class_folders import class_table, split_paths, text_table
from attnvat.corpora.columns import Columns, choose
from attnvat.corpora.corpus import Corpus
from attnvat.corpora.example import Example
from attnvat.corpora.hugging_face import PREFIX, open_dataset
from attnvat.corpora.own_splits import check_classes, check_known, complete, without_shared
from attnvat.corpora.rows import read_examples
from attnvat.corpora.table import Table
from attnvat.corpora.tabular import file_format, open_table
from attnvat.errors import UserError
from attnvat.storage import open_binary

Tables = dict[str, Table]


def load_own(
    train: str,
    *,
    validation: str | None = None,
    test: str | None = None,
    text: str | None = None,
    text_pair: str | None = None,
    label: str | None = None,
    seed: int = 0,
    skip_bad: bool = False,
) -> Corpus:
    """A corpus from people's files; validation and test are split off train where they are not given.

    Columns that are not named are guessed, and the guess is the first note. A bad row stops with a list of what
    is wrong where; with `skip_bad` it is left out and counted in the notes.
    """
    tables, paths = _tables(train, validation, test)
    bad, columns = BadRows(skip=skip_bad), choose(tables["train"], text, text_pair, label)
    splits: dict[str, list[Example]] = {}
    for split in ("train", "validation", "test"):
        if split in tables:
            chosen = columns if split == "train" else _same_columns(tables[split], columns)
            splits[split] = list(read_examples(tables[split], chosen, bad))
    if not any(splits.values()):
        bad.settle()
        raise UserError(f"{tables['train'].name}: no rows; check that its files hold text")
    labels = check_classes(tables["train"].name, splits["train"], bad)
    for split in splits:
        if split != "train":
            splits[split] = check_known(tables[split].name, splits[split], labels, bad)
    splits = without_shared({name: tables[name].name for name in splits}, splits, bad)
    notes = [f"columns: {columns}", *bad.settle()]
    corpus = complete(Path(train).name if not train.startswith(PREFIX) else train, labels, splits, seed)
    corpus.notes = [*notes, *corpus.notes]
    corpus.files = {str(path): Archive(path).fingerprint() for path in paths}
    for extra in ("unlabelled", "unsupervised"):
        if extra in tables:
            chosen = choose(tables[extra], columns.text, columns.pair, None, labelled=False)
            corpus.unlabelled += read_examples(tables[extra], chosen, BadRows(skip=True))
    return corpus


def read_unlabelled(
    path: str, *, text: str | None = None, text_pair: str | None = None, skip_bad: bool = False
) -> Iterator[Example]:
    """The texts of a file, folder or data set one at a time; a .txt file has one text a line."""
    bad = BadRows(skip=skip_bad, at_once=True)
    if path.startswith(PREFIX):
        tables = list(open_dataset(path).values())
    elif Path(path).is_dir():
        tables = [text_table(Path(path))]
    elif file_format(Path(path)) == "txt":
        yield from _lines(Path(path), bad)
        return
    else:
        tables = [open_table(Path(path))]
    for table in tables:
        yield from read_examples(table, choose(table, text, text_pair, None, labelled=False), bad)


def _lines(path: Path, bad: BadRows) -> Iterator[Example]:
    with readable(path), open_binary(path) as handle:
        for number, line in enumerate(handle, 1):
            where = f"{path}: line {number}"
            try:
                sentence = decoded(line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line, where).strip()
            except UserError:
                bad.add(where, "not UTF-8", "save the file as UTF-8")
                continue
            if sentence:
                yield Example(sentence)


def _tables(train: str, validation: str | None, test: str | None) -> tuple[Tables, list[Path]]:
    """The table of each split that is given, and the files to fingerprint."""
    if train.startswith(PREFIX):
        tables = open_dataset(train)
        if "train" not in tables:
            raise UserError(f"{train}: no train split (it has {', '.join(tables)})")
        local = Path(train.removeprefix(PREFIX))
        paths = {"train": local} if local.exists() else {}
    else:
        root = Path(train)
        paths = (split_paths(root) if root.is_dir() else {}) or {"train": root}
        tables = {split: _open(path) for split, path in paths.items()}
    for split, given in (("validation", validation), ("test", test)):
        if given is not None:
            named = open_dataset(given) if given.startswith(PREFIX) else {"train": _open(Path(given))}
            tables[split] = named.get(split) or named["train"]
            paths |= {} if given.startswith(PREFIX) else {split: Path(given)}
    return tables, list(dict.fromkeys(paths.values()))


def _open(path: Path) -> Table:
    if not path.exists():
        raise UserError(f"{path}: no such file or folder")
    return class_table(path) if path.is_dir() else open_table(path)


def _same_columns(table: Table, columns: Columns) -> Columns:
    """The columns of train in another file; a class folder always has its own."""
    if table.has_labels:
        return Columns("text", None, "label")
    return choose(table, columns.text, columns.pair, columns.label)
