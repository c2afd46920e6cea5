"""The `attnvat` command: user errors become one sentence and exit code 2, an interrupt exit code 130."""

from __future__ import annotations

import sys
import traceback
from importlib import import_module

import typer
from rich.markup import escape

from attnvat.errors import UserError
from attnvat.interruption import sigterm_as_ctrl_c
from attnvat.progress import stderr

COMMANDS = (
    "train",
    "pretrain",
    "finetune",
    "config",
    "evaluate",
    "compare",
    "predict",
    "explain",
    "runs",
    "search",
    "paper",
    "data",
    "pool",
    "demo",
)
"""In the order of the help page; each is a module of `attnvat.cli` with a `register` function."""


def build_app(asked: str | None = None) -> typer.Typer:
    """All commands, or only the one asked for: a command should not wait for what the others import."""
    app = typer.Typer(
        name="attnvat",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode="markdown",
        help="Train attention-based text classifiers with adversarial and virtual adversarial perturbations, "
        "and see how far their attention can be trusted.",
    )

    @app.callback()
    def attnvat() -> None:
        """Keep the name of a command on the line when there is only one to choose from."""

    for name in COMMANDS:
        if asked in (None, name):
            import_module(f"attnvat.cli.{name}").register(app)
    return app


def main() -> None:
    """Run the command line and exit with 0 (done), 2 (user error) or 130 (interrupted)."""
    sigterm_as_ctrl_c()
    asked = sys.argv[1] if len(sys.argv) > 1 and sys.argv[1] in COMMANDS else None
    try:
        build_app(asked)()
    except UserError as error:
        stderr.print(f"[bold red]error:[/] {escape(str(error))}", highlight=False, soft_wrap=True)
        sys.exit(2)
    except KeyboardInterrupt as interrupt:
        stderr.print(escape(str(interrupt)) or "interrupted", highlight=False, soft_wrap=True)
        sys.exit(130)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(0)
    except Exception:
        traceback.print_exc()
        stderr.print("[bold red]this is a bug in attnvat, not your mistake[/]; please report it with the lines above")
        sys.exit(1)


if __name__ == "__main__":
    main()
