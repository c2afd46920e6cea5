"""Tables: the same cells as Markdown, LaTeX and on a terminal, whatever text is in them."""

from __future__ import annotations

import io
import math

import pytest
from rich.console import Console

from attnvat.report.bootstrap import Interval
from attnvat.report.tables import Spread, Table, cell, number, spread


def test_cells() -> None:
    assert cell(Spread(0.8424, 0.0081)) == "0.842 ± 0.008"
    assert cell(Spread(0.5)) == "0.500"
    assert cell(Spread(math.nan, 0.1)) == "–"
    assert cell(Interval(0.0123, 0.003, 0.0214)) == "0.012 [0.003, 0.021]"
    assert cell(Interval(-0.0123, -0.02, math.nan)) == "−0.012"
    assert cell(1821) == "1,821"
    assert cell(None) == cell(math.inf) == "–"
    assert number(-0.0004, 3) == "0.000"
    assert number(-1.5, 1) == "−1.5"
    assert cell("a\x1b[31m") == "a␛[31m"


def test_spread_is_the_sample_standard_deviation() -> None:
    # Mean of 1, 2, 6 is 3; squared distances 4 + 1 + 9 = 14; 14 / 2 = 7.
    assert spread([1, 2, 6]) == Spread(3.0, math.sqrt(7))
    assert spread([2.5]) == Spread(2.5, None)
    assert math.isnan(spread([]).mean)


def example() -> Table:
    table = Table(["run", "F1"], [["a|b_c", Spread(0.81, 0.01)], ["50% & more", Spread(0.84, 0.02)]], "Scores", 2)
    return table.best(1)


def test_markdown() -> None:
    assert example().markdown() == (
        "Scores\n\n| run | F1 |\n|---|---:|\n| a\\|b\\_c | 0.81 ± 0.01 |\n| 50% &amp; more | **0.84 ± 0.02** |\n"
    )


def test_latex() -> None:
    text = example().latex("tab:scores")
    assert r"a|b\_c & 0.81 $\pm$ 0.01 \\" in text
    assert r"50\% \& more & \textbf{0.84 $\pm$ 0.02} \\" in text
    assert r"\begin{tabular}{lr}" in text
    assert r"\label{tab:scores}" in text
    assert Table(["\\x{}"], []).latex().count(r"\textbackslash{}x\{\}") == 1


def test_best_marks_ties_and_can_prefer_less() -> None:
    table = Table(["a", "b"], [["x", 0.5001], ["y", 0.5004], ["z", None]], digits=3).best(1)
    assert table.bold == {(0, 1), (1, 1)}
    assert Table(["a"], [[3.0], [1.0]]).best(0, highest=False).bold == {(1, 0)}
    assert Table(["a"], [["only text"]]).best(0).bold == set()


def test_rich_reads_no_markup_from_cells() -> None:
    table = Table(["[red]name", "n"], [["[bold]x[/bold] \x1b[2J", 1]])
    console = Console(file=io.StringIO(), width=80, no_color=True)
    console.print(table)
    printed = console.file.getvalue()  # type: ignore[attr-defined]
    assert "[red]name" in printed
    assert "[bold]x[/bold] ␛[2J" in printed
    assert "\x1b[2J" not in printed


def test_long_headings_over_numbers_do_not_push_the_words_out() -> None:
    names = ["sst-attention-ivat-seed0", "sst-attention-vat-seed0", "sst-word-ivat-with-news-seed0"]
    console = Console(width=80, file=io.StringIO())
    console.print(Table(["measure", *names], [["Probability of the truth", 0.784, 0.802, 0.799]]))
    shown = console.file.getvalue()  # type: ignore[attr-defined]
    assert "Probability of" in shown
    assert "0.799" in shown


@pytest.mark.parametrize(("width", "parts"), [(60, 7), (80, 4), (200, 1)])
def test_a_terminal_shows_every_number_of_a_wide_table_whole(width: int, parts: int) -> None:
    numbers = [f"{place}.{place:03} [−0.123, 0.456]" for place in range(6)]
    names = [f"Δ {place}" for place in range(6)]
    rows = [["attention-ivat, averaged weights, with all that goes with it", 5, *numbers], ["vanilla", 10, *["–"] * 6]]
    console = Console(width=width, file=io.StringIO())
    console.print(Table(["technique", "seeds", *names], rows, "What is told"))
    shown = console.file.getvalue()  # type: ignore[attr-defined]
    assert all(shown.count(number) == 1 for number in [*numbers, *names, "What is told"])
    # Every part says whose numbers it has.
    assert shown.count("technique") == shown.count("vanilla") == parts
    assert max(map(len, shown.splitlines())) <= width
