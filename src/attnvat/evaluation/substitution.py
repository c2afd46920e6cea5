"""Does it hold when words are replaced by near ones: a greedy attack with a budget of words.

Words are tried in the order of their gradient importance. Each is replaced by that one of its nearest words in the
model's own embedding (cosine) that lowers the probability of the predicted class most, if any lowers it, until the
prediction flips or the budget, a share of the text's words, is used up. All texts are attacked at the same time, so a
step costs one pass over (texts still standing × candidates). Nothing checks that the sentence still means the same:
this measures the model's smoothness over its own neighbourhoods, not attacks a reader would miss.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from attnvat.evaluation.prediction import predict
from attnvat.evaluation.reading import Reading
from attnvat.evaluation.still import model_of
from attnvat.evaluation.token_values import TokenValues
from attnvat.models import Pretrained, SequenceClassifier
from attnvat.progress import progress
from attnvat.techniques.neighbours import SPECIAL, nearest_words
from attnvat.text.encoding import EncodedDataset, EncodedTexts

Rows = npt.NDArray[np.int64]
CANDIDATES = 8
BUDGET = 0.2


@dataclass(frozen=True)
class Attacked:
    """The outcome for N texts."""

    texts: EncodedTexts
    """The texts after the attack."""
    flipped: npt.NDArray[np.bool_]
    changed: npt.NDArray[np.int64]
    """Number of words replaced (N,)."""
    drop: npt.NDArray[np.float64]
    """Fall of the predicted class's probability (N,)."""
    budget: float
    candidates: int

    def figures(self, right: npt.NDArray[np.bool_] | None) -> dict[str, Any]:
        """Rates over texts; `right` says which were classified rightly before: wrong ones need no attack."""
        share = self.changed / self.texts.lengths
        return {
            "budget": self.budget,
            "candidates": self.candidates,
            "flip_rate": float(self.flipped.mean()),
            "accuracy_before": None if right is None else float(right.mean()),
            "accuracy": None if right is None else float((right & ~self.flipped).mean()),
            "changed_share": float(share.mean()),
            "changed_share_flipped": float(share[self.flipped].mean()) if self.flipped.any() else None,
            "drop": float(self.drop.mean()),
        }


def substitute(
    source: Pretrained | SequenceClassifier,
    data: EncodedDataset,
    reading: Reading,
    importance: TokenValues,
    budget: float = BUDGET,
    candidates: int = CANDIDATES,
) -> Attacked:
    """The texts after the attack, at most `budget` of each one's words (at least one) replaced."""
    model = model_of(source)
    texts = EncodedTexts(data.texts.ids.copy(), data.texts.offsets)
    near = nearest_of(model, np.unique(texts.ids), candidates)
    allowed = np.maximum(1, np.floor(budget * data.lengths)).astype(np.int64)
    order = [np.argsort(-importance[row], kind="stable") for row in range(len(data))]
    p = reading.confidence.astype(np.float64)
    changed = np.zeros(len(data), dtype=np.int64)
    flipped = np.zeros(len(data), dtype=np.bool_)
    with progress("substituted words", int(data.lengths.max(initial=0))) as advance:
        for step in range(int(data.lengths.max(initial=0))):
            standing = np.flatnonzero(~flipped & (changed < allowed) & (data.lengths > step))
            places = np.array([order[row][step] for row in standing], dtype=np.int64)
            words = texts.ids[data.texts.offsets[standing] + places]
            usable = np.isin(words, list(near))
            standing, places, words = standing[usable], places[usable], words[usable]
            advance()
            if not len(standing):
                if not (~flipped & (changed < allowed) & (data.lengths > step)).any():
                    break
                continue
            choice, after, prediction = _best(source, data, texts, standing, places, words, near, reading)
            lower = after < p[standing]
            rows = standing[lower]
            texts.ids[data.texts.offsets[rows] + places[lower]] = choice[lower]
            p[rows] = after[lower]
            changed[rows] += 1
            flipped[rows] = prediction[lower] != reading.predictions[rows]
    drop = reading.confidence.astype(np.float64) - p
    return Attacked(texts, flipped, changed, drop, budget, candidates)


def _best(
    source: Pretrained | SequenceClassifier,
    data: EncodedDataset,
    texts: EncodedTexts,
    rows: Rows,
    places: Rows,
    words: npt.NDArray[np.int32],
    near: dict[int, npt.NDArray[np.int32]],
    reading: Reading,
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float64], Rows]:
    """For each row the replacement that lowers its predicted class's p most, that p, and the class then predicted."""
    options = np.stack([near[word] for word in words.tolist()])
    count = options.shape[1]
    of = np.repeat(rows, count)
    tried = texts.select(of)
    tried.ids[tried.offsets[:-1] + np.repeat(places, count)] = options.ravel()
    variants = EncodedDataset(
        tried,
        data.questions and data.questions.select(of),
        None,
        data.classes and data.classes.select(of),
        data.n_classes,
    )
    found = predict(source, variants)
    p = found[np.arange(len(of)), reading.predictions[of]].reshape(-1, count).astype(np.float64)
    pick = p.argmin(axis=1)
    line = np.arange(len(rows))
    return options[line, pick], p[line, pick], found.argmax(axis=1).reshape(-1, count)[line, pick]


def nearest_of(model: SequenceClassifier, words: npt.NDArray[np.int32], count: int) -> dict[int, npt.NDArray[np.int32]]:
    """Each known word's nearest other words by cosine; padding and the unknown word have none and are nobody's."""
    table = model.embedding_table()
    count = min(count, table.shape[0] - SPECIAL - 1)
    asked = words[words >= SPECIAL].astype(np.int64)
    if count < 1 or not asked.size:
        return {}
    near = nearest_words(table, count, torch.from_numpy(asked).to(table.device)).cpu().numpy().astype(np.int32)
    return dict(zip(asked.tolist(), near, strict=True))
