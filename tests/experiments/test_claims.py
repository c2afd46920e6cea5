"""The paper's claims at the head of the results page: the plain recipe, and a row that reaches both numbers."""

from __future__ import annotations

import copy
import shlex
from pathlib import Path
from typing import Any

import pytest

from attnvat.experiments.arms import Arm, Setup, trials_of
from attnvat.experiments.catalogue import EXPERIMENTS
from attnvat.experiments.claims import claiming_commands, claims_in_short, claims_table
from attnvat.experiments.compared_arms import RECIPE
from attnvat.experiments.job import TrialJob
from attnvat.experiments.perform import perform
from attnvat.experiments.plan import Order
from attnvat.experiments.records import Places, Records
from attnvat.experiments.rows import Reader
from attnvat.experiments.trial import described

SETUP = Setup()
PLAIN = Arm("attention-vat", unlabelled=True)
PENALISED = Arm("attention-vat", unlabelled=True, whole=True, context_penalty=0.1)


@pytest.fixture
def template(places: Places) -> dict[str, Any]:
    """A real record."""
    return perform(TrialJob(trials_of(Arm("vanilla"), "sst", SETUP, [0], {})[0]), places)


@pytest.fixture
def lines(places: Places, template: dict[str, Any]) -> Any:
    """Puts arms on record, each with its score, its correlation and so many seeds; gives both tables' lines."""

    def put(*arms: tuple[Arm, float, float, int]) -> tuple[dict[tuple[str, ...], list[str]], list[list[str]]]:
        records = Records(places.results)
        for arm, score, correlation, seeds in arms:
            for trial in trials_of(arm, "sst", SETUP, range(seeds), {}):
                record = copy.deepcopy(template)
                record |= {"identity": trial.identity, "name": trial.name, "seed": trial.config.seed}
                record["config"] = described(trial.config)
                record["measured"]["test"]["prediction"]["score"] = score
                record["measured"]["test"]["correlation"]["importances"]["gradient"]["pearson"]["mean"] = correlation
                records.write_run(trial, record)
        reader = Reader(Records(places.results), SETUP)
        short = {tuple(line[:2]): line[2:] for line in claims_in_short(reader).texts()}
        return short, [line for line in claims_table(reader).texts() if line[0] == "SST"]

    return put


def test_a_row_that_reaches_both_is_named_and_of_several_the_one_with_most_seeds(lines: Any) -> None:
    short, rows = lines((PLAIN, 0.84, 0.80, 5), (PENALISED, 0.8318, 0.898, 2), (RECIPE, 0.84, 0.90, 3))
    assert short["SST", "attention-vat"] == [
        "83.18",
        "0.898",
        "84.00 ± 0.00",
        "0.800 ± 0.000",
        "84.00 ± 0.00",
        "0.900 ± 0.000",
        "attention-vat, ε 1.3, context penalty 0.2 (3 seeds)",
    ]
    judged = {line[1]: (line[8], line[11]) for line in rows}
    assert judged["attention-vat"] == ("yes", "no")
    assert judged["attention-vat, context penalty 0.1"] == ("yes", "yes")  # as much is enough
    assert judged["attention-ivat"] == ("not run", "not run")


def test_the_command_of_a_row_that_reaches_both_runs_that_row(places: Places, lines: Any) -> None:
    lines((PLAIN, 0.84, 0.80, 5), (RECIPE, 0.84, 0.90, 3))
    (said,) = claiming_commands(Reader(Records(places.results), SETUP))
    claim, _, command = said.partition(": ")
    assert claim == "SST, attention-vat"
    *_, experiment, _, corpus, _, seeds, _, only = shlex.split(command.strip("`"))
    order = Order(EXPERIMENTS[experiment], (corpus,), seeds=int(seeds), only=only)
    assert order.arms("sst") == [RECIPE]
    assert {job.name for job in order.trials(Records(places.results))} == {f"{only}-seed{n}" for n in range(3)}


def test_where_none_reaches_both_the_nearest_that_reaches_the_correlation_is_shown(places: Places, lines: Any) -> None:
    short, _ = lines((PLAIN, 0.84, 0.80, 1), (PENALISED, 0.80, 0.95, 1), (RECIPE, 0.8317, 0.91, 1))
    nearest = "nearest: attention-vat, ε 1.3, context penalty 0.2 (1 seed)"
    assert short["SST", "attention-vat"][4:] == ["83.17", "0.910", nearest]
    assert short["SST", "attention-ivat"][2:] == ["not run", "not run", "–", "–", "not run"]
    (command,) = claiming_commands(Reader(Records(places.results), SETUP))
    assert "context0.2" in command


def test_where_none_reaches_the_correlation_the_highest_of_each_are_told(lines: Any) -> None:
    short, _ = lines((PLAIN, 0.84, 0.80, 1), (RECIPE, 0.83, 0.85, 1))
    none = "none reaches both; highest of all rows: F1 84.00, correlation 0.850"
    assert short["SST", "attention-vat"][4:] == ["–", "–", none]


def test_the_score_on_all_texts_is_told_too_and_on_how_many_draws_it_is_reached(
    lines: Any, template: dict[str, Any]
) -> None:
    texts = template["data"]["n_test"]
    # Right on all, so that every draw reaches the paper's number.
    whole = {"score": 0.8345, "examples": 2 * texts, "confusion": [[texts, 0], [0, texts]]}
    template["measured"]["whole"] = {"prediction": whole}
    short, rows = lines((PLAIN, 0.8317, 0.80, 1), (RECIPE, 0.84, 0.90, 2))
    told = "(2 seeds; F1, whole test 83.45 ± 0.00, reached on 100% of draws)"
    assert short["SST", "attention-vat"][-1].endswith(f"context penalty 0.2 {told}")
    assert {line[-1] for line in rows if line[1].startswith("attention-vat")} == {"100%"}


def test_nothing_on_record_is_no_claim(tmp_path: Path) -> None:
    table = claims_in_short(Reader(Records(tmp_path), SETUP))
    assert {line[-1] for line in table.texts()} == {"not run"}
