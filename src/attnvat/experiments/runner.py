"""Many independent jobs: processes on this machine, or a Ray cluster when one is named."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from attnvat.errors import UserError
from attnvat.experiments.job import Job, places_to_dict
from attnvat.experiments.records import Places, Records
from attnvat.experiments.worker import BUSY, DONE, STOPPED
from attnvat.interruption import GOES_ON

PAUSE = 0.2
"""Seconds between looks at the processes."""
GRACE = 120.0
"""Seconds a stopped process has to save itself."""
Told = Callable[[str, Job], None]
"""Is told `started`, `finished`, `failed` or `busy` of a job."""


@dataclass
class Outcome:
    """What became of the jobs that were run."""

    finished: list[Job] = field(default_factory=list)
    failed: list[tuple[Job, str]] = field(default_factory=list)
    busy: list[Job] = field(default_factory=list)
    """Jobs that another process was doing."""

    def raise_failures(self) -> None:
        """Name the jobs that failed, if any did."""
        if self.failed:
            listed = "\n".join(f"  {job.name}: {reason}" for job, reason in self.failed)
            raise UserError(f"{len(self.failed)} of the jobs failed, the others are on record:\n{listed}")


@dataclass
class Running:
    """A job in its process."""

    job: Job
    process: subprocess.Popen[str]
    log: IO[str]
    path: Path


def unfinished(jobs: Sequence[Job], records: Records) -> list[Job]:
    """The jobs that are not on record, each once, in order."""
    found = {job.identity: job for job in jobs if not job.finished(records)}
    return list(found.values())


def run_jobs(jobs: Sequence[Job], places: Places, processes: int = 1, told: Told | None = None) -> Outcome:
    """Do all jobs that are not on record, `processes` at a time, each with its share of the cores.

    `$OMP_NUM_THREADS`, where it is set, is the share. On Ctrl-C the processes save themselves and end; the same call
    goes on from there.
    """
    if processes < 1:
        raise UserError(f"--jobs {processes}: at least one process is needed")
    waiting = unfinished(jobs, Records(places.results))
    running: list[Running] = []
    outcome = Outcome()
    tell = told or untold
    try:
        while waiting or running:
            while waiting and len(running) < processes:
                running.append(start(waiting.pop(0), places, processes))
                tell("started", running[-1].job)
            for one in [one for one in running if one.process.poll() is not None]:
                running.remove(one)
                tell(settle(one, outcome), one.job)
            time.sleep(PAUSE)
    except KeyboardInterrupt as interrupt:
        stop(running)
        raise KeyboardInterrupt(GOES_ON) from interrupt
    return outcome


def untold(what: str, job: Job) -> None:
    """Say nothing."""


def start(job: Job, places: Places, processes: int) -> Running:
    """A process doing the job; what it says goes to a log in the work folder."""
    folder = places.work / "logs"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{job.name}-{job.identity}.log"
    threads = os.environ.get("OMP_NUM_THREADS") or str(max(1, (os.cpu_count() or 1) // processes))
    log = path.open("a", encoding="utf-8")
    process = subprocess.Popen(
        [sys.executable, "-m", "attnvat.experiments.worker"],
        stdin=subprocess.PIPE,
        stdout=log,
        stderr=log,
        text=True,
        env=os.environ | {"OMP_NUM_THREADS": threads, "MKL_NUM_THREADS": threads},
        # Out of the terminal's group: Ctrl-C reaches this process alone, which then stops its children once.
        start_new_session=True,
    )
    assert process.stdin is not None
    with suppress(BrokenPipeError):
        # Left open: a worker whose runner was killed reads the end of it, and stops too.
        process.stdin.write(json.dumps({"job": job.to_dict(), "places": places_to_dict(places)}) + "\n")
        process.stdin.flush()
    return Running(job, process, log, path)


def settle(one: Running, outcome: Outcome) -> str:
    """Note what became of a process that has ended."""
    close(one)
    match one.process.returncode:
        case code if code == DONE:
            outcome.finished.append(one.job)
            return "finished"
        case code if code == BUSY:
            outcome.busy.append(one.job)
            return "busy"
        case code:
            reason = "was stopped" if code == STOPPED else last_line(one.path)
            outcome.failed.append((one.job, f"{reason} (log: {one.path})"))
            return "failed"


def stop(running: Sequence[Running]) -> None:
    """End the processes: asked first, and killed if they do not save themselves in time."""
    for one in running:
        one.process.terminate()
    limit = time.monotonic() + GRACE
    for one in running:
        try:
            one.process.wait(max(0.1, limit - time.monotonic()))
        except subprocess.TimeoutExpired:
            one.process.kill()
            one.process.wait()
        close(one)


def close(one: Running) -> None:
    """Let go of a process' pipe and log."""
    if one.process.stdin is not None:
        with suppress(BrokenPipeError):
            one.process.stdin.close()
    one.log.close()


def last_line(path: Path) -> str:
    """The last thing a log says."""
    lines = [line.strip() for line in path.read_text("utf-8", errors="replace").splitlines() if line.strip()]
    return lines[-1].removeprefix("error: ") if lines else "ended without a word"
