"""Files of word vectors: finding one by name, telling its format, and opening it."""

from __future__ import annotations

import hashlib
import json
import lzma
import re
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Literal, cast

from attnvat.errors import UserError
from attnvat.storage import COMPRESSIONS, data_dirs, open_binary

Format = Literal["text", "word2vec", "fasttext"]
FORMATS = ("", ".txt", ".vec", ".bin")
FASTTEXT_MAGIC = (793712314).to_bytes(4, "little")
ENCRYPTED = 1
"""Bit of a zip member's flags."""
OFFICIAL = {
    "glove.6B": "glove.6B.zip",
    "glove.42B": "glove.42B.300d.zip",
    "glove.840B": "glove.840B.300d.zip",
    "glove.twitter": "glove.twitter.27B.zip",
    "wiki-news-300d-1M": "wiki-news-300d-1M.vec.zip",
    "crawl-300d-2M": "crawl-300d-2M.vec.zip",
    "cc.": "cc.LANGUAGE.300.bin.gz or cc.LANGUAGE.300.vec.gz",
    "wiki.": "wiki.LANGUAGE.zip or wiki.LANGUAGE.vec",
    "GoogleNews": "GoogleNews-vectors-negative300.bin.gz",
}
"""The file its authors publish, by the beginning of a name."""


@dataclass(frozen=True)
class VectorFile:
    """A file of word vectors, or one member of a zip archive that holds several."""

    path: Path
    member: str | None = None

    def __str__(self) -> str:
        return f"{self.path}:{self.member}" if self.member else str(self.path)

    @property
    def stem(self) -> str:
        """The name without folder, format and compression."""
        name = Path(self.member or self.path).name
        for ending in (*COMPRESSIONS, *FORMATS[1:]):
            name = name.removesuffix(ending)
        return name

    @property
    def plain(self) -> bool:
        """Whether the bytes on disk are the vectors themselves, not a compressed form."""
        return self.path.suffix not in COMPRESSIONS

    @contextmanager
    def open(self) -> Iterator[BinaryIO]:
        """The decompressed bytes."""
        try:
            if self.member is None:
                with open_binary(self.path) as handle:
                    yield handle
            else:
                with zipfile.ZipFile(self.path) as archive, archive.open(self.member) as member:
                    yield cast(BinaryIO, member)
        except (EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile) as error:
            raise UserError(f"{self}: damaged or truncated ({error}); download it again") from error
        except OSError as error:
            # bz2 reports damage as an OSError without a number; those of the system have one.
            reason = error.strerror or f"damaged ({error}); download it again"
            raise UserError(f"{self}: could not be read: {reason}") from error

    def format(self) -> Format:
        """The format, told from the first bytes and not from the name."""
        with self.open() as handle:
            start = handle.read(4096)
        if start.startswith(FASTTEXT_MAGIC):
            return "fasttext"
        header = re.match(rb"\d+ \d+\s*?\n", start)
        # After its header a binary file has a word, a space, and then bytes that are no figures.
        numbers = start[header.end() :].partition(b" ")[2][:64] if header else b""
        return "word2vec" if re.search(rb"[^\d\s.+\-eEnaifNAIF]", numbers) else "text"

    def identity(self) -> str:
        """A hash that changes when the file does: place, size, time and samples of its bytes."""
        status = self.path.stat()
        digest = hashlib.sha256(json.dumps([status.st_size, status.st_mtime_ns, self.member]).encode())
        with self.path.open("rb") as handle:
            for place in (0, status.st_size // 2, max(0, status.st_size - 65536)):
                handle.seek(place)
                digest.update(handle.read(65536))
        return digest.hexdigest()


def find_vectors(source: str | Path, data_dir: Path | str | None = None) -> VectorFile:
    """The file that `source` names: a path, or a name such as `glove.6B.100d` in one of the data folders."""
    path = Path(source).expanduser()
    if path.is_file():
        return _only_member(path)
    folders = data_dirs(data_dir)
    if path.name == str(source):
        for folder in folders:
            for form in FORMATS:
                for compression in ("", *COMPRESSIONS):
                    candidate = folder / f"{source}{form}{compression}"
                    if candidate.is_file():
                        return _only_member(candidate)
            for archive in {official for official in OFFICIAL.values() if official.endswith(".zip")}:
                if (folder / archive).is_file() and (member := _member(folder / archive, str(source))):
                    return VectorFile(folder / archive, member)
        places, forms = ", ".join(map(str, folders)), ",".join(FORMATS[1:])
        looked = f"looked in {places} for {source}{{{forms}}}, plain or compressed"
        name = next((name for start, name in OFFICIAL.items() if str(source).startswith(start)), None)
        remedy = (
            f"download {name} from its authors and put it there" if name else "give the path of a file of word vectors"
        )
        raise UserError(f"no word vectors {str(source)!r}: {looked}; {remedy}")
    raise UserError(f"{path}: no such file; give the path of a file of word vectors, or a name such as glove.6B.100d")


def _only_member(path: Path) -> VectorFile:
    """The file itself, or the one file a zip archive holds."""
    if path.suffix != ".zip":
        return VectorFile(path)
    members = _members(path)
    named = [member for member in members if VectorFile(path, member).stem == VectorFile(path).stem]
    for choice in (members, named):
        if len(choice) == 1:
            return VectorFile(path, choice[0])
    holds = ", ".join(members[:6]) or "nothing"
    raise UserError(f"{path}: cannot tell which file is meant, it holds {holds}; unpack it and name the file")


def _member(archive: Path, name: str) -> str | None:
    """The member of a zip archive that is called `name`, whatever its folder and ending."""
    return next((member for member in _members(archive) if VectorFile(archive, member).stem == name), None)


def _members(archive: Path) -> list[str]:
    try:
        with zipfile.ZipFile(archive) as handle:
            members = [member for member in handle.infolist() if not member.is_dir()]
    except (OSError, zipfile.BadZipFile) as error:
        raise UserError(f"{archive}: damaged or truncated ({error}); download it again") from error
    if any(member.flag_bits & ENCRYPTED for member in members):
        raise UserError(f"{archive}: asks for a password; unpack it and name the file")
    return [member.filename for member in members]
