"""A run taken up again: everything as it was, or a refusal that says what changed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from attnvat.errors import UserError
from attnvat.models import SequenceClassifier
from attnvat.techniques import Technique
from attnvat.training.averaging import AveragedWeights
from attnvat.training.checkpoint import Checkpoint, restore_random, section
from attnvat.training.config import Config
from attnvat.training.counters import Counters
from attnvat.training.optimiser import restore_optimisers
from attnvat.training.run import LIMITS
from attnvat.training.streams import Streams


def refuse_changes(folder: Path, state: dict[str, Any], config: Config, hashes: dict[str, str]) -> None:
    """Raise if the config or anything that was read differs from what the checkpoint was written with."""
    now = config.to_dict()
    changed = [
        f"{name} was {old!r}, is {now.get(name)!r}"
        for name, old in state["config"].items()
        if now.get(name) != old and name not in LIMITS
    ]
    names = sorted(state["hashes"].keys() | hashes.keys())
    other = [name for name in names if hashes.get(name) != state["hashes"].get(name)]
    changed += [f"other data than before: {', '.join(other)}"] if other else []
    if changed:
        raise UserError(f"{folder}: cannot be resumed, it would not be the same run: {'; '.join(changed)}")


def take_up(
    found: Checkpoint,
    model: SequenceClassifier,
    optimisers: list[torch.optim.Optimizer],
    technique: Technique,
    averaged: AveragedWeights | None,
    generator: torch.Generator,
    streams: Streams,
    process: int,
) -> Counters:
    """Put everything back as it was when the checkpoint was written; gives where the run stands."""
    state = dict(found.state)
    model.load_state_dict(section("model", found.tensors))
    restore_optimisers(optimisers, section("optimiser", found.tensors))
    technique.restore(section("technique", found.tensors))
    if averaged:
        averaged.restore(section("average", found.tensors))
    restore_random(generator, section("random", found.tensors), process)
    streams.restore(state.pop("streams"))
    return Counters(**{name: value for name, value in state.items() if name not in ("config", "hashes")})
