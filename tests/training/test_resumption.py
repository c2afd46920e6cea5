from __future__ import annotations

import itertools
import shutil
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from generated_runs import Counting, StopError, record, stop_at, trained, weights

from attnvat.corpora import Corpus, Example
from attnvat.errors import UserError
from attnvat.interruption import Interrupted
from attnvat.training import Config, prepare
from attnvat.training import loop as loop_module
from attnvat.training.checkpoint import checkpoint_files, read_checkpoint
from attnvat.training.run import TIMINGS, read_lines, training_seconds
from generated_task import small, task


@pytest.mark.parametrize(
    ("technique", "more"),
    [("vanilla", {}), ("word-ivat", {}), ("attention-ivat", {"average": 0.8}), ("word-vat", {"phrases": 9})],
)
@pytest.mark.parametrize("at", [1, 4, 5, 11])
def test_a_run_that_breaks_off_anywhere_is_resumed_to_the_same_bytes(
    technique: str, more: dict[str, Any], at: int, tmp_path: Path
) -> None:
    corpus = task(80, unlabelled=60)
    corpus.unlabelled += [Example("good fine great")] * 5
    virtual = {"unlabeled": "corpus"} if technique != "vanilla" else {}
    config = small(technique=technique, dropout=0.2, checkpoint_every=2, epochs=3, **virtual, **more)
    trained(config, corpus, tmp_path / "whole")
    with pytest.raises(StopError):
        trained(config, corpus, tmp_path / "broken", display=stop_at(at))
    assert not (tmp_path / "broken" / "result.json").exists()
    # Something half-written is left behind.
    with (tmp_path / "broken" / "metrics.jsonl").open("a") as handle:
        handle.write('{"event": "ep')
    (tmp_path / "broken" / ".model.safetensors.99.part").touch()
    (tmp_path / "broken" / "checkpoints").mkdir(exist_ok=True)
    (tmp_path / "broken" / "checkpoints" / ".step-000000099.safetensors.99.part").touch()
    resumed = trained(config, corpus, tmp_path / "broken", resume=True)
    assert record(tmp_path / "broken") == record(tmp_path / "whole")
    assert len(resumed.history) == 3
    assert not list((tmp_path / "broken").rglob("*.part"))


def test_a_run_whose_newest_checkpoint_is_damaged_goes_on_from_the_one_before(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    corpus, config = task(80), small(dropout=0.2, checkpoint_every=2)
    trained(config, corpus, tmp_path / "whole")
    with pytest.raises(StopError):
        trained(config, corpus, tmp_path / "broken", display=stop_at(9))
    files = checkpoint_files(tmp_path / "broken" / "checkpoints")
    assert [read_checkpoint(file).state["step"] for file in files] == [6, 8]
    files[-1].write_bytes(files[-1].read_bytes()[:-100])
    trained(config, corpus, tmp_path / "broken", resume=True)
    assert "going on from the one before it" in capsys.readouterr().err
    assert record(tmp_path / "broken") == record(tmp_path / "whole")


def test_checkpoints_are_written_every_so_many_steps_and_every_epoch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[int] = []
    monkeypatch.setattr(loop_module, "write_checkpoint", lambda folder, step, *rest: written.append(step))
    corpus = task(80)
    trained(small(checkpoint_every=2, epochs=2), corpus, tmp_path / "a")
    assert written == [2, 4, 5, 6, 8, 10]
    written.clear()
    trained(small(checkpoint_every=0, epochs=2), corpus, tmp_path / "b")
    assert written == [5, 10]
    written.clear()
    # Between two updates there is nothing to save: the gradients added up so far would be lost.
    trained(small(checkpoint_every=1, epochs=2, gradient_accumulation=2), corpus, tmp_path / "c")
    assert written == [2, 4, 5, 7, 9, 10]


def test_a_folder_that_cannot_take_the_run_is_refused_before_training(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus, config, steps = task(40), small(epochs=1), Counting(lambda _: None)
    (tmp_path / "file").touch()
    with pytest.raises(UserError, match=r"cannot be written \(Not a directory\)"):
        trained(config, corpus, tmp_path / "file" / "run", display=steps)
    with monkeypatch.context() as tight:
        # Room for two checkpoints of weights and moments, a third one, and the best model; not for their means.
        size = 4 * sum(p.numel() for p in prepare(config, corpus).bundle.model.parameters())
        tight.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=10 * size))
        trained(config, corpus, tmp_path / "fits")
        with pytest.raises(UserError, match="the run needs"):
            trained(replace(config, average=0.9), corpus, tmp_path / "means", display=steps)
    with monkeypatch.context() as full:
        full.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=5000))
        with pytest.raises(UserError, match=r"the disk has 0\.0 MB left, the run needs"):
            trained(config, corpus, tmp_path / "full", display=steps)
    trained(config, corpus, tmp_path / "run")
    with pytest.raises(UserError, match="holds a run already; resume it with `attnvat train --resume"):
        trained(config, corpus, tmp_path / "run", display=steps)
    assert steps.steps == 0


def test_a_run_has_one_process_at_a_time(tmp_path: Path) -> None:
    corpus, config = task(40), small(epochs=1)

    def second(_: int) -> None:
        with pytest.raises(UserError, match="another process is training this run"):
            trained(config, corpus, tmp_path / "run", resume=True)

    watching = Counting(second)
    trained(config, corpus, tmp_path / "run", display=watching)
    assert watching.steps == 3


def test_a_disk_that_fills_up_on_the_way_leaves_a_run_that_can_be_resumed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus, config = task(80), small(dropout=0.2, checkpoint_every=2)
    trained(config, corpus, tmp_path / "whole")
    replaced = Path.replace

    def full(self: Path, target: Any) -> Path:
        if Path(target).name == "step-000000008.safetensors":
            raise OSError(28, "No space left on device")
        return replaced(self, target)

    with monkeypatch.context() as broken:
        broken.setattr(Path, "replace", full)
        with pytest.raises(UserError, match=r"No space left on device; the last good checkpoint is .*step-000000006"):
            trained(config, corpus, tmp_path / "run")
    trained(config, corpus, tmp_path / "run", resume=True)
    assert record(tmp_path / "run") == record(tmp_path / "whole")


def broken_off(config: Config, corpus: Corpus, folder: Path) -> None:
    with pytest.raises(StopError):
        trained(config, corpus, folder, display=stop_at(7))


@pytest.mark.parametrize(
    ("options", "change", "said"),
    [
        ({"learning_rate": 0.5}, lambda c: c, "learning_rate was 0.02, is 0.5"),
        ({"seed": 3}, lambda c: c, "seed was 0, is 3"),
        ({}, lambda c: replace(c, train=[replace(c.train[0], label="neg"), *c.train[1:]]), "than before: train"),
        ({}, lambda c: replace(c, test=c.test[::-1]), "other data than before: test"),
        ({}, lambda c: replace(c, unlabelled=c.unlabelled[1:]), "other data than before: unlabelled"),
        ({"numbers": False}, lambda c: c, "numbers was True, is False"),
        (
            {},
            lambda c: replace(c, train=[replace(c.train[0], text="zebra"), *c.train[1:]]),
            "train, unlabelled, validation, vectors, vocabulary",
        ),
    ],
)
def test_a_changed_run_is_not_resumed(options: Any, change: Any, said: str, tmp_path: Path) -> None:
    corpus = task(80, unlabelled=40)
    config = small(technique="attention-vat", unlabeled="corpus", checkpoint_every=2)
    broken_off(config, corpus, tmp_path / "run")
    before = {path: path.read_bytes() for path in (tmp_path / "run").rglob("*") if path.is_file()}
    with pytest.raises(UserError) as caught:
        trained(replace(config, **options), change(corpus), tmp_path / "run", resume=True)
    assert "cannot be resumed, it would not be the same run" in str(caught.value)
    assert said in str(caught.value)
    assert {path: path.read_bytes() for path in (tmp_path / "run").rglob("*") if path.is_file()} == before


def test_a_finished_run_resumed_does_not_train_again(tmp_path: Path) -> None:
    corpus, config = task(40), small(epochs=2)
    first = trained(config, corpus, tmp_path / "run")
    before = record(tmp_path / "run")
    (tmp_path / "run" / "result.json").unlink()
    steps = Counting(lambda _: None)
    again = trained(config, corpus, tmp_path / "run", resume=True, display=steps)
    assert steps.steps == 0
    assert record(tmp_path / "run") == before
    assert weights(again).equal(weights(first))


def test_a_stop_between_epochs_and_within_one_both_save_everything(tmp_path: Path) -> None:
    import os
    import signal

    corpus, config = task(80), small(dropout=0.2, checkpoint_every=0)
    trained(config, corpus, tmp_path / "whole")
    for name, at, said in (("within", 3, "saved at step 3"), ("between", 5, "saved after epoch 1")):

        def send(done: int, at: int = at) -> None:
            if done == at:
                os.kill(os.getpid(), signal.SIGINT)

        with pytest.raises(Interrupted, match=f"{said}; resume with: attnvat train --resume {tmp_path / name}"):
            trained(config, corpus, tmp_path / name, display=Counting(send))
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
        trained(config, corpus, tmp_path / name, resume=True)
        assert record(tmp_path / name) == record(tmp_path / "whole")


def test_the_seconds_of_all_processes_add_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # A clock that moves on by 10 s each time it is read: at the start of a process and at the end of an epoch.
    clock = itertools.count(1_000.0, 10.0)
    monkeypatch.setattr(loop_module, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    corpus, config = task(80), small(epochs=3)
    with pytest.raises(StopError):
        trained(config, corpus, tmp_path, display=stop_at(5))  # in the second epoch, after 10 s for the first
    trained(config, corpus, tmp_path, resume=True)  # 10 s for each of the others
    assert [line["epoch"] for line in read_lines(tmp_path / TIMINGS)] == [0, 1, 2]
    assert training_seconds(tmp_path) == 30.0


def test_a_wish_in_the_last_step_lets_the_run_finish(tmp_path: Path) -> None:
    import os
    import signal

    def send(done: int) -> None:
        if done == 3:
            os.kill(os.getpid(), signal.SIGTERM)

    trained(small(epochs=1), task(40), tmp_path / "run", display=Counting(send))
    assert (tmp_path / "run" / "result.json").exists()
