"""The `attnvat` command: user errors become one sentence and exit code 2, an interrupt exit code 130."""

from __future__ import annotations

import sys
import traceback

import typer
from rich.markup import escape

from attnvat.errors import UserError
from attnvat.progress import stderr


def build_app() -> typer.Typer:
    """All commands."""
    from attnvat.cli import compare, data, demo, evaluate, explain, pool, predict, runs, train

    app = typer.Typer(
        name="attnvat",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode="markdown",
        help="Train attention-based text classifiers with adversarial and virtual adversarial perturbations, "
        "and see how far their attention can be trusted.",
    )
    app.command("train", epilog=train.EXAMPLE)(train.with_flags(train.train))
    app.command("config")(train.config_template)
    app.command("evaluate")(evaluate.evaluate)
    app.command("compare")(compare.compare)
    app.command("predict")(predict.predict)
    app.command("explain")(explain.explain)
    app.command("runs")(runs.runs)
    app.command("demo")(demo.demo)
    app.add_typer(data.app, name="data")
    app.add_typer(pool.app, name="pool")
    return app


def main() -> None:
    """Run the command line and exit with 0 (done), 2 (user error) or 130 (interrupted)."""
    try:
        build_app()(standalone_mode=True)
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
