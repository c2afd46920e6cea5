"""What a long command says when it is stopped: typer ends on Ctrl-C without a word."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import typer

from attnvat.interruption import GOES_ON
from attnvat.progress import stderr


@contextmanager
def goes_on_later() -> Iterator[None]:
    """Within the block, a stopped command says that nothing is lost, and exits with 130."""
    try:
        yield
    except KeyboardInterrupt as interrupt:
        stderr.print(GOES_ON, highlight=False)
        raise typer.Exit(130) from interrupt
