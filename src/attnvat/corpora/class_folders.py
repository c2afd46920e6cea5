"""Folders of text files: one folder for each class, or, without labels, every text file below a folder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from attnvat.corpora.archive import readable
from attnvat.corpora.bad_rows import BadRows
from attnvat.corpora.table import Row, Table
from attnvat.corpora.tabular import NOT_UTF8
from attnvat.errors import UserError

SPLIT_NAMES = {
    "train": ("train", "training"),
    "validation": ("validation", "valid", "val", "dev"),
    "test": ("test",),
}
TABLE_ENDINGS = ("csv", "tsv", "jsonl", "parquet")


def split_paths(folder: Path) -> dict[str, Path]:
    """The split folders (`train/`, `dev/`, …) or split files (`train.csv`, …) in a folder, by split; often none."""
    found = {}
    for split, names in SPLIT_NAMES.items():
        candidates = [folder / name for name in names]
        candidates += [folder / f"{name}.{ending}" for name in names for ending in TABLE_ENDINGS]
        existing = next((path for path in candidates if path.exists()), None)
        if existing:
            found[split] = existing
    return found if "train" in found else {}


def class_table(folder: Path) -> Table:
    """A folder of class-named folders as a table of `text` and `label`, one row for each file."""
    classes = sorted(path for path in folder.iterdir() if path.is_dir() and not path.name.startswith("."))
    if not classes:
        raise UserError(f"{folder}: no folders in it; expected one for each class, with a text file an example")

    def read(bad: BadRows) -> Iterator[Row]:
        for class_folder in classes:
            for path in _text_files(class_folder):
                text = _text(path, bad)
                if text is not None:
                    yield Row(path.relative_to(folder).as_posix(), {"text": text, "label": class_folder.name})

    return Table(str(folder), ("text", "label"), read, has_labels=True)


def text_table(folder: Path) -> Table:
    """Every text file below a folder as a table of `text`."""

    def read(bad: BadRows) -> Iterator[Row]:
        for path in _text_files(folder):
            text = _text(path, bad)
            if text is not None:
                yield Row(path.relative_to(folder).as_posix(), {"text": text})

    return Table(str(folder), ("text",), read)


def _text_files(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.rglob("*")) if path.is_file() and not path.name.startswith("."))


def _text(path: Path, bad: BadRows) -> str | None:
    with readable(path):
        content = path.read_bytes()
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        bad.add(str(path), NOT_UTF8, "save the file as UTF-8")
        return None
