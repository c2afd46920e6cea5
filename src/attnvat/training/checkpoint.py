"""Everything that decides a run's future, in one file that is whole or absent. No pickle.

Tensors and a JSON header go into one safetensors file, written aside, synced and renamed: a kill at any instant leaves
either the old set of checkpoints or the new one.
"""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from attnvat.errors import UserError
from attnvat.progress import stderr
from attnvat.storage import atomic_write

FORMAT = 1


@dataclass(frozen=True)
class Checkpoint:
    """A moment of a run."""

    state: dict[str, Any]
    """Counters, stream positions, best score, hashes: plain JSON values."""
    tensors: dict[str, Tensor]
    """Weights, optimiser moments, random generators, technique state."""


def write_checkpoint(folder: Path, step: int, checkpoint: Checkpoint, keep: int) -> Path:
    """Add a checkpoint to `folder` and drop all but the last `keep`."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"step-{step:09d}.safetensors"
    tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in checkpoint.tensors.items()}
    described = {"attnvat": json.dumps({"format": FORMAT, **checkpoint.state})}
    with atomic_write(path, "wb") as handle:
        handle.write(save(tensors, metadata=described))
    for old in checkpoint_files(folder)[:-keep]:
        old.unlink()
    return path


def checkpoint_files(folder: Path) -> list[Path]:
    """The finished checkpoints of a run, oldest first."""
    return sorted(folder.glob("step-*.safetensors"))


def last_checkpoint(folder: Path) -> Checkpoint | None:
    """The newest readable checkpoint; a damaged one is named and the one before it is taken."""
    for leftover in folder.glob(".step-*.part"):
        leftover.unlink()
    for path in reversed(checkpoint_files(folder)):
        try:
            return read_checkpoint(path)
        except UserError as error:
            stderr.print(f"[yellow]{error}; trying the one before it[/]")
    return None


def read_checkpoint(path: Path) -> Checkpoint:
    """The checkpoint in a file."""
    try:
        with safe_open(path, framework="pt") as file:
            state = json.loads((file.metadata() or {})["attnvat"])
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, OSError, KeyError, ValueError, struct.error) as error:
        raise UserError(f"{path}: not a whole checkpoint ({error})") from error
    if state.pop("format") != FORMAT:
        raise UserError(f"{path}: was written by another version of attnvat and cannot be resumed")
    return Checkpoint(state, tensors)


def prefixed(prefix: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """The tensors under names that begin with `prefix/`."""
    return {f"{prefix}/{name}": tensor for name, tensor in tensors.items()}


def section(prefix: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """The tensors that `prefixed` stored under `prefix`."""
    start = f"{prefix}/"
    return {name.removeprefix(start): tensor for name, tensor in tensors.items() if name.startswith(start)}


def random_state(generator: torch.Generator) -> dict[str, Tensor]:
    """The state of the step generator and of torch's own (dropout)."""
    return {"steps": generator.get_state(), "torch": torch.get_rng_state()}


def restore_random(generator: torch.Generator, tensors: dict[str, Tensor]) -> None:
    """Take up what `random_state` gave."""
    generator.set_state(tensors["steps"])
    torch.set_rng_state(tensors["torch"])
