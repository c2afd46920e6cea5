"""The training loop, top to bottom: streams → technique's loss → Adam, validated each epoch, never lost."""

from __future__ import annotations

import time
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from attnvat.errors import UserError
from attnvat.evaluation.prediction import predict, score
from attnvat.interruption import Interrupted, stop_on_signal
from attnvat.models import Pretrained, SequenceClassifier, save_pretrained
from attnvat.techniques import StepLoss, Technique
from attnvat.text.batch import Batch
from attnvat.training import run as record
from attnvat.training.averaging import AveragedWeights
from attnvat.training.calibrate import calibrate
from attnvat.training.checkpoint import Checkpoint, last_checkpoint, prefixed, random_state, write_checkpoint
from attnvat.training.config import Config
from attnvat.training.counters import Counters
from attnvat.training.devices import accelerator_for, start_trackers, stop_asked
from attnvat.training.display import Display, Silent
from attnvat.training.losses import parts, refuse_non_finite
from attnvat.training.memory import keep_memory
from attnvat.training.optimiser import build_optimisers, optimiser_tensors
from attnvat.training.prepare import Prepared
from attnvat.training.resumption import refuse_changes, take_up
from attnvat.training.streams import Streams


class TrainingStep(nn.Module):
    """The forward pass of one step: what Accelerate wraps so that gradients of several processes are averaged."""

    def __init__(self, model: SequenceClassifier, technique: Technique) -> None:
        super().__init__()
        self.model = model
        self.technique = technique

    def forward(
        self, labelled: Batch, unlabelled: Batch | None, generator: torch.Generator, taught: Tensor | None = None
    ) -> StepLoss:
        """The technique's whole loss of one step."""
        return self.technique.loss(self.model, labelled, unlabelled, generator, taught)


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
    keep_memory()
    accelerator = accelerator_for(config, folder)
    main, process = accelerator.is_main_process, accelerator.process_index
    checkpoints = folder / record.CHECKPOINTS if folder else None
    # Decides dropout's masks, other ones on each process; what is drawn for a step is the same on all of them.
    torch.manual_seed(config.seed + process)
    generator = torch.Generator().manual_seed(config.seed)
    model, technique = data.bundle.model, config.build_technique()
    sparse = accelerator.num_processes == 1 and config.clip is None
    optimisers = build_optimisers(model, config.learning_rate, config.l2, config.embedding_updates == "touched", sparse)
    training, *optimisers = accelerator.prepare(TrainingStep(model, technique), *optimisers)
    plain = [getattr(optimiser, "optimizer", optimiser) for optimiser in optimisers]
    processes, ratio = accelerator.num_processes, config.unlabeled_ratio
    streams = Streams(data.train, data.unlabelled, config.batch_size, config.seed, process, processes, ratio)
    averaged = AveragedWeights(model, config.average) if config.average else None
    counters = Counters()
    history: list[dict[str, Any]] = []
    best = {name: tensor.detach().clone() for name, tensor in model.state_dict().items()}

    def checkpoint() -> None:
        if checkpoints and main:
            state = asdict(counters) | {"streams": streams.state(), "config": config.to_dict(), "hashes": data.hashes}
            tensors = {
                **prefixed("model", model.state_dict()),
                **prefixed("optimiser", optimiser_tensors(plain)),
                **prefixed("technique", technique.state()),
                **prefixed("average", averaged.tensors() if averaged else {}),
                **prefixed("random", random_state(generator)),
            }
            write_checkpoint(checkpoints, counters.step, Checkpoint(state, tensors), config.keep)

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
                    counters = take_up(found, model, plain, technique, averaged, generator, streams, process)
                if main:
                    record.clear_leftovers(folder)
                    record.cut_lines(folder / record.METRICS, counters.metrics_size)
                history = [line for line in record.read_lines(folder / record.METRICS) if line["event"] == "epoch"]
                if counters.best_epoch >= 0:
                    best = record.best_weights(folder)
        wish = stack.enter_context(stop_on_signal() if folder else nullcontext())
        stack.callback(display.close)
        stack.callback(accelerator.end_training)
        start_trackers(accelerator, config)
        since = time.monotonic()

        while not counters.finished(config):
            if streams.at_epoch_start:
                technique.refresh(model)
                counters.sums = {}
            model.train()
            left = config.epochs - counters.epoch - 1
            display.begin_epoch(counters.epoch, streams.labelled.position, streams.steps_per_epoch, left)
            while True:
                sharing = streams.sharing(config.gradient_accumulation)
                labelled, unlabelled = streams.next()
                end_of_epoch = streams.at_epoch_start
                update = end_of_epoch or streams.labelled.position % config.gradient_accumulation == 0
                taught = None
                if data.taught is not None and unlabelled:
                    taught = data.taught[unlabelled.rows].to(accelerator.device)
                together: AbstractContextManager[Any] = nullcontext() if update else accelerator.no_sync(training)
                with together:
                    loss = training(
                        labelled.to(accelerator.device),
                        unlabelled.to(accelerator.device) if unlabelled else None,
                        generator,
                        taught,
                    )
                    losses = parts(loss, accelerator)
                    refuse_non_finite(losses, labelled, unlabelled, config, counters.step, checkpoints)
                    accelerator.backward(loss.total / sharing)
                if update:
                    if config.clip is not None:
                        accelerator.clip_grad_norm_(model.parameters(), config.clip)
                    for optimiser in optimisers:
                        optimiser.step()
                        optimiser.zero_grad()
                    if averaged:
                        averaged.follow(model, counters.step)
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
                if counters.passed(config.checkpoint_every, sharing):
                    checkpoint()

            with averaged.in_place(model) if averaged else nullcontext():
                validation = validation_score(model, data)
                better = counters.judge(validation)
                if better:
                    best = {name: tensor.detach().cpu().clone() for name, tensor in model.state_dict().items()}
                    if folder and main:
                        save_pretrained(data.bundle, folder)
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
                now = time.monotonic()
                record.append_line(folder / record.TIMINGS, {"epoch": line["epoch"], "seconds": round(now - since, 3)})
                since = now
            accelerator.log({"validation": validation} | means, step=counters.step)
            display.end_epoch(line)
            checkpoint()
            if folder and stop_asked(accelerator, wish.made) and not counters.finished(config):  # type: ignore[union-attr]
                raise Interrupted(f"saved after epoch {counters.epoch}; resume with: attnvat train --resume {folder}")

        model.load_state_dict(best)
        model.eval()
        if config.calibrate:
            calibrate(model, data.validation)
            if folder and main:
                save_pretrained(data.bundle, folder)
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
