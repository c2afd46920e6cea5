"""One typed object = YAML file = command-line flags = `config.yaml` beside the run."""

from __future__ import annotations

import dataclasses
import types
import typing
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeVar

import yaml

from attnvat.errors import UserError, nearest
from attnvat.evaluation.classification import METRICS
from attnvat.models import ModelConfig
from attnvat.storage import atomic_write
from attnvat.techniques import Technique, options_of, technique

T = TypeVar("T")


def option(default: T, help: str, section: str) -> T:
    """A field of the config with its help text, shown by `--help` and in the template."""
    return field(default=default, metadata={"help": help, "section": section})


@dataclass(frozen=True)
class Config:
    """Everything that decides a run. An option left at None takes the value its help text names."""

    data: str = option("", "corpus name (sst, imdb, …), a file, a folder, or hf:NAME", "data")
    data_dir: str | None = option(None, "folder with the official archives and vectors ($ATTNVAT_DATA)", "data")
    validation: str | None = option(
        None, "validation file; without one, a stratified part of the training data", "data"
    )
    test: str | None = option(None, "test file; without one, a stratified part of the training data", "data")
    text: str | None = option(None, "column of the text that is attended to", "data")
    text_pair: str | None = option(None, "column of the second text, for pairs", "data")
    label: str | None = option(None, "column of the label", "data")
    skip_bad: bool = option(False, "go on without bad rows instead of stopping at them", "data")
    labeled_size: int | None = option(None, "use only this many labelled texts, drawn evenly by class", "data")
    validation_size: int | None = option(None, "validate on only this many texts, drawn evenly by class", "data")
    metric: str | None = option(
        None, "score that judges epochs: f1 (two classes), micro-f1 (more), or accuracy, safer with few labels", "data"
    )
    unlabeled: str | None = option(None, "POOL[:SELECTION], a file of texts, or `corpus` for the corpus' own", "data")
    unlabeled_size: int | None = option(None, "use only this many unlabelled texts, drawn at random", "data")
    unlabeled_ratio: float | None = option(
        None, "at most this many unlabelled texts a step for each labelled one; without it, an epoch reads all", "data"
    )

    lower: bool = option(True, "lower-case the text", "text")
    numbers: bool = option(True, "write every number as one symbol", "text")
    min_frequency: int = option(1, "leave rarer words out of the vocabulary", "text")
    max_vocabulary: int | None = option(None, "keep only the most frequent words", "text")
    max_length: int | None = option(None, "cut training texts after this many tokens", "text")
    pool_words: bool = option(True, "unlabelled text's words that have a vector join the vocabulary", "text")
    vector_words: int = option(
        0, "this many of the vectors' commonest words join it too, seen or not: 50000 helps with few labels", "text"
    )
    phrases: int = option(
        0,
        "this many of the commonest pairs of words in a row get a vector of their own: 100000 helps long texts",
        "text",
    )
    vectors: str | None = option(None, "word vectors: a name (glove.6B.100d), a file, `learn` or `learn:POOL`", "text")
    language_model: str | None = option(
        None, "folder of `attnvat pretrain`: start from its word vectors and its encoder", "text"
    )
    dimension: int | None = option(None, "size of word vectors that are not read from a file (100)", "text")

    start: str | None = option(
        None, "folder of a finished run on the same labels: go on from its weights, with any technique", "model"
    )
    hidden: int = option(256, "size of a state, both directions of the BiLSTM together", "model")
    attention: int = option(128, "size of the attention's hidden layer", "model")
    decoder: Literal["paper", "joint"] = option(
        "paper", "pair tasks: decode from the attended text, or jointly", "model"
    )
    dropout: float = option(0.3, "share of word-vector and summary entries dropped in training", "model")

    technique: str = option("vanilla", "one of the nine techniques", "technique")
    epsilon: float | None = option(None, "norm of a sentence's perturbation, ε (0.5)", "technique")
    xi: float | None = option(None, "VAT, three classes or more: where its gradient is taken, ξ (0.1)", "technique")
    iterations: int | None = option(None, "VAT, three classes or more: power iterations (1)", "technique")
    weight: float | None = option(None, "weight of the adversarial loss, λ (1.0)", "technique")
    neighbours: int | None = option(None, "word-iat, word-ivat: near words a word may move to (15)", "technique")
    reading: str | None = option(None, "attention-iat, attention-ivat: reading of the difference basis", "technique")
    teacher: str | None = option(
        None,
        "VAT: whose predictions hold those of unlabelled texts, not its own: a folder of `train` or `finetune`, "
        "`linear`, or several by comma",
        "technique",
    )
    word_epsilon: float = option(
        0.0, "attention techniques: words are moved too in each step, by this norm; doubles its time", "technique"
    )
    context_penalty: float = option(
        0.0, "penalty on other words in a word's state; 0.1 brings attention nearer to what counts", "technique"
    )

    batch_size: int = option(32, "labelled texts a step and process", "optimisation")
    learning_rate: float = option(1e-3, "Adam's learning rate", "optimisation")
    l2: float = option(1e-5, "L2 regularisation inside Adam", "optimisation")
    embedding_updates: Literal["touched", "all"] = option(
        "touched", "update word vectors of the step's words only, or of the whole table (slower)", "optimisation"
    )
    average: float = option(
        0.0,
        "keep weights averaged over steps that fade by this factor: 0.998 steadies scores; 0 keeps the last",
        "optimisation",
    )
    calibrate: bool = option(
        False, "at the end, scale and shift the output layer so that validation labels are likeliest", "optimisation"
    )
    clip: float | None = option(None, "clip the gradient to this norm (off)", "optimisation")
    epochs: int = option(10, "passes over the labelled texts at most", "optimisation")
    patience: int = option(3, "stop after this many epochs without a better validation score", "optimisation")
    gradient_accumulation: int = option(1, "steps whose gradients are added up before an update", "optimisation")
    seed: int = option(0, "seed of everything random", "optimisation")

    checkpoint_every: int = option(1000, "steps between checkpoints, besides one an epoch; 0 for epochs only", "run")
    keep: int = option(2, "checkpoints kept", "run")
    device: str | None = option(None, "cpu, cuda, … (the best there is)", "run")
    mixed_precision: Literal["no", "bf16", "fp16"] = option("no", "arithmetic of the encoder", "run")
    track: str | None = option(None, "also log to tensorboard, mlflow or wandb (comma-separated)", "run")

    def __post_init__(self) -> None:
        for name in ("batch_size", "epochs", "patience", "gradient_accumulation", "keep", "min_frequency"):
            if getattr(self, name) < 1:
                raise UserError(f"{name} is {getattr(self, name)}; it must be at least 1")
        for name in ("labeled_size", "validation_size", "unlabeled_size", "max_vocabulary", "max_length", "dimension"):
            if getattr(self, name) is not None and getattr(self, name) < 1:
                raise UserError(f"{name} is {getattr(self, name)}; it must be at least 1")
        for name in ("learning_rate", "clip", "unlabeled_ratio"):
            if getattr(self, name) is not None and not getattr(self, name) > 0:
                raise UserError(f"{name} is {getattr(self, name)}; it must be above 0")
        for name in ("l2", "checkpoint_every", "vector_words", "phrases"):
            if not getattr(self, name) >= 0:
                raise UserError(f"{name} is {getattr(self, name)}; it must be 0 or more")
        if not 0 <= self.average < 1:
            raise UserError(f"average is {self.average}; it must be 0 or more and below 1")
        if self.vector_words and (self.vectors or "learn").partition(":")[0] == "learn":
            raise UserError("vector_words takes words from a file of word vectors; name one with `vectors`")
        for name in ("decoder", "embedding_updates", "mixed_precision"):
            allowed = typing.get_args(hints()[name])
            if getattr(self, name) not in allowed:
                raise UserError(f"{name} is {getattr(self, name)!r}; {nearest(str(getattr(self, name)), allowed)}")
        if self.metric is not None and self.metric not in METRICS:
            raise UserError(f"metric is {self.metric!r}; {nearest(self.metric, METRICS)}")
        if not 0 <= self.seed < 2**32:
            raise UserError(f"seed is {self.seed}; it must be 0 or more and below 2^32")
        ModelConfig(
            vocabulary=1, dimension=1, hidden=self.hidden, attention=self.attention, dropout=self.dropout
        )  # refuses impossible sizes
        if self.language_model and (self.vectors or "").partition(":")[0] == "learn":
            raise UserError(
                "language_model has word vectors of its own, which learnt ones do not go with; "
                "drop `vectors`, or name those it was pretrained with"
            )
        if self.start and (self.vectors or "").partition(":")[0] == "learn":
            raise UserError("start has word vectors of its own, which learnt ones do not go with; drop `vectors`")
        built = self.build_technique()
        if self.teacher and not built.virtual:
            raise UserError(f"technique {self.technique} has no use for a teacher; it is for VAT techniques")
        if self.unlabeled and not built.virtual:
            raise UserError(
                f"technique {self.technique} needs labels and cannot use unlabelled text; "
                "drop `unlabeled`, or use word-vat, word-ivat, attention-vat or attention-ivat"
            )

    def build_technique(self) -> Technique:
        """The technique with the options that are set; those it does not take are refused."""
        names = ("epsilon", "xi", "iterations", "weight", "neighbours", "reading", "context_penalty")
        chosen = {name: getattr(self, name) for name in names if getattr(self, name) is not None}
        if self.word_epsilon:
            chosen["word_epsilon"] = self.word_epsilon
        return technique(self.technique, **chosen)

    def resolved(self) -> Config:
        """The same run with the technique's defaults written out."""
        from attnvat.techniques.catalogue import Options

        defaults = Options()
        unset = [name for name in options_of(self.technique) if getattr(self, name) is None]
        return dataclasses.replace(self, **{name: getattr(defaults, name) for name in unset})

    def to_dict(self) -> dict[str, Any]:
        """All options as plain values."""
        return dataclasses.asdict(self)

    def save(self, path: Path | str) -> None:
        """Write the config as YAML."""
        with atomic_write(path) as handle:
            yaml.safe_dump(self.to_dict(), handle, sort_keys=False, allow_unicode=True)


@cache
def hints() -> dict[str, Any]:
    """The type of every option."""
    return typing.get_type_hints(Config)


def from_dict(values: dict[str, Any], where: str) -> Config:
    """A config from plain values; unknown keys and wrong types are refused with `where` they stand."""
    known = hints()
    checked = {}
    for name, value in values.items():
        if name not in known:
            raise UserError(f"{where}: unknown option {name!r}; {nearest(str(name), known)}")
        checked[name] = _typed(name, value, known[name], where)
    try:
        return Config(**checked)
    except UserError as error:
        raise UserError(f"{where}: {error}") from error


def load_config(path: Path | str) -> Config:
    """The config in a YAML file."""
    return from_dict(read_options(path), str(path))


def read_options(path: Path | str) -> dict[str, Any]:
    """The options written in a YAML file, unchecked: flags may still win over them."""
    path = Path(path)
    try:
        values = yaml.safe_load(path.read_text("utf-8"))
    except OSError as error:
        raise UserError(f"{path}: could not be read: {error.strerror or error}") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: not valid YAML: {' '.join(str(error).split())}") from error
    if not isinstance(values, dict):
        raise UserError(f"{path}: expected lines of `option: value`; `attnvat config` prints a template")
    return values


def template() -> str:
    """A YAML file with every option, its default and what it means."""
    lines = [
        "# attnvat: every option of `attnvat train`, with its default.",
        "# Run it with: attnvat train --config FILE",
    ]
    section = None
    for item in dataclasses.fields(Config):
        if item.metadata["section"] != section:
            section = item.metadata["section"]
            lines += ["", f"# {section}"]
        value = yaml.safe_dump(item.default).splitlines()[0] if item.default is not None else "null"
        lines.append(f"{item.name}: {value}  # {item.metadata['help']}")
    return "\n".join(lines) + "\n"


def _typed(name: str, value: Any, hint: Any, where: str) -> Any:
    allowed = typing.get_args(hint) if isinstance(hint, types.UnionType) else (hint,)
    if value is None and type(None) in allowed:
        return None
    for kind in allowed:
        if typing.get_origin(kind) is Literal:
            return value if value in typing.get_args(kind) else _refuse(name, value, typing.get_args(kind), where)
        if kind is float and isinstance(value, int | float | str) and not isinstance(value, bool):
            # YAML reads 1e-3 as text.
            try:
                return float(value)
            except ValueError:
                continue
        if kind is bool and isinstance(value, bool):
            return value
        if kind is int and isinstance(value, int) and not isinstance(value, bool):
            return value
        if kind is str and isinstance(value, str):
            return value
    return _refuse(name, value, [k.__name__ for k in allowed if k is not type(None)], where)


def _refuse(name: str, value: Any, allowed: typing.Iterable[Any], where: str) -> typing.NoReturn:
    raise UserError(f"{where}: {name} is {value!r}; expected {' or '.join(map(str, allowed))}")
