"""The nine techniques by name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from attnvat.errors import UserError, nearest
from attnvat.techniques.bases import Basis, DifferenceBasis, FreeBasis, NeighbourBasis
from attnvat.techniques.difference import DEFAULT_READING
from attnvat.techniques.objectives import Objective, SupervisedLoss, VirtualLoss
from attnvat.techniques.sites import AttentionSite, Site, WordSite
from attnvat.techniques.technique import PerturbationTechnique, Technique, Vanilla

TECHNIQUES: dict[str, str] = {
    "vanilla": "plain training, no perturbation",
    "word-at": "adversarial training of word vectors (Miyato et al. 2017)",
    "word-iat": "the same along directions to near words (Sato et al. 2018)",
    "word-vat": "virtual adversarial training of word vectors; uses unlabelled text",
    "word-ivat": "the same along directions to near words; uses unlabelled text",
    "attention-at": "adversarial training of attention scores (Kitada & Iyatomi 2021)",
    "attention-iat": "the same along differences of attention",
    "attention-vat": "virtual adversarial training of attention scores (Kitada & Iyatomi 2022); uses unlabelled text",
    "attention-ivat": "the same along differences of attention; uses unlabelled text",
}
"""Name → what it is."""


class Choices(NamedTuple):
    """The three choices that a technique's name stands for."""

    site: str
    """`word` or `attention`."""
    virtual: bool
    """VAT rather than AT."""
    interpretable: bool
    """Along a basis rather than any direction."""


def choices_of(name: str) -> Choices | None:
    """What the technique `name` chooses; None for vanilla, which perturbs nothing."""
    if name not in TECHNIQUES:
        raise UserError(f"unknown technique {name!r}; {nearest(name, TECHNIQUES)}")
    if name == "vanilla":
        return None
    site, kind = name.split("-")
    return Choices(site, kind.endswith("vat"), kind.startswith("i"))


@dataclass(frozen=True)
class Options:
    """Every option of a technique, with its default; `options_of` says which technique takes which."""

    epsilon: float = 0.5
    xi: float = 0.1
    iterations: int = 1
    weight: float = 1.0
    neighbours: int = 15
    reading: str = DEFAULT_READING
    context_penalty: float = 0.0
    word_epsilon: float = 0.0

    def __post_init__(self) -> None:
        if not self.epsilon >= 0:
            raise UserError(f"epsilon is {self.epsilon}; the norm of a perturbation must be 0 or more")
        if not self.xi > 0:
            raise UserError(
                f"xi is {self.xi}; VAT's gradient is exactly 0 without a step, so xi must be above 0 (0.01 or more)"
            )
        if self.iterations < 1:
            raise UserError(f"iterations is {self.iterations}; VAT needs at least one power iteration")
        if not self.weight >= 0:
            raise UserError(f"weight (λ) is {self.weight}; it must be 0 or more")
        if self.neighbours < 1:
            raise UserError(f"neighbours is {self.neighbours}; it must be at least 1")
        if not self.context_penalty >= 0:
            raise UserError(f"context_penalty is {self.context_penalty}; it must be 0 or more")
        if not self.word_epsilon >= 0:
            raise UserError(f"word_epsilon is {self.word_epsilon}; the norm of a perturbation must be 0 or more")


def options_of(name: str) -> tuple[str, ...]:
    """The options that the technique `name` takes."""
    choices = choices_of(name)
    if choices is None:
        return ("context_penalty",)
    taken = ["epsilon", "weight", "context_penalty"]
    if choices.virtual:
        taken += ["xi", "iterations"]
    if choices.interpretable:
        taken.append("neighbours" if choices.site == "word" else "reading")
    if choices.site == "attention":
        taken.append("word_epsilon")
    return tuple(taken)


def technique(name: str, **options: Any) -> Technique:
    """The technique called `name`; options it does not take, and impossible values, are refused by name."""
    taken = options_of(name)
    for option in options:
        if option not in taken:
            raise UserError(f"{name} takes no option {option!r}; {nearest(option, taken)}")
    chosen = Options(**options)
    choices = choices_of(name)
    if choices is None:
        return Vanilla(context_penalty=chosen.context_penalty)
    site: Site = WordSite() if choices.site == "word" else AttentionSite()
    objective: Objective = VirtualLoss() if choices.virtual else SupervisedLoss()
    basis: Basis = FreeBasis()
    if choices.interpretable:
        basis = NeighbourBasis(chosen.neighbours) if choices.site == "word" else DifferenceBasis(chosen.reading)
    shared = (chosen.xi, chosen.iterations, chosen.weight)
    words = None
    if chosen.word_epsilon:
        words = PerturbationTechnique("words", WordSite(), objective, FreeBasis(), chosen.word_epsilon, *shared)
    return PerturbationTechnique(name, site, objective, basis, chosen.epsilon, *shared, chosen.context_penalty, words)
