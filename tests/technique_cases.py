"""Every technique that perturbs, with every reading of its basis: what tests of the techniques run through."""

from __future__ import annotations

from typing import Any

import pytest

from attnvat.techniques import READINGS, TECHNIQUES, PerturbationTechnique, technique

Case = tuple[str, dict[str, Any]]
CASES: list[Case] = [
    (name, {"neighbours": 4} if name.startswith("word-i") else {})
    for name in TECHNIQUES
    if name != "vanilla" and not name.startswith("attention-i")
]
CASES += [(f"attention-{kind}", {"reading": reading}) for kind in ("iat", "ivat") for reading in READINGS]
LENGTHS = [6, 2, 9, 4]
both_models = pytest.mark.parametrize("pair", [False, True], ids=["single", "pair"])


def over(cases: list[Case]) -> pytest.MarkDecorator:
    """A test for each of the cases, which it gets as `name` and `options`."""
    return pytest.mark.parametrize(("name", "options"), cases, ids=[f"{n}-{o.get('reading', '')}" for n, o in cases])


def build(name: str, options: dict[str, Any], **more: Any) -> PerturbationTechnique:
    """The technique of a case."""
    built = technique(name, **options, **more)
    assert isinstance(built, PerturbationTechnique)
    return built
