"""A piece of work that can be handed to another process: a trial, or a search."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from attnvat.experiments.records import Places, Records
from attnvat.experiments.search import SearchPlan
from attnvat.experiments.space import Space
from attnvat.experiments.trial import Trial
from attnvat.training.config import from_dict


@dataclass(frozen=True)
class TrialJob:
    """Train, measure and put on record."""

    trial: Trial

    @property
    def name(self) -> str:
        """What a person calls the job."""
        return self.trial.name

    @property
    def identity(self) -> str:
        """The same for the same work."""
        return self.trial.identity

    def finished(self, records: Records) -> bool:
        """Whether the work is on record."""
        return self.identity in records.runs

    def to_dict(self) -> dict[str, Any]:
        """The job as JSON can hold it."""
        return {"trial": self.trial.to_dict()}


@dataclass(frozen=True)
class SearchJob:
    """Search, and put on record what was chosen."""

    plan: SearchPlan
    budget: int

    @property
    def name(self) -> str:
        """What a person calls the job."""
        return f"search-{Trial(self.plan.config).name}"

    @property
    def identity(self) -> str:
        """The same for the same work, whatever its budget."""
        return self.plan.identity

    def finished(self, records: Records) -> bool:
        """Whether a search of at least this budget is on record."""
        found = records.searches.get(self.identity)
        return found is not None and int(found["budget"]) >= self.budget

    def to_dict(self) -> dict[str, Any]:
        """The job as JSON can hold it."""
        plan = {"config": self.plan.config.to_dict(), "space": dataclasses.asdict(self.plan.space)}
        return {"search": plan, "budget": self.budget}


Job = TrialJob | SearchJob


def job_from_dict(value: dict[str, Any]) -> Job:
    """The job that `to_dict` described."""
    if "trial" in value:
        return TrialJob(Trial.from_dict(value["trial"]))
    space = value["search"]["space"] | {"readings": tuple(value["search"]["space"]["readings"])}
    plan = SearchPlan(from_dict(value["search"]["config"], "search"), Space(**space))
    return SearchJob(plan, int(value["budget"]))


def places_to_dict(places: Places) -> dict[str, Any]:
    """Folders as JSON can hold them, absolute: another process may start elsewhere."""
    return {
        "results": str(places.results.resolve()),
        "work": str(places.work.resolve()),
        "data_dir": str(Path(places.data_dir).resolve()) if places.data_dir else None,
        "keep_models": places.keep_models,
    }


def places_from_dict(value: dict[str, Any]) -> Places:
    """The folders that `places_to_dict` described."""
    return Places(Path(value["results"]), Path(value["work"]), value["data_dir"], bool(value["keep_models"]))
