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
from rich.markup import escape
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from attnvat.errors import UserError
from attnvat.progress import stderr
from attnvat.storage import atomic_write

FORMAT = 1


class DamagedError(UserError):
    """A checkpoint that is not whole."""


@dataclass(frozen=True)
class Checkpoint:
    """A moment of a run."""

    state: dict[str, Any]
    """Counters, stream positions, best score, hashes: plain JSON values."""
    tensors: dict[str, Tensor]
    """Weights, optimiser moments, random generators, technique state."""


def write_checkpoint(folder: Path, step: int, checkpoint: Checkpoint, keep: int, again: str = "") -> Path:
    """Add a checkpoint to `folder` and drop all but the last `keep`; a failure leaves and names the last good one.

    `again` says how to go on after a failure, where it is not by resuming a run.
    """
    path = folder / f"step-{step:09d}.safetensors"
    tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in checkpoint.tensors.items()}
    described = {"attnvat": json.dumps({"format": FORMAT, **checkpoint.state})}
    earlier = checkpoint_files(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with atomic_write(path, "wb") as handle:
            handle.write(save(tensors, metadata=described))
    except (UserError, OSError) as error:
        good = f"the last good checkpoint is {earlier[-1]}" if earlier else "there is no earlier checkpoint"
        again = again or f"resume with: attnvat train --resume {folder.parent}"
        raise UserError(f"{error}; {good}; make room and {again}") from error
    # Later ones are of a future that a resumed run has left.
    upto = [file for file in checkpoint_files(folder) if file.name <= path.name]
    for file in checkpoint_files(folder):
        if file not in upto[-keep:]:
            file.unlink()
    return path


def checkpoint_files(folder: Path) -> list[Path]:
    """The finished checkpoints of a run, oldest first."""
    return sorted(folder.glob("step-*.safetensors"))


def last_checkpoint(folder: Path) -> Checkpoint | None:
    """The newest readable checkpoint; a damaged one is named and the one before it is taken."""
    for path in reversed(checkpoint_files(folder)):
        try:
            return read_checkpoint(path)
        except DamagedError as error:
            stderr.print(f"[yellow]{escape(str(error))}; going on from the one before it[/]", soft_wrap=True)
    return None


def read_checkpoint(path: Path) -> Checkpoint:
    """The checkpoint in a file."""
    try:
        with safe_open(path, framework="pt") as file:
            state = json.loads((file.metadata() or {})["attnvat"])
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, OSError, KeyError, ValueError, struct.error) as error:
        raise DamagedError(f"{path}: not a whole checkpoint ({error})") from error
    if state.pop("format", None) != FORMAT:
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


def restore_random(generator: torch.Generator, tensors: dict[str, Tensor], process: int = 0) -> None:
    """Take up what `random_state` gave; a process other than the first gets dropout masks of its own from it."""
    generator.set_state(tensors["steps"])
    torch.set_rng_state(tensors["torch"])
    if process:
        torch.manual_seed(int(torch.randint(2**62, ())) + process)
