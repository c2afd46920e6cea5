"""Progress of long work: a live bar on a terminal, a plain line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Protocol, TypeVar

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeRemainingColumn,
)

T = TypeVar("T")
PLAIN_INTERVAL = 15.0
"""Seconds between lines when the output is not a terminal."""

stderr = Console(stderr=True)
"""Where progress and notes go; results go to standard output."""


class Advance(Protocol):
    """Reports `amount` more units of work as done."""

    def __call__(self, amount: int = 1) -> None:
        """Count `amount` more units."""
        ...


@contextmanager
def progress(what: str, total: int | None = None) -> Iterator[Advance]:
    """Show that `what` is going on, towards `total` units where that is known."""
    if stderr.is_terminal:
        columns = (
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
        )
        with Progress(*columns, console=stderr, transient=True) as bar:
            task = bar.add_task(what, total=total)
            yield lambda amount=1: bar.advance(task, amount)
        return
    done, start = 0, time.monotonic()
    last = start

    def advance(amount: int = 1) -> None:
        nonlocal done, last
        done += amount
        now = time.monotonic()
        if now - last >= PLAIN_INTERVAL:
            last = now
            of = f" of {total:,}" if total else ""
            print(f"{what}: {done:,}{of} ({now - start:.0f} s)", file=sys.stderr, flush=True)

    yield advance


def track(items: Iterable[T], what: str, total: int | None = None) -> Iterator[T]:
    """The items one by one, with progress shown."""
    with progress(what, total) as advance:
        for item in items:
            yield item
            advance()
