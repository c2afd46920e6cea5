"""One run of an experiment, and its identity: what it computes, whatever machine it runs on."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePath
from typing import Any

from attnvat.evaluation.suite import Options
from attnvat.training import Config
from attnvat.training.config import from_dict

MACHINE = ("data_dir", "device", "track", "checkpoint_every", "keep")
"""Options that say where and how a run is kept, and do not change what it computes."""
FIRST = frozenset(
    (
        "data",
        "validation",
        "test",
        "text",
        "text_pair",
        "label",
        "skip_bad",
        "labeled_size",
        "unlabeled",
        "unlabeled_size",
        "lower",
        "numbers",
        "min_frequency",
        "max_vocabulary",
        "max_length",
        "pool_words",
        "vectors",
        "dimension",
        "hidden",
        "attention",
        "decoder",
        "dropout",
        "technique",
        "epsilon",
        "xi",
        "iterations",
        "weight",
        "neighbours",
        "reading",
        "batch_size",
        "learning_rate",
        "l2",
        "embedding_updates",
        "clip",
        "epochs",
        "patience",
        "gradient_accumulation",
        "seed",
        "mixed_precision",
    )
)
"""The options when identities were first given. They always count; a later one only where it differs from its default,
so that a new option leaves the identity of finished runs alone, and a changed default does not."""


@dataclass(frozen=True)
class Evaluation:
    """What is measured on the test split of a trained model."""

    suites: tuple[str, ...] = ("prediction", "correlation", "robustness")
    importances: tuple[str, ...] = ("gradient",)
    costly: int = 300
    robustness: int = 500
    rationales: str | None = None
    """Corpus with human rationales on whose test split attention is judged as well."""

    def options(self) -> Options:
        """The options of the evaluation suites."""
        return Options(importances=self.importances, costly=self.costly, robustness=self.robustness)


@dataclass(frozen=True)
class Trial:
    """A training run with its evaluation.

    `config.unlabeled` names a pool of the experiments (`pool:news`, `pool:news:bow`) or is `corpus`; it becomes a path
    when the trial is performed.
    """

    config: Config
    evaluation: Evaluation = Evaluation()

    @cached_property
    def identity(self) -> str:
        """The same for the same computation and measurement."""
        return digest({"config": described(self.config), "evaluation": dataclasses.asdict(self.evaluation)})

    @cached_property
    def training(self) -> str:
        """The same for the same computation: trials that only measure differently share it."""
        return digest({"config": described(self.config)})

    @cached_property
    def group(self) -> str:
        """The same for trials that differ by their seed alone."""
        return group_of(described(self.config), dataclasses.asdict(self.evaluation))

    @property
    def name(self) -> str:
        """What a person calls the trial."""
        return f"{self.series}-seed{self.config.seed}"

    @property
    def series(self) -> str:
        """What a person calls the trials that differ by their seed, or by what a search chose."""
        config = self.config
        parts = [config.data.rpartition("/")[2], config.technique]
        parts += [config.reading] if config.reading else []
        parts += [f"context{config.context_penalty:g}"] if config.context_penalty else []
        parts += [f"words{config.word_epsilon:g}"] if config.word_epsilon else []
        if config.technique != "vanilla" and config.dropout != Config.dropout:
            parts.append(f"dropout{config.dropout:.3g}")
        parts += ["wide"] if config.vector_words else []
        parts += [f"phrases{config.phrases}"] if config.phrases else []
        parts += [f"hidden{config.hidden}"] if config.hidden > Config.hidden else []
        parts += ["averaged"] if config.average else []
        parts += ["calibrated"] if config.calibrate else []
        parts += [f"taught-by-{config.teacher.replace(',', '-and-').replace(':', '-')}"] if config.teacher else []
        parts += [f"from-{config.start}"] if config.start else []
        if config.language_model:
            parts.append(f"after-{config.language_model.removeprefix('pool:').replace(':', '-')}")
        parts += [f"{config.labeled_size}-labels"] if config.labeled_size else []
        if config.unlabeled:
            parts.append(f"{config.unlabeled.removeprefix('pool:').replace(':', '-')}-{config.unlabeled_size or 'all'}")
            parts += [f"ratio{config.unlabeled_ratio:g}"] if config.unlabeled_ratio else []
        return "-".join(parts)

    def to_dict(self) -> dict[str, Any]:
        """The trial as JSON can hold it."""
        return {"config": self.config.to_dict(), "evaluation": dataclasses.asdict(self.evaluation)}

    @classmethod
    def from_dict(cls, value: dict[str, Any]) -> Trial:
        """The trial that `to_dict` described."""
        measured: dict[str, Any] = {
            name: tuple(v) if isinstance(v, list) else v for name, v in value["evaluation"].items()
        }
        return cls(from_dict(value["config"], "trial"), Evaluation(**measured))


def described(config: Config) -> dict[str, Any]:
    """The options that decide what a run computes, with the technique's defaults written out; files by name alone."""
    values = config.resolved().to_dict()
    if config.vectors:
        values["vectors"] = PurePath(config.vectors).name
    defaults = {field.name: field.default for field in dataclasses.fields(Config)}
    return {
        name: value
        for name, value in values.items()
        if name not in MACHINE and (name in FIRST or value != defaults[name])
    }


def group_of(config: dict[str, Any], evaluation: dict[str, Any]) -> str:
    """What runs that differ by their seed alone share."""
    return digest({"config": {k: v for k, v in config.items() if k != "seed"}, "evaluation": evaluation})


def digest(value: Any) -> str:
    """Sixteen hexadecimal digits that stand for a value."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]
