"""`attnvat data` as typed: what it prints, and its exit codes."""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path

import pytest
from typer.testing import CliRunner

from attnvat.cli.data import app
from attnvat.cli.main import main
from attnvat.errors import UserError

TREES = "(3 (2 good) (2 film))\n(1 (2 dull) (2 film))\n"
GOOD = "review,mood\n" + "".join(f'"a {("dull", "fine")[n % 2]} film\n{n}",{"ab"[n % 2]}\n' for n in range(30))


@pytest.fixture
def runner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CliRunner:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("ATTNVAT_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("ATTNVAT_DATA", raising=False)
    monkeypatch.setenv("COLUMNS", "110")
    return CliRunner()


@pytest.fixture
def corpora(tmp_path: Path) -> Path:
    with zipfile.ZipFile(tmp_path / "trainDevTestTrees_PTB.zip", "w") as archive:
        for name in ("train", "dev", "test"):
            archive.writestr(f"trees/{name}.txt", TREES)
    return tmp_path


def test_list_says_what_is_found_and_what_to_download(runner: CliRunner, corpora: Path) -> None:
    result = runner.invoke(app, ["list", "--data-dir", str(corpora)])
    assert result.exit_code == 0
    assert str(corpora / "trainDevTestTrees_PTB.zip") in result.stdout
    for official in ("aclImdb_v1.tar.gz", "cnn.tgz", "multinli_1.0.zip"):
        assert f"missing; download {official}" in result.stdout
    (row,) = [line for line in result.stdout.splitlines() if line.startswith("│ sst")]
    assert row.replace(" ", "") == "│sst│single│2│2│2│–│whole│"


def test_a_damaged_archive_does_not_stop_the_list(runner: CliRunner, corpora: Path) -> None:
    (corpora / "movies.tar.gz").write_bytes(b"no archive")
    result = runner.invoke(app, ["list", "--data-dir", str(corpora)])
    assert result.exit_code == 0
    assert "damaged" in result.stdout


def test_show_gives_splits_lengths_vocabulary_and_coverage(runner: CliRunner, corpora: Path) -> None:
    (corpora / "tiny.txt").write_text("good 0.1 0.2\nfilm 0.3 0.4\n")
    result = runner.invoke(app, ["show", "sst", "--data-dir", str(corpora), "--vectors", str(corpora / "tiny.txt")])
    assert result.exit_code == 0, result.output
    lines = [line.replace(" ", "") for line in result.stdout.splitlines()]
    assert "│train│2│50.0%·50.0%│2.0│2│2│2│" in lines
    assert "│all│3│4│" in lines
    assert "│intiny.txt│2(66.7%)│3(75.0%)│" in lines
    assert any("withoutavector:dull" in line for line in lines)
    assert "│positive│goodfilm│" in lines


def test_check_passes_sound_files_and_shows_the_guess(runner: CliRunner, tmp_path: Path) -> None:
    path = tmp_path / "d.csv"
    path.write_text(GOOD)
    result = runner.invoke(app, ["check", str(path)])
    assert result.exit_code == 0, result.output
    assert "note: columns: text 'review', label 'mood'" in result.stderr
    assert "sound" in result.stdout


def test_check_counts_what_it_skips(runner: CliRunner, tmp_path: Path) -> None:
    path = tmp_path / "d.csv"
    path.write_text(GOOD + ",a\n")
    with pytest.raises(UserError, match="line 62: no text"):
        runner.invoke(app, ["check", str(path)], catch_exceptions=False)
    result = runner.invoke(app, ["check", str(path), "--skip-bad"])
    assert result.exit_code == 0
    assert "1 bad row left out" in result.stderr


def test_the_command_ends_with_2_and_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "d.csv"
    path.write_text(GOOD + "a,b,c\n")
    monkeypatch.setattr(sys, "argv", ["attnvat", "data", "check", str(path)])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert "d.csv: line 62: ragged" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["list", "show", "check"])
def test_help_has_an_example(command: str, runner: CliRunner) -> None:
    assert f"Example: attnvat data {command}" in " ".join(runner.invoke(app, [command, "--help"]).stdout.split())
