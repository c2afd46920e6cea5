"""`attnvat data`: what is found, what is in it, and whether people's own files are sound."""

from __future__ import annotations

import typer

app = typer.Typer(no_args_is_help=True, help="See what corpora and files hold before training on them.")


@app.callback()
def _group() -> None:
    """See what corpora and files hold before training on them."""
