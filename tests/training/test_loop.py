from __future__ import annotations

import copy
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from generated_runs import Counting, record, trained, weights

from attnvat.errors import UserError
from attnvat.evaluation.prediction import predict
from attnvat.techniques import TECHNIQUES
from attnvat.training import Prepared, devices, fit, open_run, prepare
from attnvat.training import loop as loop_module
from attnvat.training.checkpoint import checkpoint_files, read_checkpoint
from attnvat.training.display import Silent
from attnvat.training.loop import TrainingStep
from generated_task import small, task


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


def test_accumulated_gradients_are_those_of_the_larger_batch() -> None:
    # One epoch is one batch of 32, or two of 16 whose gradients are added up: the same update, but for rounding.
    corpus = replace(task(32))
    found = [
        weights(trained(small(dropout=0.0, epochs=3, patience=3, batch_size=size, gradient_accumulation=steps), corpus))
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


def test_half_precision_that_would_kill_the_process_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def killed(*_: object, **__: object) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run([sys.executable, "-c", "import os; os.kill(os.getpid(), 4)"], check=False)

    devices.computes_bf16.cache_clear()
    with monkeypatch.context() as patched:
        patched.setattr(devices, "subprocess", SimpleNamespace(run=killed))
        with pytest.raises(UserError, match="set ONEDNN_MAX_CPU_ISA=AVX512_CORE_BF16"):
            trained(small(mixed_precision="bf16"), task(40))
        trained(small(epochs=1), task(40))
    devices.computes_bf16.cache_clear()


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


def test_losses_told_are_means_over_the_epoch(tmp_path: Path) -> None:
    seen = Counting(lambda _: None)
    found = trained(small(technique="attention-at", epochs=1), task(64), tmp_path / "run", display=seen)
    lines = [json.loads(line) for line in (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()]
    assert lines == found.history
    assert seen.seen[-1] == lines[0]["losses"]
    losses = lines[0]["losses"]
    assert losses["loss"] == pytest.approx(losses["clean"] + losses["adversarial"], rel=1e-5)
    assert losses["norm"] == pytest.approx(0.5, rel=1e-4)


def test_data_is_left_as_it_was() -> None:
    config = small(epochs=1)
    data: Prepared = prepare(config, task(40))
    before = copy.deepcopy(data.hashes)
    fit(config, data)
    assert data.hashes == before
