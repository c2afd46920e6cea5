from __future__ import annotations

import struct
import tarfile
import tempfile
import zipfile
from functools import cache
from pathlib import Path

import pytest
from corpus_layouts import ARCHIVES, KINDS, pack, tar_bytes
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from attnvat.corpora import archive as archive_module
from attnvat.corpora.archive import Archive
from attnvat.errors import UserError

FILES = {"top/a.txt": b"alpha\nbeta\n", "top/sub/b.txt": bytes(range(256)) * 40, "top/c.txt": b""}
QUICK = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def read_all(path: Path) -> dict[str, bytes]:
    return {member.name: member.read() for member in Archive(path).members()}


@cache
def packed(kind: str) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        return pack(Path(folder), f"x{kind}", FILES).read_bytes()


def outcome(path: Path) -> tuple[dict[str, bytes], str | None]:
    """What was read and the user error that came instead; any other exception fails the test."""
    try:
        return read_all(path), None
    except UserError as error:
        return {}, str(error)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_gives_the_same_members(kind: str, tmp_path: Path) -> None:
    archive = Archive(pack(tmp_path, f"x{kind}", FILES))
    assert {member.name: member.read() for member in archive.members()} == FILES
    assert [m.name for m in archive.members(lambda name: name.endswith("b.txt"))] == ["top/sub/b.txt"]
    (first,) = (list(m.lines()) for m in archive.members(lambda name: name == "top/a.txt"))
    assert first == [b"alpha\n", b"beta\n"]


def test_fingerprint_follows_content_not_time(tmp_path: Path) -> None:
    folder = pack(tmp_path, "folder", FILES)
    before = Archive(folder).fingerprint()
    (folder / "a.txt").touch()
    assert Archive(folder).fingerprint() == before
    (folder / "a.txt").write_bytes(b"alpha\nbetA\n")
    assert Archive(folder).fingerprint() != before


@pytest.mark.parametrize(
    "name", ["../evil.txt", "top/../../evil.txt", "/etc/evil", "..\\evil.txt", "C:/evil", "\\evil"]
)
@pytest.mark.parametrize("kind", [".zip", ".tar.gz"])
def test_names_that_leave_the_archive_are_refused(name: str, kind: str, tmp_path: Path) -> None:
    path = pack(tmp_path, f"x{kind}", {name: b"x"})
    with pytest.raises(UserError, match="outside the archive"):
        list(Archive(path).members())


@pytest.mark.parametrize("link", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE])
def test_links_and_devices_in_tar_are_refused(link: bytes, tmp_path: Path) -> None:
    path = tmp_path / "x.tar"
    with tarfile.open(path, "w") as archive:
        member = tarfile.TarInfo("top/link")
        member.type, member.linkname = link, "/etc/passwd"
        archive.addfile(member)
    with pytest.raises(UserError, match="link or a device"):
        list(Archive(path).members())


def test_links_in_zip_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.zip"
    member = zipfile.ZipInfo("top/link")
    member.external_attr = 0o120777 << 16
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(member, "/etc/passwd")
    with pytest.raises(UserError, match="is a link"):
        list(Archive(path).members())


@pytest.mark.parametrize("kind", [".zip", ".tar.gz", ".tar.xz"])
def test_bombs_are_refused_before_they_unpack(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive_module, "RATIO_FREE_BYTES", 2**20)
    path = pack(tmp_path, f"bomb{kind}", {"top/zeros": bytes(4 * 2**20)})
    assert path.stat().st_size < 2**14
    with pytest.raises(UserError, match="believable"):
        read_all(path)


def test_total_size_is_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive_module, "MAX_BYTES", 5_000)
    for kind in (".zip", ".tar"):
        with pytest.raises(UserError, match="believable"):
            list(Archive(pack(tmp_path, f"x{kind}", FILES)).members())


def test_tar_header_that_claims_too_much_is_refused_unread(tmp_path: Path) -> None:
    # A pax header of a claimed 2 GiB would be read into memory at once.
    header = tarfile.TarInfo("pax")
    header.type, header.size = tarfile.XHDTYPE, 2**31
    path = tmp_path / "x.tar"
    path.write_bytes(header.tobuf() + bytes(1024))
    with pytest.raises(UserError, match="believable"):
        list(Archive(path).members())


def test_encrypted_zip_is_named(tmp_path: Path) -> None:
    path = pack(tmp_path, "x.zip", {"top/a.txt": b"x"})
    content = bytearray(path.read_bytes())
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        place = content.index(signature) + offset
        struct.pack_into("<H", content, place, 1)
    path.write_bytes(content)
    with pytest.raises(UserError, match="encrypted"):
        list(Archive(path).members())


def test_tar_without_its_end_is_truncated_not_short(tmp_path: Path) -> None:
    whole = tar_bytes(FILES)
    # Cut exactly where the second member's header would start: the standard library takes that for the end.
    path = tmp_path / "x.tar"
    path.write_bytes(whole[:1024])
    with tarfile.open(path) as lenient:
        assert len(lenient.getnames()) == 1
    with pytest.raises(UserError, match=r"x\.tar: damaged or truncated .*; download it again"):
        list(Archive(path).members())


@pytest.mark.parametrize("kind", ARCHIVES)
@QUICK
@given(share=st.floats(0, 1, exclude_max=True))
@example(share=0.0)
def test_truncated_archives_are_user_errors(kind: str, share: float, tmp_path: Path) -> None:
    path, content = tmp_path / f"x{kind}", packed(kind)
    # Cutting inside the padding after tar's end marker loses nothing.
    end = len(content) - (8_192 if kind == ".tar" else 0)
    path.write_bytes(content[: int(share * end)])
    read, error = outcome(path)
    assert read == FILES if error is None else str(path) in error


@pytest.mark.parametrize("kind", ARCHIVES)
@QUICK
@given(place=st.floats(0, 1, exclude_max=True), byte=st.integers(0, 255))
def test_a_changed_byte_never_shows_another_exception(kind: str, place: float, byte: int, tmp_path: Path) -> None:
    path, content = tmp_path / f"x{kind}", bytearray(packed(kind))
    content[int(place * len(content))] = byte
    path.write_bytes(content)
    _, error = outcome(path)
    assert error is None or str(path) in error


@QUICK
@given(content=st.binary(max_size=2_000), kind=st.sampled_from(ARCHIVES))
def test_random_bytes_are_no_archive(content: bytes, kind: str, tmp_path: Path) -> None:
    path = tmp_path / f"x{kind}"
    path.write_bytes(content)
    with pytest.raises(UserError):
        list(Archive(path).members())


def test_unknown_format_is_named(tmp_path: Path) -> None:
    path = tmp_path / "x.rar"
    path.write_bytes(b"x")
    with pytest.raises(UserError, match="not an archive this reads"):
        list(Archive(path).members())
