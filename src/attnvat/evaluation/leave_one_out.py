"""Word importance by leaving words out: |Δŷ|, ŷ the probability of the predicted class.

The word is really taken out: the text becomes one token shorter and is read again, as Jain & Wallace do. Replacing it
by padding or an unknown word would leave a hole the model has never seen. Without its only word a text is empty, and an
empty text is read as one unknown word, as everywhere.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import torch

from attnvat.evaluation.batches import TOKENS, token_batches
from attnvat.evaluation.reading import Reading
from attnvat.evaluation.still import held_still, model_of
from attnvat.evaluation.token_values import TokenValues
from attnvat.evaluation.variants import without_each_word
from attnvat.models import Pretrained, SequenceClassifier
from attnvat.models.probability import probabilities
from attnvat.progress import progress
from attnvat.text.encoding import EncodedDataset


def leave_one_out(
    source: Pretrained | SequenceClassifier, data: EncodedDataset, reading: Reading, tokens: int = 4 * TOKENS
) -> TokenValues:
    """How far the predicted class's probability moves when each word is taken out."""
    model = model_of(source)
    found = TokenValues.empty(data.lengths)
    predicted, confidence = reading.predictions, reading.confidence
    with torch.no_grad(), held_still(model) as device, progress("leave one out", len(data)) as advance:
        # A text of T words makes T variants of T − 1: texts are taken together while their variants fit the budget.
        for rows in groups(data.lengths, tokens):
            variants = without_each_word(data, rows)
            of = np.repeat(rows, data.lengths[rows])
            p = np.zeros(len(variants), dtype=np.float32)
            for part in token_batches(variants.lengths, tokens):
                batch = variants.batch(part).to(device)
                states, scores = model.encode(model.embed(batch), batch)
                moved = probabilities(model.decode(states, scores, batch)).float().cpu().numpy()
                p[part] = moved[np.arange(len(part)), predicted[of[part]]]
            change = np.abs(p - confidence[of])
            start = 0
            for row in rows.tolist():
                end = start + int(data.lengths[row])
                found[row][:] = change[start:end]
                start = end
            advance(len(rows))
    return found


def groups(lengths: npt.NDArray[np.int64], tokens: int) -> list[npt.NDArray[np.int64]]:
    """Rows of like length whose variants, T texts of T − 1 words each, together hold about `tokens` tokens."""
    order = np.argsort(-lengths, kind="stable").astype(np.int64, copy=False)
    cost = np.cumsum(lengths[order] * np.maximum(1, lengths[order] - 1))
    parts = np.flatnonzero(np.diff(cost // max(1, tokens))) + 1
    return [part for part in np.split(order, parts) if len(part)]
