"""Files: whole or absent, opened whatever their compression, damage named."""

from __future__ import annotations

import bz2
import gzip
import lzma
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from attnvat.errors import UserError, nearest
from attnvat.storage import atomic_write, data_dirs, open_binary, read_json, write_json

CONTENT = b"some text that is long enough to be cut in the middle " * 50
WRITERS: dict[str, Callable[[Path], object]] = {
    "": lambda path: path.write_bytes(CONTENT),
    ".gz": lambda path: path.write_bytes(gzip.compress(CONTENT)),
    ".xz": lambda path: path.write_bytes(lzma.compress(CONTENT)),
    ".bz2": lambda path: path.write_bytes(bz2.compress(CONTENT)),
}


def write_zip(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("inside.txt", CONTENT)


@pytest.mark.parametrize("suffix", [*WRITERS, ".zip"])
def test_every_compression_reads_back(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"file{suffix}"
    WRITERS.get(suffix, write_zip)(path)
    with open_binary(path) as handle:
        assert handle.read() == CONTENT


def read_all(path: Path) -> bytes:
    with open_binary(path) as handle:
        return handle.read()


@pytest.mark.parametrize("suffix", [".gz", ".xz", ".bz2", ".zip"])
def test_a_cut_file_is_named(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"file{suffix}"
    WRITERS.get(suffix, write_zip)(path)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(UserError, match=f"{path}: damaged or truncated"):
        read_all(path)


@pytest.mark.parametrize("suffix", [".gz", ".xz", ".bz2"])
def test_a_garbled_file_is_named(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"file{suffix}"
    WRITERS[suffix](path)
    whole = path.read_bytes()
    path.write_bytes(whole[:14] + bytes(byte ^ 0xFF for byte in whole[14:40]) + whole[40:])
    with pytest.raises(UserError, match=f"{path}: damaged or truncated"):
        read_all(path)


def fail_halfway(path: Path) -> None:
    with atomic_write(path) as handle:
        handle.write("half of it")
        raise RuntimeError


def test_a_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "kept.json"
    write_json(path, {"old": 1})
    with pytest.raises(RuntimeError):
        fail_halfway(path)
    assert read_json(path) == {"old": 1}
    assert [file.name for file in tmp_path.iterdir()] == ["kept.json"]


def test_unwritable_and_missing_are_user_errors(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(UserError, match="could not be written"), atomic_write(tmp_path / "file" / "below"):
        pass
    with pytest.raises(UserError, match="no such file"):
        read_all(tmp_path / "none")
    with pytest.raises(UserError, match="not valid JSON"):
        read_json(tmp_path / "file")


def test_data_is_looked_for_where_it_is_named_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ATTNVAT_DATA", "/by/variable")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert data_dirs(tmp_path)[:2] == [tmp_path, Path("/by/variable")]
    assert data_dirs()[-1] == tmp_path / ".cache" / "attnvat"


def test_nearest_name() -> None:
    assert nearest("attention-iavt", ["vanilla", "attention-ivat"]) == "did you mean 'attention-ivat'?"
    assert nearest("xyz", ["b", "a"]) == "known: a, b"
