"""The figures: scores against the amount of unlabelled text and against ε, validation scores against what was tried."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from attnvat.experiments.rows import FEWEST, FLIPS, PEARSON, SCORE, VALIDATION, Measure, Row, plain_of
from attnvat.experiments.search import Tried, best_of
from attnvat.experiments.space import Space
from attnvat.report.drawing import ATTENTION, IMPORTANCE, INK, MUTED, THIRD, drawing, in_its_own_file, logarithmic
from attnvat.report.tables import Spread

LOOKS = (
    (ATTENTION, "o", "-"),
    (IMPORTANCE, "s", (0, (5, 2))),
    (THIRD, "^", (0, (3, 1, 1, 1))),
    (INK, "D", (0, (1, 1))),
)

ASIDE = 0.01
"""Share of a figure's width between the error bars of lines at the same place."""


@dataclass(frozen=True)
class Panel:
    """One measure against what a figure varies."""

    title: str
    measure: Measure
    unit: str


def amount_figure(rows: Sequence[Row], title: str) -> str | None:
    """Validation and test scores against N_u as SVG, one line a technique with sd over seeds; None without records."""
    panels = [Panel(name, measure, "F1, percent") for name, measure in (("validation", VALIDATION), ("test", SCORE))]
    describes = f"{title}: scores against the amount of unlabelled text, mean and standard deviation over seeds"
    along = "unlabelled texts N_u, thousands"
    return curves("amount", describes, rows, panels, along, lambda row: (row.arm.amount or 0) / 1000)


def strength_figure(rows: Sequence[Row], title: str) -> str | None:
    """Prediction, correlation and flips against ε as SVG, one line a technique; None without records."""
    panels = [
        Panel("test F1", SCORE, "percent"),
        Panel("attention against gradients", PEARSON, "Pearson's correlation"),
        Panel("flips under attention ε 1", FLIPS, "percent"),
    ]
    describes = f"{title}: prediction, correlation and flips against ε, mean and standard deviation over seeds"
    return curves("strength", describes, rows, panels, "ε", lambda row: row.arm.epsilon or 0.0, log=True)


def curves(
    name: str,
    describes: str,
    rows: Sequence[Row],
    panels: Sequence[Panel],
    along: str,
    place: Callable[[Row], float],
    log: bool = False,
) -> str | None:
    """A panel for each measure, a line for each technique at the `place` of its rows, vanilla as a level.

    Vanilla that knows as many words as the rows with unlabelled text is a second level. Rows with too few seeds are not
    drawn: they would take the others' spread away.
    """
    levels = {"vanilla": plain_of(rows)} | {row.arm.name: row for row in rows if row.arm.wide and row.records}
    techniques = list(dict.fromkeys(row.arm.technique for row in rows if row.arm.technique != "vanilla"))
    lines = {
        one: [row for row in rows if row.arm.technique == one and len(row.records) >= FEWEST] for one in techniques
    }
    lines = {one: sorted(found, key=place) for one, found in lines.items() if found}
    if not lines:
        return None
    # Lines and level over the same seeds: those that all of them have.
    seeds = set.intersection(*(set(row.records) for found in lines.values() for row in found))
    places = [place(row) for found in lines.values() for row in found]
    ends = min(places), max(places)
    with drawing(name, describes, 4.8 * len(panels), 3.4, len(panels)) as drawn:
        for axes, panel in zip(drawn.axes, panels, strict=True):
            if log:
                logarithmic(axes)
            for number, ((technique, found), (colour, marker, dash)) in enumerate(
                zip(lines.items(), LOOKS, strict=False)
            ):
                share = (number - (len(lines) - 1) / 2) * ASIDE
                cells = [row.cell(panel.measure, seeds) for row in found]
                known = [(row, c) for row, c in zip(found, cells, strict=True) if isinstance(c, Spread)]
                axes.errorbar(
                    [aside(place(row), share, *ends, log) for row, _ in known],
                    [c.mean for _, c in known],
                    yerr=[c.sd or 0.0 for _, c in known],
                    color=colour,
                    marker=marker,
                    linestyle=dash,
                    markersize=4,
                    capsize=3,
                    elinewidth=0.9,
                    label=technique,
                )
            for (name, row), dash in zip(levels.items(), ((0, (2, 3)), "-"), strict=False):
                level = row.mean(panel.measure, seeds)
                if level is not None:
                    axes.axhline(level, color=MUTED, linewidth=0.9, linestyle=dash, label=name)
            axes.set_title(panel.title, fontsize=10, loc="left")
            axes.set(xlabel=along, ylabel=panel.unit)
            axes.grid(axis="y")
        handles, labels = drawn.axes[0].get_legend_handles_labels()
        drawn.figure.legend(handles, labels, fontsize=8, loc="outside lower center", ncols=len(labels))
    return in_its_own_file(drawn.svg)


def aside(place: float, share: float, low: float, high: float, log: bool) -> float:
    """The place moved by a share of the way from lowest to highest, so that bars do not hide each other."""
    return float(place * (high / low) ** share) if log else place + share * (high - low)


def search_figure(tried: Sequence[Tried], space: Space, title: str) -> str:
    """Validation score against ε (or dropout) as SVG: every finished run, runs cut short, and the chosen one."""
    best = best_of(tried)
    shown = "ε" if space.option == "epsilon" else space.option
    groups = space.readings or ("",)
    with drawing("search", f"{title}: validation score against {shown}", 6.4, 3.6) as drawn:
        axes = drawn.axes[0]
        for group, (colour, marker, _) in zip(groups, [*LOOKS, (MUTED, "v", "-")], strict=False):
            mine = [run for run in tried if run.options.get("reading", "") == group]
            done = [run for run in mine if run.validation is not None]
            cut = [run for run in mine if run.validation is None and run.by_epoch]
            axes.scatter(
                [run.options[space.option] for run in done],
                [100 * (run.validation or 0.0) for run in done],
                color=colour,
                marker=marker,
                s=26,
                label=group or "finished",
            )
            axes.scatter(
                [run.options[space.option] for run in cut],
                [100 * max(run.by_epoch) for run in cut],
                facecolors="none",
                edgecolors=colour,
                marker=marker,
                s=26,
                label="cut short" if cut and group == groups[0] else None,
            )
        place = (best.options[space.option], 100 * (best.validation or 0.0))
        axes.annotate(
            f"{place[0]:.3g}: {place[1]:.2f}", place, xytext=(6, 6), textcoords="offset points", color=IMPORTANCE
        )
        if space.log:
            logarithmic(axes)
            axes.set_xlim(space.low / 1.3, space.high * 1.3)
        axes.set(xlabel=shown, ylabel="best validation score, percent")
        axes.margins(y=0.15)
        axes.grid(axis="y")
        axes.legend(fontsize=8)
    return in_its_own_file(drawn.svg)
