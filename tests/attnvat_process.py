"""The `attnvat` command in processes of its own, started fast and killed at will."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import torch

# A server that has imported everything forks a fresh process for each command: importing torch takes seconds, and so
# does what its optimisers import when the first one is made.
CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(["attnvat.cli.main", "attnvat.cli.train", "attnvat.estimator", "torch._dynamo"])

PLACES: dict[str, Any] = {"fsync": os, "replace": Path, "unlink": Path}
"""The calls of which writing a checkpoint consists, and where they are looked up."""


def start(arguments: list[str], log: Path, die: tuple[str, int] | None = None) -> BaseProcess:
    """The command with these arguments, its output going to `log`; with `die` it kills itself at that call."""
    process = CONTEXT.Process(target=command, args=(arguments, log, die))
    process.start()
    return process


def run(arguments: list[str], log: Path, die: tuple[str, int] | None = None) -> int:
    """The exit code of the command; −9 if it was killed."""
    process = start(arguments, log, die)
    process.join(timeout=120)
    assert process.exitcode is not None
    return process.exitcode


def command(arguments: list[str], log: Path, die: tuple[str, int] | None) -> None:
    """What the process does."""
    from attnvat.cli.main import main

    torch.set_num_threads(1)
    with log.open("a") as handle:
        os.dup2(handle.fileno(), 1)
        os.dup2(handle.fileno(), 2)
    if die:
        die_at(*die)
    sys.argv = ["attnvat", *arguments]
    main()


def die_at(call: str, count: int) -> None:
    """Let this process kill itself with SIGKILL just before the `count`-th time it makes a call."""
    owner = PLACES[call]
    real, made = getattr(owner, call), 0

    def counting(*arguments: Any, **options: Any) -> Any:
        nonlocal made
        made += 1
        if made == count:
            os.kill(os.getpid(), signal.SIGKILL)
        return real(*arguments, **options)

    setattr(owner, call, counting)
