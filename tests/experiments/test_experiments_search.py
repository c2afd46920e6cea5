from __future__ import annotations

import dataclasses
import math
from pathlib import Path
from typing import Any

import numpy as np
import optuna
import pytest

from attnvat.corpora import Corpus, Example
from attnvat.errors import UserError
from attnvat.experiments.arms import Arm, Setup, plan_of
from attnvat.experiments.figures import search_figure
from attnvat.experiments.job import SearchJob
from attnvat.experiments.perform import perform
from attnvat.experiments.records import Places, Records
from attnvat.experiments.search import (
    Reporting,
    SearchPlan,
    Tried,
    all_alike,
    alone,
    best_of,
    open_study,
    search,
    tried,
)
from attnvat.experiments.space import space_of
from attnvat.training import Config, fit, load_data, prepare

SMALL = {"hidden": 8, "attention": 4, "epochs": 2, "batch_size": 16, "learning_rate": 0.02}


@pytest.fixture
def corpus(world: Path) -> Corpus:
    """SST with a test split that cannot be read: its label is unknown, and reading it is an error."""
    found = load_data(Config(data="sst"))
    return dataclasses.replace(found, test=[Example("poison", label="neither")], extra={"test-full": found.test})


def test_the_best_on_validation_is_found_and_test_is_never_read(world: Path, corpus: Corpus) -> None:
    config = Config(data="sst", technique="attention-vat", **SMALL)
    with pytest.raises(UserError, match="neither"):
        prepare(config, corpus)
    plan = SearchPlan(config, space_of("attention-vat"))
    told: list[Tried] = []
    found = search(plan, config, corpus, 4, world / "journal.log", told=told.append)
    assert [run.number for run in told] == [run.number for run in found] == [0, 1, 2, 3]
    assert all(0.01 <= run.options["epsilon"] <= 30 for run in found)
    best = best_of(found)
    assert best.validation == max(run.validation for run in found if run.validation is not None)
    # The chosen run is a real one: trained by itself it gives the same score.
    alone_again = dataclasses.replace(config, **best.options)
    trained = fit(alone_again, prepare(alone_again, dataclasses.replace(corpus, test=[])))
    assert trained.result["validation"] == best.validation
    figure = search_figure(found, plan.space, "sst")
    assert "<svg" in figure
    assert "$" not in figure  # powers of ten in TeX, which nothing would typeset


def test_an_interrupted_search_goes_on_to_the_same_end(world: Path, corpus: Corpus) -> None:
    config = Config(data="sst", **SMALL)
    plan = SearchPlan(config, space_of("vanilla"))

    def stop(run: Tried) -> None:
        if run.number == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        search(plan, config, corpus, 4, world / "a.log", told=stop)
    went_on = search(plan, config, corpus, 4, world / "a.log")
    whole = search(plan, config, corpus, 4, world / "b.log")
    assert [(run.options, run.validation) for run in went_on] == [(run.options, run.validation) for run in whole]
    # Plain vanilla, without dropout, is always among those tried.
    assert whole[0].options == {"dropout": 0.0}


def test_a_search_interrupted_within_a_run_runs_it_again(
    world: Path, corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = Config(data="sst", technique="attention-at", **SMALL)
    plan = SearchPlan(config, space_of("attention-at"))
    begun = 0

    def stopped(*arguments: Any, **options: Any) -> Any:
        nonlocal begun
        begun += 1
        if begun in (2, 3):
            raise KeyboardInterrupt
        return fit(*arguments, **options)

    monkeypatch.setattr("attnvat.experiments.search.fit", stopped)
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            search(plan, config, corpus, 4, world / "a.log")
    went_on = search(plan, config, corpus, 4, world / "a.log")
    whole = search(plan, config, corpus, 4, world / "b.log")
    found = [sorted((run.options["epsilon"], run.validation) for run in runs) for runs in (went_on, whole)]
    assert found[0] == found[1]


def test_runs_under_way_when_a_process_died_are_run_again(world: Path, corpus: Corpus) -> None:
    config = Config(data="sst", technique="attention-at", **SMALL)
    plan = SearchPlan(config, space_of("attention-at"))
    points = plan.space.starting_points(2, config.seed)
    study = open_study(plan, world / "j.log", shared=False)
    for point in points:
        study.enqueue_trial(point)
    plan.space.suggest(study.ask())
    found = search(plan, config, corpus, 2, world / "j.log")
    tried_values = sorted(run.options["epsilon"] for run in found)
    assert tried_values == pytest.approx(sorted(point["epsilon"] for point in points))


def test_a_larger_budget_keeps_the_runs_on_record(places: Places, world: Path) -> None:
    plan = plan_of(Arm("attention-at"), "sst", Setup())
    assert plan is not None
    first = perform(SearchJob(plan, 2), places)
    assert SearchJob(plan, 2).finished(Records(places.results))
    assert not SearchJob(plan, 3).finished(Records(places.results))
    second = perform(SearchJob(plan, 3), places)
    assert [run["options"] for run in second["tried"]][:2] == [run["options"] for run in first["tried"]]
    assert len(second["tried"]) == 3
    assert len(list((places.results / "searches").iterdir())) == 1
    assert "test" not in second["data"]
    assert Records(places.results).choices() == {plan.identity: second["chosen"]}


def test_hopeless_runs_are_cut_short() -> None:
    pruner = optuna.pruners.MedianPruner(n_startup_trials=4, n_warmup_steps=1)
    study = optuna.create_study(direction="maximize", pruner=pruner)
    for _ in range(4):
        good = study.ask()
        for epoch, value in enumerate((0.7, 0.8, 0.85)):
            good.report(value, epoch)
        study.tell(good, 0.85)
    reporting = Reporting(study.ask())
    reporting.end_epoch({"epoch": 0, "validation": 0.1})
    with pytest.raises(optuna.TrialPruned):
        reporting.end_epoch({"epoch": 1, "validation": 0.1})


@pytest.mark.parametrize(
    ("scores", "alike"), [([0.8, 0.8, None], True), ([0.8, 0.81], False), ([0.8, None], False), ([], False)]
)
def test_runs_that_score_the_same_decide_nothing(scores: list[float | None], alike: bool) -> None:
    runs = [Tried(n, {"epsilon": 1.0 + n}, score, [], "finished", 1.0) for n, score in enumerate(scores)]
    assert all_alike(runs) == alike


def test_a_cut_short_or_diverged_run_is_never_chosen() -> None:
    runs = [
        Tried(0, {"epsilon": 1.0}, None, [0.99], "cut short", 1.0),
        Tried(1, {"epsilon": 2.0}, 0.8, [0.8], "finished", 1.0),
        Tried(2, {"epsilon": 3.0}, 0.8, [0.8], "finished", 1.0),
    ]
    assert best_of(runs).number == 1
    with pytest.raises(UserError, match="no run"):
        best_of(runs[:1])


def test_starting_points_cover_the_space_log_evenly() -> None:
    space = space_of("attention-ivat", ("shared", "matrix"))
    points = space.starting_points(8, seed=0)
    places = sorted(8 * math.log(p["epsilon"] / 0.01) / math.log(3000) for p in points)
    assert [int(place) for place in places] == list(range(8))
    assert [p["reading"] for p in points] == ["shared", "matrix"] * 4
    assert points == space.starting_points(8, seed=0)
    # Log-uniform: over many draws the middle of the range is √(0.01·30).
    middle = np.median([p["epsilon"] for p in space.starting_points(999, seed=1)])
    assert middle == pytest.approx(math.sqrt(0.3), rel=0.05)


def test_impossible_searches_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no reading to search"):
        space_of("attention-vat", ("shared",))
    with pytest.raises(UserError, match="no reading 'share'"):
        space_of("attention-ivat", ("share",))
    with pytest.raises(UserError, match="cannot be searched"):
        space_of("attention-vat", low=2.0, high=1.0)
    plan = SearchPlan(Config(data="sst"), space_of("vanilla"))
    with pytest.raises(UserError, match="cannot keep a search there"):
        open_study(plan, "nosuchdatabase://here", shared=True)
    with alone(tmp_path / "j.log"), pytest.raises(UserError, match="another process"), alone(tmp_path / "j.log"):
        pass


def test_a_database_keeps_a_search_too(world: Path, corpus: Corpus) -> None:
    config = Config(data="sst", **SMALL)
    plan = SearchPlan(config, space_of("vanilla"))
    url = f"sqlite:///{world / 'searches.db'}"
    first = search(plan, config, corpus, 1, url)
    # A second machine sees the first one's run and adds none of its own to a budget that is used up.
    assert search(plan, config, corpus, 1, url) == first
    assert tried(open_study(plan, url, shared=True)) == first
