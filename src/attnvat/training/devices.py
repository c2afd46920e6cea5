"""Devices, precision, processes and trackers, through Accelerate."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from functools import cache
from pathlib import Path

import torch
from accelerate import Accelerator, PartialState
from accelerate.state import AcceleratorState

from attnvat.errors import UserError, nearest
from attnvat.training.config import Config

TRACKERS = ("tensorboard", "mlflow", "wandb")


def on_main_process(config: Config) -> bool:
    """Whether this process is the one that writes and prints; on its own, it is."""
    return bool(PartialState(cpu=config.device == "cpu").is_main_process)


def accelerator_for(config: Config, folder: Path | None) -> Accelerator:
    """Devices, precision and processes, as the config and the launcher say; trackers are named but not yet started."""
    trackers = trackers_of(config) if folder else []
    # Accelerate keeps its settings for the whole process; another run may want others.
    AcceleratorState._reset_state(reset_partial_state=not torch.distributed.is_initialized())
    try:
        accelerator = Accelerator(
            cpu=config.device == "cpu",
            mixed_precision=config.mixed_precision,
            log_with=trackers or None,
            project_dir=folder,
        )
    except (ValueError, ImportError, RuntimeError) as error:
        raise UserError(f"cannot train this way: {' '.join(str(error).split())}") from error
    if config.device and accelerator.device.type != config.device:
        raise UserError(
            f"device is {config.device!r}, but training would run on {accelerator.device.type!r} here; "
            "leave it out to take the best there is (one of several GPUs: set CUDA_VISIBLE_DEVICES)"
        )
    if config.mixed_precision == "fp16" and accelerator.device.type == "cpu":
        raise UserError("mixed_precision fp16 needs a GPU; use bf16 or no on a CPU")
    if config.mixed_precision == "bf16":
        refuse_deadly_bf16(accelerator.device)
    return accelerator


def refuse_deadly_bf16(device: torch.device) -> None:
    """Refuse half precision on a processor that would kill the process over it."""
    if device.type == "cpu" and not computes_bf16():
        raise UserError(
            "mixed_precision bf16 would kill the process: this processor announces instructions that it does not have "
            "(some virtual machines do); set ONEDNN_MAX_CPU_ISA=AVX512_CORE_BF16 in the environment, or leave it out"
        )


@cache
def computes_bf16() -> bool:
    """Whether this processor survives half precision; tried in a process of its own, which may be killed."""
    product = "import torch; one = torch.ones(64, 64, dtype=torch.bfloat16); one @ one"
    return subprocess.run([sys.executable, "-c", product], capture_output=True, check=False).returncode >= 0


def trackers_of(config: Config) -> list[str]:
    """The trackers that the config names."""
    names = [name.strip() for name in (config.track or "").split(",") if name.strip()]
    for name in names:
        if name not in TRACKERS:
            raise UserError(f"track: unknown tracker {name!r}; {nearest(name, TRACKERS)}")
        # Accelerate would go on without it.
        if importlib.util.find_spec(name) is None:
            raise UserError(f"track: {name} is not installed; install it with: pip install 'attnvat[{name}]'")
    return names


def start_trackers(accelerator: Accelerator, config: Config) -> None:
    """Open the trackers with the config on record."""
    if accelerator.log_with:
        accelerator.init_trackers("attnvat", config={k: v for k, v in config.to_dict().items() if v is not None})


def stop_asked(accelerator: Accelerator, made: bool) -> bool:
    """Whether any process was asked to stop; all of them then stop at the same step."""
    if accelerator.num_processes == 1:
        return made
    votes = accelerator.reduce(torch.tensor(float(made), device=accelerator.device), reduction="sum")
    return bool(float(votes) > 0)
