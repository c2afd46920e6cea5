"""Hugging Face datasets as tables: `hf:name`, `hf:name:configuration`, or `hf:` and a path on disk."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from attnvat.corpora.bad_rows import BadRows
from attnvat.corpora.class_folders import SPLIT_NAMES
from attnvat.corpora.table import Row, Table
from attnvat.errors import UserError

PREFIX = "hf:"
FILE_KINDS = {".csv": "csv", ".tsv": "csv", ".json": "json", ".jsonl": "json", ".parquet": "parquet"}
NO_LABEL = -1
"""How the hub marks rows whose label is kept secret."""


def open_dataset(source: str) -> dict[str, Table]:
    """The data set's splits as tables, under our split names where they have one."""
    try:
        import datasets
    except ImportError as error:
        raise UserError(f"{source}: needs the datasets library; install attnvat[hf]") from error
    name = source.removeprefix(PREFIX)
    failures = (OSError, ValueError, KeyError, datasets.exceptions.DatasetsError)
    try:
        loaded = _load(datasets, name)
    except failures as error:
        reason = str(error).strip().split("\n")[0]
        remedy = "check the name and the connection, or give hf: and the path of a saved data set"
        raise UserError(f"{source}: could not be loaded ({reason}); {remedy}") from error
    splits = dict(loaded) if isinstance(loaded, datasets.DatasetDict) else {"train": loaded}
    ours = {theirs: split for split, names in SPLIT_NAMES.items() for theirs in names}
    return {ours.get(split, split): _table(f"{source} ({split})", rows) for split, rows in splits.items()}


def _load(datasets: Any, name: str) -> Any:
    path = Path(name)
    if not path.exists() and name.startswith((".", "/", "~")):
        raise UserError(f"{PREFIX}{name}: no such file or folder")
    if not path.exists():
        hub_name, _, configuration = name.partition(":")
        return datasets.load_dataset(hub_name, configuration or None)
    if path.is_dir():
        saved = any((path / file).exists() for file in ("dataset_dict.json", "state.json"))
        return datasets.load_from_disk(str(path)) if saved else datasets.load_dataset(str(path))
    kind = FILE_KINDS.get(path.suffix.lower())
    if kind is None:
        raise UserError(f"{PREFIX}{name}: cannot tell its format; one of {', '.join(FILE_KINDS)}, or a folder")
    options = {"sep": "\t"} if path.suffix.lower() == ".tsv" else {}
    return datasets.load_dataset(kind, data_files=str(path), **options)


def _table(name: str, dataset: Any) -> Table:
    class_names = {column: feature.names for column, feature in dataset.features.items() if hasattr(feature, "int2str")}

    def read(_: BadRows) -> Iterator[Row]:
        for number, values in enumerate(dataset, 1):
            for column, names in class_names.items():
                value = values[column]
                values[column] = None if value in (None, NO_LABEL) else names[value]
            yield Row(f"row {number}", values)

    return Table(name, tuple(dataset.column_names), read)
