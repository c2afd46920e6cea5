"""`attnvat pretrain`, and training that starts from what it left."""

from __future__ import annotations

from pathlib import Path

from attnvat.training import open_run
from attnvat_command import Attnvat
from generated_task import SMALL, flags, write_task

SHAPE = ("--hidden", "16", "--dimension", "8")


def test_a_language_model_is_made_and_started_from(attnvat: Attnvat, tmp_path: Path) -> None:
    files = write_task(tmp_path, size=40)
    code, out, _ = attnvat("pretrain", "more.txt", "--out", "language", *SHAPE, "--rivals", "20", "--size", "200")
    assert code == 0
    assert out.startswith("198 texts, ")
    assert "perplexity on texts kept apart: " in out
    assert out.endswith("next: attnvat train --language-model language\n")
    # A second time there is nothing to do, and it says the same.
    assert attnvat("pretrain", "more.txt", "--out", "language", *SHAPE, "--rivals", "20", "--size", "200").out == out
    small = {**SMALL, **files, "epochs": 1, "language_model": "language", "out": "r"}
    code, _, err = attnvat("train", *flags(**small))
    assert code == 0
    assert "vectors from language: " in err
    assert open_run(tmp_path / "r").config.language_model == "language"


def test_mistakes_are_named_and_leave_nothing(attnvat: Attnvat, tmp_path: Path) -> None:
    write_task(tmp_path, size=40)
    for arguments, message in (
        (("pretrain", "nothing.txt", "--out", "x"), "nothing.txt: no such file"),
        (("pretrain", "more.txt", "--out", "x", "--hidden", "7"), "hidden is 7; it must be even"),
        (("pretrain", "more.txt", "--out", "x", "--size", "5000"), "5,000"),
        (("pretrain", "more.txt", "--out", "x", "--vectors", "none.txt"), "none.txt"),
        (("train", "--data", "train.csv", "--language-model", "x"), "no language model here"),
    ):
        code, out, err = attnvat(*arguments)
        assert code == 2
        assert message in err
        assert out == ""
        assert not (tmp_path / "x").exists()
