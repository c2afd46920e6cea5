"""All measures of a model on a set of examples, as one JSON-able record."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from attnvat.errors import UserError, nearest
from attnvat.evaluation.correlation import entropy, kendall, left_out, pearson, score_peak, score_spread
from attnvat.evaluation.distribution import distribution
from attnvat.evaluation.importances import IMPORTANCES, importances
from attnvat.evaluation.prediction import predict, prediction_report
from attnvat.evaluation.rationale_report import rationale_report
from attnvat.evaluation.robustness_report import robustness_report
from attnvat.evaluation.subject import Subject
from attnvat.evaluation.token_values import TokenValues
from attnvat.progress import stderr

Rows = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Options:
    """What the costly parts measure, and on how many texts; recorded with the results."""

    importances: tuple[str, ...] = ("gradient", "integrated-gradients", "leave-one-out")
    detached: bool = True
    """Whether the gradient importance stops at the attention."""
    steps: int = 32
    """Steps of integrated gradients."""
    costly: int = 500
    """Texts measured by integrated gradients, leave-one-out and faithfulness, drawn by the seed; 0 means all."""
    robustness: int = 500
    """Texts measured by the robustness suite, drawn by the seed; 0 means all."""
    epsilons: tuple[float, ...] = (0.1, 0.5, 1.0, 2.0, 5.0)
    """Norms of the perturbations tried, of a whole sentence's attention scores or word vectors."""
    rationale_share: float | None = None
    """Share of a document's words taken as its hard rationale; None takes the average share people marked."""

    def __post_init__(self) -> None:
        for name in self.importances:
            if name not in IMPORTANCES:
                raise UserError(f"unknown importance {name!r}; {nearest(name, IMPORTANCES)}")
        if self.rationale_share is not None and not 0 < self.rationale_share <= 1:
            raise UserError(f"rationale share {self.rationale_share}: must be above 0 and at most 1")
        for limit in (self.costly, self.robustness):
            if limit < 0:
                raise UserError(f"a limit of {limit} texts: must be 0 (all) or more")


SUITES: dict[str, str] = {
    "prediction": "F1, accuracy, ROC-AUC, calibration, confusion; by genre and by length",
    "correlation": "attention against word importance (Pearson, Kendall τ); attention entropy and score scale",
    "rationales": "attention against the words people marked (ERASER); comprehensiveness and sufficiency",
    "robustness": "perturbed attention and words, permuted and adversarial attention, substituted words",
}
"""Name → what it measures."""


def evaluate(
    subject: Subject,
    suites: Sequence[str] = ("prediction", "correlation"),
    *,
    seed: int = 0,
    options: Options | None = None,
) -> dict[str, Any]:
    """The results of each suite by name, ready for JSON; the same for the same seed. Undefined numbers are None."""
    options = options or Options()
    for name in suites:
        if name not in SUITES:
            raise UserError(f"unknown suite {name!r}; {nearest(name, SUITES)}")
    if not subject.examples:
        raise UserError(f"{subject.name or 'the data'}: there are no examples to evaluate")
    run: dict[str, Callable[[Subject, int, Options], dict[str, Any]]] = {
        "prediction": _prediction,
        "correlation": _correlation,
        "rationales": _rationales,
        "robustness": _robustness,
    }
    record: dict[str, Any] = {
        "subject": {
            "name": subject.name,
            "examples": len(subject.examples),
            "tokens": int(subject.data.lengths.sum()),
            "labels": list(subject.pretrained.labels),
            "metric": subject.metric,
            "seed": seed,
            "options": asdict(options),
        }
    }
    for name in SUITES:
        if name in suites:
            start = time.monotonic()
            found = run[name](subject, seed, options)
            record[name] = _json_ready(found)
            stderr.print(f"{name}: {time.monotonic() - start:.1f} s")
    return record


def sample(count: int, limit: int, seed: int) -> Rows:
    """At most `limit` of `count` rows, drawn by the seed, in their order; all of them where the limit is 0."""
    if not limit or limit >= count:
        return np.arange(count)
    return np.sort(np.random.default_rng([seed, count]).choice(count, limit, replace=False)).astype(np.int64)


def _labels(subject: Subject, suite: str) -> npt.NDArray[np.int64]:
    labels = subject.data.labels
    if labels is None:
        place = next(i for i, example in enumerate(subject.examples) if example.label is None)
        raise UserError(f"{suite} needs labels, but example {subject.examples[place].id or place + 1} has none")
    return labels


def _prediction(subject: Subject, seed: int, options: Options) -> dict[str, Any]:  # noqa: ARG001
    labels = _labels(subject, "prediction")
    found = predict(subject.pretrained, subject.data)
    genres = [example.genre for example in subject.examples]
    report = prediction_report(found, labels, subject.metric, subject.pretrained.labels, subject.data.lengths, genres)
    report["instances"] = {
        "label": labels.tolist(),
        "prediction": found.argmax(axis=1).tolist(),
        "probability": _rounded(found[np.arange(len(found)), labels]),
    }
    return report


def _correlation(subject: Subject, seed: int, options: Options) -> dict[str, Any]:
    data, count = subject.data, len(subject.examples)
    cheap = tuple(name for name in options.importances if name == "gradient")
    reading, values = importances(subject.pretrained, data, cheap, detached=options.detached)
    rows = {name: np.arange(count) for name in cheap}
    dear = tuple(name for name in options.importances if name != "gradient")
    if dear:
        chosen = sample(count, options.costly, seed)
        _, more = importances(subject.pretrained, data.select(chosen), dear, steps=options.steps)
        values |= more
        rows |= dict.fromkeys(dear, chosen)
    found: dict[str, Any] = {"examples": count, "detached": options.detached, "importances": {}, "instances": {}}
    for name in options.importances:
        attention = reading.attention if len(rows[name]) == count else reading.attention.select(rows[name])
        r, tau = pearson(attention, values[name]), kendall(attention, values[name])
        found["importances"][name] = {
            "examples": len(rows[name]),
            "of": count,
            "left_out": left_out(attention, values[name]),
            "pearson": distribution(r, -1, 1),
            "kendall": distribution(tau, -1, 1),
        }
        found["instances"][name] = {"rows": rows[name].tolist(), "pearson": _rounded(r), "kendall": _rounded(tau)}
    found["attention"] = attention_figures(reading.attention, reading.scores)
    return found


def attention_figures(attention: TokenValues, scores: TokenValues) -> dict[str, Any]:
    """How spread attention is, and how large its scores are: a model can blunt a fixed ε by growing them."""
    return {
        "entropy": distribution(entropy(attention), 0, 1),
        "score_sd": distribution(score_spread(scores)),
        "score_peak": distribution(score_peak(scores)),
    }


def _rationales(subject: Subject, seed: int, options: Options) -> dict[str, Any]:
    rows = sample(len(subject.examples), options.costly, seed)
    return rationale_report(subject, rows.tolist(), options.rationale_share, options.detached)


def _robustness(subject: Subject, seed: int, options: Options) -> dict[str, Any]:
    count = len(subject.examples)
    rows = sample(count, options.robustness, seed)
    return {"examples": len(rows), "of": count} | robustness_report(
        subject.select(rows.tolist()), options.epsilons, seed
    )


def _rounded(values: npt.NDArray[Any]) -> list[float]:
    """Single numbers kept for paired comparisons, six decimals each."""
    return [float(value) for value in np.round(values.astype(np.float64), 6)]


def _json_ready(value: Any) -> Any:
    """The value with numbers that do not exist (NaN, infinity) as None."""
    if isinstance(value, dict):
        return {key: _json_ready(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_json_ready(inner) for inner in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value
