"""`attnvat evaluate`: measure a run, write `evaluation.json` and `report.html`, print the numbers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.console import Console

from attnvat.corpora import CORPORA
from attnvat.corpora.corpus import Metric
from attnvat.errors import UserError, nearest
from attnvat.evaluation.explanations import Explanation, explain
from attnvat.evaluation.own_rationales import read_rationales
from attnvat.evaluation.subject import Subject
from attnvat.evaluation.suite import SUITES, Options
from attnvat.evaluation.suite import evaluate as evaluate_subject
from attnvat.progress import stderr
from attnvat.report.page import write_report
from attnvat.report.selection import rows_to_show, select_examples
from attnvat.report.summary import summary
from attnvat.storage import write_json
from attnvat.training.run import Run, open_run

EVALUATION, REPORT = "evaluation.json", "report.html"
ALL = "all"

Data = Annotated[
    str | None, typer.Option("--data", help="Other data to judge it on: a corpus, a file, a folder or hf:NAME.")
]
DataDir = Annotated[
    Path | None,
    typer.Option("--data-dir", help="Folder with the official files; else $ATTNVAT_DATA, then ~/.cache/attnvat."),
]
Split = Annotated[
    str | None,
    typer.Option("--split", help="Which examples: test, validation, train, a further split, or all of them. "
                 "[default: test; all of your own file named by --data]"),
]  # fmt: skip
Suite = Annotated[str, typer.Option("--suite", help=f"What to measure, comma-separated: {', '.join(SUITES)}, or all.")]
Seed = Annotated[int, typer.Option("--seed", help="Seed of the samples and random perturbations.")]


def evaluate(
    run: Annotated[Path, typer.Argument(help="A run's folder.")],
    data: Data = None,
    split: Split = None,
    suite: Suite = "prediction,correlation",
    out: Annotated[Path | None, typer.Option("--out", help="Folder for the results; else the run's own.")] = None,
    rationales: Annotated[
        Path | None, typer.Option("--rationales", help="JSONL of your own: text, label, rationale [[start, end], …].")
    ] = None,
    examples: Annotated[int, typer.Option("--examples", min=0, help="Examples of each kind shown in the report.")] = 6,
    seed: Seed = 0,
    data_dir: DataDir = None,
) -> None:
    """Measure a run: does it predict, does its attention tell the truth, does it hold under attack.

    Writes `evaluation.json` and a self-contained `report.html`, and prints the numbers.

    Example: `attnvat evaluate runs/sst --suite prediction,correlation,robustness`
    """
    suites = parse_suites(suite)
    opened = open_run(run)
    if rationales is None:
        subject = subject_of(opened, data, split, data_dir)
    else:
        suites = tuple(name for name in SUITES if name in (*suites, "rationales"))
        subject = own_rationales(opened, rationales)
    found = evaluate_subject(subject, suites, seed=seed, options=options_for(suites))
    found["subject"]["run"] = str(run)
    folder = made_folder(out or run)
    write_json(folder / EVALUATION, found)
    shown = telling_examples(subject, found, examples) if examples else []
    count = f"{len(subject.examples):,}"
    facts = {"run": run, "on": subject.name, "technique": opened.config.technique, "examples": count}
    foot = [f"Written by `attnvat evaluate {run}`; the numbers are in {EVALUATION} beside this page."]
    write_report(folder / REPORT, f"{run.resolve().name}: evaluation", found, shown, facts=facts, foot=foot)
    Console().print(summary(found))
    stderr.print(f"wrote {folder / EVALUATION} and {folder / REPORT}", highlight=False, soft_wrap=True, markup=False)


def parse_suites(text: str) -> tuple[str, ...]:
    """The suites named, in their own order; `all` names every one."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    if names == [ALL]:
        return tuple(SUITES)
    if not names:
        raise UserError(f"--suite names nothing; known: {', '.join(SUITES)}")
    for name in names:
        if name not in SUITES:
            raise UserError(f"unknown suite {name!r}; {nearest(name, [*SUITES, ALL])}")
    return tuple(name for name in SUITES if name in names)


def subject_of(run: Run, data: str | None, split: str | None, data_dir: Path | None) -> Subject:
    """The run's model with the examples to judge it on, named by corpus and split."""
    corpus = run.corpus(data, data_dir)
    splits = {name: found for name, found in corpus.splits().items() if name != "unlabelled"}
    other_file = data is not None and data != run.config.data and data not in CORPORA
    wanted = split or (ALL if other_file else "test")
    if wanted == ALL:
        chosen = [example for found in splits.values() for example in found]
    elif wanted in splits:
        chosen = splits[wanted]
    else:
        raise UserError(f"{corpus.name} has no split {wanted!r}; {nearest(wanted, [*splits, ALL])}")
    return Subject(run.pretrained, chosen, corpus.metric, f"{corpus.name}, {wanted}")


def own_rationales(run: Run, path: Path) -> Subject:
    """The run's model with people's own examples, whose rationales are spans of characters."""
    pretrained = run.pretrained
    metric: Metric = "f1" if len(pretrained.labels) == 2 else "accuracy"
    return Subject(pretrained, read_rationales(path, pretrained.tokenizer), metric, path.name)


def telling_examples(subject: Subject, evaluation: dict[str, object], each: int) -> list[Explanation]:
    """Explanations of the examples worth looking at; how sure a wrong prediction was is judged by the truth's share."""
    part = evaluation.get("prediction")
    count = len(subject.examples)
    right, sure = None, np.zeros(count)
    if isinstance(part, dict):
        instances = part["instances"]
        right = np.asarray(instances["label"]) == np.asarray(instances["prediction"])
        truth = np.asarray(instances["probability"], dtype=np.float64)
        sure = np.where(right, truth, 1 - truth)
    correlations = None
    part = evaluation.get("correlation")
    if isinstance(part, dict) and part["instances"]:
        first = next(iter(part["instances"].values()))
        correlations = np.full(count, np.nan)
        correlations[first["rows"]] = [np.nan if value is None else value for value in first["pearson"]]
    rows = rows_to_show(select_examples(sure, right, correlations, each))
    return explain(subject.pretrained, [subject.examples[row] for row in rows])


def options_for(suites: tuple[str, ...]) -> Options:
    """The usual options; costly importances only where correlation is asked for."""
    return Options() if "correlation" in suites else replace(Options(), importances=("gradient",))


def made_folder(folder: Path) -> Path:
    """The folder, made where it is not there yet."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"{folder}: cannot be made ({error.strerror}); name another with --out") from error
    return folder


def register(app: typer.Typer) -> None:
    """Add the command to the app."""
    app.command("evaluate")(evaluate)
