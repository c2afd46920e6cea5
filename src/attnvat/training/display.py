"""What a person sees while a run goes on: a live display on a terminal, plain lines elsewhere, nothing in a library."""

from __future__ import annotations

import time
from typing import Any, Protocol

from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeRemainingColumn

from attnvat.progress import stderr

REFRESH = 0.25
"""Seconds between updates of the live display."""


class Display(Protocol):
    """Told of everything that happens in a run."""

    def note(self, text: str) -> None:
        """Something to know."""
        ...

    def begin_epoch(self, epoch: int, step: int, steps: int, left: int) -> None:
        """An epoch begins, or goes on at `step` of `steps`; `left` epochs may follow."""
        ...

    def step(self, examples: int, tokens: int, losses: dict[str, float]) -> None:
        """A step is done; `losses` are means over the epoch so far."""
        ...

    def end_epoch(self, record: dict[str, Any]) -> None:
        """An epoch is done and validated."""
        ...

    def close(self) -> None:
        """Nothing more will come."""
        ...


class Silent:
    """Shows nothing."""

    def note(self, text: str) -> None:
        """Nothing."""

    def begin_epoch(self, epoch: int, step: int, steps: int, left: int) -> None:
        """Nothing."""

    def step(self, examples: int, tokens: int, losses: dict[str, float]) -> None:
        """Nothing."""

    def end_epoch(self, record: dict[str, Any]) -> None:
        """Nothing."""

    def close(self) -> None:
        """Nothing."""


class Plain:
    """One line an epoch, and one every so many seconds in between."""

    interval = 15.0

    def __init__(self) -> None:
        self._speed = Speed()
        self._last = time.monotonic()

    def note(self, text: str) -> None:
        """A line."""
        stderr.print(text, highlight=False, markup=False, soft_wrap=True)

    def begin_epoch(self, epoch: int, step: int, steps: int, left: int) -> None:  # noqa: ARG002
        """Remember where we are; the speed is the epoch's own."""
        self._epoch, self._step, self._steps = epoch, step, steps
        self._speed = Speed()

    def step(self, examples: int, tokens: int, losses: dict[str, float]) -> None:
        """A line, if the last one is long ago."""
        self._step += 1
        self._speed.add(examples, tokens)
        if time.monotonic() - self._last >= self.interval:
            self._last = time.monotonic()
            self.note(f"epoch {self._epoch + 1}, step {self._step}/{self._steps}: {shown(losses)}, {self._speed}")

    def end_epoch(self, record: dict[str, Any]) -> None:
        """A line with the epoch's numbers."""
        self._last = time.monotonic()
        self.note(f"{summary(record)}, {self._speed}")

    def close(self) -> None:
        """Nothing is open."""


class Live(Plain):
    """A progress bar for the epoch with losses, speed and time left, and a line for each finished epoch."""

    def __init__(self) -> None:
        super().__init__()
        self._bar = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[said]}"),
            console=stderr,
            transient=True,
        )
        self._task = self._bar.add_task("training", said="")

    def begin_epoch(self, epoch: int, step: int, steps: int, left: int) -> None:
        """A fresh bar."""
        super().begin_epoch(epoch, step, steps, left)
        # Not before the first epoch: reading the data has a progress bar of its own, and a terminal holds only one.
        self._bar.start()
        self._bar.reset(self._task, total=steps, completed=step, description=f"epoch {epoch + 1}/{epoch + 1 + left}")

    def step(self, examples: int, tokens: int, losses: dict[str, float]) -> None:
        """Move the bar."""
        self._step += 1
        self._speed.add(examples, tokens)
        if time.monotonic() - self._last >= REFRESH or self._step == self._steps:
            self._last = time.monotonic()
            self._bar.update(self._task, completed=self._step, said=f"{shown(losses)}, {self._speed}")

    def close(self) -> None:
        """Take the bar away."""
        self._bar.stop()


class Speed:
    """Examples and tokens a second, from when it was made to the last ones counted."""

    def __init__(self) -> None:
        self._start = self._last = time.monotonic()
        self._examples = self._tokens = 0

    def add(self, examples: int, tokens: int) -> None:
        """Count."""
        self._examples += examples
        self._tokens += tokens
        self._last = time.monotonic()

    def __str__(self) -> str:
        seconds = max(self._last - self._start, 1e-9)
        return f"{self._examples / seconds:,.0f} examples/s, {self._tokens / seconds:,.0f} tokens/s"


def shown(losses: dict[str, float]) -> str:
    """Losses by part in a few characters, without the parts that a technique does not have."""
    return ", ".join(f"{name} {value:.4g}" for name, value in losses.items() if value or name == "loss")


def summary(record: dict[str, Any]) -> str:
    """An epoch's line."""
    star = " (best so far)" if record["best"] else ""
    metric = f"validation {record['metric']} {100 * record['validation']:.2f}{star}"
    return f"epoch {record['epoch'] + 1}: {metric}, {shown(record['losses'])}"


def display_for_terminal() -> Display:
    """The live display on a terminal, plain lines elsewhere."""
    return Live() if stderr.is_terminal else Plain()
