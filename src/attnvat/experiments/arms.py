"""The arms of an experiment: a technique with its data, and how an arm becomes a search and then trials."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from attnvat.experiments.languages import language_named
from attnvat.experiments.search import SearchPlan
from attnvat.experiments.space import space_of
from attnvat.experiments.trial import Evaluation, Trial
from attnvat.training import Config

SEARCH_SEED = 1000
"""The seed of all search runs: none of those whose scores are reported."""
FEW = 500
"""With few labels, ε is searched once, at this many."""
FEW_UNLABELLED = 10_000
"""N_u with few labels."""
WIDE = 50_000
"""Words that join the vocabulary of a wide arm: as many as a language model has."""
AVERAGE = 0.998
"""By which the shares of earlier steps in averaged weights fade a step."""
RATIO = 2.0
"""Unlabelled texts a step for each labelled one: N_u then decides how many different texts are seen, not the cost."""
TAUGHT_WEIGHT = 1 + RATIO
"""λ where unlabelled texts have a teacher: each then counts as much as a labelled one."""
FEW_BUDGET = 4
"""Search runs of each arm with few labels."""
SMALL = 128
"""Size of a state on corpora where only some techniques are run, and sooner so: half of the default."""
NOT_RUNS = {
    "linear": "a linear model",
    "minilm": "a fine-tuned MiniLM",
    "minilm-long": "a MiniLM fine-tuned for longer",
}
"""Teachers that are no runs of attnvat, as a person calls them."""
FEW_TRAINING: Mapping[str, Any] = {"batch_size": 8, "epochs": 25, "patience": 5}
"""Options of runs with few labels."""


@dataclass(frozen=True)
class Setup:
    """What differs between machines that have different files: named on the results page."""

    vectors: str = "glove.6B.100d"
    pool: str = "news"
    """Where the single-sequence tasks' unlabelled texts come from."""


@dataclass(frozen=True)
class Ground:
    """How all arms on one corpus are trained and measured."""

    options: Mapping[str, Any]
    evaluation: Evaluation
    unlabelled: int | None = None
    """N_u drawn from the pool; None where the corpus has unlabelled pairs of its own, all of which are used."""
    budget: int = 6
    """Search runs of each arm."""
    search: Mapping[str, Any] = field(default_factory=dict)
    """Options that search runs have instead: less text, where a search on all of it takes hours."""
    near: str = ""
    """A pool of the task's own kind of text, for the experiment on few labels."""
    ratio: float = RATIO
    few_training: Mapping[str, Any] = field(default_factory=lambda: FEW_TRAINING)
    """Options that runs with few labels have instead."""
    few: Evaluation | None = None
    """What is measured with few labels; the same where None."""


PAIRS = Ground(
    {"hidden": SMALL, "patience": 2},
    Evaluation(robustness=300),
    budget=3,
    search={"labeled_size": 4_000, "unlabeled_size": 4_000, "epochs": 6},
    ratio=1.0,  # there are as many unlabelled pairs as labelled ones
)
GROUNDS: dict[str, Ground] = {
    "sst": Ground(
        {},
        Evaluation(importances=("gradient", "integrated-gradients", "leave-one-out")),
        unlabelled=50_000,
        search={"unlabeled_size": 10_000},
        near="review-sentences",
    ),
    "imdb": Ground(
        {"max_length": 400, "epochs": 6, "patience": 2},
        Evaluation(robustness=200, rationales="eraser-movies"),
        unlabelled=150_000,
        budget=3,
        search={"labeled_size": 4_000, "unlabeled_size": 8_000, "epochs": 4, "patience": 1},
        near="reviews",
        # Of 4,305 validation reviews an epoch's validation would take longer than its training.
        few_training={**FEW_TRAINING, "epochs": 15, "patience": 3, "validation_size": 1_000},
        few=Evaluation(suites=("prediction",)),
    ),
    "agnews": Ground(
        {"hidden": SMALL, "epochs": 5, "patience": 2},
        Evaluation(robustness=300),
        unlabelled=20_000,
        budget=3,
        search={"labeled_size": 4_000, "unlabeled_size": 4_000},
    ),
    "snli": PAIRS,
    "multinli": PAIRS,
    "cnn": Ground({"hidden": SMALL, "max_length": 800}, Evaluation(robustness=200), budget=3),
}
"""By corpus."""


@dataclass(frozen=True)
class Arm:
    """One row of a table: everything about its runs but the seed and what the search chooses."""

    technique: str
    unlabelled: bool = False
    whole: bool = False
    """Whether every epoch reads all unlabelled texts, rather than some for each labelled one."""
    strategy: str = "random"
    amount: int | None = None
    """N_u where it is not the corpus' usual one."""
    labels: int | None = None
    """N_l where it is not all of them."""
    near: bool = False
    """Whether the unlabelled texts are of the task's own kind rather than news."""
    reading: str | None = None
    epsilon: float | None = None
    """ε where it is set; nothing is searched then."""
    context_penalty: float = 0.0
    word_epsilon: float = 0.0
    """Norm by which words are moved too, where attention is."""
    pretrained: Literal["", "far", "near"] = ""
    """Whether it starts from a language model: of the usual unlabelled text, or of the task's own kind."""
    passes: int = 1
    """Passes of that language model over its text."""
    wide: bool = False
    """Whether the vectors' commonest words join the vocabulary, as those of unlabelled text do in other arms."""
    phrases: int = 0
    """Pairs of words that have a vector of their own."""
    hidden: int | None = None
    """Size of a state where it is not the corpus' usual one; of a language model's too."""
    averaged: bool = False
    """Whether the weights kept are averaged over steps."""
    calibrated: bool = False
    """Whether the output layer is scaled and shifted by the validation texts at the end."""
    same_dropout: bool = False
    """Whether a technique has the dropout that vanilla's search chose, rather than the default."""
    epochs: int | None = None
    """Epochs where they are not the corpus' usual number."""
    learning_rate: float | None = None
    """The learning rate where it is not the default."""
    teacher: str = ""
    """Whose predictions hold those of unlabelled texts; its own where empty."""
    start: str = ""
    """The teaching run whose weights it goes on from, if any."""
    searched: bool = True

    @property
    def name(self) -> str:
        """The technique and what is special about it, but not the text it starts from or the search."""
        name = self.technique + (f" ({self.reading})" if self.reading else "")
        name += ", words of the vectors" if self.wide else ""
        name += f", {self.phrases:,} phrases" if self.phrases else ""
        name += f", states of {self.hidden}" if self.hidden else ""
        name += ", averaged weights" if self.averaged else ""
        name += ", calibrated" if self.calibrated else ""
        name += ", vanilla's dropout" if self.same_dropout else ""
        name += f", {self.epochs} epochs" if self.epochs else ""
        name += f", learning rate {self.learning_rate:g}" if self.learning_rate else ""
        name += f", taught by {told(self.teacher)}" if self.teacher else ""
        name += f", from {told(self.start)}" if self.start else ""
        name += f", ε {self.epsilon:g}" if self.epsilon is not None else ""
        name += f", words moved by {self.word_epsilon:g}" if self.word_epsilon else ""
        return name + (f", context penalty {self.context_penalty:g}" if self.context_penalty else "")

    @property
    def title(self) -> str:
        """The technique as a table shows it."""
        kinds = {"far": "the usual pool", "near": "the task's kind of text"}
        title = self.name + (f", language model of {kinds[self.pretrained]}" if self.pretrained else "")
        title += f" ({self.passes} passes)" if self.passes > 1 else ""
        return title if self.searched else f"{title}, nothing searched"

    @property
    def reference(self) -> bool:
        """Whether it is plain training, with fewer or more words, averaged or not, which others are held against."""
        special = self.context_penalty or self.pretrained or self.phrases or self.hidden
        return self.technique == "vanilla" and not special

    @property
    def plain(self) -> bool:
        """Whether it is plain training with the words of the labelled texts alone, and the last weights."""
        return self.reference and not (self.wide or self.averaged)

    @property
    def brings_words(self) -> bool:
        """Whether it knows words that its labelled texts do not have, from other text."""
        return self.unlabelled or bool(self.pretrained)

    def deciding(self) -> Arm:
        """The arm whose search decides for this one.

        Whatever the unlabelled text, its amount and its mixing, one search decides; also for penalties on context and
        language models, for more words, for words moved too, for phrases, for larger states, for averaged weights and
        for all small label counts.
        """
        return Arm(self.technique, self.unlabelled, reading=self.reading, labels=FEW if self.labels else None)


def told(teachers: str) -> str:
    """Teachers' names as a person says them."""
    said = []
    for name in teachers.split(","):
        kind, _, number = name.partition(":")
        runs = f"{number} {kind} runs" if number else f"a {kind} run"
        said.append(NOT_RUNS.get(kind) or runs.replace("pupil", "taught"))
    *first, last = said
    return f"{', '.join(first)} and {last}" if first else last


def config_of(arm: Arm, corpus: str, setup: Setup, seed: int) -> Config:
    """The arm's config, with the searched options at their defaults."""
    ground = GROUNDS[corpus]
    options: dict[str, Any] = {"data": corpus, "vectors": setup.vectors, "technique": arm.technique, "seed": seed}
    options |= ground.options
    if arm.labels:
        options |= {"labeled_size": arm.labels, **ground.few_training}
    if arm.unlabelled and ground.unlabelled is None:
        options |= {"unlabeled": "corpus", "unlabeled_size": arm.amount}
    elif arm.unlabelled:
        pool = ground.near if arm.near else setup.pool
        strategy = "" if arm.strategy == "random" else f":{arm.strategy}"
        usual = FEW_UNLABELLED if arm.labels else ground.unlabelled
        options |= {"unlabeled": f"pool:{pool}{strategy}", "unlabeled_size": arm.amount or usual}
    if arm.unlabelled and not arm.whole:
        options["unlabeled_ratio"] = ground.ratio
    if arm.pretrained:
        options["language_model"] = language_named(ground.near if arm.pretrained == "near" else setup.pool, arm.passes)
    if arm.wide:
        options["vector_words"] = WIDE
    if arm.phrases:
        options["phrases"] = arm.phrases
    if arm.hidden:
        options["hidden"] = arm.hidden
    if arm.epochs:
        options["epochs"] = arm.epochs
    if arm.learning_rate:
        options["learning_rate"] = arm.learning_rate
    if arm.averaged:
        # Means rise slowly: what looks like standing still need not be.
        options |= {"average": AVERAGE, "patience": options.get("epochs", Config.epochs)}
    if arm.calibrated:
        options["calibrate"] = True
    if arm.teacher:
        options |= {"teacher": arm.teacher, "weight": TAUGHT_WEIGHT}
    if arm.start:
        options["start"] = arm.start
    if arm.reading:
        options["reading"] = arm.reading
    if arm.epsilon is not None:
        options["epsilon"] = arm.epsilon
    return Config(**options, context_penalty=arm.context_penalty, word_epsilon=arm.word_epsilon)


def plan_of(arm: Arm, corpus: str, setup: Setup) -> SearchPlan | None:
    """The search that decides the arm's ε (vanilla: dropout); None for an arm without one."""
    if not arm.searched or arm.epsilon is not None:
        return None
    config = config_of(arm.deciding(), corpus, setup, SEARCH_SEED)
    if not arm.labels:
        less = {
            name: value for name, value in GROUNDS[corpus].search.items() if name != "unlabeled_size" or arm.unlabelled
        }
        config = dataclasses.replace(config, **less, unlabeled_ratio=None)
    return SearchPlan(config, space_of(arm.technique))


def plans_of(arm: Arm, corpus: str, setup: Setup) -> list[SearchPlan]:
    """All searches that decide for the arm: vanilla's where it has that dropout, then its own."""
    own = plan_of(arm, corpus, setup)
    borrowed = plan_of(Arm("vanilla", labels=arm.labels), corpus, setup) if arm.same_dropout else None
    return [plan for plan in (borrowed, own) if plan]


def trials_of(
    arm: Arm, corpus: str, setup: Setup, seeds: Sequence[int], choices: Mapping[str, Mapping[str, Any]]
) -> list[Trial]:
    """The arm's trials, one a seed, with the options its searches chose; `choices` are by search identity."""
    chosen: dict[str, Any] = {}
    for plan in plans_of(arm, corpus, setup):
        chosen |= choices.get(plan.identity, {})
    config = config_of(arm, corpus, setup, seed=0)
    ground = GROUNDS[corpus]
    evaluation = ground.few if arm.labels and ground.few else ground.evaluation
    return [Trial(dataclasses.replace(config, **chosen, seed=seed), evaluation) for seed in seeds]
