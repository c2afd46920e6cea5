"""Search of ε (vanilla: dropout) on validation data with Optuna; the test split is taken away before it begins."""

from __future__ import annotations

import dataclasses
import fcntl
import math
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import optuna
import torch
from optuna.exceptions import ExperimentalWarning
from optuna.storages import JournalStorage, RDBStorage, RetryHeartbeatStaleTrialCallback
from optuna.storages.journal import JournalFileBackend
from optuna.trial import FrozenTrial, TrialState
from sqlalchemy.exc import SQLAlchemyError

from attnvat.corpora import Corpus
from attnvat.errors import UserError
from attnvat.experiments.space import Space
from attnvat.experiments.trial import described, digest
from attnvat.training import Config, Prepared, fit, prepare
from attnvat.training.display import Silent

FINISHED = (TrialState.COMPLETE, TrialState.PRUNED)
EVENLY = 0.75
"""Share of a budget that covers the space evenly; the rest follows what was found."""
HEARTBEAT = 60
"""Seconds between signs of life in a database; a run whose machine falls silent is run again by another."""


@dataclass(frozen=True)
class SearchPlan:
    """What is searched and in which runs."""

    config: Config
    space: Space

    @property
    def identity(self) -> str:
        """The same for the same search, however large its budget."""
        return digest({"search": self.fixed(), "space": dataclasses.asdict(self.space)})

    def fixed(self) -> dict[str, Any]:
        """The options that all runs of the search share."""
        searched = (self.space.option, *(["reading"] if self.space.readings else []))
        return {name: value for name, value in described(self.config).items() if name not in searched}


@dataclass(frozen=True)
class Tried:
    """One run of a search."""

    number: int
    options: dict[str, Any]
    validation: float | None
    """The best epoch's score; None for a run that was cut short or diverged."""
    by_epoch: list[float]
    state: str
    """`finished`, `cut short` (hopeless against the median of the others) or `diverged`."""
    seconds: float

    @property
    def values(self) -> dict[str, str]:
        """The options as people read them."""
        return {name: f"{v:.4g}" if isinstance(v, float) else str(v) for name, v in self.options.items()}

    @property
    def score(self) -> str:
        """The validation score in percent."""
        return "–" if self.validation is None else f"{100 * self.validation:.2f}"

    def line(self) -> str:
        """The run in a line."""
        options = ", ".join(f"{name} {value}" for name, value in self.values.items())
        return f"run {self.number + 1}: {options}: validation {self.score} ({self.state}, {self.seconds:.0f} s)"


def best_of(tried: Sequence[Tried]) -> Tried:
    """The finished run with the best validation score; the first of equals."""
    finished = [run for run in tried if run.validation is not None]
    if not finished:
        raise UserError("no run of the search came to an end; try a lower learning rate, or a smaller range")
    return max(finished, key=lambda run: (run.validation or 0.0, -run.number))


def all_alike(tried: Sequence[Tried]) -> bool:
    """Whether several runs finished and scored the same, so that they do not tell which options are better."""
    scores = [run.validation for run in tried if run.validation is not None]
    return len(scores) > 1 and len(set(scores)) == 1


def search(
    plan: SearchPlan,
    config: Config,
    corpus: Corpus,
    budget: int,
    storage: Path | str,
    *,
    known: Sequence[Tried] = (),
    told: Callable[[Tried], None] | None = None,
) -> list[Tried]:
    """Run until `budget` runs are finished, those `known` and those in the storage included; all of them.

    `config` is the plan's with names turned into paths. A storage that is a file belongs to one process at a time; a
    database URL may be shared by many machines, which then work on one budget together.
    """
    if budget < 1:
        raise UserError(f"a search of {budget} runs; give at least 1")
    corpus = dataclasses.replace(corpus, test=[], extra={})
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    shared = "://" in str(storage)
    with nullcontext() if shared else alone(Path(storage)):
        study = open_study(plan, storage, shared)
        if not study.trials:
            for run in known:
                study.add_trial(frozen(run, plan.space))
        if not shared:
            renew_lost(study)
        starts = math.ceil(EVENLY * budget)
        for point in plan.space.starting_points(starts, plan.config.seed):
            study.enqueue_trial(point, skip_if_exists=True)
        objective = Objective(config, corpus, plan.space)
        while len(finished := tried(study)) < budget:
            # A sampler of its own for each run: a search that was interrupted suggests what it would have suggested.
            seed = plan.config.seed + len(finished)
            study.sampler = optuna.samplers.TPESampler(seed=seed, n_startup_trials=starts)
            study.optimize(objective, n_trials=1)
            seen = {run.number for run in finished}
            for run in tried(study) if told else ():
                if told and run.number not in seen:
                    told(run)
        return finished


class Objective:
    """A run's best validation score; hopeless runs are cut short after the epoch that shows it."""

    def __init__(self, config: Config, corpus: Corpus, space: Space) -> None:
        self.config, self.corpus, self.space = config, corpus, space
        self._fresh: tuple[dict[str, Any], Prepared, dict[str, torch.Tensor], torch.Tensor] | None = None

    def __call__(self, trial: optuna.Trial) -> float:
        """Train with the options the trial suggests."""
        config = dataclasses.replace(self.config, **self.space.suggest(trial))
        started = time.monotonic()
        try:
            trained = fit(config, self.prepared(config), display=Reporting(trial))
        except UserError as error:
            trial.set_user_attr("diverged", str(error))
            raise optuna.TrialPruned from error
        finally:
            trial.set_user_attr("seconds", round(time.monotonic() - started, 1))
        return float(trained.result["validation"])

    def prepared(self, config: Config) -> Prepared:
        """The data with a fresh model; encoded once for all runs that share it (ε and reading change nothing there)."""
        needed = {
            name: value for name, value in config.to_dict().items() if name not in ("epsilon", "reading", "technique")
        }
        if self._fresh is None or self._fresh[0] != needed:
            data = prepare(config, self.corpus)
            weights = {name: tensor.clone() for name, tensor in data.bundle.model.state_dict().items()}
            self._fresh = (needed, data, weights, torch.get_rng_state())
        _, data, weights, random = self._fresh
        data.bundle.model.load_state_dict(weights)
        torch.set_rng_state(random)
        return data


class Reporting(Silent):
    """Tells Optuna every epoch's score, and stops the run when Optuna sees no hope."""

    def __init__(self, trial: optuna.Trial) -> None:
        self._trial = trial

    def end_epoch(self, record: dict[str, Any]) -> None:
        """Report the epoch."""
        self._trial.report(float(record["validation"]), int(record["epoch"]))
        if self._trial.should_prune():
            raise optuna.TrialPruned


def open_study(plan: SearchPlan, storage: Path | str, shared: bool) -> optuna.Study:
    """The study of the plan in a journal file or a database."""
    try:
        kept: JournalStorage | RDBStorage
        if shared:
            with warnings.catch_warnings():
                # Heartbeats are what finds runs whose machine is gone; Optuna still calls them experimental.
                warnings.simplefilter("ignore", ExperimentalWarning)
                retry = RetryHeartbeatStaleTrialCallback(max_retry=3)
                kept = RDBStorage(str(storage), heartbeat_interval=HEARTBEAT, heartbeat_stale_trial_callback=retry)
        else:
            kept = JournalStorage(JournalFileBackend(str(storage)))
        return optuna.create_study(
            study_name=plan.identity,
            storage=kept,
            direction="maximize",
            load_if_exists=True,
            pruner=optuna.pruners.MedianPruner(n_startup_trials=4, n_warmup_steps=1),
        )
    except (OSError, ImportError, ValueError, SQLAlchemyError) as error:
        reason = " ".join(str(error).split())
        raise UserError(f"{storage}: cannot keep a search there ({reason}); name a file or a database URL") from error


@contextmanager
def alone(path: Path) -> Iterator[None]:
    """Hold a journal for this process."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.with_name(f".{path.name}.held").open("w") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise UserError(f"{path}: another process is searching there; use a database URL for several") from error
        yield


def renew_lost(study: optuna.Study) -> None:
    """Queue the options of runs again that were under way when their process was killed, or asked to stop."""
    for trial in study.get_trials(states=(TrialState.RUNNING,)):
        study.tell(trial.number, state=TrialState.FAIL)
    trials = study.get_trials(deepcopy=False)
    there = [t.system_attrs.get("fixed_params", t.params) for t in trials if t.state != TrialState.FAIL]
    for trial in trials:
        if trial.state == TrialState.FAIL and trial.params and trial.params not in there:
            study.enqueue_trial(trial.params)
            there.append(trial.params)


def tried(study: optuna.Study) -> list[Tried]:
    """The runs of a study that have ended."""
    return [
        Tried(
            trial.number,
            dict(trial.params),
            trial.value if trial.state == TrialState.COMPLETE and math.isfinite(trial.value or 0.0) else None,
            [trial.intermediate_values[epoch] for epoch in sorted(trial.intermediate_values)],
            "diverged"
            if "diverged" in trial.user_attrs
            else ("finished" if trial.state == TrialState.COMPLETE else "cut short"),
            float(trial.user_attrs.get("seconds", 0.0)),
        )
        for trial in study.get_trials(states=FINISHED)
    ]


def frozen(run: Tried, space: Space) -> FrozenTrial:
    """A run on record as Optuna knows it."""
    return optuna.trial.create_trial(
        state=TrialState.COMPLETE if run.validation is not None else TrialState.PRUNED,
        value=run.validation,
        params=run.options,
        distributions=space.distributions(),
        intermediate_values=dict(enumerate(run.by_epoch)),
        user_attrs={"seconds": run.seconds} | ({"diverged": "before"} if run.state == "diverged" else {}),
    )
