"""`attnvat finetune`, and training that it teaches."""

from __future__ import annotations

from pathlib import Path

import pytest

from attnvat.training import open_run
from attnvat_command import Attnvat
from generated_task import NEUTRAL, SMALL, TELLING, flags, write_task

write_transformer = pytest.importorskip("small_transformer").write_transformer


def test_a_transformer_is_fine_tuned_and_teaches(attnvat: Attnvat, tmp_path: Path) -> None:
    files = write_task(tmp_path, size=40)
    write_transformer(tmp_path / "encoder", [*NEUTRAL, *TELLING["neg"], *TELLING["pos"]])
    named = ("--data", files["data"], "--validation", files["validation"])
    call = ("finetune", "encoder", *named, "--out", "fine", "--max-length", "16", "--epochs", "1")
    code, out, _ = attnvat(*call)
    assert code == 0
    assert out.startswith("f1: validation ")
    assert "(3 steps)" in out
    assert out.endswith("--teacher fine\n")
    # A second time there is nothing to do, and it says the same.
    assert attnvat(*call).out == out
    options = {**SMALL, **files, "epochs": 1, "technique": "attention-vat", "unlabeled": "more.txt"}
    code, _, err = attnvat("train", *flags(**options, teacher="fine,linear", out="r"))
    assert code == 0
    assert "taught by 2 teachers together" in err
    assert open_run(tmp_path / "r").config.teacher == "fine,linear"


def test_mistakes_are_named_and_leave_nothing(attnvat: Attnvat, tmp_path: Path) -> None:
    files, nothing = write_task(tmp_path, size=40), str(tmp_path / "nothing")  # no name that a hub could have
    for arguments, message in (
        ((nothing, "--data", "none.csv"), "none.csv: no such file"),
        ((nothing, "--data", files["data"]), "nothing: no encoder that transformers can read"),
        ((nothing, "--data", files["data"], "--epochs", "0"), "epochs is 0"),
    ):
        code, out, err = attnvat("finetune", *arguments, "--out", "x")
        assert code == 2
        assert message in err
        assert out == ""
        assert not (tmp_path / "x").exists()
