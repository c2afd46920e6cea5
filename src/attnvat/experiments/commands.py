"""The commands that make the records behind a table or a row again, as the results page shows them."""

from __future__ import annotations

import shlex

from attnvat.experiments.arms import Setup
from attnvat.experiments.catalogue import Experiment
from attnvat.experiments.plan import Order
from attnvat.experiments.rows import Row


def regenerate(experiment: Experiment, corpus: str, setup: Setup, rows: list[Row]) -> str:
    """How to make the records of a table again, whose rows need not have equally many seeds."""
    counts = {len(row.records) for row in rows if row.records}
    sentence = f"Regenerate: `{command(experiment, corpus, setup, rows, min(counts))}`"
    return sentence if len(counts) == 1 else f"{sentence}; `--seeds {max(counts)}` for the rows that have more"


def command_of_row(experiment: Experiment, corpus: str, setup: Setup, row: Row) -> str:
    """The command that runs all seeds of a row, and of others that are called so."""
    name = Order(experiment, (corpus,), setup=setup).called(row.arm, corpus)
    return f"{command(experiment, corpus, setup, [row], len(row.records))} --only {shlex.quote(name)}"


def command(experiment: Experiment, corpus: str, setup: Setup, rows: list[Row], seeds: int) -> str:
    """The command that runs so many seeds of a table's rows."""
    parts = ["attnvat paper run", experiment.name, "--data", corpus, "--seeds", str(seeds)]
    budgets = {row.budget for row in rows if row.budget}
    parts += ["--trials", str(max(budgets))] if budgets else []
    defaults = Setup()
    parts += ["--vectors", setup.vectors] if setup.vectors != defaults.vectors else []
    parts += ["--pool", setup.pool] if setup.pool != defaults.pool else []
    return " ".join(parts)
