"""Runs on the generated task, broken off at will."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from attnvat.corpora import Corpus
from attnvat.training import Config, Trained, fit, prepare
from attnvat.training.display import Silent

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
