"""The training loop, top to bottom: streams → technique's loss → Adam, validated each epoch, never lost."""

from __future__ import annotations

import math
import time
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from accelerate import Accelerator
from accelerate.state import AcceleratorState
from torch import Tensor, nn

from attnvat.errors import UserError
from attnvat.evaluation.prediction import predict, score
from attnvat.models import Pretrained, SequenceClassifier, save_pretrained
from attnvat.techniques import StepLoss, Technique
from attnvat.text.batch import Batch
from attnvat.training import run as record
from attnvat.training.checkpoint import (
    Checkpoint,
    checkpoint_files,
    last_checkpoint,
    prefixed,
    random_state,
    restore_random,
    section,
    write_checkpoint,
)
from attnvat.training.config import Config
from attnvat.training.display import Display, Silent
from attnvat.training.interruption import Interrupted, stop_on_signal
from attnvat.training.optimiser import build_optimisers, optimiser_tensors, restore_optimisers
from attnvat.training.prepare import Prepared
from attnvat.training.streams import Streams


class TrainingStep(nn.Module):
    """The forward pass of one step: what Accelerate wraps so that gradients of several processes are averaged."""

    def __init__(self, model: SequenceClassifier, technique: Technique) -> None:
        super().__init__()
        self.model = model
        self.technique = technique

    def forward(self, labelled: Batch, unlabelled: Batch | None, generator: torch.Generator) -> StepLoss:
        """The technique's whole loss of one step."""
        return self.technique.loss(self.model, labelled, unlabelled, generator)


@dataclass
class Counters:
    """Where a run stands, as JSON can hold it."""

    step: int = 0
    epoch: int = 0
    best_score: float = -math.inf
    best_epoch: int = -1
    epochs_without_gain: int = 0
    sums: dict[str, float] = field(default_factory=dict)
    """Losses by part, summed over the steps of the current epoch."""
    metrics_size: int = 0
    """Size of `metrics.jsonl` in bytes at this point."""

    def add(self, losses: dict[str, float]) -> dict[str, float]:
        """Count a step's losses; gives the means over the epoch so far (vanished gradients are a total)."""
        self.step += 1
        for name, value in (losses | {"steps": 1}).items():
            self.sums[name] = self.sums.get(name, 0) + value
        steps = self.sums["steps"]
        return {
            name: total if name == "vanished" else total / steps for name, total in self.sums.items() if name != "steps"
        }

    def finished(self, config: Config) -> bool:
        """Whether no epoch is left, or the last ones brought nothing."""
        return self.epoch >= config.epochs or self.epochs_without_gain >= config.patience


@dataclass(frozen=True)
class Trained:
    """The outcome of a run."""

    pretrained: Pretrained
    """The best model by validation score."""
    result: dict[str, Any]
    """Best validation score and epoch, and the test score of the best model."""
    history: list[dict[str, Any]]
    """A record for each epoch."""


def fit(
    config: Config,
    data: Prepared,
    folder: Path | None = None,
    resume: bool = False,
    display: Display | None = None,
) -> Trained:
    """Train on prepared data; with a folder the run is on record there and can be resumed."""
    display = display or Silent()
    config = config.resolved()
    accelerator = accelerator_for(config, folder)
    main = accelerator.is_main_process
    model, technique = data.bundle.model, config.build_technique()
    sparse = accelerator.num_processes == 1 and config.clip is None
    optimisers = build_optimisers(model, config.learning_rate, config.l2, config.embedding_updates == "touched", sparse)
    training, *optimisers = accelerator.prepare(TrainingStep(model, technique), *optimisers)
    plain = [getattr(optimiser, "optimizer", optimiser) for optimiser in optimisers]
    streams = Streams(
        data.train,
        data.unlabelled,
        config.batch_size,
        config.seed,
        accelerator.process_index,
        accelerator.num_processes,
    )
    generator = torch.Generator().manual_seed(config.seed)
    counters = Counters()
    history: list[dict[str, Any]] = []
    best = {name: tensor.detach().clone() for name, tensor in model.state_dict().items()}

    def checkpoint() -> None:
        if folder and main:
            state = asdict(counters) | {"streams": streams.state(), "config": config.to_dict(), "hashes": data.hashes}
            tensors = {
                **prefixed("model", model.state_dict()),
                **prefixed("optimiser", optimiser_tensors(plain)),
                **prefixed("technique", technique.state()),
                **prefixed("random", random_state(generator)),
            }
            write_checkpoint(folder / record.CHECKPOINTS, counters.step, Checkpoint(state, tensors), config.keep)

    with ExitStack() as stack:
        if folder:
            if main and not resume:
                record.begin_folder(folder, config, sum(p.numel() * p.element_size() for p in model.parameters()))
            if main:
                stack.enter_context(record.locked(folder))
            if resume:
                found = last_checkpoint(folder / record.CHECKPOINTS)
                if found:
                    refuse_changes(folder, found.state, config, data.hashes)
                    counters = take_up(found, model, plain, technique, generator, streams)
                if main:
                    record.cut_lines(folder / record.METRICS, counters.metrics_size)
                history = [line for line in record.read_lines(folder / record.METRICS) if line["event"] == "epoch"]
                if counters.best_epoch >= 0:
                    best = dict(record.open_run(folder).pretrained.model.state_dict())
        wish = stack.enter_context(stop_on_signal() if folder else nullcontext())
        stack.callback(display.close)
        stack.callback(accelerator.end_training)
        started = time.monotonic()

        while not counters.finished(config):
            if streams.at_epoch_start:
                technique.refresh(model)
                counters.sums = {}
            model.train()
            left = config.epochs - counters.epoch - 1
            display.begin_epoch(counters.epoch, streams.labelled.position, streams.steps_per_epoch, left)
            while True:
                labelled, unlabelled = streams.next()
                end_of_epoch = streams.at_epoch_start
                update = end_of_epoch or streams.labelled.position % config.gradient_accumulation == 0
                together: AbstractContextManager[Any] = nullcontext() if update else accelerator.no_sync(training)
                with together:
                    loss = training(
                        labelled.to(accelerator.device),
                        unlabelled.to(accelerator.device) if unlabelled else None,
                        generator,
                    )
                    losses = parts(loss)
                    refuse_non_finite(losses, labelled, unlabelled, config, counters, folder)
                    accelerator.backward(loss.total / config.gradient_accumulation)
                if update:
                    if config.clip is not None:
                        accelerator.clip_grad_norm_(model.parameters(), config.clip)
                    for optimiser in optimisers:
                        optimiser.step()
                        optimiser.zero_grad()
                means = counters.add(losses)
                texts = len(labelled) + (len(unlabelled) if unlabelled else 0)
                display.step(texts, labelled.tokens + (unlabelled.tokens if unlabelled else 0), means)
                if end_of_epoch:
                    break
                if not update:
                    continue
                if folder and stop_asked(accelerator, wish.made):  # type: ignore[union-attr]
                    checkpoint()
                    raise Interrupted(f"saved at step {counters.step}; resume with: attnvat train --resume {folder}")
                if config.checkpoint_every and counters.step % config.checkpoint_every == 0:
                    checkpoint()

            validation = validation_score(model, data)
            better = validation > counters.best_score
            if better:
                counters.best_score, counters.best_epoch, counters.epochs_without_gain = validation, counters.epoch, 0
                best = {name: tensor.detach().cpu().clone() for name, tensor in model.state_dict().items()}
                if folder and main:
                    save_pretrained(data.bundle, folder)
            else:
                counters.epochs_without_gain += 1
            line = {
                "event": "epoch",
                "epoch": counters.epoch,
                "step": counters.step,
                "metric": data.metric,
                "validation": validation,
                "best": better,
                "losses": means,
            }
            history.append(line)
            counters.epoch += 1
            if folder and main:
                counters.metrics_size = record.append_line(folder / record.METRICS, line)
                seconds = round(time.monotonic() - started, 3)
                record.append_line(folder / record.TIMINGS, {"epoch": line["epoch"], "seconds": seconds})
            accelerator.log({"validation": validation} | means, step=counters.step)
            display.end_epoch(line)
            checkpoint()
            if folder and stop_asked(accelerator, wish.made) and not counters.finished(config):  # type: ignore[union-attr]
                raise Interrupted(f"saved after epoch {counters.epoch}; resume with: attnvat train --resume {folder}")

        model.load_state_dict(best)
        model.eval()
        result: dict[str, Any] = {
            "metric": data.metric,
            "validation": counters.best_score,
            "epoch": counters.best_epoch,
            "steps": counters.step,
        }
        if len(data.test) and data.test.labels is not None:
            result["test"] = score(data.metric, predict(model, data.test), data.test.labels)
        if folder and main:
            record.write_result(folder, result)
    return Trained(data.bundle, result, history)


def validation_score(model: SequenceClassifier, data: Prepared) -> float:
    """The model's score on the validation split."""
    if data.validation.labels is None:
        raise UserError("the validation split has examples without a label; give every example one")
    return score(data.metric, predict(model, data.validation), data.validation.labels)


def accelerator_for(config: Config, folder: Path | None) -> Accelerator:
    """Devices, precision and processes, as the config and the launcher say."""
    trackers = config.track.split(",") if config.track and folder else None
    # Accelerate keeps its settings for the whole process; another run may want others.
    AcceleratorState._reset_state()
    try:
        accelerator = Accelerator(
            cpu=config.device == "cpu",
            mixed_precision=config.mixed_precision,
            log_with=trackers,
            project_dir=folder,
        )
        if trackers:
            accelerator.init_trackers("attnvat", config={k: v for k, v in config.to_dict().items() if v is not None})
    except (ValueError, ImportError) as error:
        raise UserError(f"cannot train this way: {' '.join(str(error).split())}") from error
    return accelerator


def parts(loss: StepLoss) -> dict[str, float]:
    """The parts of a step's loss as numbers."""
    return {
        "loss": float(loss.total.detach()),
        "clean": float(loss.clean),
        "adversarial": float(loss.adversarial),
        "norm": float(loss.norm),
        "vanished": float(loss.vanished),
    }


def refuse_non_finite(
    losses: dict[str, float],
    labelled: Batch,
    unlabelled: Batch | None,
    config: Config,
    counters: Counters,
    folder: Path | None,
) -> None:
    """Stop at a loss that is not a number, naming the batch, the technique and the last good checkpoint."""
    if math.isfinite(losses["loss"]):
        return
    files = checkpoint_files(folder / record.CHECKPOINTS) if folder else []
    more = f" and unlabelled rows {rows_of(unlabelled)}" if unlabelled else ""
    raise UserError(
        f"the loss is {losses['loss']} (clean {losses['clean']}, adversarial {losses['adversarial']}) at step "
        f"{counters.step} with {config.technique} (epsilon {config.epsilon}); training rows {rows_of(labelled)}{more}; "
        f"last good checkpoint: {files[-1] if files else 'none'}. Try a lower learning_rate or epsilon, or set clip"
    )


def rows_of(batch: Batch) -> str:
    """The first rows of a batch, for a message."""
    rows = [] if batch.rows is None else batch.rows.tolist()
    return ", ".join(map(str, rows[:8])) + (", …" if len(rows) > 8 else "")


def stop_asked(accelerator: Accelerator, made: bool) -> bool:
    """Whether any process was asked to stop; all of them then stop at the same step."""
    if accelerator.num_processes == 1:
        return made
    votes = accelerator.reduce(torch.tensor(float(made), device=accelerator.device), reduction="sum")
    return bool(float(votes) > 0)


def refuse_changes(folder: Path, state: dict[str, Any], config: Config, hashes: dict[str, str]) -> None:
    """Raise if the config or anything that was read differs from what the checkpoint was written with."""
    now = config.to_dict()
    changed = [
        f"{name} was {old!r}, is {now.get(name)!r}" for name, old in state["config"].items() if now.get(name) != old
    ]
    changed += [f"the {part} data differ" for part, old in state["hashes"].items() if hashes.get(part) != old]
    if changed:
        raise UserError(f"{folder}: cannot be resumed, it would not be the same run: {'; '.join(changed)}")


def take_up(
    found: Checkpoint,
    model: SequenceClassifier,
    optimisers: list[torch.optim.Optimizer],
    technique: Technique,
    generator: torch.Generator,
    streams: Streams,
) -> Counters:
    """Put everything back as it was when the checkpoint was written."""
    state: dict[str, Any] = dict(found.state)
    tensors: dict[str, Tensor] = found.tensors
    model.load_state_dict(section("model", tensors))
    restore_optimisers(optimisers, section("optimiser", tensors))
    technique.restore(section("technique", tensors))
    restore_random(generator, section("random", tensors))
    streams.restore(state.pop("streams"))
    return Counters(**{name: value for name, value in state.items() if name not in ("config", "hashes")})
