"""An official corpus: the file it comes in, where that is looked for, and the function that reads it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from attnvat.corpora.archive import SUFFIXES, Archive
from attnvat.corpora.corpus import Corpus
from attnvat.corpora.example import Example
from attnvat.errors import UserError, nearest
from attnvat.storage import data_dirs

SPLIT_SEED = 0
"""Seed of every split made here, not of training: runs with different seeds share their data."""


@dataclass(frozen=True)
class Official:
    """A corpus by name, with the official file to download."""

    name: str
    title: str
    task: Literal["single", "pair", "unlabelled"]
    file: str
    """The official file's name, as one downloads it."""
    folders: tuple[str, ...]
    """Names the unpacked folder may have."""
    load: Callable[..., Corpus]
    """`load(archive, seed=…, **options) -> Corpus`."""
    suffixes: tuple[str, ...] = SUFFIXES
    stream: Callable[[Archive], Iterator[Example]] | None = None
    """For unlabelled text too large to hold: its examples one at a time."""

    @property
    def stem(self) -> str:
        """The file's name without what tells its format: `aclImdb_v1.tar.xz` serves as well as `.tar.gz`."""
        suffix = next(suffix for suffix in sorted(self.suffixes, key=len, reverse=True) if self.file.endswith(suffix))
        return self.file.removesuffix(suffix)

    def find(self, data_dir: Path | str | None = None) -> Archive | None:
        """The archive or folder, from the first place that has it; `data_dir` may also be the file itself."""
        for place in data_dirs(data_dir):
            candidates = [place] if place.name in self.folders or place.name.startswith(self.stem) else []
            candidates += [place / folder for folder in self.folders]
            candidates += [place / f"{self.stem}{suffix}" for suffix in ("", *self.suffixes)]
            for candidate in candidates:
                named_so = candidate.name.endswith(self.suffixes)
                if candidate.is_dir() or (named_so and candidate.is_file()):
                    return Archive(candidate)
        return None

    def require(self, data_dir: Path | str | None = None) -> Archive:
        """The archive or folder; where there is none, the error says what to download and where to put it."""
        found = self.find(data_dir)
        if found:
            return found
        looked = ", ".join(map(str, data_dirs(data_dir)))
        folders = f" or its unpacked folder {' or '.join(map(repr, self.folders))}" if self.folders else ""
        raise UserError(
            f"{self.title}: no {self.file!r}{folders} in {looked}; download the official file into one of "
            "these, or name its folder with --data-dir or $ATTNVAT_DATA"
        )

    def options(self) -> set[str]:
        """The names of the options `load` takes beside the seed."""
        keyword_only = inspect.Parameter.KEYWORD_ONLY
        parameters = inspect.signature(self.load).parameters.values()
        return {parameter.name for parameter in parameters if parameter.kind is keyword_only} - {"seed"}

    def check_options(self, options: Iterable[str]) -> None:
        """Refuse an option this corpus does not have, with the nearest it has."""
        known = self.options()
        for option in options:
            if option not in known:
                hint = nearest(option, known) if known else "it takes none"
                raise UserError(f"corpus {self.name!r} has no option {option!r}; {hint}")

    def read(self, archive: Archive, *, seed: int = SPLIT_SEED, **options: Any) -> Corpus:
        """The corpus in `archive`."""
        self.check_options(options)
        return self.load(archive, seed=seed, **options)
