"""`attnvat search`: choose a technique's ε (vanilla: dropout) on validation data, for a corpus or people's own data."""

from __future__ import annotations

import dataclasses
import shlex
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from attnvat.cli.flags import ConfigFile, chosen_config, with_flags
from attnvat.cli.goes_on import goes_on_later
from attnvat.errors import UserError
from attnvat.experiments.figures import search_figure
from attnvat.experiments.records import search_record
from attnvat.experiments.search import SearchPlan, Tried, all_alike, best_of
from attnvat.experiments.search import search as run_search
from attnvat.experiments.space import space_of
from attnvat.progress import stderr
from attnvat.report.tables import Cell, Table
from attnvat.storage import atomic_write, write_json
from attnvat.training import Config, load_data

JOURNAL, RECORD, FIGURE = "journal.log", "search.json", "search.svg"
EXAMPLE = """
Examples:

    attnvat search --data sst --vectors glove.6B.100d --technique attention-vat --trials 12

    attnvat search --data reviews.csv --text review --label stars --technique attention-ivat --readings shared,matrix

    attnvat search --data reviews.csv --technique word-vat --storage postgresql://host/searches
"""


def search(
    trials: Annotated[int, typer.Option("--trials", min=1, help="Runs of the search.")] = 12,
    readings: Annotated[str | None, typer.Option("--readings", help="Search these readings too, with commas.")] = None,
    low: Annotated[float | None, typer.Option("--low", help="Least ε (vanilla: dropout).")] = None,
    high: Annotated[float | None, typer.Option("--high", help="Largest ε (vanilla: dropout).")] = None,
    storage: Annotated[
        str | None, typer.Option("--storage", help="Journal file or database URL (OUT/journal.log).")
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", help="Folder (searches/DATA-TECHNIQUE-…).")] = None,
    config: ConfigFile = None,
    **flags: Any,
) -> None:
    """Search ε on the validation split with Optuna: log-uniform over [0.01, 30], hopeless runs cut short.

    The test split is never looked at. Vanilla, which has no ε, searches dropout. An interrupted search goes on when the
    same command is run again; several machines can share one search through a database (--storage URL).
    """
    chosen = chosen_config(config, flags)
    names = tuple(name.strip() for name in (readings or "").split(",") if name.strip())
    plan = SearchPlan(chosen, space_of(chosen.technique, names, low, high))
    folder = out or Path("searches") / f"{Path(chosen.data).stem}-{chosen.technique}-{plan.identity[:6]}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"{folder}: cannot be made ({error.strerror}); name another with --out") from error
    corpus = load_data(chosen)
    for note in corpus.notes:
        stderr.print(note, highlight=False, soft_wrap=True, markup=False)
    with goes_on_later():
        found = run_search(plan, chosen, corpus, trials, storage or folder / JOURNAL, told=say)
    write_json(folder / RECORD, search_record(plan, trials, found, {"corpus": corpus.name}))
    with atomic_write(folder / FIGURE) as handle:
        handle.write(search_figure(found, plan.space, f"{corpus.name}, {chosen.technique}"))
    Console().print(search_table(found))
    if all_alike(found):
        stderr.print(
            "all finished runs score the same, so none is better than another: train for more epochs (--epochs), "
            "validate on more texts, or try more values (--trials)",
            highlight=False,
            soft_wrap=True,
        )
    stderr.print(f"wrote {folder / RECORD} and {folder / FIGURE}", highlight=False, soft_wrap=True)
    print(train_command(chosen, best_of(found)))


def say(run: Tried) -> None:
    """A line for a run that has ended."""
    stderr.print(run.line(), highlight=False, soft_wrap=True)


def search_table(found: list[Tried]) -> Table:
    """All runs, best first; the chosen one bold."""
    ranked = sorted(found, key=lambda run: (-(run.validation or -1.0), run.number))
    names = list(ranked[0].options)
    rows: list[list[Cell]] = []
    for run in ranked:
        values = [run.values[name] for name in names]
        rows.append([run.number + 1, *values, run.score, len(run.by_epoch), run.state, f"{run.seconds:.0f} s"])
    bold = {(0, column) for column in range(len(names) + 2)}
    return Table(["run", *names, "validation", "epochs", "state", "time"], [*rows], bold=bold)


def train_command(config: Config, best: Tried) -> str:
    """The `attnvat train` command with the chosen options."""
    options = {field.name: getattr(config, field.name) for field in dataclasses.fields(Config)} | best.options
    words = ["attnvat", "train"]
    for field in dataclasses.fields(Config):
        value = options[field.name]
        if value == field.default:
            continue
        flag = "--" + field.name.replace("_", "-")
        if isinstance(value, bool):
            words.append(flag if value else f"--no-{flag[2:]}")
        else:
            words += [flag, f"{value:.6g}" if isinstance(value, float) else str(value)]
    return shlex.join(words)


def register(app: typer.Typer) -> None:
    """Add the command to the app."""
    app.command("search", epilog=EXAMPLE)(with_flags(search, without=("epsilon",)))
