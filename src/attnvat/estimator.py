"""The same engine for Python: a classifier with scikit-learn's conventions."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import train_test_split
from sklearn.utils.validation import check_is_fitted

from attnvat.corpora import Corpus, Example
from attnvat.errors import UserError
from attnvat.evaluation.explanations import Explanation, explain
from attnvat.evaluation.prediction import predict
from attnvat.evaluation.subject import encode_examples
from attnvat.models import from_pretrained, save_pretrained
from attnvat.storage import read_json, write_json
from attnvat.training import fit, open_run, prepare
from attnvat.training.config import from_dict
from attnvat.training.display import Silent, display_for_terminal
from attnvat.training.run import CONFIG

ESTIMATOR = "estimator.json"
OUTSIDE = ("validation_size", "run_dir", "verbose")
"""Parameters of the estimator that are not options of a run."""


class TextClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """An attention-based text classifier trained with any of the nine techniques.

    X is a sequence of texts, or of pairs of texts (two columns); y holds labels of any type. Unlabelled texts for the
    VAT techniques go to `fit` as `unlabeled`. With `run_dir` the run is on record there, as `attnvat train` leaves it.
    All other parameters are the options of `attnvat config`.
    """

    def __init__(
        self,
        technique: str = "vanilla",
        *,
        epsilon: float | None = None,
        xi: float | None = None,
        iterations: int | None = None,
        weight: float | None = None,
        neighbours: int | None = None,
        reading: str | None = None,
        teacher: str | None = None,
        word_epsilon: float = 0.0,
        context_penalty: float = 0.0,
        unlabeled_ratio: float | None = None,
        vectors: str | None = None,
        language_model: str | None = None,
        data_dir: str | None = None,
        dimension: int | None = None,
        lower: bool = True,
        numbers: bool = True,
        min_frequency: int = 1,
        max_vocabulary: int | None = None,
        max_length: int | None = None,
        pool_words: bool = True,
        vector_words: int = 0,
        phrases: int = 0,
        start: str | None = None,
        hidden: int = 256,
        attention: int = 128,
        decoder: Literal["paper", "joint"] = "paper",
        dropout: float = 0.3,
        batch_size: int = 32,
        learning_rate: float = 1e-3,
        l2: float = 1e-5,
        embedding_updates: Literal["touched", "all"] = "touched",
        average: float = 0.0,
        calibrate: bool = False,
        clip: float | None = None,
        epochs: int = 10,
        patience: int = 3,
        seed: int = 0,
        device: str | None = None,
        validation_size: float = 0.1,
        run_dir: str | None = None,
        verbose: bool = False,
    ) -> None:
        self.technique = technique
        self.epsilon = epsilon
        self.xi = xi
        self.iterations = iterations
        self.weight = weight
        self.neighbours = neighbours
        self.reading = reading
        self.teacher = teacher
        self.word_epsilon = word_epsilon
        self.context_penalty = context_penalty
        self.unlabeled_ratio = unlabeled_ratio
        self.vectors = vectors
        self.language_model = language_model
        self.data_dir = data_dir
        self.dimension = dimension
        self.lower = lower
        self.numbers = numbers
        self.min_frequency = min_frequency
        self.max_vocabulary = max_vocabulary
        self.max_length = max_length
        self.pool_words = pool_words
        self.vector_words = vector_words
        self.phrases = phrases
        self.start = start
        self.hidden = hidden
        self.attention = attention
        self.decoder = decoder
        self.dropout = dropout
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.l2 = l2
        self.embedding_updates = embedding_updates
        self.average = average
        self.calibrate = calibrate
        self.clip = clip
        self.epochs = epochs
        self.patience = patience
        self.seed = seed
        self.device = device
        self.validation_size = validation_size
        self.run_dir = run_dir
        self.verbose = verbose

    def fit(
        self,
        X: Any,
        y: Any,
        unlabeled: Any = None,
        validation: tuple[Any, Any] | None = None,
    ) -> Self:
        """Train on texts X and labels y; without `validation` a stratified part is held out for early stopping."""
        options = {k: v for k, v in self.get_params().items() if k not in OUTSIDE}
        # A search over a numpy range sets numpy's numbers.
        options = {k: v.item() if isinstance(v, np.generic) else v for k, v in options.items()}
        config = from_dict({"data": "python", **options}, "TextClassifier")
        texts, labels = as_examples(X), as_labels(y)
        self.classes_ = classes_of(labels)
        train = named(texts, labels, self.classes_)
        if validation is None:
            train, held_out = hold_out(train, self.validation_size, self.seed)
        else:
            held_out = named(as_examples(validation[0]), as_labels(validation[1]), self.classes_)
        corpus = Corpus("python", names_of(self.classes_), train, held_out, [], metric="accuracy")
        more = None if unlabeled is None else as_examples(unlabeled)
        display = display_for_terminal() if self.verbose else Silent()
        folder = Path(self.run_dir) if self.run_dir else None
        if more is not None and not config.build_technique().virtual:
            raise UserError(
                f"{self.technique} needs labels and cannot use unlabelled text; use one of the VAT techniques"
            )
        trained = fit(config, prepare(config, corpus, more), folder, display=display)
        self.pretrained_ = trained.pretrained
        self.history_ = trained.history
        self.result_ = trained.result
        if folder:
            self._describe(folder)
        return self

    def predict_proba(self, X: Any) -> npt.NDArray[np.float32]:
        """p of every class, in the order of `classes_` (N, C)."""
        examples = self._read(X)
        return predict(self.pretrained_, encode_examples(self.pretrained_, examples))

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The most probable label of each text (N,)."""
        most_probable = self.predict_proba(X).argmax(axis=1)
        chosen: npt.NDArray[Any] = self.classes_[most_probable]
        return chosen

    def explain(self, X: Any, importance: Sequence[str] = ("gradient",)) -> list[Explanation]:
        """Words, attention and importance of each text."""
        examples = self._read(X)
        return explain(self.pretrained_, examples, importance)

    def _read(self, X: Any) -> list[Example]:
        """The texts to judge; a second text that the model would not look at is refused."""
        check_is_fitted(self, "pretrained_")
        examples = as_examples(X)
        if not self.pretrained_.model.config.pair and any(example.pair is not None for example in examples):
            raise UserError("these are pairs, but the model reads single texts; give one column")
        return examples

    def save_pretrained(self, folder: Path | str) -> None:
        """Write the model, its vocabulary and this estimator's parameters into `folder`."""
        check_is_fitted(self, "pretrained_")
        save_pretrained(self.pretrained_, folder)
        self._describe(Path(folder))

    def _describe(self, folder: Path) -> None:
        """Put this estimator's parameters and labels beside its model."""
        try:
            write_json(folder / ESTIMATOR, {"parameters": self.get_params(), "classes": self.classes_.tolist()})
        except TypeError as error:
            raise UserError(f"labels of type {self.classes_.dtype} cannot be saved; use text or numbers") from error

    @classmethod
    def from_pretrained(cls, folder: Path | str) -> Self:
        """The classifier saved in `folder`, or the best model of a run."""
        folder = Path(folder)
        bundle = from_pretrained(folder)
        if (folder / ESTIMATOR).exists():
            saved = read_json(folder / ESTIMATOR)
            found = cls(**saved["parameters"])
            found.classes_ = np.asarray(saved["classes"])
        else:
            config = open_run(folder).config.to_dict() if (folder / CONFIG).exists() else {}
            found = cls(**{k: config[k] for k in cls().get_params() if k in config})
            found.classes_ = np.asarray(bundle.labels)
        found.pretrained_ = bundle
        return found

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags


def as_examples(X: Any) -> list[Example]:
    """Texts, or pairs of texts in two columns, as examples; anything else is refused with its place."""
    rows = X.to_numpy() if hasattr(X, "to_numpy") else X
    if isinstance(rows, str):
        raise UserError("expected a sequence of texts, not one text; put it in a list")
    rows = rows.tolist() if isinstance(rows, np.ndarray) else list(rows)
    found = []
    for place, row in enumerate(rows):
        texts = list(row) if isinstance(row, list | tuple) else [row]
        texts = texts if len(texts) in (1, 2) else [None]
        if not all(isinstance(text, str) for text in texts):
            raise UserError(f"item {place} of the texts is {row!r:.80}; expected a text or a pair of texts")
        found.append(Example(*texts))
    if len({example.pair is None for example in found}) > 1:
        raise UserError("some items are single texts and some are pairs; give all of them the same form")
    return found


def as_labels(y: Any) -> npt.NDArray[Any]:
    """Labels as one column (N,)."""
    labels = np.asarray(y)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.ndim != 1:
        raise UserError(f"expected one label a text, not labels of shape {labels.shape}")
    return labels


def classes_of(labels: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The different labels, sorted (C,)."""
    try:
        classes: npt.NDArray[Any] = np.unique(labels)
    except TypeError as error:
        raise UserError("the labels are of different types; make all of them text, or all numbers") from error
    if len(classes) < 2:
        raise UserError(f"{len(labels)} labels, {len(classes)} different; a classifier needs at least two classes")
    return classes


def names_of(classes: npt.NDArray[Any]) -> tuple[str, ...]:
    """The labels as the text by which the model, its reports and the command line know them."""
    names = tuple(map(str, classes.tolist()))
    return names if len(set(names)) == len(names) else tuple(map(str, range(len(classes))))


def named(examples: Sequence[Example], labels: npt.NDArray[Any], classes: npt.NDArray[Any]) -> list[Example]:
    """The examples with their labels' names; a label that training has not is refused."""
    if len(examples) != len(labels):
        raise UserError(f"{len(examples)} texts but {len(labels)} labels")
    name_of = dict(zip(classes.tolist(), names_of(classes), strict=True))
    unknown = sorted({str(label) for label in labels.tolist() if label not in name_of})
    if unknown:
        raise UserError(f"validation has labels that training has not: {', '.join(unknown)}")
    return [
        Example(example.text, example.pair, name_of[label])
        for example, label in zip(examples, labels.tolist(), strict=True)
    ]


def hold_out(examples: list[Example], size: float, seed: int) -> tuple[list[Example], list[Example]]:
    """The examples without a stratified part, and that part."""
    try:
        rest, part = train_test_split(
            examples, test_size=size, stratify=[example.label for example in examples], random_state=seed
        )
    except ValueError as error:
        raise UserError(
            f"no validation part can be taken from {len(examples)} texts: {error} "
            "Give more texts, a larger validation_size, or `validation`"
        ) from error
    return rest, part
