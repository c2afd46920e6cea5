"""The results that stand in the repository: the page is what the records give, and no record is left over."""

from __future__ import annotations

from pathlib import Path

import pytest

from attnvat.experiments.arms import Setup
from attnvat.experiments.catalogue import EXPERIMENTS
from attnvat.experiments.plan import all_orders
from attnvat.experiments.records import Records
from attnvat.experiments.results_page import results_page
from attnvat.experiments.rows import Reader

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def published() -> Records:
    return Records(ROOT / "results")


def test_the_page_is_what_the_records_give(published: Records) -> None:
    page, figures = results_page(published, Setup())
    assert (ROOT / "docs" / "results.md").read_text(encoding="utf-8") == page
    assert {path.name for path in (ROOT / "docs" / "figures").iterdir()} == set(figures)


def test_every_record_is_shown_in_a_table(published: Records) -> None:
    reader = Reader(published, Setup())
    rows = [row for one in EXPERIMENTS.values() for corpus in one.arms for row in reader.rows(one, corpus)]
    shown = {record["identity"] for row in rows for record in row.records.values()}
    assert sorted(run["name"] for identity, run in published.runs.items() if identity not in shown) == []
    deciding = {job.identity for order in all_orders(Setup()) for job in order.searches()}
    assert sorted(one["name"] for identity, one in published.searches.items() if identity not in deciding) == []
