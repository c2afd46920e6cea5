"""A linear model of words and pairs of words: it reads other things in a text than a network does, and so can teach it.

Each term counts once a text, weighted by how much likelier it is in texts of a class than in the others; a support
vector machine then decides (NB-SVM).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.svm import LinearSVC

from attnvat.errors import UserError
from attnvat.text.tokenizer import Text, Tokenizer

LEAST = 2
"""Texts that a term must be in."""
C = 0.1
"""How much the machine minds a text on the wrong side."""


class LinearTeacher:
    """One linear model a class, or one alone where there are two classes."""

    def __init__(
        self, tokenizer: Tokenizer, texts: Iterable[Text], labels: npt.NDArray[np.int64], classes: int
    ) -> None:
        if len(set(labels.tolist())) < classes:
            raise UserError("the linear teacher needs labelled texts of every class; use more, or name a run's folder")
        self.tokenizer = tokenizer
        self.terms = CountVectorizer(analyzer=self.terms_of, binary=True, min_df=min(LEAST, len(labels)))
        try:
            counts = self.terms.fit_transform(texts)
        except ValueError as error:
            raise UserError(
                f"the linear teacher needs words that are in {LEAST} labelled texts, and there are none; "
                "use more labelled texts, or name a run's folder"
            ) from error
        self.models = [fitted(counts, labels == number) for number in (range(classes) if classes > 2 else [1])]

    def terms_of(self, text: Text) -> list[str]:
        """The words of a text, and each with the next."""
        words = self.tokenizer.words(text)
        return [*words, *map(" ".join, pairwise(words))]

    def decide(self, texts: Iterable[Text]) -> npt.NDArray[np.float64]:
        """How far each text is on the side of each class (N, C), or of the second of two (N, 1)."""
        counts = self.terms.transform(texts)
        return np.stack(
            [model.decision_function(counts.multiply(weights).tocsr()) for weights, model in self.models], 1
        )


def fitted(counts: Any, inside: Sequence[bool] | npt.NDArray[np.bool_]) -> tuple[npt.NDArray[np.float64], LinearSVC]:
    """The weights of the terms for one class, and the machine that reads them."""
    inside = np.asarray(inside)
    likely, unlikely = (np.asarray(counts[rows].sum(axis=0), dtype=np.float64) + 1 for rows in (inside, ~inside))
    weights = np.log(likely / likely.sum()) - np.log(unlikely / unlikely.sum())
    return weights, LinearSVC(C=C, random_state=0).fit(counts.multiply(weights).tocsr(), inside)
