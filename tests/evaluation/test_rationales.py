"""ERASER's measures, worked by hand, and eraserbenchmark's questionable cases."""

import warnings

import numpy as np
import pytest
from sklearn.metrics import auc, average_precision_score, precision_recall_curve, roc_auc_score

from attnvat.evaluation.rationales import auprc, iou_scores, soft_scores, token_scores
from attnvat.evaluation.spans import above, marks_of, overlap, spans_of, top_share


def prf(precision: float, recall: float, f1: float) -> dict[str, object]:
    return {"precision": pytest.approx(precision), "recall": pytest.approx(recall), "f1": pytest.approx(f1)}


def test_overlap_by_hand() -> None:
    # Words 2 3 4 5 against 4 5 6 7: two shared of six.
    assert overlap((2, 6), (4, 8)) == pytest.approx(2 / 6)
    assert overlap((0, 2), (2, 4)) == 0
    assert overlap((1, 3), (1, 3)) == 1


def test_iou_by_hand() -> None:
    # Document 1: truth 0-4 and 10-12. Predicted 1-4 (IOU 3/4, meets), 11-15 (1/5), 20-21 (0).
    #   precision 1/3, recall 1/2.
    # Document 2: truth 5-9. Predicted 5-7 (IOU 2/4 = 0.5, meets). precision 1, recall 1.
    # Document 3: no truth, predicted 0-1: precision 0, no recall. Document 4: truth 0-1, no prediction: recall 0.
    # Macro: precision (1/3 + 1 + 0)/3 = 4/9, recall (1/2 + 1 + 0)/3 = 1/2, F1 = 2·(4/9)(1/2)/(4/9 + 1/2) = 8/17.
    # Micro: 2 met of 5 predicted and of 4 true spans: 0.4, 0.5, F1 = 0.4/0.9 = 4/9.
    truth = [[(0, 4), (10, 12)], [(5, 9)], [], [(0, 1)]]
    predicted = [[(1, 4), (11, 15), (20, 21)], [(5, 7)], [(0, 1)], []]
    found = iou_scores(truth, predicted)
    assert found["macro"] == prf(4 / 9, 1 / 2, 8 / 17)
    assert found["micro"] == prf(0.4, 0.5, 4 / 9)
    assert found["corrected"] == found["macro"]


def test_iou_recall_passes_one_in_eraserbenchmark_and_not_when_corrected() -> None:
    # One true span 0-10, predicted as its halves 0-5 and 5-10, each of IOU 5/10: both meet it.
    # eraserbenchmark: recall 2/1, precision 2/2, "F1" 2·2·1/3 = 4/3. Corrected: recall 1/1, F1 1.
    found = iou_scores([[(0, 10)]], [[(0, 5), (5, 10)]])
    assert found["macro"] == prf(1, 2, 4 / 3)
    assert found["corrected"] == prf(1, 1, 1)


def test_token_scores_by_hand() -> None:
    # Document 1, six words: truth 0 1 2, predicted 2 3: one shared, precision 1/2, recall 1/3, F1 2/5.
    # Document 2, two words: truth none, predicted 0: all 0. Document 3: neither marked, not counted.
    # Macro: precision 1/4, recall 1/6, F1 1/5. Micro: 1 of 3 predicted, 1 of 3 true: 1/3.
    truth = [marks_of([(0, 3)], 6), marks_of([], 2), marks_of([], 3)]
    predicted = [marks_of([(2, 4)], 6), marks_of([(0, 1)], 2), marks_of([], 3)]
    found = token_scores(truth, predicted)
    assert found["macro"] == prf(1 / 4, 1 / 6, 1 / 5)
    assert found["micro"] == prf(1 / 3, 1 / 3, 1 / 3)


def test_auprc_by_hand() -> None:
    # Scores 4 3 2 1, marked the first and the third. Thresholds downwards give (recall, precision):
    # (1/2, 1), (1/2, 1/2), (1, 2/3), (1, 1/2), and the curve starts at (0, 1).
    # Trapezoids: 0 to 1/2 at 1 = 1/2; 1/2 to 1 between 1/2 and 2/3 = 7/24. Together 19/24.
    # AP takes steps instead: 1/2·1 + 1/2·2/3 = 5/6. ROC: of 4 pairs only (3rd, 2nd) is wrong: 3/4.
    marks, values = np.array([True, False, True, False]), np.array([4, 3, 2, 1], dtype=np.float32)
    assert auprc(marks, values) == pytest.approx(19 / 24)
    found = soft_scores([marks], [values])
    assert (found["auprc"], found["ap"], found["roc_auc"]) == pytest.approx((19 / 24, 5 / 6, 3 / 4))


def test_single_class_documents_count_for_auprc_only() -> None:
    # As before, with a document without marks (0.5 in AUPRC) and one all marked (1): (19/24 + 1/2 + 1)/3 = 55/72.
    marks, values = np.array([True, False, True, False]), np.array([4, 3, 2, 1], dtype=np.float32)
    found = soft_scores([marks, np.zeros(4, bool), np.ones(4, bool)], [values] * 3)
    assert found["auprc"] == pytest.approx(55 / 72)
    assert found["corrected"]["auprc"] == pytest.approx(19 / 24)
    assert (found["ap"], found["roc_auc"]) == pytest.approx((5 / 6, 3 / 4))
    assert found["single_class"] == 2


def test_auprc_without_marks_is_what_eraserbenchmark_gets_from_scikit_learn() -> None:
    values = np.array([0.3, 0.1, 0.6], dtype=np.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        precision, recall, _ = precision_recall_curve([0, 0, 0], values)
    assert auprc(np.zeros(3, bool), values) == pytest.approx(auc(recall, precision)) == 0.5


def test_soft_scores_are_means_of_scikit_learns() -> None:
    rng = np.random.default_rng(0)
    marks = [rng.random(n) < 0.3 for n in (20, 35, 50)]
    values = [rng.random(len(m)).astype(np.float32) for m in marks]
    found = soft_scores(marks, values)
    documents = list(zip(marks, values, strict=True))
    assert found["ap"] == pytest.approx(np.mean([average_precision_score(m, v) for m, v in documents]))
    assert found["roc_auc"] == pytest.approx(np.mean([roc_auc_score(m, v) for m, v in documents]))


def test_nothing_to_score_is_none() -> None:
    found = soft_scores([np.zeros(2, bool)], [np.array([1, 2], dtype=np.float32)])
    assert found["ap"] is None
    assert found["corrected"]["auprc"] is None


def test_hard_rationales_from_scores() -> None:
    values = np.array([0.1, 0.4, 0.4, 0.05, 0.05], dtype=np.float32)
    assert top_share(values, 0.4).tolist() == [False, True, True, False, False]
    # At least one word; of equal ones the earlier.
    assert top_share(values, 0.01).tolist() == [False, True, False, False, False]
    assert above(values, 0.08).tolist() == [True, True, True, False, False]
    assert spans_of(above(values, 0.08)) == [(0, 3)]
    assert spans_of(np.array([True, False, True, True])) == [(0, 1), (2, 4)]
    assert spans_of(np.zeros(3, bool)) == []
