"""Files on disk: where data is looked for, opening compressed files, and writes that are whole or absent."""

from __future__ import annotations

import bz2
import fcntl
import gzip
import hashlib
import io
import json
import lzma
import os
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, BinaryIO, cast

from attnvat.errors import UserError

COMPRESSIONS = (".gz", ".xz", ".bz2", ".zip")


def cache_dir() -> Path:
    """The folder for what can be made again (`$ATTNVAT_CACHE`, else `~/.cache/attnvat`)."""
    return Path(os.environ.get("ATTNVAT_CACHE") or Path.home() / ".cache" / "attnvat")


def data_dirs(data_dir: Path | str | None = None) -> list[Path]:
    """The folders in which corpora and vectors are looked for, in order: `--data-dir`, `$ATTNVAT_DATA`, the cache."""
    named = [data_dir, os.environ.get("ATTNVAT_DATA"), Path.home() / ".cache" / "attnvat"]
    return [Path(folder) for folder in named if folder]


@contextmanager
def atomic_write(path: Path | str, mode: str = "w") -> Iterator[IO[Any]]:
    """A file handle whose content appears at `path` only when the block ends well (written aside, fsync, rename)."""
    path = Path(path)
    aside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with aside.open(mode, encoding=None if "b" in mode else "utf-8") as handle:
            yield handle
            handle.flush()
            os.fsync(handle.fileno())
        aside.replace(path)
        sync_folder(path.parent)
    except OSError as error:
        raise UserError(f"{path}: could not be written: {error.strerror or error}") from error
    finally:
        with suppress(OSError):
            aside.unlink(missing_ok=True)


@contextmanager
def one_at_a_time(path: Path) -> Iterator[None]:
    """Keep what is made at `path` to this process: others that come for it wait until the block ends."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.with_name(f".{path.name}.lock").open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def sync_folder(folder: Path) -> None:
    """Make renames inside `folder` durable."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_json(path: Path | str, value: object) -> None:
    """Write `value` as readable JSON, whole or not at all."""
    with atomic_write(path) as handle:
        json.dump(value, handle, ensure_ascii=False, indent=1)
        handle.write("\n")


def read_json(path: Path | str) -> Any:
    """The value in a JSON file; a missing or damaged file is named."""
    path = Path(path)
    try:
        return json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise UserError(f"{path}: could not be read: {error.strerror or error}") from error
    except ValueError as error:
        raise UserError(f"{path}: not valid JSON ({error})") from error


@contextmanager
def open_binary(path: Path | str) -> Iterator[BinaryIO]:
    """The decompressed bytes of a file that may end in .gz, .xz, .bz2 or .zip (a zip with one member)."""
    path = Path(path)
    try:
        if path.suffix == ".zip":
            with zipfile.ZipFile(path) as archive:
                members = [member for member in archive.infolist() if not member.is_dir()]
                if len(members) != 1:
                    raise UserError(f"{path}: holds {len(members)} files, expected one; unpack it and name the file")
                with archive.open(members[0]) as handle:
                    yield cast(BinaryIO, handle)
            return
        opener: Any = {".gz": gzip.open, ".xz": lzma.open, ".bz2": bz2.open}.get(path.suffix, io.open)
        with opener(path, "rb") as handle:
            yield handle
    except FileNotFoundError as error:
        raise UserError(f"{path}: no such file") from error
    except PermissionError as error:
        raise UserError(f"{path}: not readable (permission denied)") from error
    except IsADirectoryError as error:
        raise UserError(f"{path}: is a folder; name a file") from error
    except (EOFError, OSError, lzma.LZMAError, zipfile.BadZipFile, zlib.error) as error:
        raise UserError(f"{path}: damaged or truncated ({error}); download it again") from error


def sha256(path: Path | str) -> str:
    """Hex digest of a file's bytes."""
    with Path(path).open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()
