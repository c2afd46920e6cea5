"""`attnvat config`: every option of a run, explained, as a YAML file to fill in."""

from __future__ import annotations

import typer

from attnvat.training.config import template


def config() -> None:
    """Print a commented YAML file with every option of `attnvat train`.

    Example: attnvat config > run.yaml
    """
    print(template(), end="")


def register(app: typer.Typer) -> None:
    """Add the command to the app."""
    app.command("config")(config)
