"""The same jobs on a Ray cluster: a worker that is lost is replaced, and its job goes on from its checkpoint.

The work folder must be one that all machines see, or a lost job begins anew. Records come back to the caller, who
writes them.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from attnvat.errors import UserError
from attnvat.experiments.job import Job, SearchJob, TrialJob, job_from_dict, places_from_dict, places_to_dict
from attnvat.experiments.perform import perform
from attnvat.experiments.records import Places, Records
from attnvat.experiments.runner import Outcome, Told, unfinished

RETRIES = 3
"""Times a job is given to another worker when its own is lost."""


def do(order: dict[str, Any]) -> dict[str, Any]:
    """The record of a job, or the sentence that says why there is none."""
    try:
        return {"record": perform(job_from_dict(order["job"]), places_from_dict(order["places"]))}
    except UserError as error:
        return {"error": str(error)}


def run_jobs_on_ray(
    jobs: Sequence[Job], places: Places, address: str, cores: int = 1, told: Told | None = None
) -> Outcome:
    """Do all jobs that are not on record on the cluster at `address` (`local`: this machine), `cores` for each."""
    try:
        import ray
    except ImportError as error:
        raise UserError("Ray is not installed; install it with: pip install 'attnvat[ray]'") from error
    records = Records(places.results)
    waiting = unfinished(jobs, records)
    outcome = Outcome()
    begun = not ray.is_initialized()
    if begun:
        try:
            ray.init(address=address, log_to_driver=False, include_dashboard=False)
        except (ConnectionError, ValueError) as error:
            raise UserError(f"--ray {address}: no cluster there ({' '.join(str(error).split())})") from error
    environment = {"env_vars": {"OMP_NUM_THREADS": str(cores), "MKL_NUM_THREADS": str(cores)}}
    for name in ("ATTNVAT_DATA", "ATTNVAT_CACHE"):
        if name in os.environ:
            environment["env_vars"][name] = os.environ[name]
    remote = ray.remote(do).options(num_cpus=cores, max_retries=RETRIES, runtime_env=environment)
    try:
        under_way = {remote.remote({"job": job.to_dict(), "places": places_to_dict(places)}): job for job in waiting}
        while under_way:
            done, _ = ray.wait(list(under_way), num_returns=1)
            job = under_way.pop(done[0])
            try:
                answer = ray.get(done[0])
            except ray.exceptions.RayError as error:
                answer = {"error": " ".join(str(error).split())}
            what = settle(job, answer, records, outcome)
            if told:
                told(what, job)
    finally:
        if begun:
            ray.shutdown()
    return outcome


def settle(job: Job, answer: dict[str, Any], records: Records, outcome: Outcome) -> str:
    """Put a record that came back in its place, or note why there is none."""
    if "error" in answer:
        outcome.failed.append((job, answer["error"]))
        return "failed"
    match job:
        case TrialJob():
            records.write_run(job.trial, answer["record"])
        case SearchJob():
            records.write_search(job.name, job.identity, answer["record"])
    outcome.finished.append(job)
    return "finished"
