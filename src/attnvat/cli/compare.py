"""`attnvat compare`: several runs side by side on the same examples, differences with confidence intervals."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from attnvat.cli.evaluate import Data, DataDir, Seed, Split, Suite, made_folder, parse_suites, subject_of
from attnvat.errors import UserError
from attnvat.evaluation.explanations import explain
from attnvat.evaluation.subject import Subject
from attnvat.evaluation.suite import Options, evaluate
from attnvat.progress import stderr
from attnvat.report.compare import compare as compare_evaluations
from attnvat.report.compare import comparison_table
from attnvat.report.comparison_page import write_comparison
from attnvat.training.run import open_run


def compare(
    runs: Annotated[list[Path], typer.Argument(help="Two run folders or more; the others are held against the first.")],
    out: Annotated[Path | None, typer.Option("--out", help="Also write an HTML page to this file.")] = None,
    data: Data = None,
    split: Split = None,
    suite: Suite = "prediction,correlation",
    examples: Annotated[int, typer.Option("--examples", min=0, help="Texts on which runs part, on the page.")] = 8,
    draws: Annotated[int, typer.Option("--draws", min=100, help="Bootstrap resamples.")] = 2000,
    seed: Seed = 0,
    data_dir: DataDir = None,
) -> None:
    """Compare runs on the same examples, each difference with its 95% paired bootstrap interval (bold: zero outside).

    Example: `attnvat compare runs/sst-vanilla runs/sst-ivat --out comparison.html`
    """
    suites = parse_suites(suite)
    if "prediction" not in suites:
        suites = ("prediction", *suites)
    names = _names(runs)
    opened = [open_run(run) for run in runs]
    judged = subject_of(opened[0], data, split, data_dir)
    subjects = [
        Subject(run.pretrained, judged.examples, judged.metric, name) for name, run in zip(names, opened, strict=True)
    ]
    options = Options(importances=("gradient",))
    found = {subject.name: evaluate(subject, suites, seed=seed, options=options) for subject in subjects}
    comparison = compare_evaluations(found, draws=draws, seed=seed)
    Console().print(comparison_table(comparison))
    if out is None:
        return
    # Spread over the examples on which the runs part, so that the first pages of a corpus are not all there is.
    step = max(1, len(comparison.disagreement) // max(1, examples))
    picked = [judged.examples[row] for row in comparison.disagreement[::step][:examples]]
    explained = [explain(subject.pretrained, picked) for subject in subjects]
    stacked = [dict(zip(names, one, strict=True)) for one in zip(*explained, strict=True)]
    facts = {"on": judged.name, "examples": f"{len(judged.examples):,}", "runs": ", ".join(map(str, runs))}
    made_folder(out.parent)
    write_comparison(out, " against ".join(names), comparison, stacked, facts=facts)
    stderr.print(f"wrote {out}", highlight=False, soft_wrap=True, markup=False)


def _names(runs: list[Path]) -> list[str]:
    """A short name for each run: its folder's, or the whole path where two are called alike."""
    if len(runs) < 2:
        raise UserError("compare needs two runs or more; `attnvat evaluate` measures one")
    resolved = [run.resolve() for run in runs]
    for run, path in zip(runs, resolved, strict=True):
        if resolved.count(path) > 1:
            raise UserError(f"{run}: named twice; a run differs from itself by nothing")
    short = [path.name for path in resolved]
    return short if len(set(short)) == len(short) else [str(run) for run in runs]


def register(app: typer.Typer) -> None:
    """Add the command to the app."""
    app.command("compare")(compare)
