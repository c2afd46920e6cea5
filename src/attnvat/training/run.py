"""A run's folder: the record of what was trained, how, and with what result."""

from __future__ import annotations

import dataclasses
import fcntl
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor

from attnvat.corpora import CORPORA, Corpus, load
from attnvat.errors import UserError
from attnvat.models import Pretrained, from_pretrained
from attnvat.models.pretrained import WEIGHTS
from attnvat.storage import read_json, write_json
from attnvat.training.config import Config, load_config

CONFIG, METRICS, TIMINGS, RESULT, CHECKPOINTS = (
    "config.yaml",
    "metrics.jsonl",
    "timings.jsonl",
    "result.json",
    "checkpoints",
)
LIMITS = ("epochs", "patience")
"""Options that only say when a run ends: one may be gone on with for longer."""


@dataclass(frozen=True)
class Run:
    """A run that was begun, finished or not."""

    folder: Path
    config: Config

    @cached_property
    def pretrained(self) -> Pretrained:
        """The best model so far."""
        return from_pretrained(self.folder)

    @property
    def history(self) -> list[dict[str, Any]]:
        """The records of `metrics.jsonl`."""
        return read_lines(self.folder / METRICS)

    @property
    def result(self) -> dict[str, Any] | None:
        """The result, once the run is finished."""
        path = self.folder / RESULT
        return read_json(path) if path.exists() else None

    def corpus(self, data: str | None = None, data_dir: Path | str | None = None) -> Corpus:
        """The corpus the run was trained on, or another one read the same way."""
        if data is None or data == self.config.data:
            return load_data(self.config, data_dir)
        other = dataclasses.replace(self.config, data=data, validation=None, test=None)
        if data in CORPORA:
            other = dataclasses.replace(other, text=None, text_pair=None, label=None)
        return load_data(other, data_dir)


def load_data(config: Config, data_dir: Path | str | None = None) -> Corpus:
    """The corpus that a config names."""
    if not config.data:
        raise UserError("no data named; use --data with a corpus name, a file, a folder or hf:NAME")
    return load(
        config.data,
        data_dir=data_dir or config.data_dir,
        validation=config.validation,
        test=config.test,
        text=config.text,
        text_pair=config.text_pair,
        label=config.label,
        skip_bad=config.skip_bad,
    )


def open_run(folder: Path | str) -> Run:
    """The run in a folder."""
    folder = Path(folder)
    if not (folder / CONFIG).is_file():
        raise UserError(f"{folder}: not a run (no {CONFIG}); `attnvat runs` lists the runs in a folder")
    return Run(folder, load_config(folder / CONFIG))


def prolonged(run: Run, limits: dict[str, Any]) -> Run:
    """The run with other limits on record, no longer finished; it will end as if it had begun with them."""
    config = dataclasses.replace(run.config, **limits)
    done = sum(line["event"] == "epoch" for line in run.history)
    if config.epochs < done:
        raise UserError(f"{run.folder}: {done} epochs are done; epochs must be at least that, not {config.epochs}")
    if run.result and config.calibrate:
        raise UserError(
            f"{run.folder}: is finished and calibrated, and so cannot be gone on with; "
            f"`attnvat train --start {run.folder}` begins a new run from its weights"
        )
    (run.folder / RESULT).unlink(missing_ok=True)
    config.save(run.folder / CONFIG)
    return Run(run.folder, config)


def begin_folder(folder: Path, config: Config, weight_bytes: int) -> None:
    """Make a fresh run's folder; one that cannot take the run is refused before training."""
    check_folder(folder)
    # A checkpoint holds weights, two moments and means where there are any; one more is written before an old one goes,
    # and the best model stays.
    needed = weight_bytes * ((4 if config.average else 3) * (config.keep + 1) + 1)
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise UserError(f"{folder}: the disk has {free / 1e6:,.1f} MB left, the run needs {needed / 1e6:,.1f} MB")
    config.save(folder / CONFIG)


def check_folder(folder: Path) -> None:
    """Make the folder; one that holds a run or cannot be written is refused."""
    if (folder / CONFIG).exists():
        raise UserError(
            f"{folder}: holds a run already; resume it with `attnvat train --resume {folder}`, or name another"
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / ".writable"
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise UserError(f"{folder}: cannot be written ({error.strerror}); name another folder with --out") from error


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the run for this process; a second one is refused."""
    with ExitStack() as stack:
        try:
            handle = stack.enter_context((folder / ".lock").open("w"))
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise UserError(f"{folder}: another process is training this run") from error
        except OSError as error:
            raise UserError(f"{folder}: cannot be written ({error.strerror})") from error
        yield


def clear_leftovers(folder: Path) -> None:
    """Drop files that a killed process was in the middle of writing."""
    for leftover in (*folder.glob(".*.part"), *(folder / CHECKPOINTS).glob(".*.part")):
        leftover.unlink(missing_ok=True)


def best_weights(folder: Path) -> dict[str, Tensor]:
    """The weights of the best model so far, read without building a model: that would draw random numbers."""
    try:
        return load_file(folder / WEIGHTS)
    except (SafetensorError, OSError) as error:
        raise UserError(f"{folder / WEIGHTS}: the best model so far cannot be read ({error})") from error


def append_line(path: Path, record: dict[str, Any]) -> int:
    """Add a record to a JSONL file and give the file's new size."""
    try:
        with path.open("a", encoding="utf-8") as handle:
            handle.write(json.dumps(record, ensure_ascii=False) + "\n")
            handle.flush()
            os.fsync(handle.fileno())
        return path.stat().st_size
    except OSError as error:
        raise UserError(f"{path}: could not be written: {error.strerror or error}") from error


def cut_lines(path: Path, size: int) -> None:
    """Drop what was written after the file had `size` bytes: a resumed run writes it again."""
    if path.exists() and path.stat().st_size > size:
        os.truncate(path, size)


def read_lines(path: Path) -> list[dict[str, Any]]:
    """The records of a JSONL file; none where there is no file, and not one that is still being written."""
    if not path.exists():
        return []
    whole, _, _ = path.read_text("utf-8").rpartition("\n")
    try:
        return [json.loads(line) for line in whole.split("\n") if line]
    except ValueError as error:
        raise UserError(f"{path}: damaged ({error})") from error


def training_seconds(folder: Path) -> float:
    """Seconds that a run's epochs took, in however many processes."""
    return sum(float(line["seconds"]) for line in read_lines(folder / TIMINGS))


def write_result(folder: Path, result: dict[str, Any]) -> None:
    """Mark the run as finished."""
    write_json(folder / RESULT, result)
