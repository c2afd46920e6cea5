"""The figures of reports: distribution, calibration, confusion, robustness curves, differences between runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.patches import Rectangle

from attnvat.report.bootstrap import Interval
from attnvat.report.drawing import ATTENTION, IMPORTANCE, INK, MUTED, SERIES, drawing
from attnvat.report.visible import shortened

WIDE = 10.2
"""Width of three panels, in inches: the width of a page."""


def distributions(
    panels: Sequence[tuple[str, Sequence[float], Sequence[int], float]], label: str, name: str = "distribution"
) -> str:
    """Histograms side by side, each a title, the bins' edges and counts, and the mean; zero is marked if inside."""
    means = ", ".join(f"{title} {mean:.2f}" for title, _, _, mean in panels)
    with drawing(name, f"Distribution of {label}; means: {means}", WIDE * len(panels) / 3, 2.5, len(panels)) as drawn:
        for axes, (title, edges, counts, mean) in zip(drawn.axes, panels, strict=True):
            axes.bar(edges[:-1], counts, 0.9 * np.diff(edges), align="edge", color=ATTENTION, alpha=0.75)
            if edges[0] < 0 < edges[-1]:
                axes.axvline(0, color=MUTED, linewidth=0.8)
            axes.axvline(mean, color=IMPORTANCE, linestyle=(0, (5, 2)))
            axes.set_title(title, fontsize=10, loc="left")
            axes.set_title(f"mean {mean:.2f}".replace("-", "−"), fontsize=10, loc="right", color=IMPORTANCE)
            axes.set(xlim=(edges[0], edges[-1]), xlabel=label)
            axes.locator_params(axis="x", nbins=5)
        drawn.axes[0].set_ylabel("texts")
    return drawn.svg


def calibration(bins: Sequence[Mapping[str, float]], name: str = "calibration") -> str:
    """Accuracy against confidence (`confidence`, `accuracy`, `count` of each bin), dots sized by how many examples."""
    confidence = [row["confidence"] for row in bins]
    accuracy = [row["accuracy"] for row in bins]
    counts = np.asarray([row["count"] for row in bins], dtype=np.float64)
    low = min([0.5, *confidence])
    with drawing(name, "Accuracy against confidence; on the diagonal the model is as sure as it is right") as drawn:
        axes = drawn.axes[0]
        axes.plot([0, 1], [0, 1], color=MUTED, linewidth=0.8, linestyle=(0, (4, 3)))
        axes.plot(confidence, accuracy, color=ATTENTION, zorder=2)
        axes.scatter(
            confidence, accuracy, s=12 + 90 * counts / max(counts.max(initial=1), 1), color=ATTENTION, zorder=3
        )
        axes.grid(axis="y")
        axes.set(xlim=(low - 0.02, 1.02), ylim=(-0.03, 1.03), xlabel="confidence", ylabel="accuracy")
    return drawn.svg


def robustness(
    epsilons: Sequence[float],
    curves: Mapping[str, Mapping[str, Sequence[float]]],
    titles: Mapping[str, str],
    name: str = "robustness",
) -> str:
    """One panel a measure against ε; `curves[measure][kind]` are the heights, kinds told by dash and marker too."""
    looks = [*zip(SERIES, ("o", "s", "^"), ("-", (0, (5, 2)), (0, (1, 1.5))), strict=True)]
    with drawing(
        name, "Predictions against the size of the perturbation", WIDE * len(curves) / 3, 2.6, len(curves)
    ) as drawn:
        for axes, (measure, kinds) in zip(drawn.axes, curves.items(), strict=True):
            places = range(len(epsilons))
            for (kind, heights), (colour, marker, dash) in zip(kinds.items(), looks, strict=False):
                axes.plot(places, heights, color=colour, marker=marker, markersize=4, linestyle=dash, label=kind)
            axes.set_title(titles[measure], fontsize=10, loc="left")
            axes.set(xlabel="ε", ylim=(0, 1.03) if measure == "accuracy" else (0, None))
            axes.grid(axis="y")
            # One place for each ε tried: they are chosen by hand, usually growing by factors.
            axes.set_xticks(places, [f"{epsilon:g}" for epsilon in epsilons])
        drawn.axes[0].legend(loc="upper left")
    return drawn.svg


def confusion(counts: Sequence[Sequence[int]], labels: Sequence[str], name: str = "confusion") -> str:
    """The confusion matrix, rows the truth, each cell shaded by its share of the row and bearing its count."""
    table = np.asarray(counts, dtype=np.float64)
    share = table / np.maximum(table.sum(axis=1, keepdims=True), 1)
    size = len(labels)
    names = [shortened(label, 16) for label in labels]
    turned = size > 3 or max(map(len, names), default=0) > 9
    side = 1.3 + 0.7 * size
    with drawing(name, "Confusion matrix: truth in rows, prediction in columns", side + 0.5, side) as drawn:
        axes = drawn.axes[0]
        for row in range(size):
            for column in range(size):
                square = ((column - 0.48, row - 0.48), 0.96, 0.96)
                axes.add_patch(_square(*square, alpha=0.06 + 0.6 * share[row, column]))
                axes.text(column, row, f"{int(table[row, column]):,}", ha="center", va="center", color=INK)
        axes.set(xlim=(-0.5, size - 0.5), ylim=(size - 0.5, -0.5), xlabel="predicted", ylabel="true", aspect="equal")
        axes.set_xticks(range(size), names, rotation=40 if turned else 0, ha="right" if turned else "center")
        axes.set_yticks(range(size), names)
        axes.tick_params(length=0)
        for spine in axes.spines.values():
            spine.set_visible(False)
    return drawn.svg


def _square(corner: tuple[float, float], width: float, height: float, alpha: float) -> Rectangle:
    return Rectangle(corner, width, height, facecolor=ATTENTION, alpha=alpha, linewidth=0)


def differences(rows: Sequence[tuple[str, str, Interval]], name: str = "differences") -> str:
    """Differences to the first run with their intervals, one line each (measure, run, interval), and zero marked."""
    reach = max([abs(end) for _, _, at in rows for end in (at.low, at.high, at.estimate) if np.isfinite(end)] or [0.01])
    several = len({run for _, run, _ in rows}) > 1
    names = [f"{measure} · {shortened(run, 28)}" if several else measure for measure, run, _ in rows]
    with drawing(name, "Differences to the first run with confidence intervals", WIDE, 0.7 + 0.32 * len(rows)) as drawn:
        axes = drawn.axes[0]
        axes.axvline(0, color=MUTED, linewidth=0.8)
        for place, (_, _, at) in enumerate(rows):
            colour = ATTENTION if at.decided else MUTED
            axes.plot([at.low, at.high], [place, place], color=colour, solid_capstyle="round")
            filled = colour if at.decided else "none"
            axes.plot(at.estimate, place, marker="o", markersize=6, color=colour, markerfacecolor=filled)
        axes.set_yticks(range(len(rows)), names)
        axes.tick_params(axis="y", length=0)
        axes.spines["left"].set_visible(False)
        axes.set(ylim=(len(rows) - 0.4, -0.6), xlim=(-1.1 * reach, 1.1 * reach), xlabel="difference to the first run")
    return drawn.svg
