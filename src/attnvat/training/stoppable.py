"""Learning that can be stopped at any step: run again, it goes on and ends with the same numbers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from torch import Tensor

from attnvat.errors import UserError
from attnvat.interruption import GOES_ON, Interrupted, stop_on_signal
from attnvat.progress import progress
from attnvat.training.checkpoint import Checkpoint, last_checkpoint, write_checkpoint
from attnvat.training.run import CHECKPOINTS


class Learner(Protocol):
    """What learns, and its place in what it learns; all that is random is drawn by seed and step."""

    step: int
    steps: int

    def learn(self) -> None:
        """One step."""
        ...

    def tensors(self) -> dict[str, Tensor]:
        """All that the next steps depend on, but for the number of this one."""
        ...

    def restore(self, step: int, tensors: dict[str, Tensor]) -> None:
        """Go on from a step and its `tensors`."""
        ...


def learn_to_the_end(
    learner: Learner,
    folder: Path,
    what: str,
    record: dict[str, Any],
    refuse: Callable[[dict[str, Any]], None],
    checkpoint_every: int,
) -> None:
    """Take all steps that are left, with checkpoints in `folder`.

    `record` has the `options` and the `hashes` of what is read; `refuse` raises if the options of an earlier start were
    others.
    """

    def checkpoint() -> None:
        moment = Checkpoint({"step": learner.step, **record}, learner.tensors())
        again = "run the same command again to go on"
        write_checkpoint(folder / CHECKPOINTS, learner.step, moment, keep=1, again=again)

    found = last_checkpoint(folder / CHECKPOINTS)
    if found:
        refuse(found.state["options"])
        if found.state["hashes"] != record["hashes"]:
            raise UserError(f"{folder}: the texts have changed since it was stopped; delete it and begin again")
        learner.restore(found.state["step"], found.tensors)
    with stop_on_signal() as wish, progress(f"{what}, batches", learner.steps) as advance:
        advance(learner.step)
        while learner.step < learner.steps:
            learner.learn()
            advance()
            if wish.made or (learner.step % checkpoint_every == 0 and learner.step < learner.steps):
                checkpoint()
            if wish.made:
                raise Interrupted(f"{folder}: {GOES_ON}")


def refuse_others(
    folder: Path,
    what: str,
    known: dict[str, Any],
    asked: dict[str, Any],
    alike: Callable[[str, Any, Any], bool] = lambda _, there, here: there == here,
) -> None:
    """Raise if a folder holds learning with other options."""
    differing = [
        f"{name} is {known.get(name)!r} there, {value!r} here"
        for name, value in asked.items()
        if not alike(name, known.get(name), value)
    ]
    if differing:
        raise UserError(f"{folder}: holds another {what} ({'; '.join(differing)}); name another folder")
