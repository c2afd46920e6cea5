"""From experiments to jobs: the searches first, then the trials with what the searches chose."""

from __future__ import annotations

import fnmatch
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace

from attnvat.errors import UserError
from attnvat.experiments.arms import FEW_BUDGET, GROUNDS, Arm, Setup, config_of, plans_of, trials_of
from attnvat.experiments.catalogue import EXPERIMENTS, Experiment, chosen_arms
from attnvat.experiments.job import Job, SearchJob, TrialJob
from attnvat.experiments.records import Records
from attnvat.experiments.trial import Trial


@dataclass(frozen=True)
class Order:
    """What is asked for: an experiment, and the part of it to run."""

    experiment: Experiment
    corpora: tuple[str, ...]
    techniques: tuple[str, ...] = ()
    """Only these and vanilla; all where empty."""
    seeds: int | None = None
    """The catalogue's number of seeds where None."""
    budget: int | None = None
    """Search runs of each arm; the catalogue's number where None, and no search where 0."""
    setup: Setup = field(default_factory=Setup)
    labelled_only: bool = False
    """Only the arms without unlabelled text, which take a fraction of the time."""

    only: str = ""
    """A shell pattern for what runs are called without their seed; all where empty."""

    def arms(self, corpus: str) -> list[Arm]:
        """The arms to run on a corpus."""
        arms = chosen_arms(self.experiment, corpus, list(self.techniques) or None)
        arms = [arm for arm in arms if not (self.labelled_only and arm.unlabelled)]
        return [arm for arm in arms if not self.only or fnmatch.fnmatchcase(self.called(arm, corpus), self.only)]

    def called(self, arm: Arm, corpus: str) -> str:
        """What an arm's runs are called without their seed; what a search has yet to choose is not in it."""
        series = Trial(config_of(arm, corpus, self.setup, seed=0)).series
        return f"{series}-same-dropout" if arm.same_dropout else series

    def searches(self) -> list[Job]:
        """The searches that decide the arms, each once."""
        found: dict[str, Job] = {}
        for corpus in self.corpora:
            for arm in self.arms(corpus):
                usual = FEW_BUDGET if arm.labels else GROUNDS[corpus].budget
                budget = usual if self.budget is None else self.budget
                plans = plans_of(arm, corpus, self.setup) if budget else []
                found |= {plan.identity: SearchJob(plan, budget) for plan in plans}
        return list(found.values())

    def trials(self, records: Records, awaited: Collection[str] = ()) -> list[Job]:
        """The trials of all arms, with what the searches on record chose; seed by seed, so that a stopped
        experiment has whole comparisons. Arms that an awaited search decides are left out."""
        choices = records.choices()
        found: dict[str, Job] = {}
        for corpus in self.corpora:
            count = self.experiment.seeds_on(corpus) if self.seeds is None else self.seeds
            arms = [
                trials_of(arm, corpus, self.setup, range(count), choices)
                for arm in self.arms(corpus)
                if not any(plan.identity in awaited for plan in plans_of(arm, corpus, self.setup))
            ]
            for trials in zip(*arms, strict=True):
                found |= {trial.identity: TrialJob(trial) for trial in trials}
        return list(found.values())


def check_only(orders: Sequence[Order]) -> None:
    """Refuse orders that ask for runs by a name none of theirs has."""
    if any(order.arms(corpus) for order in orders for corpus in order.corpora):
        return
    every = [(replace(order, only=""), corpus) for order in orders for corpus in order.corpora]
    names = dict.fromkeys(order.called(arm, corpus) for order, corpus in every for arm in order.arms(corpus))
    raise UserError("\n  ".join([f"no runs are called {orders[0].only!r}; there are", *names]))


def all_orders(
    setup: Setup, names: Sequence[str] = (), seeds: int | None = None, budget: int | None = None
) -> list[Order]:
    """Every experiment (or those named) on every corpus it is described for, one order each."""
    return [
        Order(experiment, (corpus,), (), seeds, budget, setup)
        for experiment in EXPERIMENTS.values()
        if not names or experiment.name in names
        for corpus in experiment.arms
    ]
