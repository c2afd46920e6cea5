"""What `attnvat pool` prints: what entered a pool and what did not, and examples of what was selected."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from rich.table import Table
from rich.text import Text as Styled

from attnvat.corpora.example import plain
from attnvat.pool import Pool, Selection
from attnvat.pool.selection import FOLDER
from attnvat.text.tokenizer import Text

QUANTILES = (0.0, 0.25, 0.5, 0.75, 1.0)


def pool_table(pool: Pool) -> Table:
    """The texts read, those left out by reason, and those kept."""
    table = Table(title=f"{pool.path}", title_justify="left", show_header=False)
    table.add_column()
    table.add_column(justify="right")
    table.add_row("sources", ", ".join(pool.source_names))
    table.add_row("evaluation texts kept out of", ", ".join(pool.manifest["plan"]["excluded"]) or "no corpus")
    counts = dict(pool.manifest["counts"])
    if not pool.manifest["plan"]["options"]["sentences"]:
        del counts["texts"]
    for name, count in counts.items():
        label = {"records": "records read", "texts": "texts in them", "kept": "kept"}.get(name, f"− {name}")
        table.add_row(label, f"{count:,}", style="bold" if name == "kept" else None)
    size = sum(shard.bytes for shard in pool.shards)
    table.add_row("files", f"{len(pool.shards)} ({size / 2**20:,.1f} MiB)")
    table.add_row("fingerprint", pool.fingerprint[:16])
    return table


def selections_table(pool: Pool) -> Table | None:
    """The selections made from a pool, None where there are none."""
    files = sorted((pool.path / FOLDER).glob("*.arrow"))
    if not files:
        return None
    table = Table("selection", "strategy", "texts", "for", "median distance", title="Selections", title_justify="left")
    for file in files:
        selection = Selection.load(file)
        made = selection.made
        foreign = "" if made["pool"]["fingerprint"] == pool.fingerprint else " (of another pool)"
        row = [file.stem + foreign, made["strategy"], f"{len(selection):,}", made["labelled"]["name"]]
        table.add_row(*row, distance_text(float(np.median(selection.distance))))
    return table


def selection_table(selection: Selection, labelled: int) -> Table:
    """How a selection was made and how near it is to the labelled texts."""
    made = selection.made
    table = Table(show_header=False)
    table.add_column()
    table.add_column(justify="right")
    table.add_row("strategy", made["strategy"])
    table.add_row("texts", f"{len(selection):,}")
    if made["strategy"] == "random":
        table.add_row("seed", str(made["seed"]))
        return table
    for name in ("engine", "vectors", "weighting"):
        if name in made:
            table.add_row(name, str(made[name]))
    nearby = made["from_neighbours"]
    table.add_row(f"among the {made['neighbours']} nearest of a labelled text", f"{nearby:,}")
    if nearby < len(selection):
        table.add_row(f"topped up from the next, down to neighbour {made['depth']}", f"{len(selection) - nearby:,}")
    near_to = len(np.unique(selection.nearest))
    table.add_row("labelled texts they are nearest to", f"{near_to:,} of {labelled:,}")
    quantiles = np.quantile(selection.distance, QUANTILES)
    table.add_row("distance: least, quartiles, greatest", " · ".join(distance_text(q) for q in quantiles))
    return table


def examples_table(pool: Pool, selection: Selection, labelled: Sequence[Text], count: int) -> Table:
    """Selected texts from the nearest to the farthest, each with the labelled text it is nearest to."""
    by_distance = np.argsort(selection.distance, kind="stable")
    places = by_distance[np.unique(np.linspace(0, len(by_distance) - 1, count).astype(int))]
    texts = [Styled(shortened(text)) for text in pool.texts(selection.rows[places])]
    if selection.made["strategy"] == "random":
        table = Table("selected from the pool", show_lines=True)
        for text in texts:
            table.add_row(text)
        return table
    table = Table("distance", "selected from the pool", "nearest labelled text", show_lines=True)
    for place, text in zip(places, texts, strict=True):
        near = Styled(shortened(plain(labelled[selection.nearest[place]])))
        table.add_row(distance_text(float(selection.distance[place])), text, near)
    return table


def shortened(text: str, limit: int = 200) -> str:
    """The beginning of a long text."""
    return text if len(text) <= limit else text[: limit - 2].rsplit(" ", 1)[0] + " …"


def distance_text(distance: float) -> str:
    """A distance, or a dash where there is none."""
    return "–" if np.isnan(distance) else f"{distance:.3f}"
