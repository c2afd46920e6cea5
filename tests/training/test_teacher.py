"""Teachers: what finished runs and a linear model make of unlabelled texts, and a pupil that follows them."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
import torch
from generated_runs import StopError, record, stop_at, trained
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression

from attnvat.corpora import Example
from attnvat.errors import UserError
from attnvat.evaluation.prediction import predict
from attnvat.evaluation.subject import encode_examples
from attnvat.models import from_pretrained
from attnvat.text.tokenizer import Tokenizer
from attnvat.training import prepare
from attnvat.training import teacher as teacher_module
from attnvat.training.linear_teacher import LinearTeacher, weighted
from attnvat.training.teacher import Evidence, Lesson, evidence_of_linear
from attnvat.training.unlabelled import Unlabelled
from generated_task import TELLING, small, task

CORPUS = task(80, unlabelled=60)
PUPIL = small(technique="attention-vat", unlabeled="corpus")


@pytest.fixture(scope="module")
def teachers(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two finished runs; the second knows fewer words than its pupil will."""
    folders = [tmp_path_factory.mktemp("teachers") / name for name in "ab"]
    trained(small(epochs=4), CORPUS, folders[0])
    trained(small(seed=1, epochs=4, min_frequency=2), CORPUS, folders[1])
    return folders


def test_targets_weigh_the_teachers_by_what_they_know_of_the_validation_texts(teachers: list[Path]) -> None:
    taught = prepare(replace(PUPIL, teacher=f"{teachers[0]}, {teachers[1]}", max_length=6), CORPUS).taught
    assert taught is not None
    assert taught.shape == (60,)

    def odds(examples: list[Example]) -> npt.NDArray[np.float64]:
        found = [predict(one, encode_examples(one, examples)).astype(float) for one in map(from_pretrained, teachers)]
        return np.stack([np.log(p[:, 1] / p[:, 0]) for p in found], axis=1)

    known = [CORPUS.labels.index(str(example.label)) for example in CORPUS.validation]
    weighing = LogisticRegression().fit(odds(CORPUS.validation), known)
    cut = [Example(" ".join(str(example.text).split()[:6])) for example in CORPUS.unlabelled]
    np.testing.assert_allclose(taught.numpy(), weighing.decision_function(odds(cut)), atol=1e-3)


@pytest.mark.parametrize(
    ("negative", "positive"),
    [
        (["bad not"], ["not bad"]),
        # The same words and the same pairs of words: only three in a row tell them apart.
        (["a b c", "d b e"], ["a b e", "d b c"]),
    ],
    ids=["pairs", "triples"],
)
def test_a_linear_teacher_knows_words_in_a_row(negative: list[str], positive: list[str]) -> None:
    """Labels that only the order of words tells, with words of no meaning around."""
    rng = np.random.default_rng(0)

    def text(label: int) -> str:
        words = [f"w{n}" for n in rng.integers(0, 20, 6)]
        return " ".join([*words[:3], str(rng.choice(positive if label else negative)), *words[3:]])

    labels = np.array([0, 1] * 60)
    linear = LinearTeacher(Tokenizer(), [text(label) for label in labels], labels, 2)
    found = linear.decide([text(label) for label in labels])
    assert found.shape == (120, 1)
    assert ((found[:, 0] > 0) == labels).all()


def test_to_a_linear_teacher_long_texts_count_no_more_than_short_ones() -> None:
    counts = csr_matrix([[1, 1, 0], [0, 1, 0], [0, 0, 0]])
    found = weighted(counts, np.array([[3.0, -4.0, 1.0]])).toarray()
    np.testing.assert_allclose(found, [[0.6, -0.8, 0], [0, -1, 0], [0, 0, 0]])


def test_a_linear_teacher_learns_words_from_texts_whose_labels_others_suppose() -> None:
    told = [Example("good film", label="pos"), Example("bad film", label="neg")] * 10
    asked = [Example("fresh film", label="pos"), Example("stale film", label="neg")]
    more = [Example(f"{word} film") for word in ("fresh", "stale")] * 10
    lesson = Lesson(told, asked, Unlabelled(more), ("neg", "pos"), False, Tokenizer(), None)
    (fresh,), (stale,) = evidence_of_linear(lesson)[0]
    assert fresh == pytest.approx(stale)
    supposed = np.array([[0.1, 0.9], [0.9, 0.1]] * 10)
    (fresh,), (stale,) = evidence_of_linear(lesson, supposed)[0]
    assert fresh > 0.5
    assert stale < -0.5
    # Texts of which nothing is supposed teach nothing, however many they are: even chances name the first class.
    doubted = replace(lesson, validation=told[:2], unlabelled=Unlabelled([Example("good film")] * 50))
    (good,), (bad,) = evidence_of_linear(doubted, np.full((50, 2), 0.5))[0]
    assert good > 0.5
    assert bad < -0.5


def test_runs_teach_the_linear_model_what_its_labels_do_not_tell(
    teachers: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Evidence | None] = []

    def listening(lesson: Lesson, supposed: Evidence | None = None) -> tuple[Evidence, Evidence]:
        asked.append(supposed)
        return evidence_of_linear(lesson, supposed)

    monkeypatch.setattr(teacher_module, "evidence_of_linear", listening)
    prepare(replace(PUPIL, teacher=f"{teachers[0]},linear"), CORPUS)
    assert asked[0] is None
    assert asked[1] is not None
    assert asked[1].shape == (60, 2)
    asked.clear()
    prepare(replace(PUPIL, teacher="linear"), CORPUS)
    assert asked == [None]


@pytest.mark.parametrize("labels", [("neg", "pos"), ("a", "b", "c")])
def test_a_linear_teacher_alone_or_beside_a_run_knows_the_unlabelled_texts(
    labels: tuple[str, ...], tmp_path: Path
) -> None:
    corpus = task(200, labels=labels, unlabelled=40)
    telling = [set(TELLING.get(label, [f"{label}{letter}" for letter in "xyz"])) for label in labels]
    trained(small(), corpus, tmp_path / "run")
    for teacher in ("linear", f"linear,{tmp_path / 'run'}"):
        prepared = prepare(replace(PUPIL, teacher=teacher), corpus)
        taught = prepared.taught
        assert taught is not None
        who = "a linear model" if teacher == "linear" else "2 teachers together"
        assert any(
            re.fullmatch(rf"taught by {who}, right on \d+.\d% of the validation texts", n) for n in prepared.notes
        )
        found = taught.argmax(dim=1) if taught.dim() == 2 else (taught > 0).long()
        # Every text of the task has a word that tells its class.
        truth = [
            next(n for n in range(len(labels)) if telling[n] & set(str(one.text).split())) for one in corpus.unlabelled
        ]
        assert np.mean(found.numpy() == truth) > 0.85


def test_with_more_classes_targets_have_a_column_each(tmp_path: Path) -> None:
    corpus = task(60, labels=("a", "b", "c"), unlabelled=20)
    trained(small(), corpus, tmp_path / "run")
    taught = prepare(replace(PUPIL, teacher=str(tmp_path / "run")), corpus).taught
    assert taught is not None
    torch.testing.assert_close(taught.exp().sum(dim=1), torch.ones(20))


def test_a_pupil_learns_from_its_teacher_what_its_own_labels_do_not_tell(tmp_path: Path) -> None:
    corpus = task(400, unlabelled=400)
    trained(small(epochs=5), corpus, tmp_path / "run")

    def told(one: Example) -> bool:
        return bool({"bad", "good"} & set(str(one.text).split()))

    # Labels of texts without these two words are at random.
    muddled = [one if told(one) else replace(one, label=("neg", "pos")[n % 2]) for n, one in enumerate(corpus.train)]
    other = [one for one in corpus.test if not told(one)]

    def right(teacher: str | None) -> float:
        config = replace(PUPIL, teacher=teacher, weight=3.0, epochs=5)
        model = trained(config, replace(corpus, train=muddled)).pretrained
        known = [corpus.labels.index(str(one.label)) for one in other]
        return float(np.mean(predict(model, encode_examples(model, other)).argmax(axis=1) == known))

    assert right(None) < 0.7
    assert right(str(tmp_path / "run")) > 0.9


def test_a_pupil_that_breaks_off_is_resumed_to_the_same_bytes_and_with_no_other_teacher(
    teachers: list[Path], tmp_path: Path
) -> None:
    config = replace(PUPIL, teacher=str(teachers[0]), dropout=0.2, checkpoint_every=2)
    trained(config, CORPUS, tmp_path / "whole")
    with pytest.raises(StopError):
        trained(config, CORPUS, tmp_path / "broken", display=stop_at(5))
    trained(config, CORPUS, tmp_path / "broken", resume=True)
    assert record(tmp_path / "broken") == record(tmp_path / "whole")
    with pytest.raises(StopError):
        trained(config, CORPUS, tmp_path / "other", display=stop_at(5))
    with pytest.raises(UserError, match=r"teacher was .*; other data than before: teacher"):
        trained(replace(config, teacher=str(teachers[1])), CORPUS, tmp_path / "other", resume=True)


def test_unfit_teachers_are_refused_by_name(teachers: list[Path], tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"tells neg, pos apart in single texts, and so cannot teach .* a, b, c"):
        prepare(replace(PUPIL, teacher=str(teachers[0])), task(60, labels=("a", "b", "c"), unlabelled=20))
    with pytest.raises(UserError, match=r"in single texts, and so cannot teach a model of neg, pos in pairs"):
        prepare(replace(PUPIL, teacher=str(teachers[0])), task(60, unlabelled=20, pair=True))
    with pytest.raises(UserError, match="the linear teacher reads single texts"):
        prepare(replace(PUPIL, teacher="linear"), task(60, unlabelled=20, pair=True))
    lacking = replace(CORPUS, validation=[one for one in CORPUS.validation if one.label == "pos"])
    with pytest.raises(UserError, match="those lack a class; set more texts aside"):
        prepare(replace(PUPIL, teacher="linear"), lacking)
    alone = replace(CORPUS, train=[Example("one two", label="neg"), Example("three four", label="pos")])
    with pytest.raises(UserError, match="needs words that are in 2 labelled texts, and there are none"):
        prepare(replace(PUPIL, teacher="linear"), alone)
    of_one_class = replace(CORPUS, train=[one for one in CORPUS.train if one.label == "pos"])
    with pytest.raises(UserError, match="needs labelled texts of every class"):
        prepare(replace(PUPIL, teacher="linear"), of_one_class)
    with pytest.raises(UserError, match="no model here"):
        prepare(replace(PUPIL, teacher=str(tmp_path)), CORPUS)
    with pytest.raises(UserError, match="teacher names none"):
        prepare(replace(PUPIL, teacher=" ,"), CORPUS)
    with pytest.raises(UserError, match="there are none; name some"):
        prepare(replace(PUPIL, teacher=str(teachers[0]), unlabeled=None), CORPUS)
    with pytest.raises(UserError, match="attention-at has no use for a teacher"):
        small(technique="attention-at", teacher="runs/one")
