"""The command line in a folder of its own, and finished runs for it to use."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from attnvat.cli.main import main
from attnvat.training import fit, prepare
from attnvat_command import Attnvat, Outcome
from generated_task import SMALL, task, write_task


@pytest.fixture
def attnvat(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Attnvat:
    """The command line in a folder of its own; no outcome may be a traceback."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("ATTNVAT_CACHE", str(tmp_path / "cache"))

    def invoke(*arguments: object, stdin: bytes = b"") -> Outcome:
        monkeypatch.setattr(sys, "argv", ["attnvat", *map(str, arguments)])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin), "utf-8"))
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = capsys.readouterr()
        assert "Traceback" not in err, err
        return Outcome(int(ended.value.code or 0), out, err)

    return invoke


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the task's files, a finished run of it and a run on pairs."""
    folder = tmp_path_factory.mktemp("finished")
    from attnvat.training import Config, load_data

    config = Config(**{**SMALL, **write_task(folder, size=200), "epochs": 6})
    fit(config, prepare(config, load_data(config)), folder / "runs" / "one")
    config = Config(**{**SMALL, "data": "pairs", "technique": "attention-at", "epochs": 1})
    fit(config, prepare(config, task(40, pair=True)), folder / "runs" / "pair")
    return folder
