"""`attnvat train` and `config`, and every command misused."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from attnvat.cli.train import report
from attnvat.training import load_config, open_run
from attnvat.training import run as record
from attnvat_command import Attnvat
from generated_task import SMALL, flags, sentences, write_csv, write_task


def small_run(folder: Path, **options: object) -> list[str]:
    return ["train", *flags(**{**SMALL, "epochs": 1, **write_task(folder, size=40), **options})]


def test_train_leaves_a_run_that_everything_else_can_use(attnvat: Attnvat, tmp_path: Path) -> None:
    code, out, err = attnvat(*small_run(tmp_path, technique="attention-vat", unlabeled="more.txt"))
    assert code == 0
    folder = tmp_path / "runs" / "train-attention-vat-seed0"
    assert f"run: {folder.relative_to(tmp_path)}" in err
    assert "N_u/N_l = 7.50" in err
    assert "epoch 1: validation f1" in err
    run = open_run(folder)
    assert run.result is not None
    assert re.fullmatch(r"f1: validation [\d.]+, test [\d.]+ \(best epoch 1\)\nnext: attnvat evaluate \S+\n", out)
    assert run.config.epsilon == 0.5
    assert run.corpus().splits()["test"]
    assert len(run.history) == 1
    # A second run of the same takes the next free name.
    assert attnvat(*small_run(tmp_path, technique="attention-vat", unlabeled="more.txt")).code == 0
    assert (tmp_path / "runs" / "train-attention-vat-seed0-2" / "result.json").exists()


@pytest.mark.parametrize("wrong", [{"data": "nowhere.csv"}, {"max_vocabulary": 1, "technique": "word-iat"}], ids=str)
def test_a_refused_run_leaves_no_folder(attnvat: Attnvat, tmp_path: Path, wrong: dict[str, object]) -> None:
    assert attnvat(*small_run(tmp_path, **wrong, out="r")).code == 2
    assert not (tmp_path / "r").exists()
    (tmp_path / "mine").mkdir()
    assert attnvat(*small_run(tmp_path, **wrong, out="mine")).code == 2
    assert (tmp_path / "mine").is_dir()


def test_a_score_of_zero_is_shown_too(capsys: pytest.CaptureFixture[str]) -> None:
    report({"metric": "f1", "validation": 0.63, "test": 0.0, "epoch": 0}, Path("run"))
    assert capsys.readouterr().out.startswith("f1: validation 63, test 0 (best epoch 1)")


def test_flags_win_over_the_file_and_the_record_holds_both(attnvat: Attnvat, tmp_path: Path) -> None:
    options = {**SMALL, **write_task(tmp_path, size=40), "epochs": 2, "unlabeled": "more.txt", "technique": "vanilla"}
    (tmp_path / "run.yaml").write_text(yaml.safe_dump(options), "utf-8")
    # The file alone is not a sound config: the flag makes it one.
    code, _, _ = attnvat("train", "--config", "run.yaml", "--technique", "word-vat", "--epochs", "1", "--out", "r")
    assert code == 0
    config = load_config(tmp_path / "r" / "config.yaml")
    assert (config.technique, config.epochs, config.hidden, config.unlabeled) == ("word-vat", 1, 16, "more.txt")


def test_config_prints_a_template_that_trains(attnvat: Attnvat, tmp_path: Path) -> None:
    template = attnvat("config").out
    (tmp_path / "run.yaml").write_text(template, "utf-8")
    files = write_task(tmp_path, size=40)
    assert attnvat("train", "--config", "run.yaml", *flags(**{**SMALL, **files, "epochs": 1, "out": "r"})).code == 0


def test_a_stopped_run_is_resumed_and_a_finished_one_says_so(attnvat: Attnvat, tmp_path: Path) -> None:
    from attnvat.training import loop

    arguments = small_run(tmp_path, epochs=2, out="r")
    assert attnvat(*arguments).code == 0
    names = ("model.safetensors", "metrics.jsonl", "result.json")
    whole = {name: (tmp_path / "r" / name).read_bytes() for name in names}
    stopped = [*arguments[:-1], "s"]
    with pytest.MonkeyPatch.context() as broken:
        broken.setattr(loop, "stop_asked", lambda accelerator, made: True)
        code, out, err = attnvat(*stopped)
    assert (code, out) == (130, "")
    assert "saved at step 1; resume with: attnvat train --resume s" in err
    code, out, _ = attnvat("train", "--resume", "s")
    assert code == 0
    assert {name: (tmp_path / "s" / name).read_bytes() for name in whole} == whole
    code, again, err = attnvat("train", "--resume", "s")
    assert (code, again) == (0, out)
    assert "s is finished already" in err
    assert attnvat("train", "--resume", "s", "--epochs", "2").code == 0
    code, _, err = attnvat("train", "--resume", "s", "--epochs", "3", "--dropout", "0.1")
    assert code == 2
    assert "dropout is 0.3 there, 0.1 here" in err
    assert {name: (tmp_path / "s" / name).read_bytes() for name in whole} == whole
    assert "leave --config and --out away" in attnvat("train", "--resume", "s", "--out", "t").err


def test_a_run_that_goes_on_for_longer_ends_as_if_it_had_begun_so(attnvat: Attnvat, tmp_path: Path) -> None:
    names = ("config.yaml", "model.safetensors", "metrics.jsonl", "result.json")
    long = small_run(tmp_path, epochs=4, patience=4, average=0.9, out="long")
    assert attnvat(*long).code == 0
    assert attnvat(*small_run(tmp_path, epochs=2, patience=2, average=0.9, out="short")).code == 0
    code, _, err = attnvat("train", "--resume", "short", "--epochs", "1")
    assert code == 2
    assert "2 epochs are done; epochs must be at least that, not 1" in err
    assert (tmp_path / "short" / "result.json").exists()
    code, out, _ = attnvat("train", "--resume", "short", "--epochs", "4", "--patience", "4")
    assert code == 0
    assert "next: attnvat evaluate short" in out
    for name in names:
        assert (tmp_path / "short" / name).read_bytes() == (tmp_path / "long" / name).read_bytes()


def test_a_calibrated_run_is_not_gone_on_with_for_longer(attnvat: Attnvat, tmp_path: Path) -> None:
    assert attnvat(*small_run(tmp_path, epochs=1, out="r"), "--calibrate").code == 0
    code, _, err = attnvat("train", "--resume", "r", "--epochs", "2")
    assert code == 2
    assert "is finished and calibrated, and so cannot be gone on with" in err
    assert "--start r" in err
    assert attnvat("train", "--resume", "r").code == 0


def test_a_resumed_run_whose_files_changed_is_refused(attnvat: Attnvat, tmp_path: Path) -> None:
    from attnvat.training import loop

    arguments = small_run(tmp_path, epochs=2, out="r")
    with pytest.MonkeyPatch.context() as broken:
        broken.setattr(loop, "stop_asked", lambda accelerator, made: True)
        assert attnvat(*arguments).code == 130
    write_csv(tmp_path / "test.csv", sentences(20, seed=99))
    code, _, err = attnvat("train", "--resume", "r")
    assert code == 2
    assert "other data than before: test" in err
    config = tmp_path / "r" / "config.yaml"
    write_task(tmp_path, size=40)
    config.write_text(config.read_text().replace("learning_rate: 0.02", "learning_rate: 0.01"))
    assert "learning_rate was 0.02, is 0.01" in attnvat("train", "--resume", "r").err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["train"], "no data named; use --data"),
        (["train", "--data", "ssst"], "ssst: no such file or folder, and no corpus of that name; did you mean 'sst'?"),
        (["train", "--data", "nothing.csv"], "nothing.csv: no such file or folder"),
        (["train", "--data", "train.csv", "--text", "txt"], "no column 'txt'"),
        (["train", "--data", "train.csv", "--technique", "attention-vt"], "did you mean 'attention-vat'?"),
        (["train", "--data", "train.csv", "--epsilon", "1"], "vanilla takes no option 'epsilon'"),
        (["train", "--data", "train.csv", "--unlabeled", "more.txt"], "cannot use unlabelled text"),
        (["train", "--data", "train.csv", "--dropout", "2"], "dropout is 2.0"),
        (["train", "--data", "train.csv", "--epochs", "many"], "Invalid value for '--epochs'"),
        (["train", "--data", "train.csv", "--mixed-precision", "fp8"], "expected no or bf16 or fp16"),
        (["train", "--data", "train.csv", "--device", "cuba"], "device is 'cuba'"),
        (["train", "--data", "train.csv", "--epsilom", "1"], "No such option: --epsilom"),
        (["train", "--data", "train.csv", "--config", "none.yaml"], "none.yaml: could not be read"),
        (["train", "--data", "train.csv", "--vectors", "glove.7B.100d"], "glove.7B.100d"),
        (["train", "--data", "train.csv", "--out", "train.csv/run"], "train.csv/run: cannot be written"),
        (["train", "--data", "train.csv", "--out", "runs/one"], "runs/one: holds a run already"),
        (["train", "--data", "train.csv", "--labeled-size", "5000"], "labeled_size is 5,000, but there are only"),
        (["train", "--resume", "nowhere"], "nowhere: not a run (no config.yaml)"),
        (["predict", "nowhere", "-"], "nowhere: no model here"),
        (["predict", "runs/one", "nothing.csv"], "nothing.csv"),
        (["predict", "runs/one", "train.csv", "--text", "txt"], "no column 'txt' (--text); did you mean 'text'?"),
        (["predict", "runs/one", "train.csv", "--format", "xml"], "--format is 'xml'; it is jsonl or csv"),
        (["predict", "runs/one", "train.csv", "--text-pair", "label"], "reads single texts"),
        (["predict", "runs/one", "train.csv", "--out", "train.csv/out.csv"], "could not be written"),
        (["predict", "runs/pair", "train.csv"], "has one text, but the model reads pairs"),
        (["predict", "runs/one", "empty.csv"], "empty.csv"),
        (["explain", "nowhere", "text"], "nowhere: no model here"),
        (["explain", "runs/one", "text", "--importance", "gradint"], "did you mean 'gradient'?"),
        (["explain", "runs/one", "text", "--pair", "more"], "reads single texts"),
        (["explain", "runs/pair", "text"], "has one text, but the model reads pairs"),
        (["runs", "nowhere"], "nowhere: no such folder"),
        (["trian"], "No such command 'trian'"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_mistakes_end_with_code_2_and_a_sentence(
    arguments: list[str], said: str, attnvat: Attnvat, finished: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(finished)
    (finished / "empty.csv").touch()
    before = {path for path in (finished / "runs").iterdir() if any(path.iterdir())}
    code, out, err = attnvat(*arguments)
    assert (code, out) == (2, "")
    assert said in " ".join(re.sub(r"[│╭╮╰╯─]", " ", err).split())
    assert {path for path in (finished / "runs").iterdir() if any(path.iterdir())} == before


def test_more_neighbours_than_words_are_refused(attnvat: Attnvat, tmp_path: Path) -> None:
    code, _, err = attnvat(*small_run(tmp_path, technique="word-iat", neighbours=900))
    assert code == 2
    assert "neighbours is 900, but the vocabulary has only" in err
    assert [path.name for path in tmp_path.rglob("config.yaml")] == [], "no run is begun"


def test_a_full_disk_is_reported_before_training(
    attnvat: Attnvat, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from types import SimpleNamespace

    monkeypatch.setattr(record.shutil, "disk_usage", lambda _: SimpleNamespace(free=1000))
    code, _, err = attnvat(*small_run(tmp_path, out="r"))
    assert code == 2
    assert "MB left, the run needs" in err
    assert "epoch 1" not in err


@pytest.mark.parametrize("command", ["train", "config", "predict", "explain", "runs"])
def test_help_shows_an_example(command: str, attnvat: Attnvat) -> None:
    code, out, _ = attnvat(command, "--help")
    assert code == 0
    assert "Example" in out
    assert f"attnvat {command}" in out
