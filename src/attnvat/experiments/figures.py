"""The figures: scores against the amount of unlabelled text, and validation scores against what was searched."""

from __future__ import annotations

from collections.abc import Sequence

from attnvat.experiments.rows import SCORE, VALIDATION, Row, reference_of
from attnvat.experiments.search import Tried, best_of
from attnvat.experiments.space import Space
from attnvat.report.drawing import ATTENTION, IMPORTANCE, INK, MUTED, THIRD, drawing
from attnvat.report.tables import Spread

LOOKS = (
    (ATTENTION, "o", "-"),
    (IMPORTANCE, "s", (0, (5, 2))),
    (THIRD, "^", (0, (3, 1, 1, 1))),
    (INK, "D", (0, (1, 1))),
)


def amount_figure(rows: Sequence[Row], title: str) -> str | None:
    """Validation and test scores against N_u as SVG, one line a technique with sd over seeds; None without records."""
    reference = reference_of(rows)
    techniques = list(dict.fromkeys(row.arm.technique for row in rows if row.arm.technique != "vanilla"))
    lines = {name: [row for row in rows if row.arm.technique == name and row.records] for name in techniques}
    lines = {name: sorted(found, key=lambda row: row.arm.amount or 0) for name, found in lines.items() if found}
    if not lines:
        return None
    describes = f"{title}: scores against the amount of unlabelled text, mean and standard deviation over seeds"
    with drawing("amount", describes, 9.6, 3.4, 2) as drawn:
        for axes, measure, name in zip(drawn.axes, (VALIDATION, SCORE), ("validation", "test"), strict=True):
            for (technique, found), (colour, marker, dash) in zip(lines.items(), LOOKS, strict=False):
                cells = [row.cell(measure) for row in found]
                known = [(row, c) for row, c in zip(found, cells, strict=True) if isinstance(c, Spread)]
                axes.errorbar(
                    [(row.arm.amount or 0) / 1000 for row, _ in known],
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
            plain = reference.mean(measure)
            if plain is not None:
                axes.axhline(plain, color=MUTED, linewidth=0.9, linestyle=(0, (2, 3)), label="vanilla")
            axes.set_title(name, fontsize=10, loc="left")
            axes.set(xlabel="unlabelled texts N_u, thousands", ylabel="F1, percent")
            axes.grid(axis="y")
        drawn.axes[0].legend(fontsize=8)
    return drawn.svg


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
            axes.set_xscale("log")
            axes.set_xlim(space.low / 1.3, space.high * 1.3)
        axes.set(xlabel=shown, ylabel="best validation score, percent")
        axes.margins(y=0.15)
        axes.grid(axis="y")
        axes.legend(fontsize=8)
    return drawn.svg
