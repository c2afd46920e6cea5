"""`attnvat explain`: one text in the terminal, coloured by attention, with the importance of each word beside it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from attnvat.corpora import Example
from attnvat.errors import UserError
from attnvat.evaluation.explanations import explain as explanations_of
from attnvat.models import from_pretrained
from attnvat.report.terminal import render_explanation


def explain(
    run: Annotated[Path, typer.Argument(help="Folder of a run or of a saved model.")],
    text: Annotated[str, typer.Argument(help="The text.")],
    pair: Annotated[str | None, typer.Option("--pair", help="The second text, for models of pairs.")] = None,
    importance: Annotated[str, typer.Option(help="gradient, integrated-gradients or leave-one-out.")] = "gradient",
) -> None:
    """Show which words a model attends to, and which ones its prediction depends on.

    Example: attnvat explain runs/sst-vanilla-seed0 "a gorgeous, witty, seductive movie"
    """
    bundle = from_pretrained(run)
    if pair is not None and not bundle.model.config.pair:
        raise UserError(f"--pair: the model in {run} reads single texts")
    (found,) = explanations_of(bundle, [Example(text, pair)], [importance])
    Console().print(render_explanation(found))


def register(app: typer.Typer) -> None:
    """Add the command to the app."""
    app.command("explain")(explain)
