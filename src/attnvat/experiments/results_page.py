"""docs/results.md: the whole page and its figures from the records in `results/`, and from nothing else."""

from __future__ import annotations

from pathlib import Path

from attnvat.errors import UserError
from attnvat.experiments.arms import Setup
from attnvat.experiments.catalogue import EXPERIMENTS, Experiment
from attnvat.experiments.claims import claiming_commands, claims_in_short, claims_table
from attnvat.experiments.commands import command, regenerate
from attnvat.experiments.figures import amount_figure, strength_figure
from attnvat.experiments.findings import compared, in_short, said
from attnvat.experiments.paper_numbers import DISAGREEMENTS
from attnvat.experiments.records import Records
from attnvat.experiments.rows import TITLES, Reader
from attnvat.experiments.setup_notes import corpora_table, differences_from_paper
from attnvat.experiments.tables import MAKERS
from attnvat.storage import atomic_write

FIGURES = {"figure-amount": amount_figure, "figure-strength": strength_figure}
"""Experiment → the function that draws its figure for a corpus."""
READING_GUIDE = """
Every number is the mean ± standard deviation over seeds of runs on record in `results/runs`; a cell says *not run*
where there are none, and a table with nothing to compare yet only says how to run it. Differences to vanilla are
paired by seed (same order of data, same unlabelled sample, and the same initial weights where the vocabulary is the
same and no language model gives others). Rows with unlabelled text or a language model know more words than the
labelled texts have; vanilla, for them, is *vanilla, words of the vectors*, and averaged where they are, if the table
has such a row (with all of IMDB's labels it has not). Brackets are 95% bootstrap intervals over seeds. *p* is from an
exact sign-flip test, corrected by Holm over the table's rows of six seeds or more (fewer cannot give a p of 0.05, and
are not tested), and with few labels over those with as many. Single choices, readings of the basis and ways of
selection are held against the same run without, and corrected over the rows of one choice. A row that an earlier table
has too is *tested above*, so that no comparison has two verdicts. Means of rows with unequally many seeds are not to be
held against each other by eye: differences are over the seeds that both have. A row is called *better* or *worse* only
if its interval leaves out zero and its corrected p is at most 0.05; *too few seeds* means that so few seeds could not
decide it whatever they had shown (five seeds cannot give a p below 0.0625). The last column of the prediction tables
draws seeds and test texts anew: an interval for the difference in accuracy that covers both. ε and dropout were chosen
on validation data alone.
"""
CLAIMS = """
The numbers of the paper's own two techniques with unlabelled text, what its recipe gives here (ε searched, nothing
added), and a row with options that are not in the paper and that reaches both numbers, or comes nearest. Such a row is
picked by its test scores: it shows that the numbers can be had, not that one would have chosen it. The paper tests on a
random fifth of IMDB's short test reviews, and its draw is not known: where a row was measured on all of them, *draws*
are the random fifths on which it has at least the paper's F1. All rows are
[further down](#the-papers-claims-row-by-row); below the table are the commands that run these.
"""


def results_page(records: Records, setup: Setup, figures: str = "figures") -> tuple[str, dict[str, str]]:
    """The page in Markdown, and its figures as SVG by file name."""
    drawn: dict[str, str] = {}
    reader = Reader(records, setup)
    parts = ["# Results", "", counted(records), READING_GUIDE.strip(), ""]
    parts += ["This page is written by `attnvat paper show --write docs/results.md` from the records.", ""]
    parts += ["## The paper's claims", "", CLAIMS.strip(), "", claims_in_short(reader).markdown()]
    parts += [*(f"- {line}" for line in claiming_commands(reader)), ""]
    parts += ["## In short", "", *in_short(reader)]
    parts += ["## What differs from the paper", ""]
    parts += [f"- {sentence}" for sentence in differences_from_paper(records)]
    parts += ["", corpora_table(records).markdown()]
    parts += ["Where the paper's own numbers disagree:", "", *(f"- {sentence}" for sentence in DISAGREEMENTS), ""]
    parts += ["## The paper's claims, row by row", "", claims_table(reader).markdown()]
    for experiment in EXPERIMENTS.values():
        parts += experiment_part(experiment, reader, drawn, figures)
    return "\n".join(parts).rstrip() + "\n", drawn


def write_page(path: Path, records: Records, setup: Setup) -> list[Path]:
    """Write the page and its figures beside it; the files written."""
    page, drawn = results_page(records, setup)
    folder = path.parent / "figures"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"{folder}: cannot be made ({error.strerror}); name another file with --write") from error
    for file, text in {path: page, **{folder / name: svg for name, svg in drawn.items()}}.items():
        with atomic_write(file) as handle:
            handle.write(text)
    return [path, *(folder / name for name in drawn)]


def counted(records: Records) -> str:
    """How much stands behind the page."""
    hours = sum(sum(run["seconds"].values()) for run in records.runs.values())
    hours += sum(float(search["seconds"]) for search in records.searches.values())
    searched = sum(len(search["tried"]) for search in records.searches.values())
    return (
        f"{len(records.runs):,} runs and {len(records.searches):,} searches of {searched:,} runs are on record, "
        f"{hours / 3600:.1f} hours of computing.\n"
    )


def experiment_part(experiment: Experiment, reader: Reader, drawn: dict[str, str], figures: str) -> list[str]:
    """The section of an experiment: question, tables, figure, and the command that makes each table."""
    where = f" (the paper's {experiment.paper.removeprefix('the ')})" if experiment.paper else ""
    parts = [f"## {experiment.title}{where}", "", experiment.question, ""]
    for corpus in experiment.arms:
        rows = reader.rows(experiment, corpus)
        parts += [f"### {TITLES[corpus]}", ""]
        if not compared(rows):
            seeds = experiment.seeds_on(corpus)
            parts += [f"Not run yet: `{command(experiment, corpus, reader.setup, rows, seeds)}`", ""]
            continue
        draw = FIGURES.get(experiment.name)
        svg = draw(rows, TITLES[corpus]) if draw else None
        if svg:
            name = f"{experiment.name.removeprefix('figure-')}-{corpus}.svg"
            drawn[name] = svg
            parts += [f"![{experiment.title}: {experiment.question}]({figures}/{name})", ""]
        sentence = " ".join(said(rows, experiment)) or "Too few seeds to call any row better or worse."
        parts += [MAKERS[experiment.name](rows, corpus).markdown(), sentence, ""]
        parts += [regenerate(experiment, corpus, reader.setup, rows), ""]
    return parts
