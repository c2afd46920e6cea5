"""How far the experiments are, and how long the rest will take by the times on record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any

from attnvat.experiments.job import Job, SearchJob
from attnvat.experiments.perform import work_folder
from attnvat.experiments.plan import Order
from attnvat.experiments.records import Places, Records
from attnvat.report.tables import Cell, Table


@dataclass(frozen=True)
class Progress:
    """The state of one experiment on one corpus."""

    order: Order
    searches: tuple[int, int]
    """Finished, of all."""
    trials: tuple[int, int]
    under_way: int
    """Begun and not finished: they go on from their checkpoints."""
    seconds_left: float | None
    """One job after the other; None where no time is on record to go by."""


def progress_of(order: Order, records: Records, places: Places, times: Times) -> Progress:
    """How far an order is."""
    searches, trials = order.searches(), order.trials(records)
    left = [job for job in (*searches, *trials) if not job.finished(records)]
    guesses = [times.guess(job) for job in left]
    known = [guess for guess in guesses if guess is not None]
    return Progress(
        order,
        (sum(job.finished(records) for job in searches), len(searches)),
        (sum(job.finished(records) for job in trials), len(trials)),
        sum(begun(work_folder(job, places)) for job in left),
        sum(known) + (len(guesses) - len(known)) * mean(known) if known else (0.0 if not left else None),
    )


def begun(folder: Path) -> bool:
    """Whether a job has something to go on from."""
    return (folder / "checkpoints").is_dir() or (folder / "journal.log").exists()


class Times:
    """Guesses at how long a job takes, from jobs like it on record."""

    def __init__(self, records: Records) -> None:
        self._known: dict[tuple[Any, ...], list[float]] = {}
        for record in records.runs.values():
            self._add(record["config"], sum(record["seconds"].values()))
        for record in records.searches.values():
            self._add(record["config"], record["seconds"] / max(1, len(record["tried"])))

    def _add(self, config: dict[str, Any], seconds: float) -> None:
        for kind in kinds(config):
            self._known.setdefault(kind, []).append(seconds)

    def guess(self, job: Job) -> float | None:
        """Seconds, None where nothing like the job is on record."""
        runs = job.budget if isinstance(job, SearchJob) else 1
        config = (job.plan.config if isinstance(job, SearchJob) else job.trial.config).to_dict()
        return next((runs * mean(self._known[kind]) for kind in kinds(config) if kind in self._known), None)


def kinds(config: dict[str, Any]) -> list[tuple[Any, ...]]:
    """What makes runs take about as long, closest first."""
    corpus, labels = config["data"], config["labeled_size"]
    amount = (config["unlabeled"] or "").split(":")[0], config["unlabeled_size"]
    return [(corpus, labels, amount, config["technique"]), (corpus, labels, amount), (corpus, labels)]


def status_table(rows: Sequence[Progress], jobs: int = 1) -> Table:
    """The state of all orders."""
    cells: list[Sequence[Cell]] = [
        [
            row.order.experiment.name,
            row.order.corpora[0],
            f"{row.searches[0]} of {row.searches[1]}",
            f"{row.trials[0]} of {row.trials[1]}",
            row.under_way,
            duration(row.seconds_left / jobs) if row.seconds_left is not None else "unknown",
        ]
        for row in rows
    ]
    return Table(["experiment", "data", "searches", "runs", "begun", f"time left (--jobs {jobs})"], cells)


def duration(seconds: float) -> str:
    """A time span as people say it."""
    minutes = round(seconds / 60)
    if seconds <= 0:
        return "done"
    if minutes < 1:
        return f"{seconds:.0f} s"
    return f"{minutes} min" if minutes < 120 else f"{minutes / 60:.1f} h"
