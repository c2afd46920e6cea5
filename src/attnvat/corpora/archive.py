"""One reader over .zip, .tar, .tar.gz, .tar.xz, .tar.bz2 and unpacked folders; nothing is unpacked to disk.

Members are read where they lie, in one sequential pass. An archive is not trusted: names that leave it,
links, and sizes no corpus has are refused before a byte of them is read.
"""

from __future__ import annotations

import bz2
import gzip
import hashlib
import lzma
import os
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, BinaryIO, cast

from attnvat.errors import UserError
from attnvat.storage import sha256

TAR_SUFFIXES = {".tar": None, ".tar.gz": gzip, ".tgz": gzip, ".tar.xz": lzma, ".txz": lzma, ".tar.bz2": bz2}
SUFFIXES = (".zip", *TAR_SUFFIXES)
MAX_BYTES = 16 * 2**30
"""More than any corpus unpacks to (One Billion Word, the largest, has 4 GB)."""
MAX_RATIO = 200
"""Text shrinks 3 to 10 times; a bomb a thousand times and more."""
RATIO_FREE_BYTES = 64 * 2**20
"""Below this size the ratio says nothing: a small file of zeros harms nobody."""
DAMAGE = (EOFError, lzma.LZMAError, zlib.error, zipfile.BadZipFile, tarfile.TarError, gzip.BadGzipFile)
END_OF_ARCHIVE: type[Exception] = cast(Any, tarfile).EOFHeaderError  # missing from the type stubs
OFFICIAL = "refused, take the official archive"

Wanted = Callable[[str], bool]


@dataclass(frozen=True)
class Member:
    """A file inside an archive or folder, readable until the next one is asked for."""

    name: str
    """Path inside the archive, with `/` between folders."""
    archive: Path
    handle: IO[bytes]

    @property
    def where(self) -> str:
        """The name to show in messages: archive and member."""
        return f"{self.archive}: {self.name}"

    def read(self) -> bytes:
        """All its bytes."""
        with readable(self.archive):
            return self.handle.read()

    def lines(self) -> Iterator[bytes]:
        """Its lines one by one, line ends kept."""
        with readable(self.archive):
            yield from self.handle

    def text(self) -> str:
        """All its bytes as UTF-8."""
        return decoded(self.read(), self.where)


@dataclass(frozen=True)
class Archive:
    """An archive file or an unpacked folder."""

    path: Path

    def members(self, wanted: Wanted = lambda _: True) -> Iterator[Member]:
        """The files whose name `wanted` accepts, in the archive's own order (a folder's: sorted)."""
        if self.path.is_dir():
            yield from _folder_members(self.path, wanted)
            return
        with readable(self.path):
            reader = _zip_members if self.path.name.endswith(".zip") else _tar_members
            yield from reader(self.path, wanted)

    def fingerprint(self, wanted: Wanted = lambda _: True) -> str:
        """SHA-256 of the archive file, or of the names and bytes of a folder's wanted files."""
        if not self.path.is_dir():
            with readable(self.path):
                return sha256(self.path)
        digest = hashlib.sha256()
        for member in self.members(wanted):
            content = member.read()
            digest.update(f"{member.name}\0{len(content)}\0".encode("utf-8", "surrogateescape"))
            digest.update(content)
        return digest.hexdigest()


def decoded(content: bytes, where: str) -> str:
    """The UTF-8 text of `content`, or an error that says at which byte it is not UTF-8."""
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        found = content[error.start : error.end].hex()
        raise UserError(f"{where}: not UTF-8 at byte {error.start} (0x{found}); convert the file to UTF-8") from error


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Turn every way in which reading a file can fail into a sentence that names the file and the remedy."""
    try:
        yield
    except DAMAGE as error:
        raise UserError(f"{path}: damaged or truncated ({error}); download it again") from error
    except NotImplementedError as error:
        raise UserError(f"{path}: {error}; unpack it with another program and name the folder") from error
    except RuntimeError as error:
        if "encrypted" not in str(error):
            raise
        raise UserError(f"{path}: encrypted; unpack it and name the file or folder") from error
    except FileNotFoundError as error:
        raise UserError(f"{error.filename or path}: no such file") from error
    except OSError as error:
        if error.errno is None:  # bz2 reports damage as a bare OSError
            raise UserError(f"{path}: damaged or truncated ({error}); download it again") from error
        raise UserError(f"{error.filename or path}: could not be read: {error.strerror}") from error


def _folder_members(folder: Path, wanted: Wanted) -> Iterator[Member]:
    for parent, folders, files in os.walk(folder):
        folders.sort()
        for name in sorted(files):
            path = Path(parent) / name
            relative = path.relative_to(folder.parent).as_posix()
            if wanted(relative):
                with readable(path), path.open("rb") as handle:
                    yield Member(relative, folder, handle)


def _zip_members(path: Path, wanted: Wanted) -> Iterator[Member]:
    with zipfile.ZipFile(path) as archive:
        members = archive.infolist()
        unpacked = sum(member.file_size for member in members)
        if unpacked > size_limit(path):
            raise too_large(path, unpacked)
        for member in members:
            name = checked_name(path, member.filename)
            if (member.external_attr >> 16) & 0o170000 == 0o120000:
                raise UserError(f"{path}: member {name!r} is a link; {OFFICIAL}")
            if member.flag_bits & 1:
                raise UserError(f"{path}: member {name!r} is encrypted; unpack it and name the folder")
            if not member.is_dir() and wanted(name):
                with archive.open(member) as handle:
                    yield Member(name, path, handle)


def _tar_members(path: Path, wanted: Wanted) -> Iterator[Member]:
    suffix = next((suffix for suffix in TAR_SUFFIXES if path.name.endswith(suffix)), None)
    if suffix is None:
        raise UserError(f"{path}: not an archive this reads; take one of {', '.join(SUFFIXES)} or a folder")
    opener: Any = TAR_SUFFIXES[suffix] or Path
    with opener.open(path, "rb") as stream:
        bounded = cast(BinaryIO, _Bounded(stream, path))
        with tarfile.open(fileobj=bounded, mode="r:", tarinfo=_StrictTarInfo) as archive:
            for member in archive:
                name = checked_name(path, member.name)
                if not (member.isreg() or member.isdir()):
                    raise UserError(
                        f"{path}: member {name!r} is a link or a device; refused, take the official archive"
                    )
                if member.isreg() and wanted(name):
                    handle = archive.extractfile(member)
                    assert handle is not None
                    yield Member(name, path, handle)


def checked_name(path: Path, name: str) -> str:
    """The member's name without a leading `./`; a name that would leave the archive is refused."""
    parts = name.replace("\\", "/").split("/")
    if name[:1] in ("/", "\\") or name[1:2] == ":" or ".." in parts:
        raise UserError(f"{path}: member {name!r} points outside the archive; {OFFICIAL}")
    return "/".join(part for part in name.split("/") if part not in ("", "."))


def size_limit(path: Path) -> int:
    """The number of bytes an archive of this file's size may unpack to."""
    return min(MAX_BYTES, max(RATIO_FREE_BYTES, MAX_RATIO * path.stat().st_size))


def too_large(path: Path, unpacked: int) -> UserError:
    """The refusal of an archive that unpacks to more than any corpus does."""
    return UserError(
        f"{path}: unpacks to {unpacked / 2**20:,.0f} MiB or more where at most "
        f"{size_limit(path) / 2**20:,.0f} is believable; {OFFICIAL}, or unpack it and name the folder"
    )


class _Bounded:
    """A stream that refuses to pass the size limit: a tar header may claim anything."""

    def __init__(self, stream: BinaryIO, path: Path) -> None:
        self.stream, self.path, self.limit = stream, path, size_limit(path)

    def read(self, size: int = -1) -> bytes:
        self._allow(self.stream.tell() + max(size, 0))
        return self.stream.read(size)

    def seek(self, position: int, whence: int = 0) -> int:
        self._allow(position)
        return self.stream.seek(position, whence)

    def tell(self) -> int:
        return self.stream.tell()

    def _allow(self, position: int) -> None:
        if position > self.limit:
            raise too_large(self.path, position)


class _StrictTarInfo(tarfile.TarInfo):
    """Headers read strictly: an archive that just stops is damaged, not at its end."""

    @classmethod
    def fromtarfile(cls, tarfile_: tarfile.TarFile) -> _StrictTarInfo:
        try:
            return super().fromtarfile(tarfile_)
        except END_OF_ARCHIVE:
            raise
        except (tarfile.HeaderError, ValueError, KeyError, IndexError) as error:
            raise tarfile.ReadError(f"{error} at byte {tarfile_.offset}") from error
