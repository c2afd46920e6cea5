"""`attnvat pool`: build a pool of unlabelled texts and choose the part of it to train on."""

from __future__ import annotations

import typer

app = typer.Typer(no_args_is_help=True, help="Build pools of unlabelled texts and choose texts from them.")


@app.callback()
def pool() -> None:
    """Build pools of unlabelled texts and choose texts from them."""
