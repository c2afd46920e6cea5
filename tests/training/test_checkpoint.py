from __future__ import annotations

import json
import os
import resource
import signal
from pathlib import Path

import pytest
import torch
from safetensors import safe_open

from attnvat import storage
from attnvat.errors import UserError
from attnvat.training.checkpoint import (
    Checkpoint,
    checkpoint_files,
    last_checkpoint,
    prefixed,
    random_state,
    read_checkpoint,
    restore_random,
    section,
    write_checkpoint,
)


def moment(step: int, size: int = 10) -> Checkpoint:
    return Checkpoint({"step": step, "sums": {"loss": 0.1 + step}}, {"model/w": torch.full((size,), float(step))})


def write(folder: Path, *steps: int, keep: int = 2) -> list[str]:
    for step in steps:
        write_checkpoint(folder, step, moment(step), keep)
    return [file.name for file in checkpoint_files(folder)]


def test_what_is_written_is_read_and_the_last_so_many_are_kept(tmp_path: Path) -> None:
    assert write(tmp_path, 1, 2, 10, keep=2) == ["step-000000002.safetensors", "step-000000010.safetensors"]
    found = last_checkpoint(tmp_path)
    assert found is not None
    assert found.state == {"step": 10, "sums": {"loss": 10.1}}
    assert found.tensors["model/w"].equal(torch.full((10,), 10.0))
    assert write(tmp_path, 11, keep=1) == ["step-000000011.safetensors"]
    assert [file.name for file in tmp_path.iterdir()] == ["step-000000011.safetensors"]


def test_the_file_is_safetensors_with_a_json_header_and_holds_no_pickle(tmp_path: Path) -> None:
    path = write_checkpoint(tmp_path, 3, moment(3), 1)
    with safe_open(path, framework="numpy") as file:
        assert json.loads(file.metadata()["attnvat"])["step"] == 3
        assert file.get_tensor("model/w").shape == (10,)
    source = Path(storage.__file__).parent
    named = [file for file in source.rglob("*.py") if "import pickle" in file.read_text("utf-8")]
    named += [file for file in source.rglob("*.py") if "torch.load" in file.read_text("utf-8")]
    assert named == []


def test_no_checkpoint_is_none(tmp_path: Path) -> None:
    assert last_checkpoint(tmp_path) is None
    assert last_checkpoint(tmp_path / "absent") is None


@pytest.mark.parametrize("damage", ["cut", "emptied", "header", "other file", "byte"])
def test_a_damaged_checkpoint_is_named_and_the_one_before_taken(
    damage: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path, 5, 6)
    newest = checkpoint_files(tmp_path)[-1]
    content = newest.read_bytes()
    newest.write_bytes(
        {
            "cut": content[:-7],
            "emptied": b"",
            "header": content[:20] + b"\xff\xfe" + content[22:],
            "other file": b"PK\x03\x04" + content,
            "byte": b"\xff" * 8 + content[8:],
        }[damage]
    )
    found = last_checkpoint(tmp_path)
    assert found is not None
    assert found.state["step"] == 5
    said = capsys.readouterr().err.replace("\n", "")
    assert "step-000000006.safetensors: not a whole checkpoint" in said
    with pytest.raises(UserError, match=r"step-000000006\.safetensors"):
        read_checkpoint(newest)


def test_a_run_that_fell_back_is_not_kept_from_writing_by_the_damaged_file(tmp_path: Path) -> None:
    write(tmp_path, 5, 9)
    checkpoint_files(tmp_path)[-1].write_bytes(b"")
    assert write(tmp_path, 6, keep=1) == ["step-000000006.safetensors"]
    found = last_checkpoint(tmp_path)
    assert found is not None
    assert found.state["step"] == 6


def test_another_versions_checkpoint_is_refused_rather_than_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, 5)
    monkeypatch.setattr("attnvat.training.checkpoint.FORMAT", 2)
    write(tmp_path, 6)
    monkeypatch.setattr("attnvat.training.checkpoint.FORMAT", 1)
    with pytest.raises(UserError, match="another version of attnvat"):
        last_checkpoint(tmp_path)


def test_a_failing_rename_leaves_the_last_good_one_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, 5)

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as broken:
        broken.setattr(Path, "replace", fail)
        with pytest.raises(UserError) as caught:
            write(tmp_path, 6)
    said = str(caught.value)
    assert "No space left on device" in said
    assert "the last good checkpoint is" in said
    assert "step-000000005.safetensors" in said
    assert f"attnvat train --resume {tmp_path.parent}" in said
    assert [file.name for file in tmp_path.iterdir()] == ["step-000000005.safetensors"]
    found = last_checkpoint(tmp_path)
    assert found is not None
    assert found.state["step"] == 5


def test_a_full_disk_in_the_middle_of_writing_leaves_the_last_good_one(tmp_path: Path) -> None:
    # The kernel really stops the write after 64 KiB, in a process of its own.
    write(tmp_path, 5)
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, 1 << 16))
        try:
            write_checkpoint(tmp_path, 6, moment(6, size=1 << 20), 2)
        except UserError as error:
            os._exit(0 if "File too large" in str(error) and "step-000000005" in str(error) else 3)
        os._exit(4)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    assert [file.name for file in tmp_path.iterdir()] == ["step-000000005.safetensors"]
    found = last_checkpoint(tmp_path)
    assert found is not None
    assert found.state["step"] == 5


def test_an_unwritable_folder_is_an_error_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UserError, match="no earlier checkpoint"):
        write(tmp_path / "file" / "checkpoints", 1)


def test_sections_keep_their_tensors_apart() -> None:
    a, b = {"w": torch.ones(1), "x/y": torch.ones(2)}, {"w": torch.zeros(1)}
    joined = {**prefixed("model", a), **prefixed("model2", b)}
    assert len(joined) == 3
    assert section("model", joined) == a
    assert section("model2", joined) == b


def test_restored_generators_draw_what_the_first_ones_would_have() -> None:
    generator = torch.Generator().manual_seed(4)
    torch.manual_seed(5)
    torch.rand(3)
    torch.rand(3, generator=generator)
    kept = random_state(generator)
    expected = torch.rand(4), torch.rand(4, generator=generator)
    other = torch.Generator().manual_seed(77)
    torch.manual_seed(78)
    restore_random(other, kept)
    assert torch.rand(4).equal(expected[0])
    assert torch.rand(4, generator=other).equal(expected[1])
    masks = []
    for process in (1, 2, 1):
        restore_random(other, kept, process)
        masks.append(torch.rand(4))
        assert torch.rand(4, generator=other).equal(expected[1])
    assert masks[0].equal(masks[2])
    assert not masks[0].equal(masks[1])
    assert not masks[0].equal(expected[0])
