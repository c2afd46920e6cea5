"""A small real evaluation and its explanations, shared by the tests of reports."""

from __future__ import annotations

from typing import Any

import pytest
from hostile import QUICK, tiny_subject

from attnvat.evaluation.explanations import Explanation, explain
from attnvat.evaluation.suite import evaluate


@pytest.fixture(scope="session")
def evaluation() -> dict[str, Any]:
    """All four suites of a tiny model."""
    return evaluate(tiny_subject(), ("prediction", "correlation", "rationales", "robustness"), options=QUICK)


@pytest.fixture(scope="session")
def explanations() -> list[Explanation]:
    """The tiny model's explanations of the plain and the hostile texts."""
    subject = tiny_subject()
    return explain(subject.pretrained, subject.examples)
