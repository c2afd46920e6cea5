"""What takes long to find out, kept in the cache by a hash of the question: nobody need find it out again."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path

from rich.markup import escape
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from attnvat.errors import UserError
from attnvat.progress import stderr
from attnvat.storage import atomic_write, cache_dir, one_at_a_time

FOLDER = "teachers"

Answer = tuple[dict[str, Tensor], str]
"""Tensors by name, and a note on them."""


def remembered(question: str, ask: Callable[[], Answer]) -> Answer:
    """What `ask` gives, or gave when it was asked the same before.

    Of processes that come with the same question one asks, and the others wait for what it hears.
    """
    path = cache_dir() / FOLDER / f"{question}.safetensors"
    with ExitStack() as stack:
        with suppress(OSError):  # where nothing can be kept, there is nothing to wait for
            stack.enter_context(one_at_a_time(path))
        return read(path) or kept(ask(), path)


def kept(answer: Answer, path: Path) -> Answer:
    """The answer, written down for the next who asks."""
    tensors, note = answer
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_write(path, "wb") as handle:
            handle.write(save(tensors, metadata={"note": note}))
    except (UserError, OSError) as error:
        stderr.print(f"what the teachers said is not kept: {escape(str(error))}", highlight=False, soft_wrap=True)
    return answer


def read(path: Path) -> Answer | None:
    """An earlier answer, if it was kept whole."""
    try:
        with safe_open(path, framework="pt") as file:
            return {name: file.get_tensor(name) for name in file.keys()}, file.metadata()["note"]  # noqa: SIM118
    except (OSError, SafetensorError):
        return None
