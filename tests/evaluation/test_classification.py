import numpy as np
import pytest
from sklearn import metrics

from attnvat.errors import UserError
from attnvat.evaluation.classification import accuracy, confusion, f1, macro_f1, micro_f1, roc_auc, score


def sample(classes: int, seed: int, n: int = 200) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    # Rounded, so that ties occur.
    p = np.round(rng.dirichlet(np.ones(classes), n), 2) + 1e-3
    return p / p.sum(axis=1, keepdims=True), rng.integers(0, classes, n)


@pytest.mark.parametrize("classes", [2, 3, 5])
@pytest.mark.parametrize("seed", [0, 1])
def test_every_metric_is_scikit_learns(classes: int, seed: int) -> None:
    p, y = sample(classes, seed)
    guess = p.argmax(axis=1)
    counts = confusion(guess, y, classes)
    assert counts.tolist() == metrics.confusion_matrix(y, guess).tolist()
    assert accuracy(counts) == pytest.approx(metrics.accuracy_score(y, guess))
    assert micro_f1(counts) == pytest.approx(metrics.f1_score(y, guess, average="micro"))
    assert macro_f1(counts) == pytest.approx(metrics.f1_score(y, guess, average="macro"))
    if classes == 2:
        assert f1(counts) == pytest.approx(metrics.f1_score(y, guess))
        assert roc_auc(p, y) == pytest.approx(metrics.roc_auc_score(y, p[:, 1]))
    else:
        assert roc_auc(p, y) == pytest.approx(metrics.roc_auc_score(y, p, multi_class="ovr"))


def test_score_names_the_metric() -> None:
    p, y = sample(2, 3)
    assert score("f1", p, y) == pytest.approx(metrics.f1_score(y, p.argmax(axis=1)))
    assert score("accuracy", p, y) == pytest.approx(metrics.accuracy_score(y, p.argmax(axis=1)))
    assert score("micro-f1", p, y) == pytest.approx(metrics.f1_score(y, p.argmax(axis=1), average="micro"))
    with pytest.raises(UserError, match="did you mean 'micro-f1'"):
        score("micro_f1", p, y)


def test_even_odds_are_the_negative_class() -> None:
    # A probability of exactly 0.5 is not above the threshold.
    assert score("accuracy", [[0.5, 0.5]], [0]) == 1.0


def test_macro_f1_leaves_out_a_class_that_neither_occurs_nor_is_predicted() -> None:
    guess, y = np.array([0, 1, 1]), np.array([0, 1, 0])
    assert macro_f1(confusion(guess, y, 4)) == pytest.approx(metrics.f1_score(y, guess, average="macro"))


def test_roc_auc_of_a_single_class_does_not_exist() -> None:
    assert roc_auc(np.array([[0.3, 0.7], [0.6, 0.4]]), np.array([1, 1])) is None
