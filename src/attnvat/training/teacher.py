"""Teachers: what finished runs, transformers and a linear model make of unlabelled texts, for VAT to hold a model to.

Several teachers are weighed, and a single one's confidence is set right, by a logistic regression on the validation
texts.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from sklearn.linear_model import LogisticRegression
from torch import Tensor

from attnvat.corpora import Example
from attnvat.errors import UserError
from attnvat.evaluation.prediction import predict
from attnvat.evaluation.subject import encode_examples
from attnvat.models import Pretrained, from_pretrained
from attnvat.models.pretrained import WEIGHTS
from attnvat.progress import progress
from attnvat.text.tokenizer import Text, Tokenizer
from attnvat.training.linear_teacher import LinearTeacher
from attnvat.training.remembered import Answer, remembered
from attnvat.training.transformer import TextTransformer, is_transformer, open_transformer, weight_files
from attnvat.training.unlabelled import Unlabelled

LINEAR = "linear"
"""Names the linear model among the teachers; the others are folders of runs and of fine-tuned transformers."""
EVIDENCE_VERSION = 1
"""To be raised when a run or a transformer would say something else of the same texts."""
LEAST = 1e-6
"""Probability that a class has at least: a teacher is never so sure that nothing else counts."""

Evidence = npt.NDArray[np.float64]
"""What one teacher makes of each text: a column a class, or one for the second of two."""


@dataclass(frozen=True)
class Lesson:
    """The texts that teachers are made and weighed with, and those that they are to tell of."""

    train: Sequence[Example]
    validation: Sequence[Example]
    unlabelled: Unlabelled
    labels: Sequence[str]
    pair: bool
    tokenizer: Tokenizer
    max_length: int | None

    def numbers(self, examples: Sequence[Example]) -> npt.NDArray[np.int64]:
        """The numbers of the examples' classes."""
        return np.array([self.labels.index(str(example.label)) for example in examples])


def teachers(names: str) -> list[str]:
    """The teachers that `Config.teacher` names."""
    found = [name.strip() for name in names.split(",") if name.strip()]
    if not found:
        raise UserError(f"teacher names none; give a run's folder or {LINEAR!r}, or several with commas between")
    return found


def taught_logits(names: Sequence[str], lesson: Lesson) -> tuple[Tensor, str]:
    """What the teachers make of each unlabelled text, (N,) for two classes, (N, C) for more, and a note on them."""
    if len(set(lesson.numbers(lesson.validation).tolist())) < len(lesson.labels):
        raise UserError("teachers are weighed on the validation texts, and those lack a class; set more texts aside")
    models, linear = [(name, opened(Path(name), lesson)) for name in names if name != LINEAR], LINEAR in names
    with progress("asking teachers", len(models) + (2 if models else 1) * linear) as advance:

        def told(evidence: tuple[Evidence, Evidence]) -> tuple[Evidence, Evidence]:
            advance()
            return evidence

        runs = [told(remembered_evidence(name, model, lesson)) for name, model in models]
        chances, right = together([*runs, told(evidence_of_linear(lesson))] if linear else runs, lesson)
        if linear and runs:
            # What runs know of texts without labels is new to the linear model: it learns again.
            chances, right = together([*runs, told(evidence_of_linear(lesson, chances))], lesson)
    logs = torch.from_numpy(np.log(np.maximum(chances, LEAST))).float()
    who = "a linear model" if names == [LINEAR] else f"{len(names)} teachers together" if len(names) > 1 else "a run"
    note = f"taught by {who}, right on {right:.1%} of the validation texts"
    return (logs[:, 1] - logs[:, 0] if len(lesson.labels) == 2 else logs), note


def together(evidence: Sequence[tuple[Evidence, Evidence]], lesson: Lesson) -> tuple[Evidence, float]:
    """The chances of each class in the unlabelled texts (N, C), and on how many of the validation texts it is right."""
    validation, unlabelled = map(np.hstack, zip(*evidence, strict=True))
    known = lesson.numbers(lesson.validation)
    weighing = LogisticRegression(max_iter=1000).fit(validation, known)
    return weighing.predict_proba(unlabelled), float(weighing.score(validation, known))


def evidence_of_linear(lesson: Lesson, supposed: Evidence | None = None) -> tuple[Evidence, Evidence]:
    """What a linear model makes of the validation and of the unlabelled texts.

    With `supposed` chances of the classes (N, C) it learns from the unlabelled texts too, more from the surer ones.
    """
    if lesson.pair:
        raise UserError("the linear teacher reads single texts, and these are pairs; name a run's folder instead")
    texts: list[Text] = [example.text for example in lesson.train]
    labels, sure, classes = lesson.numbers(lesson.train), np.ones(len(texts)), len(lesson.labels)
    unlabelled = list(lesson.unlabelled.texts())
    if supposed is not None:
        texts += unlabelled
        labels = np.concatenate([labels, supposed.argmax(axis=1)])
        # Nothing at even chances, one where a class is certain.
        sure = np.concatenate([sure, (classes * supposed.max(axis=1) - 1) / (classes - 1)])
    linear = LinearTeacher(lesson.tokenizer, texts, labels, classes, sure)
    return linear.decide(example.text for example in lesson.validation), linear.decide(unlabelled)


def opened(folder: Path, lesson: Lesson) -> Pretrained | TextTransformer:
    """The model of a run on the same task, or a transformer that was fine-tuned on it."""
    teacher = open_transformer(folder) if is_transformer(folder) else from_pretrained(folder)
    pair = teacher.pair if isinstance(teacher, TextTransformer) else teacher.model.config.pair
    if tuple(lesson.labels) != teacher.labels or pair != lesson.pair:
        kinds = "pairs" if pair else "single texts"
        raise UserError(
            f"{folder}: tells {', '.join(teacher.labels)} apart in {kinds}, and so cannot teach a model of "
            f"{', '.join(lesson.labels)} in {'pairs' if lesson.pair else 'single texts'}; name a run on the same task"
        )
    return teacher


def remembered_evidence(name: str, teacher: Pretrained | TextTransformer, lesson: Lesson) -> tuple[Evidence, Evidence]:
    """What a run or a transformer makes of the texts, kept so that it need not be asked again beside other teachers."""
    total = hashlib.sha256(f"{EVIDENCE_VERSION} {digest_of_teachers([name])} {lesson.max_length}".encode())
    hash_texts(total, lesson, lesson.validation)

    def ask() -> Answer:
        first, second = evidence_of(teacher, lesson)
        return {"validation": torch.from_numpy(first), "unlabelled": torch.from_numpy(second)}, name

    tensors, _ = remembered(f"one-{total.hexdigest()[:32]}", ask)
    return tensors["validation"].numpy(), tensors["unlabelled"].numpy()


def evidence_of(teacher: Pretrained | TextTransformer, lesson: Lesson) -> tuple[Evidence, Evidence]:
    """A teacher's log-probabilities, or the log-odds of the second of two classes."""
    if isinstance(teacher, TextTransformer):
        questions = lesson.unlabelled.questions() if lesson.pair else None
        read = teacher.read_examples(lesson.validation), teacher.read(lesson.unlabelled.texts(), questions)
        logs = [np.maximum(teacher.log_chances(some), np.log(LEAST)) for some in read]
    else:
        data = encode_examples(teacher, lesson.validation), lesson.unlabelled.encode(teacher, lesson.max_length)
        logs = [np.log(np.maximum(predict(teacher, some).astype(np.float64), LEAST)) for some in data]
    first, second = (np.ascontiguousarray(o[:, 1:] - o[:, :1]) if len(lesson.labels) == 2 else o for o in logs)
    return first, second


def digest_of_teachers(names: Sequence[str]) -> str:
    """A hash of the runs' weights and of which teachers there are."""
    total = hashlib.sha256()
    for name in names:
        if name == LINEAR:
            total.update(name.encode())
        else:
            folder = Path(name)
            for file in weight_files(folder) if is_transformer(folder) else [folder / WEIGHTS]:
                total.update(file.read_bytes())
    return total.hexdigest()


def hash_texts(total: hashlib._Hash, lesson: Lesson, *splits: Sequence[Example]) -> None:
    """Add some splits of a lesson and all of its unlabelled texts to a hash."""
    for examples in splits:
        for example in examples:
            total.update(repr((example.text, example.pair, example.label)).encode("utf-8", "surrogatepass"))
        total.update(b"\n")
    for texts in (lesson.unlabelled.texts(), lesson.unlabelled.questions() if lesson.pair else ()):
        for text in texts:
            total.update(repr(text).encode("utf-8", "surrogatepass"))
        total.update(b"\n")
