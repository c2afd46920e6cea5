from __future__ import annotations

import dataclasses
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from attnvat.errors import UserError
from attnvat.experiments.arms import Arm, Setup, trials_of
from attnvat.experiments.job import Job, TrialJob
from attnvat.experiments.records import Places, Records
from attnvat.experiments.runner import run_jobs
from attnvat.experiments.trial import Trial
from attnvat.training.run import CONFIG, TIMINGS, read_lines

EPOCHS = 150
"""Of a job whose worker is lost: enough for that to happen long before its end."""


def jobs_for(arm: Arm, seeds: int) -> list[Job]:
    return [TrialJob(trial) for trial in trials_of(arm, "sst", Setup(), range(seeds), {})]


def test_jobs_run_in_processes_and_failures_are_named(places: Places, world: Path) -> None:
    good = jobs_for(Arm("vanilla"), 1)
    broken = TrialJob(Trial(dataclasses.replace(good[0].trial.config, vectors="no.such.vectors")))  # type: ignore[union-attr]
    told: list[tuple[str, str]] = []
    outcome = run_jobs([*good, broken], places, 2, lambda what, job: told.append((what, job.name)))
    assert [job.identity for job, _ in outcome.failed] == [broken.identity], outcome.failed
    assert [job.identity for job in outcome.finished] == [good[0].identity]
    assert list(Records(places.results).runs) == [good[0].identity]
    with pytest.raises(UserError, match=r"(?s)1 of the jobs failed.*no\.such\.vectors.*log: "):
        outcome.raise_failures()
    assert ("finished", good[0].name) in told
    # On record: nothing is started again.
    assert run_jobs(good, places, 1).finished == []


SCRIPT = """
from pathlib import Path
from attnvat.experiments.job import job_from_dict
from attnvat.experiments.records import Places
from attnvat.experiments.runner import run_jobs
import json, sys
jobs = [job_from_dict(job) for job in json.loads(sys.argv[1])]
run_jobs(jobs, Places(Path("results"), Path("work")), 1, lambda what, job: print(what, flush=True))
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_children_save_themselves_when_the_runner_is_stopped_or_killed(
    places: Places, world: Path, number: signal.Signals
) -> None:
    trial = trials_of(Arm("vanilla"), "sst", Setup(), [0], {})[0]
    # Far more epochs than are waited for.
    long = TrialJob(Trial(dataclasses.replace(trial.config, epochs=4000, patience=4000), trial.evaluation))
    command = [sys.executable, "-c", SCRIPT, json.dumps([long.to_dict()])]
    parent = subprocess.Popen(command, cwd=world, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    checkpoints = places.work / "runs" / long.trial.training / "checkpoints"
    limit = time.monotonic() + 120
    while not list(checkpoints.glob("*.safetensors")) and time.monotonic() < limit:
        time.sleep(0.1)
    children = Path(f"/proc/{parent.pid}/task/{parent.pid}/children").read_text().split()
    assert children
    parent.send_signal(number)
    _, said = parent.communicate(timeout=60)
    assert ("with everything saved" in said) == (number == signal.SIGINT)
    while any(alive(int(child)) for child in children) and time.monotonic() < limit:
        time.sleep(0.1)
    assert not any(alive(int(child)) for child in children)
    (log,) = (places.work / "logs").iterdir()
    assert "saved" in log.read_text()
    assert list(checkpoints.glob("*.safetensors"))
    assert not Records(places.results).runs


def alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def test_ray_is_asked_for_in_a_sentence_where_it_is_missing(places: Places, monkeypatch: pytest.MonkeyPatch) -> None:
    from attnvat.experiments.ray_runner import run_jobs_on_ray

    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(UserError, match=r"pip install 'attnvat\[ray\]'"):
        run_jobs_on_ray([], places, "local")


def test_ray_does_the_same_jobs(places: Places, world: Path) -> None:
    pytest.importorskip("ray", reason="Ray is not installed (extra `ray`)")
    from attnvat.experiments.ray_runner import run_jobs_on_ray

    jobs = jobs_for(Arm("vanilla"), 1)
    outcome = run_jobs_on_ray(jobs, places, "local")
    outcome.raise_failures()
    assert [job.identity for job in outcome.finished] == [jobs[0].identity]
    assert list(Records(places.results).runs) == [jobs[0].identity]


def test_a_job_whose_ray_worker_is_lost_goes_on_from_its_checkpoint(places: Places, world: Path) -> None:
    ray = pytest.importorskip("ray", reason="Ray is not installed (extra `ray`)")
    from attnvat.experiments.ray_runner import run_jobs_on_ray

    trial = trials_of(Arm("vanilla"), "sst", Setup(), [0], {})[0]
    job = TrialJob(Trial(dataclasses.replace(trial.config, epochs=EPOCHS, patience=EPOCHS), trial.evaluation))
    folder = places.work / "runs" / job.trial.training
    begun: list[int] = []

    def kill_worker() -> None:
        limit = time.monotonic() + 120
        while time.monotonic() < limit:
            if list((folder / "checkpoints").glob("*.safetensors")) and (worker := holder_of(folder / ".job")):
                begun.append((folder / CONFIG).stat().st_mtime_ns)
                os.kill(worker, signal.SIGKILL)
                return
            time.sleep(0.005)

    killer = threading.Thread(target=kill_worker)
    killer.start()
    run_jobs_on_ray([job], dataclasses.replace(places, keep_models=True), "local").raise_failures()
    killer.join()
    assert begun
    record = Records(places.results).runs[job.identity]
    assert not ray.is_initialized()
    assert len(record["epochs"]) == EPOCHS
    # Neither was the run begun a second time nor its first epoch, which was saved when the worker was lost, done again.
    assert begun == [(folder / CONFIG).stat().st_mtime_ns]
    assert [line["epoch"] for line in read_lines(folder / TIMINGS)].count(0) == 1


def holder_of(file: Path) -> int | None:
    """The process that has locked a file: one short read, where a look into every process would come too late."""
    inode = str(file.stat().st_ino)
    locks = [line.split() for line in Path("/proc/locks").read_text().splitlines()]
    return next((int(lock[4]) for lock in locks if lock[1] == "FLOCK" and lock[5].endswith(f":{inode}")), None)
