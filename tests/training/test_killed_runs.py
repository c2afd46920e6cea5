"""A run killed with SIGKILL at any moment and resumed ends with the same bytes as one that was left alone."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from attnvat.pool import build_pool, select, texts_source
from attnvat.training.checkpoint import checkpoint_files
from attnvat_process import run, start
from generated_task import SMALL, flags, sentences, task, write_task

RECORD = ("model.safetensors", "metrics.jsonl", "result.json", "vocabulary.json", "config.json", "config.yaml")
RUN = {**SMALL, "epochs": 4, "patience": 4, "dropout": 0.2, "checkpoint_every": 1}
TECHNIQUES = {
    "attention-ivat": {"technique": "attention-ivat", "unlabeled": "more.txt"},
    "word-ivat": {"technique": "word-ivat", "unlabeled": "pool:near", "checkpoint_every": 2},
    "vanilla": {"gradient_accumulation": 2, "clip": 1.0, "embedding_updates": "all"},
}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The task's files and a pool with a selection."""
    folder = tmp_path_factory.mktemp("task")
    write_task(folder, size=120, unlabelled=200)
    pool = build_pool([texts_source("made", [str(e.text) for e in sentences(200, seed=5)])], folder / "pool")
    labelled = [str(example.text) for example in task(120).train]
    select(pool, labelled, "bow", 90).save(pool.path / "selections" / "near.arrow")
    return folder


def arguments(data: Path, **options: object) -> list[str]:
    splits = {"data": "train", "validation": "validation", "test": "test"}
    files = {name: data / f"{file}.csv" for name, file in splits.items()}
    if "unlabeled" in options:
        options["unlabeled"] = data / str(options["unlabeled"])
    return ["train", *flags(**{**RUN, **files, **options})]


def record(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in RECORD}


def last_step(folder: Path) -> int:
    files = checkpoint_files(folder / "checkpoints")
    return int(files[-1].stem.removeprefix("step-")) if files else 0


def begin_or_resume(begin: list[str], folder: Path) -> list[str]:
    begun = (folder / "config.yaml").exists()
    return ["train", "--resume", str(folder)] if begun else [*begin, "--out", str(folder)]


def kill_at_random(again: list[str], folder: Path, log: Path, chance: random.Random) -> int:
    """Start the run or go on with it, and kill it some steps and some milliseconds later; gives the exit code."""
    process = start(again, log)
    steps, wait = last_step(folder) + chance.randint(0, 6), chance.random() * 0.03
    deadline = time.monotonic() + 60
    while process.is_alive() and last_step(folder) < steps and time.monotonic() < deadline:
        time.sleep(0.001)
    time.sleep(wait)
    process.kill()
    process.join()
    assert process.exitcode is not None
    return process.exitcode


@pytest.mark.parametrize("name", TECHNIQUES)
def test_killed_and_resumed_runs_end_with_the_same_bytes(name: str, data: Path, tmp_path: Path) -> None:
    begin, log, killed = arguments(data, **TECHNIQUES[name]), tmp_path / "log", tmp_path / "killed"
    assert run([*begin, "--out", str(tmp_path / "whole")], log) == 0, log.read_text()
    chance = random.Random(name)
    # Twice within the writing of a checkpoint (before the sync, before the rename, before an old one goes), twice
    # whenever it happens to be.
    calls = [
        ("fsync", chance.randint(2, 30)),
        (chance.choice(["replace", "unlink"]), chance.randint(3, 15)),
        None,
        None,
    ]
    chance.shuffle(calls)
    kills = 0
    for die in calls:
        again = (
            ["train", "--resume", str(killed)] if (killed / "config.yaml").exists() else [*begin, "--out", str(killed)]
        )
        code = run(again, log, die) if die else kill_at_random(again, killed, log, chance)
        assert code in (-signal.SIGKILL, 0), log.read_text()
        kills += code == -signal.SIGKILL
        if code == 0:
            break
    assert kills >= 2
    assert run(["train", "--resume", str(killed)], log) == 0, log.read_text()
    assert record(killed) == record(tmp_path / "whole")
    assert not list(killed.rglob("*.part"))


@pytest.mark.parametrize("call", ["fsync", "replace", "unlink"])
def test_every_instant_of_writing_can_be_the_last(call: str, data: Path, tmp_path: Path) -> None:
    # Two epochs of two steps: killed at the 1st, 5th, 9th … call in turn, from the config's own file to the result's.
    begin = arguments(data, batch_size=64, epochs=2)
    log, whole, killed = tmp_path / "log", tmp_path / "whole", tmp_path / "killed"
    assert run([*begin, "--out", str(whole)], log) == 0, log.read_text()
    left_behind = 0
    for count in range(1, 100, 4):
        again = (
            ["train", "--resume", str(killed)] if (killed / "config.yaml").exists() else [*begin, "--out", str(killed)]
        )
        code = run(again, log, (call, count))
        left_behind += len(list(killed.rglob("*.part")))
        if code == 0:
            break
        assert code == -signal.SIGKILL, log.read_text()
    assert count > 1
    assert record(killed) == record(whole)
    assert left_behind or call == "unlink"


def wait_for_step(folder: Path, step: int, alive: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 120
    while last_step(folder) < step and alive() and time.monotonic() < deadline:
        time.sleep(0.002)


def test_ctrl_c_and_sigterm_save_and_say_how_to_resume(data: Path, tmp_path: Path) -> None:
    begin = arguments(data, technique="attention-vat", unlabeled="more.txt", epochs=12, patience=12)
    folder, log = tmp_path / "stopped", tmp_path / "log"
    assert run([*begin, "--out", str(tmp_path / "whole")], log) == 0, log.read_text()
    # First the command as a person starts it.
    with subprocess.Popen(
        [sys.executable, "-m", "attnvat.cli.main", *begin, "--out", str(folder)],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    ) as process:
        wait_for_step(folder, 5, lambda: process.poll() is None)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=120)
    stopped_well(process.returncode, said, folder)
    step = last_step(folder)
    resumed = start(["train", "--resume", str(folder)], tmp_path / "second")
    wait_for_step(folder, step + 5, resumed.is_alive)
    assert resumed.pid is not None
    os.kill(resumed.pid, signal.SIGTERM)
    resumed.join(timeout=120)
    stopped_well(resumed.exitcode, (tmp_path / "second").read_text(), folder)
    assert last_step(folder) >= step + 5
    assert run(["train", "--resume", str(folder)], log) == 0, log.read_text()
    assert record(folder) == record(tmp_path / "whole")


def stopped_well(code: int | None, said: str, folder: Path) -> None:
    assert code == 130, said
    assert f"resume with: attnvat train --resume {folder}" in said
    assert "Traceback" not in said
    step = last_step(folder)
    assert f"saved at step {step};" in said or f"saved after epoch {step // 8};" in said
    assert not (folder / "result.json").exists()
