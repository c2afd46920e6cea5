from __future__ import annotations

import copy
import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from attnvat.corpora import Corpus
from attnvat.errors import UserError
from attnvat.evaluation.prediction import predict
from attnvat.techniques import TECHNIQUES
from attnvat.training import Config, Prepared, Trained, fit, open_run, prepare
from attnvat.training import loop as loop_module
from attnvat.training.checkpoint import checkpoint_files, read_checkpoint
from attnvat.training.display import Silent
from attnvat.training.interruption import Interrupted
from attnvat.training.loop import TrainingStep
from generated_task import small, task

RECORD = ("model.safetensors", "metrics.jsonl", "result.json", "vocabulary.json", "config.json")


def trained(config: Config, corpus: Corpus, folder: Path | None = None, **options: Any) -> Trained:
    return fit(config, prepare(config, corpus), folder, **options)


def record(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in RECORD}


def weights(found: Trained) -> torch.Tensor:
    return torch.cat([p.detach().flatten() for p in found.pretrained.model.parameters()])


class Counting(Silent):
    """Calls `act` after each step with the number of steps done."""

    def __init__(self, act: Callable[[int], None]) -> None:
        self.steps, self.act = 0, act
        self.seen: list[dict[str, float]] = []

    def step(self, examples: int, tokens: int, losses: dict[str, float]) -> None:
        self.steps += 1
        self.seen.append(losses)
        self.act(self.steps)


class StopError(Exception):
    """Stands for a process that is no more."""


def stop_at(step: int) -> Counting:
    def act(done: int) -> None:
        if done == step:
            raise StopError

    return Counting(act)


@pytest.mark.parametrize("technique", ["vanilla", "attention-ivat"])
def test_learns_the_task(technique: str) -> None:
    virtual = {"unlabeled": "corpus"} if technique != "vanilla" else {}
    found = trained(small(technique=technique, epochs=4, **virtual), task(400, unlabelled=600))
    assert found.result["test"] > 0.9
    assert found.result["validation"] > 0.9
    assert found.history[-1]["losses"]["clean"] < found.history[0]["losses"]["clean"]


@pytest.mark.parametrize("technique", TECHNIQUES)
def test_every_technique_trains_single_texts_and_pairs(technique: str) -> None:
    virtual = {"unlabeled": "corpus"} if technique.endswith("vat") else {}
    for pair in (False, True):
        config = small(technique=technique, epochs=1, dropout=0.1, **virtual)
        found = trained(config, task(40, labels=("a", "b", "c"), unlabelled=30, pair=pair))
        losses = found.history[0]["losses"]
        assert all(np.isfinite(value) for value in losses.values())
        assert (losses["adversarial"] > 0) == (technique != "vanilla")


def test_the_result_is_the_best_models_and_not_the_last_ones(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    scores = iter([0.3, 0.9, 0.5, 0.4])
    monkeypatch.setattr(loop_module, "validation_score", lambda model, data: next(scores))
    kept: list[torch.Tensor] = []

    class Watching(Silent):
        def end_epoch(self, record: dict[str, Any]) -> None:
            kept.append(torch.cat([p.detach().flatten().clone() for p in data.bundle.model.parameters()]))

    config = small(epochs=4, patience=4)
    data = prepare(config, task(60))
    found = fit(config, data, tmp_path / "run", display=Watching())
    assert (found.result["epoch"], found.result["validation"]) == (1, 0.9)
    assert [line["best"] for line in found.history] == [True, True, False, False]
    assert weights(found).equal(kept[1])
    assert not kept[1].equal(kept[3])
    saved = open_run(tmp_path / "run").pretrained
    assert torch.cat([p.detach().flatten() for p in saved.model.parameters()]).equal(kept[1])
    expected = predict(found.pretrained, data.test).argmax(axis=1)
    assert found.result["test"] == (expected == data.test.labels).mean()
    assert not found.pretrained.model.training


def test_stops_after_so_many_epochs_without_a_better_score(monkeypatch: pytest.MonkeyPatch) -> None:
    scores = iter([0.5, 0.6, 0.6, 0.55, 0.9])
    monkeypatch.setattr(loop_module, "validation_score", lambda model, data: next(scores))
    found = trained(small(epochs=20, patience=2), task(40))
    assert [line["validation"] for line in found.history] == [0.5, 0.6, 0.6, 0.55]
    assert found.result["epoch"] == 1


def test_the_test_split_is_read_once_and_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    config = small(epochs=3)
    data = prepare(config, task(60))
    order: list[str] = []
    names = {id(data.train): "train", id(data.validation): "validation", id(data.test): "test"}

    def counting(model: Any, dataset: Any) -> Any:
        order.append(names[id(dataset)])
        return predict(model, dataset)

    monkeypatch.setattr(loop_module, "predict", counting)
    fit(config, data)
    assert order == ["validation", "validation", "validation", "test"]


def test_a_corpus_without_a_test_split_has_no_test_score() -> None:
    assert "test" not in trained(small(epochs=1), replace(task(40), test=[])).result


def test_two_runs_of_one_seed_are_the_same_bytes_and_another_seed_is_not(tmp_path: Path) -> None:
    corpus = task(80, unlabelled=120)
    config = small(technique="word-ivat", unlabeled="corpus", dropout=0.3, epochs=2)
    for name, seed in (("a", 0), ("b", 0), ("c", 1)):
        torch.rand(3)  # what others draw must not matter
        trained(replace(config, seed=seed), corpus, tmp_path / name)
    assert record(tmp_path / "a") == record(tmp_path / "b")
    assert record(tmp_path / "a")["model.safetensors"] != record(tmp_path / "c")["model.safetensors"]


def test_prepared_data_trains_the_same_whatever_is_drawn_in_between() -> None:
    found = []
    for drawn in (0, 5):
        config = small(dropout=0.3, epochs=1)
        data = prepare(config, task(60))
        torch.rand(drawn)
        found.append(weights(fit(config, data)))
    assert found[0].equal(found[1])


@pytest.mark.parametrize("technique", ["vanilla", "word-ivat", "attention-ivat"])
@pytest.mark.parametrize("at", [1, 4, 5, 11])
def test_a_run_that_breaks_off_anywhere_is_resumed_to_the_same_bytes(technique: str, at: int, tmp_path: Path) -> None:
    corpus = task(80, unlabelled=60)
    virtual = {"unlabeled": "corpus"} if technique != "vanilla" else {}
    config = small(technique=technique, dropout=0.2, checkpoint_every=2, epochs=3, **virtual)
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


def test_accumulated_gradients_are_those_of_the_larger_batch() -> None:
    # One epoch is one batch of 32, or two of 16 whose gradients are added up: the same update, but for rounding.
    corpus = replace(task(32))
    found = [
        weights(trained(small(epochs=3, patience=3, batch_size=size, gradient_accumulation=steps), corpus))
        for size, steps in ((32, 1), (16, 2), (8, 100), (16, 1))
    ]
    torch.testing.assert_close(found[1], found[0], rtol=1e-3, atol=1e-4)
    torch.testing.assert_close(found[2], found[0], rtol=1e-3, atol=1e-4)
    assert not torch.allclose(found[3], found[0], rtol=1e-3, atol=1e-4)


def test_gradients_are_clipped_to_the_norm(monkeypatch: pytest.MonkeyPatch) -> None:
    norms: list[float] = []
    step = torch.optim.Adam.step

    def watched(self: Any, *rest: Any) -> Any:
        found = [p.grad for group in self.param_groups for p in group["params"]]
        norms.append(float(torch.cat([g.flatten() for g in found]).norm()))
        return step(self, *rest)

    monkeypatch.setattr(torch.optim.Adam, "step", watched)
    config = small(epochs=1, embedding_updates="all")
    trained(config, task(60))
    free, norms = list(norms), []
    monkeypatch.undo()
    monkeypatch.setattr(torch.optim.Adam, "step", watched)
    clipped = min(free) / 2
    trained(replace(config, clip=clipped), task(60))
    assert max(free) > clipped
    np.testing.assert_allclose(norms, clipped, rtol=1e-4)


def test_a_loss_that_is_no_number_stops_with_all_that_is_needed_to_look_into_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = small(technique="attention-vat", unlabeled="corpus", epsilon=0.7, checkpoint_every=2)
    data = prepare(config, task(80, unlabelled=40))
    forward, calls = TrainingStep.forward, 0

    def breaking(self: TrainingStep, *batches: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == 4:
            with torch.no_grad():
                self.model.decoder.weight.fill_(torch.nan)
            breaking.rows = [batch.rows.tolist() for batch in batches[:2]]  # type: ignore[attr-defined]
        return forward(self, *batches)

    monkeypatch.setattr(TrainingStep, "forward", breaking)
    with pytest.raises(UserError) as caught:
        fit(config, data, tmp_path / "run")
    said = str(caught.value)
    labelled, unlabelled = breaking.rows  # type: ignore[attr-defined]
    assert "the loss is nan" in said
    assert "at step 3 with attention-vat (epsilon 0.7)" in said
    assert f"training rows {', '.join(map(str, labelled[:8]))}, …" in said
    assert f"unlabelled rows {', '.join(map(str, unlabelled[:8]))}" in said
    last = checkpoint_files(tmp_path / "run" / "checkpoints")[-1]
    assert last.name == "step-000000002.safetensors"
    assert f"last good checkpoint: {last}" in said
    assert all(tensor.isfinite().all() for tensor in read_checkpoint(last).tensors.values())


def test_mixed_precision_trains_on_the_cpu_too() -> None:
    found = trained(small(mixed_precision="bf16", technique="attention-ivat", epochs=4), task(400))
    assert found.result["test"] > 0.9
    assert {p.dtype for p in found.pretrained.model.parameters()} == {torch.float32}
    with pytest.raises(UserError, match="fp16 needs a GPU"):
        trained(small(mixed_precision="fp16"), task(40))


def test_a_device_that_is_not_there_is_refused() -> None:
    for device in ("banana", *([] if torch.cuda.is_available() else ["cuda"])):
        with pytest.raises(UserError, match=f"device is '{device}', but training would run on"):
            trained(small(device=device, epochs=1), task(40))


def test_trackers_get_the_numbers_and_missing_ones_are_named(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    found = trained(small(epochs=2, track="tensorboard"), task(40), tmp_path / "run")
    log = EventAccumulator(str(tmp_path / "run" / "attnvat")).Reload()
    assert [round(e.value, 6) for e in log.Scalars("validation")] == [
        round(line["validation"], 6) for line in found.history
    ]
    with pytest.raises(UserError, match="did you mean 'tensorboard'"):
        trained(small(track="tensorbord"), task(40), tmp_path / "other")


def test_an_uninstalled_tracker_is_named_before_anything_is_written(tmp_path: Path) -> None:
    try:
        import wandb  # noqa: F401
    except ImportError:
        with pytest.raises(UserError, match="wandb is not installed"):
            trained(small(track="wandb"), task(40), tmp_path / "run")
        assert not (tmp_path / "run").exists()
    else:
        pytest.skip("wandb is installed")


def test_a_folder_that_cannot_take_the_run_is_refused_before_training(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus, config, steps = task(40), small(epochs=1), Counting(lambda _: None)
    (tmp_path / "file").touch()
    with pytest.raises(UserError, match=r"cannot be written \(Not a directory\)"):
        trained(config, corpus, tmp_path / "file" / "run", display=steps)
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


def test_losses_told_are_means_over_the_epoch(tmp_path: Path) -> None:
    seen = Counting(lambda _: None)
    found = trained(small(technique="attention-at", epochs=1), task(64), tmp_path / "run", display=seen)
    lines = [json.loads(line) for line in (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()]
    assert lines == found.history
    assert seen.seen[-1] == lines[0]["losses"]
    losses = lines[0]["losses"]
    assert losses["loss"] == pytest.approx(losses["clean"] + losses["adversarial"], rel=1e-5)
    assert losses["norm"] == pytest.approx(0.5, rel=1e-4)


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


def test_a_wish_in_the_last_step_lets_the_run_finish(tmp_path: Path) -> None:
    import os
    import signal

    def send(done: int) -> None:
        if done == 3:
            os.kill(os.getpid(), signal.SIGTERM)

    trained(small(epochs=1), task(40), tmp_path / "run", display=Counting(send))
    assert (tmp_path / "run" / "result.json").exists()


def test_data_is_left_as_it_was() -> None:
    config = small(epochs=1)
    data: Prepared = prepare(config, task(40))
    before = copy.deepcopy(data.hashes)
    fit(config, data)
    assert data.hashes == before
