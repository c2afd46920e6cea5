"""The rationale suite of a subject: agreement with people, and what the attended words carry."""

from __future__ import annotations

from typing import Any

import numpy as np

from attnvat.errors import UserError
from attnvat.evaluation.faithfulness import SHARES, aopc, faithfulness
from attnvat.evaluation.importance import gradient_importance
from attnvat.evaluation.rationales import THRESHOLD, auprc, iou_scores, soft_scores, token_scores
from attnvat.evaluation.spans import Marks, marks_of, spans_of, top_share
from attnvat.evaluation.subject import Subject
from attnvat.evaluation.token_values import TokenValues


def rationale_report(subject: Subject, rows: list[int], share: float | None, detached: bool = True) -> dict[str, Any]:
    """Scores of attention, and of gradient importance beside it, against the documents with rationales.

    Hard rationales are each document's top words, as large a share as people marked on average over the documents (or
    the `share` given): ERASER's choice, k from the average rationale. `rows` are the texts on which faithfulness is
    measured. Documents are read whole, however long.
    """
    marked = [i for i, example in enumerate(subject.examples) if example.rationale is not None]
    report: dict[str, Any] = {"documents": len(marked), "without_rationale": len(subject.examples) - len(marked)}
    if marked:
        report |= _agreement(subject.select(marked), share, detached)
        report["instances"]["rows"] = marked
    part = subject.select(rows)
    reading, importance = gradient_importance(part.pretrained, part.data, detached)
    report["faithfulness"] = {"examples": len(rows), "of": len(subject.examples), "shares": list(SHARES)}
    for name, values in {"attention": reading.attention, "gradient": importance}.items():
        comprehensiveness, sufficiency = faithfulness(part.pretrained, part.data, reading, values)
        report["faithfulness"][name] = {
            "comprehensiveness": aopc(comprehensiveness),
            "sufficiency": aopc(sufficiency),
        }
    return report


def _agreement(subject: Subject, share: float | None, detached: bool) -> dict[str, Any]:
    """The ERASER scores of documents that all have a rationale (maybe an empty one)."""
    truth = [_marks(subject, row) for row in range(len(subject.examples))]
    spans = [list(example.rationale or ()) for example in subject.examples]
    taken = share or average_share(truth)
    reading, importance = gradient_importance(subject.pretrained, subject.data, detached)
    found: dict[str, Any] = {"share": taken, "share_given": share is not None, "iou_threshold": THRESHOLD}
    found["instances"] = {}
    for name, values in {"attention": reading.attention, "gradient": importance}.items():
        predicted = [top_share(values[row], taken) for row in range(len(values))]
        iou = iou_scores(spans, [spans_of(marks) for marks in predicted])
        token, soft = token_scores(truth, predicted), soft_scores(truth, _list(values))
        corrected = {"iou": iou.pop("corrected"), **soft.pop("corrected")}
        found[name] = {"iou": iou, "token": token, **soft, "corrected": corrected}
        found["instances"][name] = {
            "token_f1": [token_scores([t], [g])["macro"]["f1"] for t, g in zip(truth, predicted, strict=True)],
            "auprc": [auprc(t, values[row]) for row, t in enumerate(truth)],
        }
    return found


def average_share(truth: list[Marks]) -> float:
    """The mean share of words that people marked, over the documents with any mark."""
    shares = [float(marks.mean()) for marks in truth if marks.any()]
    if not shares:
        raise UserError("no document has a single marked word, so the average rationale is unknown; give a share")
    return float(np.mean(shares))


def _marks(subject: Subject, row: int) -> Marks:
    """The rationale of an example as marks on its words; a span outside of the text is named."""
    example, length = subject.examples[row], int(subject.data.lengths[row])
    for start, end in example.rationale or ():
        if not 0 <= start < end <= length:
            raise UserError(
                f"example {example.id or row + 1}: its rationale has the span {start}–{end}, "
                f"but the text has {length} words; give spans [start, end) of words"
            )
    return marks_of(example.rationale or (), length)


def _list(values: TokenValues) -> list[Any]:
    return [values[row] for row in range(len(values))]
