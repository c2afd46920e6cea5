"""`results/`: one small JSON file for each run and each search, without a path of any machine in it."""

from __future__ import annotations

import dataclasses
import importlib.metadata
import platform
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from attnvat.errors import UserError
from attnvat.experiments.crossed import pack
from attnvat.experiments.search import SearchPlan, Tried, best_of
from attnvat.experiments.trial import Trial, described, group_of
from attnvat.storage import read_json, write_json

FORMAT = 1
RUNS, SEARCHES = "runs", "searches"
BULKY = ("instances", "histogram", "bins", "quantiles", "by_length", "by_peak", "by_genre")
"""Parts of an evaluation that are left out of a record."""


@dataclass(frozen=True)
class Places:
    """Where things are on this machine."""

    results: Path = Path("results")
    work: Path = Path("runs/paper")
    """Checkpoints, pools and logs: everything that can be made again."""
    data_dir: str | None = None
    keep_models: bool = False


class Records:
    """The records in a folder."""

    def __init__(self, folder: Path | str) -> None:
        self.folder = Path(folder)

    @cached_property
    def runs(self) -> dict[str, dict[str, Any]]:
        """Run records by the trial's identity."""
        return self._all(RUNS)

    @cached_property
    def by_group(self) -> dict[str, dict[int, dict[str, Any]]]:
        """Run records by what those that differ by their seed alone share, and by seed."""
        found: dict[str, dict[int, dict[str, Any]]] = {}
        for record in self.runs.values():
            group = group_of(record["config"], record["evaluation"])
            found.setdefault(group, {})[int(record["seed"])] = record
        return {group: dict(sorted(seeds.items())) for group, seeds in found.items()}

    @cached_property
    def searches(self) -> dict[str, dict[str, Any]]:
        """Search records by the plan's identity."""
        return self._all(SEARCHES)

    def choices(self) -> dict[str, dict[str, Any]]:
        """What each search chose, by its identity."""
        return {identity: record["chosen"] for identity, record in self.searches.items()}

    def write_run(self, trial: Trial, record: dict[str, Any]) -> Path:
        """Put a run on record."""
        return self._write(RUNS, f"{trial.name}-{trial.identity}", record)

    def write_search(self, name: str, identity: str, record: dict[str, Any]) -> Path:
        """Put a search on record, in place of one with a smaller budget."""
        return self._write(SEARCHES, f"{name}-{identity}", record)

    def _write(self, kind: str, name: str, record: dict[str, Any]) -> Path:
        folder = self.folder / kind
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UserError(f"{folder}: cannot be made ({error.strerror}); name another with --results") from error
        path = folder / f"{name}.json"
        write_json(path, record)
        return path

    def _all(self, kind: str) -> dict[str, dict[str, Any]]:
        found = {}
        for path in sorted((self.folder / kind).glob("*.json")):
            record = read_json(path)
            if not isinstance(record, dict) or record.get("format") != FORMAT or "identity" not in record:
                raise UserError(f"{path}: not a record of this version; remove it and run its experiment again")
            found[str(record["identity"])] = record
        return found


def versions() -> dict[str, str]:
    """What computed the numbers."""
    found = {name: importlib.metadata.version(name) for name in ("attnvat", "torch", "numpy", "optuna")}
    return {"python": platform.python_version(), **found}


def run_record(
    trial: Trial,
    result: dict[str, Any],
    history: list[dict[str, Any]],
    evaluations: dict[str, dict[str, Any]],
    data: dict[str, Any],
    seconds: dict[str, float],
) -> dict[str, Any]:
    """The record of a finished trial; `data` says what it was trained on."""
    return {
        "format": FORMAT,
        "identity": trial.identity,
        "name": trial.name,
        "seed": trial.config.seed,
        "config": described(trial.config),
        "evaluation": small(dataclasses.asdict(trial.evaluation)),
        "data": data,
        "result": result,
        "epochs": [{name: line[name] for name in ("epoch", "validation", "losses")} for line in history],
        "measured": {name: small(found) for name, found in evaluations.items()},
        "right": right_bits(evaluations["test"]),
        "versions": versions(),
        "seconds": {name: round(value, 1) for name, value in seconds.items()},
    }


def search_record(plan: SearchPlan, budget: int, tried: list[Tried], data: dict[str, Any]) -> dict[str, Any]:
    """The record of a finished search."""
    best = best_of(tried)
    return {
        "format": FORMAT,
        "identity": plan.identity,
        "name": Trial(plan.config).name,
        "config": plan.fixed(),
        "space": small(dataclasses.asdict(plan.space)),
        "budget": budget,
        "data": data,
        "tried": [dataclasses.asdict(run) for run in tried],
        "chosen": best.options,
        "validation": best.validation,
        "versions": versions(),
        "seconds": round(sum(run.seconds for run in tried), 1),
    }


def small(value: Any) -> Any:
    """An evaluation without its bulky parts, numbers to six significant digits."""
    if isinstance(value, dict):
        return {name: small(inner) for name, inner in value.items() if name not in BULKY}
    if isinstance(value, list | tuple):
        return [small(inner) for inner in value]
    return float(f"{value:.6g}") if isinstance(value, float) else value


def right_bits(evaluation: dict[str, Any]) -> dict[str, Any]:
    """Which test texts were predicted right, a bit each: what comparisons of runs draw again."""
    found = evaluation["prediction"]["instances"]
    right = [truth == guess for truth, guess in zip(found["label"], found["prediction"], strict=True)]
    return {"texts": len(right), "bits": pack(right)}
