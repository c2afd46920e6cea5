"""`attnvat train`: flags, YAML file and record are one and the same config."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

import typer

from attnvat.cli.flags import ConfigFile, chosen_config, with_flags
from attnvat.errors import UserError
from attnvat.interruption import Interrupted
from attnvat.progress import stderr
from attnvat.training import Config, fit, load_data, open_run, prepare
from attnvat.training.devices import on_main_process
from attnvat.training.display import Silent, display_for_terminal
from attnvat.training.run import LIMITS, check_folder, prolonged

EXAMPLE = """
Examples:

    attnvat train --data sst --vectors glove.6B.100d --technique attention-vat --epsilon 0.5

    attnvat train --data reviews.csv --text review --label stars --vectors learn

    attnvat train --resume runs/sst-attention-vat-seed0

    attnvat train --resume runs/sst-attention-vat-seed0 --epochs 20
"""


def train(
    config: ConfigFile = None,
    out: Annotated[Path | None, typer.Option("--out", help="Folder of the run (runs/DATA-TECHNIQUE-seedN).")] = None,
    resume: Annotated[
        Path | None, typer.Option("--resume", help="Go on with the run in this folder, with more --epochs if given.")
    ] = None,
    **flags: Any,
) -> None:
    """Train a classifier; everything about it is on record in the run's folder, and a stopped run can be resumed."""
    given = {name: value for name, value in flags.items() if value is not None}
    if resume:
        resume_run(resume, given, config, out)
        return
    chosen = chosen_config(config, flags)
    folder = out or free_folder(Path("runs"), chosen)
    taken = folder.exists()
    if on_main_process(chosen):
        check_folder(folder)
        stderr.print(f"run: {folder}", highlight=False, markup=False, soft_wrap=True)
    try:
        go(chosen, folder, resume=False)
    except UserError:
        if not taken:
            with suppress(OSError):  # it holds something, or another process has removed it
                folder.rmdir()
        raise


def resume_run(folder: Path, given: dict[str, Any], config: Path | None, out: Path | None) -> None:
    """Go on with a stopped run, or with a finished one for longer; other options than its own are refused."""
    run = open_run(folder)
    if config or out:
        raise UserError("--resume takes its options from the run; leave --config and --out away")
    recorded = run.config.to_dict()
    other = {name: value for name, value in given.items() if recorded[name] != value}
    changed = [f"{name} is {recorded[name]!r} there, {value!r} here" for name, value in other.items()]
    if not set(other) <= set(LIMITS):
        raise UserError(f"{folder}: a run is resumed with its own options: {'; '.join(changed)}")
    if other:
        run = prolonged(run, other)
    if run.result:
        stderr.print(f"{folder} is finished already", highlight=False, markup=False, soft_wrap=True)
        report(run.result, folder)
        return
    go(run.config, folder, resume=True)


def go(config: Config, folder: Path, resume: bool) -> None:
    """Load, prepare, train and say what came out; of several processes only the main one speaks."""
    main = on_main_process(config)
    display = display_for_terminal() if main else Silent()
    prepared = prepare(config, load_data(config))
    for note in prepared.notes:
        display.note(note)
    try:
        trained = fit(config, prepared, folder, resume, display)
    except Interrupted as interrupted:
        if main:
            stderr.print(str(interrupted), highlight=False, markup=False, soft_wrap=True)
        raise typer.Exit(130) from interrupted
    if main:
        report(trained.result, folder)


def report(result: dict[str, Any], folder: Path) -> None:
    """The outcome in two lines."""
    scores = ", ".join(f"{name} {100 * result[name]:.4g}" for name in ("validation", "test") if name in result)
    print(f"{result['metric']}: {scores} (best epoch {result['epoch'] + 1})")
    print(f"next: attnvat evaluate {folder}")


def free_folder(root: Path, config: Config) -> Path:
    """A folder name that says what the run is and is not taken."""
    name = f"{Path(config.data).stem}-{config.technique}-seed{config.seed}"
    candidates = [root / name, *(root / f"{name}-{number}" for number in range(2, 10_000))]
    return next(folder for folder in candidates if not folder.exists() or is_empty(folder))


def is_empty(folder: Path) -> bool:
    """Whether there is nothing in it: what a run that was killed at once leaves behind."""
    return folder.is_dir() and not any(folder.iterdir())


def register(app: typer.Typer) -> None:
    """Add the command to the app."""
    app.command("train", epilog=EXAMPLE)(with_flags(train))
