"""Where a pool's texts come from: a corpus by name, people's own files, or texts at hand."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from attnvat.corpora.example import Example, plain
from attnvat.corpora.own import read_unlabelled
from attnvat.corpora.registry import CORPORA, unlabelled_examples
from attnvat.errors import UserError, nearest
from attnvat.text.tokenizer import Text


@dataclass(frozen=True)
class Source:
    """Unlabelled texts that can be read again and again, from first to last."""

    name: str
    read: Callable[[], Iterator[Example]]
    stamp: str
    """Changes when the texts do: a build does not go on with, or stand for, other texts."""


def open_source(
    spec: str,
    *,
    data_dir: Path | str | None = None,
    text: str | None = None,
    text_pair: str | None = None,
    skip_bad: bool = False,
) -> Source:
    """The source a person names: a corpus (`1bw`, `news`, `imdb`), a file or folder, or `hf:` and a data set.

    A corpus' name wins over a file of that name; `./news` means the file.
    """
    if spec in CORPORA:
        archive = CORPORA[spec].require(data_dir)
        return Source(spec, lambda: unlabelled_examples(spec, data_dir=data_dir), path_stamp(archive.path))
    path = Path(spec)
    if not spec.startswith("hf:") and not path.exists():
        raise UserError(f"{spec}: neither a file or folder nor a corpus; {nearest(spec, CORPORA)}")
    return Source(
        spec,
        lambda: read_unlabelled(spec, text=text, text_pair=text_pair, skip_bad=skip_bad),
        f"{path_stamp(path)} {text} {text_pair} {skip_bad}",
    )


def texts_source(name: str, texts: Sequence[Text]) -> Source:
    """Texts already in memory as a source."""
    digest = hashlib.sha256()
    for text in texts:
        digest.update(plain(text).encode("utf-8", "surrogatepass") + b"\n")
    return Source(name, lambda: (Example(text) for text in texts), digest.hexdigest())


def path_stamp(path: Path) -> str:
    """Size and time of change of a file or of all files in a folder.

    A quick first look; going on with an interrupted build also compares a digest of every text read.
    """
    files = sorted(path.rglob("*")) if path.is_dir() else [path] if path.exists() else []
    digest = hashlib.sha256()
    for file in files:
        state = file.stat()
        digest.update(f"{file.relative_to(path)}\0{state.st_size}\0{state.st_mtime_ns}\n".encode())
    return digest.hexdigest()
