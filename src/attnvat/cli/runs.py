"""`attnvat runs`: a table of the runs in a folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from attnvat.errors import UserError
from attnvat.progress import stderr
from attnvat.training.run import CONFIG, open_run


def runs(
    folder: Annotated[Path, typer.Argument(help="Folder of runs.")] = Path("runs"),
) -> None:
    """List the runs in a folder: what was trained, how far, and how well.

    Example: attnvat runs runs
    """
    if not folder.is_dir():
        raise UserError(f"{folder}: no such folder; `attnvat train` makes runs, in `runs` by default")
    table = Table("run", "data", "technique", "ε", "seed", "state", "epochs", "validation", "test")
    for path in sorted(path.parent for path in folder.glob(f"**/{CONFIG}")):
        try:
            run = open_run(path)
            result, history = run.result, [line for line in run.history if line["event"] == "epoch"]
        except UserError as error:
            stderr.print(f"left out: {error}", highlight=False, markup=False, soft_wrap=True)
            continue
        best = max((line["validation"] for line in history), default=None)
        table.add_row(
            str(path.relative_to(folder)),
            run.config.data,
            run.config.technique,
            "" if run.config.epsilon is None else f"{run.config.epsilon:g}",
            str(run.config.seed),
            "finished" if result else "stopped or running",
            str(len(history)),
            "" if best is None else f"{100 * best:.2f}",
            f"{100 * result['test']:.2f}" if result and "test" in result else "",
        )
    Console().print(table)


def register(app: typer.Typer) -> None:
    """Add the command to the app."""
    app.command("runs")(runs)
