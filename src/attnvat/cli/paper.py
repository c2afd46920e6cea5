"""`attnvat paper`: the paper's experiments and ours: list, run, watch, and show what is on record."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from attnvat.cli.goes_on import goes_on_later
from attnvat.errors import UserError, nearest
from attnvat.experiments.arms import GROUNDS, Setup
from attnvat.experiments.catalogue import EXPERIMENTS, Experiment, experiment_named
from attnvat.experiments.job import Job
from attnvat.experiments.plan import Order, all_orders, check_only
from attnvat.experiments.pools import POOLS
from attnvat.experiments.ray_runner import run_jobs_on_ray
from attnvat.experiments.records import Places, Records
from attnvat.experiments.results_page import write_page
from attnvat.experiments.rows import Reader
from attnvat.experiments.runner import Outcome, run_jobs, unfinished
from attnvat.experiments.status import Times, duration, progress_of, status_table
from attnvat.experiments.tables import experiment_table
from attnvat.progress import stderr

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="markdown",
    help="The paper's experiments: run them, and show every number beside the paper's.",
)
EVERY = "all"
DEFAULTS = Setup()

Results = Annotated[Path, typer.Option("--results", help="Folder of the records.")]
Work = Annotated[Path, typer.Option("--work", help="Folder for checkpoints, pools and logs.")]
DataDir = Annotated[Path | None, typer.Option("--data-dir", help="Folder with the official files; else $ATTNVAT_DATA.")]
Vectors = Annotated[str, typer.Option("--vectors", help="Word vectors of all runs.")]
PoolName = Annotated[str, typer.Option("--pool", help=f"Unlabelled text: {', '.join(POOLS)}.")]
Data = Annotated[
    list[str] | None, typer.Option("--data", help="Corpora, with commas or repeated; sst (or the first) if not given.")
]
ShownData = Annotated[
    list[str] | None, typer.Option("--data", help="Only these corpora, with commas or repeated; all if not given.")
]


@app.command("list")
def list_experiments() -> None:
    """List the experiments, the corpora they are described for, and how many arms and seeds each has.

    Example: `attnvat paper list`
    """
    console = Console(highlight=False)
    for experiment in EXPERIMENTS.values():
        console.print(f"[bold]{experiment.name}[/bold] ({experiment.paper or 'not in the paper'})")
        sizes = [
            f"{corpus} {len(arms)} arms × {experiment.seeds_on(corpus)} seeds"
            for corpus, arms in experiment.arms.items()
        ]
        for line in (experiment.question, " · ".join(sizes)):
            console.print(Padding(Text(line), (0, 0, 0, 2)))


@app.command()
def run(
    experiment: Annotated[str, typer.Argument(help="Name of an experiment, or `all`.")],
    data: Data = None,
    techniques: Annotated[
        str | None, typer.Option("--techniques", help="Only these, with commas; vanilla is always run.")
    ] = None,
    labelled_only: Annotated[
        bool, typer.Option("--labelled-only", help="Only arms without unlabelled text: a fraction of the time.")
    ] = False,
    only: Annotated[
        str,
        typer.Option(
            "--only",
            metavar="NAME",
            help="Only runs called so, without their seed; \\* stands for anything: 'sst-\\*-news-50000-\\*'.",
        ),
    ] = "",
    seeds: Annotated[int | None, typer.Option("--seeds", min=1, help="Seeds of each arm: 0, 1, …")] = None,
    trials: Annotated[
        int | None, typer.Option("--trials", min=0, help="Search runs of each arm; 0 leaves ε at its default.")
    ] = None,
    jobs: Annotated[int, typer.Option("--jobs", min=1, help="Processes on this machine; they share its cores.")] = 1,
    ray: Annotated[
        str | None, typer.Option("--ray", metavar="ADDRESS|local", help="Run on a Ray cluster instead.")
    ] = None,
    cores: Annotated[int, typer.Option("--cores", min=1, help="Cores of each job on Ray.")] = 1,
    vectors: Vectors = DEFAULTS.vectors,
    pool: PoolName = DEFAULTS.pool,
    data_dir: DataDir = None,
    results: Results = Path("results"),
    work: Work = Path("runs/paper"),
    keep_models: Annotated[bool, typer.Option("--keep-models", help="Keep the trained models in --work.")] = False,
) -> None:
    """Run an experiment: first the searches that choose ε on validation data, then every arm with every seed.

    Finished runs are never run again and interrupted ones go on from their checkpoints: after Ctrl-C, run the same
    command again.

    Example: `attnvat paper run table-prediction --data sst --seeds 5 --jobs 2`
    """
    setup = Setup(vectors, checked_pool(pool))
    places = Places(results, work, str(data_dir) if data_dir else None, keep_models)
    chosen = list(EXPERIMENTS.values()) if experiment == EVERY else [experiment_named(experiment)]
    names = tuple(split(techniques))
    orders = [
        Order(e, c, names, seeds, trials, setup, labelled_only, only)
        for e in chosen
        if (c := corpora(e, data, experiment == EVERY))
    ]
    check_only(orders)
    awaited: set[str] = set()
    for stage in ("searches", "runs"):
        records = Records(results)
        found = [
            job
            for order in orders
            for job in (order.searches() if stage == "searches" else order.trials(records, awaited))
        ]
        todo = unfinished(found, records)
        stderr.print(f"{stage}: {len({job.identity for job in found}) - len(todo)} on record, {len(todo)} to do")
        if todo:
            outcome = carry_out(todo, places, jobs, ray, cores)
            if outcome.busy:
                stderr.print(f"{len(outcome.busy)} are being done by another process; run this again when it is done")
            outcome.raise_failures()
            awaited |= {job.identity for job in outcome.busy}
    stderr.print(f"next: attnvat paper show {'' if experiment == EVERY else experiment}", highlight=False)


def carry_out(todo: Sequence[Job], places: Places, jobs: int, ray: str | None, cores: int) -> Outcome:
    """Do the jobs, saying what happens and how long the rest may take."""
    left = {job.identity: job for job in todo}

    def told(what: str, job: Job) -> None:
        if what == "started":
            stderr.print(f"started  {job.name}", highlight=False, soft_wrap=True)
            return
        left.pop(job.identity, None)
        times = Times(Records(places.results))
        guesses = [guess for one in left.values() if (guess := times.guess(one)) is not None]
        rest = f"about {duration(sum(guesses) / jobs)} left" if guesses else f"{len(left)} left"
        line = f"{what:8} {job.name} ({len(todo) - len(left)} of {len(todo)}; {rest})"
        stderr.print(line, highlight=False, soft_wrap=True)

    with goes_on_later():
        if ray is not None:
            return run_jobs_on_ray(todo, places, ray, cores, told)
        return run_jobs(todo, places, jobs, told)


@app.command()
def status(
    experiment: Annotated[str | None, typer.Argument(help="Name of an experiment; all if not given.")] = None,
    data: ShownData = None,
    seeds: Annotated[int | None, typer.Option("--seeds", min=1, help="Seeds of each arm.")] = None,
    trials: Annotated[int | None, typer.Option("--trials", min=0, help="Search runs of each arm.")] = None,
    jobs: Annotated[int, typer.Option("--jobs", min=1, help="Processes to reckon the time left with.")] = 1,
    vectors: Vectors = DEFAULTS.vectors,
    pool: PoolName = DEFAULTS.pool,
    results: Results = Path("results"),
    work: Work = Path("runs/paper"),
) -> None:
    """Show how many searches and runs of each experiment are finished, begun and to do, and the time left.

    Example: `attnvat paper status table-prediction --data sst,imdb --jobs 2`
    """
    names = [experiment_named(experiment).name] if experiment else []
    records, places = Records(results), Places(results, work)
    times = Times(records)
    orders = [
        order
        for order in all_orders(Setup(vectors, checked_pool(pool)), names, seeds, trials)
        if set(order.corpora) & set(corpora(order.experiment, data, every=not (names and data)))
    ]
    rows = [progress_of(order, records, places, times) for order in orders]
    Console().print(status_table(rows, jobs))
    stderr.print("experiments share runs: the times are of each alone, and do not add up", highlight=False)


@app.command()
def show(
    experiment: Annotated[str | None, typer.Argument(help="Name of an experiment; all if not given.")] = None,
    data: ShownData = None,
    latex: Annotated[bool, typer.Option("--latex", help="As LaTeX.")] = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="As Markdown.")] = False,
    write: Annotated[
        Path | None, typer.Option("--write", help="Write the whole results page here, figures beside it.")
    ] = None,
    vectors: Vectors = DEFAULTS.vectors,
    pool: PoolName = DEFAULTS.pool,
    results: Results = Path("results"),
) -> None:
    """Show the tables from the records: ours, mean ± sd over seeds, beside the paper's.

    Example: `attnvat paper show table-prediction --data sst`, or `attnvat paper show --write docs/results.md`
    """
    records, setup = Records(results), Setup(vectors, checked_pool(pool))
    reader = Reader(records, setup)
    if write:
        for file in write_page(write, records, setup):
            stderr.print(f"wrote {file}", highlight=False, soft_wrap=True)
        return
    chosen = [experiment_named(experiment)] if experiment else list(EXPERIMENTS.values())
    console = Console()
    for one in chosen:
        for corpus in corpora(one, data, every=True):
            table = experiment_table(one, corpus, reader)
            if latex:
                print(table.latex(f"tab:{one.name}-{corpus}"))
            elif markdown:
                print(table.markdown())
            else:
                console.print(table)


def corpora(experiment: Experiment, data: list[str] | None, every: bool) -> tuple[str, ...]:
    """The corpora asked for that the experiment is described for; with none named, all of them or the first."""
    named = [name for text in data or [] for name in split(text)]
    for name in named:
        if name not in GROUNDS:
            raise UserError(f"no experiment is described for {name!r}; {nearest(name, GROUNDS)}")
    if named:
        found = tuple(name for name in named if name in experiment.arms)
        if not found and not every:
            raise UserError(f"{experiment.name} is run on {', '.join(experiment.arms)}, not on {', '.join(named)}")
        return found
    return tuple(experiment.arms) if every else tuple(experiment.arms)[:1]


def checked_pool(name: str) -> str:
    """The pool's name, if there is one of that name."""
    if name not in POOLS:
        raise UserError(f"no pool {name!r}; {nearest(name, POOLS)}")
    return name


def split(text: str | None) -> list[str]:
    """Names with commas between."""
    return [name.strip() for name in (text or "").split(",") if name.strip()]


def register(parent: typer.Typer) -> None:
    """Add the group of commands to the app."""
    parent.add_typer(app, name="paper")
