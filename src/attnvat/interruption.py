"""Ctrl-C and SIGTERM: the same to all commands; to the training loop, a wish that it grants at the end of the step."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

GOES_ON = "stopped, with everything saved; run the same command again to go on"


def sigterm_as_ctrl_c() -> None:
    """From now on SIGTERM does what Ctrl-C does, wherever the process is; within training, the loop saves itself first.

    Jobs in the background of a shell ignore Ctrl-C, and SIGTERM is what `kill` and batch systems send.
    """
    signal.signal(signal.SIGTERM, _raise)


def _raise(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
    raise KeyboardInterrupt


class Interrupted(KeyboardInterrupt):
    """A run stopped on request, with everything saved; the message says how to resume."""


class Wish:
    """Whether somebody asked the run to stop."""

    def __init__(self) -> None:
        self.made = False


@contextmanager
def stop_on_signal() -> Iterator[Wish]:
    """Within the block, the first Ctrl-C or SIGTERM only makes a wish; a second one stops at once."""
    wish = Wish()
    if threading.current_thread() is not threading.main_thread():
        yield wish
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def handle(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
        wish.made = True
        for known, handler in before.items():
            signal.signal(known, handler)

    for number in before:
        signal.signal(number, handle)
    try:
        yield wish
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
