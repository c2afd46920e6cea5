"""Techniques by name, and what they refuse."""

from __future__ import annotations

import pytest

from attnvat.errors import UserError
from attnvat.techniques import TECHNIQUES, PerturbationTechnique, options_of, technique
from batches import make_batch, make_model


@pytest.mark.parametrize("name", [n for n in TECHNIQUES if n != "vanilla"])
def test_the_name_is_site_objective_basis(name: str) -> None:
    built = technique(name)
    assert isinstance(built, PerturbationTechnique)
    site, kind = name.split("-")
    assert built.name == name
    assert built.site.name == site
    assert built.objective.name == kind.removeprefix("i")
    assert built.basis.name == (
        "free" if not kind.startswith("i") else {"word": "neighbour", "attention": "difference"}[site]
    )
    assert built.virtual == kind.endswith("vat")


@pytest.mark.parametrize(
    ("name", "options", "says"),
    [
        ("attention-vat", {"epsilon": -0.1}, "epsilon is -0.1"),
        ("attention-vat", {"epsilon": float("nan")}, "epsilon is nan"),
        ("attention-vat", {"xi": 0}, "xi is 0"),
        ("word-vat", {"iterations": 0}, "iterations is 0"),
        ("word-at", {"weight": -1}, "λ"),
        ("word-iat", {"neighbours": 0}, "neighbours is 0"),
        ("attention-ivat", {"reading": "shard"}, "did you mean 'shared'"),
        ("attention-iavt", {}, "did you mean"),
        ("attention-at", {"xi": 0.1}, "takes no option 'xi'"),
        ("vanilla", {"epsilon": 1.0}, "takes no option 'epsilon'"),
        ("attention-vat", {"epsilom": 1.0}, "did you mean 'epsilon'"),
        ("vanilla", {"context_penalty": -1.0}, "context_penalty is -1"),
        ("attention-at", {"word_epsilon": -1.0}, "word_epsilon is -1"),
    ],
)
def test_impossible_options_are_refused_by_name(name: str, options: dict[str, object], says: str) -> None:
    with pytest.raises(UserError, match=says):
        technique(name, **options)


@pytest.mark.parametrize("name", [n for n in TECHNIQUES if not n.endswith("vat")])
def test_techniques_that_need_labels_refuse_unlabelled_text(name: str) -> None:
    with pytest.raises(UserError, match=f"{name} needs labels"):
        technique(name).loss(make_model(), make_batch([3]), make_batch([3]).without_labels())


@pytest.mark.parametrize("name", TECHNIQUES)
def test_every_technique_says_what_it_is_and_takes_its_own_options(name: str) -> None:
    assert TECHNIQUES[name]
    known = {"epsilon", "xi", "iterations", "weight", "neighbours", "reading", "context_penalty", "word_epsilon"}
    assert {"context_penalty"} <= set(options_of(name)) <= known
