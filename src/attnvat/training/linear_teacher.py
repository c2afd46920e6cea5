"""A linear model of words, pairs and triples: it reads other things in a text than a network does, and so can teach it.

Each term counts once a text, weighted by how much likelier it is in texts of a class than in the others; a support
vector machine then decides (NB-SVM). Texts are of length one, so that long ones count no more than short ones.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.preprocessing import normalize
from sklearn.svm import LinearSVC

from attnvat.errors import UserError
from attnvat.text.tokenizer import Text, Tokenizer
from attnvat.training.terms import Terms

LEAST = 2
"""Texts that a term must be in."""
MOST_WORDS = 3
"""Neighbouring words that make a term at most."""
C = 1.0
"""How much the machine minds a text on the wrong side."""


class LinearTeacher:
    """One linear model a class, or one alone where there are two classes.

    With `sure` (N,) texts count more or less: 1 for a label that is known, less for one that others only suppose.
    """

    def __init__(
        self,
        tokenizer: Tokenizer,
        texts: Iterable[Text],
        labels: npt.NDArray[np.int64],
        classes: int,
        sure: npt.NDArray[np.float64] | None = None,
    ) -> None:
        if len(set(labels.tolist())) < classes:
            raise UserError("the linear teacher needs labelled texts of every class; use more, or name a run's folder")
        texts = list(texts)
        self.terms = Terms(tokenizer, texts, MOST_WORDS, min(LEAST, len(labels)))
        if not len(self.terms):
            raise UserError(
                f"the linear teacher needs words that are in {LEAST} labelled texts, and there are none; "
                "use more labelled texts, or name a run's folder"
            )
        counts = self.terms.matrix(texts)
        sure = np.ones(len(labels)) if sure is None else sure
        self.models = [fitted(counts, labels == number, sure) for number in (range(classes) if classes > 2 else [1])]

    def decide(self, texts: Iterable[Text]) -> npt.NDArray[np.float64]:
        """How far each text is on the side of each class (N, C), or of the second of two (N, 1)."""
        counts = self.terms.matrix(texts)
        return np.stack([model.decision_function(weighted(counts, weights)) for weights, model in self.models], 1)


def fitted(
    counts: Any, inside: npt.NDArray[np.bool_], sure: npt.NDArray[np.float64]
) -> tuple[npt.NDArray[np.float64], LinearSVC]:
    """The weights of the terms for one class, and the machine that reads them."""
    likely, unlikely = (sure[rows] @ counts[rows] + 1 for rows in (inside, ~inside))
    weights = np.log(likely / likely.sum()) - np.log(unlikely / unlikely.sum())
    return weights, LinearSVC(C=C, random_state=0).fit(weighted(counts, weights), inside, sample_weight=sure)


def weighted(counts: Any, weights: npt.NDArray[np.float64]) -> Any:
    """Texts of length one in terms by their weight."""
    return normalize(counts.multiply(weights).tocsr())
