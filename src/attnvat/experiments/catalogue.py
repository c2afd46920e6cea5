"""The experiments by name: the paper's tables and figure, and ours. Those on the same arms share their runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from attnvat.errors import UserError, nearest
from attnvat.experiments.arms import Arm
from attnvat.experiments.compared_arms import (
    COMPARISON,
    MANY,
    amount_arms,
    averaging_arms,
    context_arms,
    dropout_arms,
    few_label_arms,
    larger_arms,
    long_text_few_label_arms,
    long_text_phrase_arms,
    long_text_pretraining_arms,
    mixing_arms,
    phrase_arms,
    pretraining_arms,
    reading_arms,
    selection_arms,
    strength_arms,
    taught_arms,
)

SEEDS = {"sst": 10, "imdb": 3, "agnews": 3, "snli": 3, "multinli": 3, "cnn": 3}
"""Seeds run by corpus, unless an experiment or a person asks for others.

SST's tables hold 13 rows against vanilla. Ten seeds are the fewest with which a difference can pass Holm's correction
there: 13 · 2/2¹⁰ = 0.025, and 0.051 with nine.
"""
MORE_SEEDS = 5
"""Seeds of experiments that ask whether unlabelled text pays at all."""
SOME_SEEDS = 3
"""Seeds of the other experiments that vary one thing."""


@dataclass(frozen=True)
class Experiment:
    """Arms by corpus, and what their table or figure is about."""

    name: str
    title: str
    question: str
    arms: Mapping[str, list[Arm]]
    paper: str = ""
    """Where in the paper; empty for ours."""
    seeds: int | None = None
    """Seeds run unless others are asked for, where they are fewer than the corpus' usual number."""

    def seeds_on(self, corpus: str) -> int:
        """Seeds run on a corpus unless others are asked for."""
        return min(SEEDS[corpus], self.seeds or SEEDS[corpus])


EXPERIMENTS: dict[str, Experiment] = {
    experiment.name: experiment
    for experiment in (
        Experiment(
            "table-prediction",
            "Prediction",
            "Do the techniques predict better than plain training?",
            COMPARISON,
            "Tables 3a and 3b",
        ),
        Experiment(
            "table-correlation",
            "Attention against word importance",
            "Does attention agree with gradient word importance?",
            COMPARISON,
            "Tables 4a and 4b",
        ),
        Experiment(
            "table-robustness",
            "Robustness at equal ε",
            "Do predictions hold when attention or words are pushed by the same amount?",
            COMPARISON,
        ),
        Experiment(
            "table-choices",
            "One choice at a time",
            "What do attention instead of words, VAT instead of AT, a basis (the interpretable techniques) and "
            "unlabelled text with its words each change, where ε is searched anew and all else is equal?",
            COMPARISON,
        ),
        Experiment(
            "table-rationales",
            "Agreement with human rationales",
            "Does the attention of IMDB models fall on the words people marked in ERASER's movie reviews?",
            {"imdb": MANY},
            "Table 5",
        ),
        Experiment(
            "figure-amount",
            "Amount of unlabelled text",
            "Does more unlabelled text help?",
            {"sst": amount_arms()},
            "the figure on amounts",
            seeds=SOME_SEEDS,
        ),
        Experiment(
            "table-selection",
            "Selection of unlabelled text",
            "Are texts near the labelled ones better unlabelled texts than random ones?",
            {"sst": selection_arms()},
            "Table 6",
        ),
        Experiment(
            "table-mixing",
            "Mixing of unlabelled text",
            "Does it matter how many unlabelled texts a step has?",
            {"sst": mixing_arms()},
            seeds=SOME_SEEDS,
        ),
        Experiment(
            "table-dropout",
            "The same dropout",
            "Vanilla's dropout is searched, the techniques have the default one: is that why they do not do better?",
            {"sst": dropout_arms()},
            seeds=SOME_SEEDS,
        ),
        Experiment(
            "table-readings",
            "Readings of the interpretable basis",
            "Does perturbing along differences of attention help, and in which reading? "
            "(`paper` is the technique without a basis.)",
            {"sst": reading_arms()},
        ),
        Experiment(
            "figure-strength",
            "Strength of the perturbation",
            "What does a larger ε do to prediction, to the truth of attention and to its robustness?",
            {"sst": strength_arms()},
            seeds=SOME_SEEDS,
        ),
        Experiment(
            "table-context",
            "Words instead of context",
            "Is attention more truthful where states know little but their own word, and what does that cost?",
            {"sst": context_arms()},
            seeds=SOME_SEEDS,
        ),
        Experiment(
            "table-pretraining",
            "A language model to start from",
            "Does unlabelled text pay when the encoder has first learnt to foretell its words?",
            {"sst": pretraining_arms(), "imdb": long_text_pretraining_arms()},
            seeds=MORE_SEEDS,
        ),
        Experiment(
            "table-averaging",
            "Averaged weights",
            "Do weights averaged over steps predict better and scatter less, and does VAT gain anything over them?",
            {"sst": averaging_arms()},
            seeds=MORE_SEEDS,
        ),
        Experiment(
            "table-teacher",
            "A teacher for unlabelled text",
            "Does unlabelled text of the task's own kind pay when vanilla runs and a linear model tell what to make of "
            "it, and do runs so taught teach better still?",
            {"imdb": taught_arms()},
            seeds=SOME_SEEDS,
        ),
        Experiment(
            "table-phrases",
            "Vectors of pairs of words",
            "Does a model predict better that knows common pairs of words as it knows words, and what does its "
            "attention lose?",
            {"sst": phrase_arms(), "imdb": long_text_phrase_arms()},
            seeds=SOME_SEEDS,
        ),
        Experiment(
            "table-larger",
            "Larger states",
            "Do a language model and a classifier with states twice as large predict better, and what does their "
            "attention lose?",
            {"imdb": larger_arms()},
            seeds=SOME_SEEDS,
        ),
        Experiment(
            "table-few-labels",
            "Few labels",
            "With a hundred to a thousand labels, does a pool of unlabelled text pay?",
            {"sst": few_label_arms(), "imdb": long_text_few_label_arms()},
            seeds=SOME_SEEDS,
        ),
    )
}
"""Name → experiment, in the order of the results page."""


def shown_before(experiment: Experiment, corpus: str) -> set[Arm]:
    """The arms that earlier experiments compare on a corpus, but for those that measure something else of the same."""
    found: set[Arm] = set()
    for other in EXPERIMENTS.values():
        if other.name == experiment.name:
            break
        arms = other.arms.get(corpus, [])
        if arms != experiment.arms[corpus]:
            found |= set(arms)
    return found


def experiment_named(name: str) -> Experiment:
    """The experiment; a misspelt name gets the nearest."""
    if name not in EXPERIMENTS:
        raise UserError(f"no experiment {name!r}; {nearest(name, EXPERIMENTS)}")
    return EXPERIMENTS[name]


def chosen_arms(experiment: Experiment, corpus: str, techniques: list[str] | None = None) -> list[Arm]:
    """The experiment's arms on a corpus, of some techniques only where they are named; vanilla is always among them."""
    if corpus not in experiment.arms:
        raise UserError(f"{experiment.name} is not run on {corpus!r}; {nearest(corpus, experiment.arms)}")
    arms = experiment.arms[corpus]
    if not techniques:
        return list(arms)
    known = {arm.technique for arm in arms}
    for name in techniques:
        if name not in known:
            raise UserError(f"{experiment.name} on {corpus} has no technique {name!r}; {nearest(name, known)}")
    return [arm for arm in arms if arm.technique in (*techniques, "vanilla")]
