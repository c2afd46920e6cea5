"""What the paper reports of its own two techniques with unlabelled text, and which of our rows reach it."""

from __future__ import annotations

from collections.abc import Sequence

from attnvat.experiments.catalogue import EXPERIMENTS
from attnvat.experiments.commands import command_of_row
from attnvat.experiments.draws import share_of_draws
from attnvat.experiments.paper_numbers import CORRELATION, PREDICTION
from attnvat.experiments.rows import NOT_RUN, PEARSON, SCORE, TITLES, WHOLE_COLUMN, Reader, Record, Row
from attnvat.report.tables import Cell, Table, number

CLAIMED = ("attention-vat", "attention-ivat")
"""The paper's own techniques."""
CLAIMS = tuple((corpus, technique) for corpus in ("sst", "imdb") for technique in CLAIMED)
FAITHFUL = "table-prediction"
"""The experiment whose arms are the paper's."""
OURS = (
    "table-mixing",
    "table-dropout",
    "table-context",
    "table-pretraining",
    "table-averaging",
    "table-teacher",
    "table-phrases",
    "table-larger",
)
"""Experiments on options that are not in the paper, and may reach what it reports."""
DRAWS_COLUMN = "draws that reach the F1"
MEASURES = ((SCORE, PREDICTION, 2), (PEARSON, CORRELATION, 3))
"""What is claimed, the paper's numbers of it, and with how many digits."""


def claims_in_short(reader: Reader) -> Table:
    """Of each claim the plain recipe's numbers, and a row that reaches both of the paper's, or comes nearest."""
    cells: list[Sequence[Cell]] = []
    for corpus, technique in CLAIMS:
        own = rows_of(reader, corpus, technique)
        plain, *_ = own
        paper = [number(table[technique][corpus], digits) for _, table, digits in MEASURES]
        found = best_row(own, corpus)
        said = f"{found.arm.name}{begun(found)} ({support(found)})" if found else highest(own)
        said = f"nearest: {said}" if found and not all(reached(found, corpus)) else said
        cells.append(
            [TITLES[corpus], technique, *paper, *numbers(plain), *(numbers(found) if found else ["–", "–"]), said]
        )
    columns = ["corpus", "technique", "paper: F1", "correlation", "plain recipe: F1", "correlation"]
    return Table([*columns, "with options: F1", "correlation", "which"], cells)


def claiming_commands(reader: Reader) -> list[str]:
    """The commands that run the rows with options that `claims_in_short` shows."""
    found = []
    for corpus, technique in CLAIMS:
        row = best_row(rows_of(reader, corpus, technique), corpus)
        if row:
            experiments = [EXPERIMENTS[name] for name in (FAITHFUL, *OURS)]
            first = next(one for one in experiments if row.arm in one.arms.get(corpus, []))
            made = command_of_row(first, corpus, reader.setup, row)
            found.append(f"{TITLES[corpus]}, {technique}: `{made}`")
    return found


def claims_table(reader: Reader) -> Table:
    """All rows of the claimed techniques, and whether each reaches the paper's numbers.

    The arms of the paper's tables are shown in any case, our other ones once they are run.
    """
    cells: list[Sequence[Cell]] = []
    for corpus in ("sst", "imdb"):
        for row in claiming_rows(reader, corpus):
            arm = row.arm
            line: list[Cell] = [TITLES[corpus], arm.name, row.pretrained, row.unlabelled, row.mixed, len(row.records)]
            for text, (_, table, digits), yes in zip(numbers(row), MEASURES, reached(row, corpus), strict=True):
                said = NOT_RUN if yes is None else "yes" if yes else "no"
                line += [text, number(table[arm.technique][corpus], digits), said]
            share = row.mean(reaching_draws)
            cells.append([*line, row.whole, "–" if share is None else f"{share:.0f}%"])
    columns = ["corpus", "technique", "language model of", "unlabelled", "for each labelled", "seeds"]
    return Table(
        [*columns, "F1", "paper", "reached", "correlation", "paper", "reached", WHOLE_COLUMN, DRAWS_COLUMN], cells
    )


def claiming_rows(reader: Reader, corpus: str) -> list[Row]:
    """The claimed techniques' rows with unlabelled text: the paper's, and ours that are run."""
    faithful = EXPERIMENTS[FAITHFUL].arms[corpus]
    arms = dict.fromkeys([*faithful, *(arm for name in OURS for arm in EXPERIMENTS[name].arms.get(corpus, []))])
    rows = [reader.row(arm, corpus) for arm in arms if arm.unlabelled and arm.technique in CLAIMED]
    return [row for row in rows if row.arm in faithful or row.records]


def rows_of(reader: Reader, corpus: str, technique: str) -> list[Row]:
    """The claiming rows of one technique, the plain recipe's first."""
    return [row for row in claiming_rows(reader, corpus) if row.arm.technique == technique]


def best_row(rows: Sequence[Row], corpus: str) -> Row | None:
    """The row that reaches both numbers; of several the one with most seeds, and then the first.

    Where none does it is the one with the highest F1 of those that reach the correlation, if they have options.
    """
    reaching = [row for row in rows if all(reached(row, corpus))]
    if reaching:
        return max(reaching, key=lambda row: len(row.records))
    truthful = [row for row in rows[1:] if reached(row, corpus)[1]]
    return max(truthful, key=lambda row: row.mean(SCORE) or 0.0) if truthful else None


def reached(row: Row, corpus: str) -> list[bool | None]:
    """Whether the row's mean of each measure is at least the paper's number; None where it was not run."""
    found = []
    for measure, table, digits in MEASURES:
        mean = row.mean(measure)
        found.append(None if mean is None else round(mean, digits) >= table[row.arm.technique][corpus])
    return found


def numbers(row: Row) -> list[Cell]:
    """The row's measures as text."""
    return [row.text(measure, digits) for measure, _, digits in MEASURES]


def begun(row: Row) -> str:
    """What the row begins from, where that is a language model."""
    return f", language model of {row.pretrained}" if row.arm.pretrained else ""


def support(row: Row) -> str:
    """How many seeds a row has, and its score on all texts that those of test are drawn from."""
    seeds = f"{len(row.records)} seed{'s' if len(row.records) > 1 else ''}"
    share = row.mean(reaching_draws)
    return seeds if share is None else f"{seeds}; {WHOLE_COLUMN} {row.whole}, reached on {share:.0f}% of draws"


def highest(rows: list[Row]) -> str:
    """The highest of each measure, where no row with options reaches the correlation."""
    found = []
    for measure, name, digits in ((SCORE, "F1", 2), (PEARSON, "correlation", 3)):
        means = [mean for row in rows if (mean := row.mean(measure)) is not None]
        found += [f"{name} {number(max(means), digits)}"] if means else []
    return f"none reaches both; highest of all rows: {', '.join(found)}" if found else NOT_RUN


def reaching_draws(record: Record) -> float | None:
    """On how many draws of as many test texts, in percent, a run has at least the paper's F1; None where it was not
    measured on all texts that they are drawn from.
    """
    whole = record["measured"].get("whole")
    if not whole:
        return None
    paper = PREDICTION[record["config"]["technique"]][record["data"]["corpus"]]
    return 100 * share_of_draws(whole["prediction"]["confusion"], record["data"]["n_test"], paper)
