"""What teachers said, kept in the cache: a run that is resumed, and every other pupil of theirs, need not ask again."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

from rich.markup import escape
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from attnvat.errors import UserError
from attnvat.progress import stderr
from attnvat.storage import atomic_write, cache_dir, one_at_a_time
from attnvat.training.teacher import Lesson, digest_of_teachers, taught_logits

VERSION = 1
"""To be raised when teachers would say something else of the same texts."""


def remembered_logits(names: Sequence[str], lesson: Lesson) -> tuple[Tensor, str]:
    """What `taught_logits` gives; teachers that were asked the same before are not asked again.

    Of processes that come with the same question one asks, and the others wait for what it hears.
    """
    try:
        path = cache_dir() / "teachers" / f"{question(names, lesson)}.safetensors"
    except OSError:
        # A teacher is not there; asking it says which one, and why.
        return taught_logits(names, lesson)
    with ExitStack() as stack:
        with suppress(OSError):  # where nothing can be kept, there is nothing to wait for
            stack.enter_context(one_at_a_time(path))
        return read(path) or asked(names, lesson, path)


def asked(names: Sequence[str], lesson: Lesson, path: Path) -> tuple[Tensor, str]:
    """What the teachers say now, also kept for the next who asks."""
    logits, note = taught_logits(names, lesson)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_write(path, "wb") as handle:
            handle.write(save({"logits": logits}, metadata={"note": note}))
    except (UserError, OSError) as error:
        stderr.print(f"what the teachers said is not kept: {escape(str(error))}", highlight=False, soft_wrap=True)
    return logits, note


def read(path: Path) -> tuple[Tensor, str] | None:
    """What teachers once said, if it was kept whole."""
    try:
        with safe_open(path, framework="pt") as file:
            return file.get_tensor("logits"), file.metadata()["note"]
    except (OSError, SafetensorError):
        return None


def question(names: Sequence[str], lesson: Lesson) -> str:
    """The same for the same teachers, made and weighed with the same texts, and asked about the same ones."""
    total = hashlib.sha256(digest_of_teachers(names).encode())
    how = VERSION, tuple(lesson.labels), lesson.pair, lesson.tokenizer, lesson.max_length
    total.update(repr(how).encode("utf-8", "surrogatepass"))
    for examples in (lesson.train, lesson.validation):
        for example in examples:
            total.update(repr((example.text, example.pair, example.label)).encode("utf-8", "surrogatepass"))
        total.update(b"\n")
    for texts in (lesson.unlabelled.texts(), lesson.unlabelled.questions() if lesson.pair else ()):
        for text in texts:
            total.update(repr(text).encode("utf-8", "surrogatepass"))
        total.update(b"\n")
    return total.hexdigest()[:32]
