"""The `attnvat` command: user errors become one sentence and exit code 2, an interrupt exit code 130."""

from __future__ import annotations

import importlib
import sys

import typer

from attnvat.errors import UserError
from attnvat.progress import stderr

app = typer.Typer(
    name="attnvat",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    help="Train attention-based text classifiers with adversarial and virtual adversarial perturbations, "
    "and see how far their attention can be trusted.",
)
for group in ("data", "pool"):
    app.add_typer(importlib.import_module(f"attnvat.cli.{group}").app, name=group)


def main() -> None:
    """Run the command line and exit with 0 (done), 2 (user error) or 130 (interrupted)."""
    try:
        app()
    except UserError as error:
        stderr.print(f"[bold red]error:[/] {error}", highlight=False, soft_wrap=True)
        sys.exit(2)
    except KeyboardInterrupt:
        stderr.print("interrupted")
        sys.exit(130)


if __name__ == "__main__":
    main()
