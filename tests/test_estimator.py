from __future__ import annotations

import inspect
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer

import attnvat
from attnvat.errors import UserError
from attnvat.estimator import OUTSIDE, TextClassifier
from attnvat.models import save_pretrained
from attnvat.training import Config, open_run
from generated_task import SMALL, sentences, task, write_task

EXAMPLES = sentences(160)
TEXTS = [str(example.text) for example in EXAMPLES]
LABELS = [str(example.label) for example in EXAMPLES]
NEW = [str(example.text) for example in sentences(60, seed=7)]
TRUE = [str(example.label) for example in sentences(60, seed=7)]


def classifier(**options: Any) -> TextClassifier:
    return TextClassifier(**{**SMALL, "validation_size": 0.2, **options})


@pytest.fixture(scope="module")
def fitted() -> TextClassifier:
    return classifier(epochs=6).fit(TEXTS, LABELS)


def test_is_what_the_package_offers() -> None:
    assert attnvat.TextClassifier is TextClassifier


def test_parameters_are_the_configs_options_with_their_defaults() -> None:
    defaults = {field.name: field.default for field in fields(Config)}
    for name, parameter in inspect.signature(TextClassifier).parameters.items():
        if name not in OUTSIDE:
            assert parameter.default == defaults[name], name


def test_parameters_can_be_read_set_and_cloned(fitted: TextClassifier) -> None:
    assert fitted.get_params()["hidden"] == 16
    copy = clone(fitted).set_params(epsilon=0.3, technique="word-vat")
    assert (copy.epsilon, copy.technique, copy.hidden) == (0.3, "word-vat", 16)
    assert fitted.technique == "vanilla"
    assert not hasattr(copy, "pretrained_")
    with pytest.raises(ValueError, match="epsilom"):
        copy.set_params(epsilom=1)


def test_learns_predicts_and_scores(fitted: TextClassifier) -> None:
    assert fitted.score(NEW, TRUE) > 0.85
    p = fitted.predict_proba(NEW)
    assert p.shape == (60, 2)
    np.testing.assert_allclose(p.sum(axis=1), 1, atol=1e-5)
    assert fitted.classes_.tolist() == ["neg", "pos"]
    assert fitted.predict(NEW).tolist() == [fitted.classes_[row] for row in p.argmax(axis=1)]
    assert fitted.predict_proba([]).shape == (0, 2)


def test_the_same_seed_gives_the_same_model(fitted: TextClassifier) -> None:
    again = clone(fitted).fit(TEXTS, LABELS)
    assert np.array_equal(again.predict_proba(NEW), fitted.predict_proba(NEW))


def test_explanations_speak_of_the_texts_words_and_labels(fitted: TextClassifier) -> None:
    (found,) = fitted.explain(["nothing but good here"])
    assert found.words == ["nothing", "but", "good", "here"]
    assert sum(found.attention) == pytest.approx(1, abs=1e-5)
    assert found.labels == ("neg", "pos")


@pytest.mark.parametrize(
    ("labels", "kind"),
    [
        (np.array(LABELS), np.str_),
        (np.array(LABELS, dtype=object), str),
        (pd.Series(LABELS), str),
        ([label == "pos" for label in LABELS], np.bool_),
        ([5 if label == "pos" else -3 for label in LABELS], np.int64),
        ([0.5 if label == "pos" else 2.5 for label in LABELS], np.float64),
        (np.array([[label] for label in LABELS]), np.str_),
    ],
    ids=["text", "objects", "series", "bool", "int", "float", "column"],
)
def test_labels_come_back_with_their_type(labels: Any, kind: type, tmp_path: Path) -> None:
    found = classifier(epochs=1).fit(TEXTS, labels)
    predicted = found.predict(NEW)
    assert isinstance(predicted[0], kind)
    assert set(predicted.tolist()) <= set(np.asarray(labels).ravel().tolist())
    found.save_pretrained(tmp_path / "model")
    again = TextClassifier.from_pretrained(tmp_path / "model").predict(NEW)
    assert again.tolist() == predicted.tolist()
    assert type(again.tolist()[0]) is type(predicted.tolist()[0])


def test_more_than_two_classes() -> None:
    examples = sentences(240, labels=("a", "b", "c"))
    found = classifier(epochs=4).fit([e.text for e in examples], [e.label for e in examples])
    assert found.classes_.tolist() == ["a", "b", "c"]
    new = sentences(60, seed=3, labels=("a", "b", "c"))
    assert found.score([e.text for e in new], [e.label for e in new]) > 0.8


def test_unlabelled_texts_and_a_validation_split() -> None:
    corpus = task(120, unlabelled=200)
    texts, labels = ([getattr(e, what) for e in corpus.train] for what in ("text", "label"))
    held = [e.text for e in corpus.validation], [e.label for e in corpus.validation]
    semi = classifier(technique="attention-ivat")
    semi.fit(texts, labels, unlabeled=[e.text for e in corpus.unlabelled], validation=held)
    alone = clone(semi).fit(texts, labels, validation=held)
    assert not np.array_equal(semi.predict_proba(NEW), alone.predict_proba(NEW))
    assert [line["step"] for line in semi.history_] == [8, 16, 24]  # all of train, none held out
    assert semi.result_["validation"] == max(line["validation"] for line in semi.history_)


def pairs() -> list[tuple[str, str]]:
    return [(text, f"second {text.split()[0]}") for text in TEXTS[:80]]


def test_pairs_as_tuples_lists_arrays_and_frames_are_the_same() -> None:
    rows = pairs()
    forms: list[Any] = [
        rows,
        [list(row) for row in rows],
        np.array(rows),
        np.array(rows, dtype=object),
        pd.DataFrame(rows, columns=["premise", "hypothesis"]),
    ]
    found = [classifier(epochs=1).fit(form, LABELS[:80]).predict_proba(form) for form in forms]
    for other in found[1:]:
        assert np.array_equal(other, found[0])
    single = classifier(epochs=1).fit([text for text, _ in rows], LABELS[:80])
    assert not np.array_equal(single.predict_proba([text for text, _ in rows]), found[0])


def test_texts_as_lists_arrays_series_and_one_column_are_the_same(fitted: TextClassifier) -> None:
    forms: list[Any] = [tuple(NEW), np.array(NEW), pd.Series(NEW), pd.DataFrame({"t": NEW}), (text for text in NEW)]
    for form in forms:
        assert np.array_equal(fitted.predict_proba(form), fitted.predict_proba(NEW))


def test_works_in_cross_validation_with_texts_and_with_pairs() -> None:
    scores = cross_val_score(classifier(epochs=4), TEXTS, LABELS, cv=2, error_score="raise")
    assert scores.shape == (2,)
    assert scores.min() > 0.6
    paired = cross_val_score(classifier(epochs=1), np.array(pairs()), LABELS[:80], cv=2, error_score="raise")
    assert paired.shape == (2,)


def test_works_in_a_pipeline_and_a_grid_search() -> None:
    lower = FunctionTransformer(lambda texts: [text.replace("!", "") for text in texts])
    search = GridSearchCV(
        Pipeline([("clean", lower), ("model", classifier(epochs=1))]),
        {"model__hidden": np.array([8, 16]), "model__learning_rate": np.logspace(-5, -1.5, 2)},
        cv=2,
        error_score="raise",
    )
    search.fit(TEXTS, LABELS)
    assert len(search.cv_results_["params"]) == 4
    assert search.best_params_["model__learning_rate"] > 1e-3
    assert search.predict([f"{text}!" for text in NEW]).tolist() == search.predict(NEW).tolist()


def test_a_saved_classifier_gives_the_same_probabilities(fitted: TextClassifier, tmp_path: Path) -> None:
    fitted.save_pretrained(tmp_path / "model")
    again = TextClassifier.from_pretrained(tmp_path / "model")
    assert again.get_params() == fitted.get_params()
    assert np.array_equal(again.predict_proba(NEW), fitted.predict_proba(NEW))
    assert np.array_equal(clone(again).fit(TEXTS, LABELS).predict_proba(NEW), fitted.predict_proba(NEW))
    assert {path.suffix for path in (tmp_path / "model").iterdir()} == {".json", ".safetensors"}


def test_a_fit_on_record_is_a_run_that_knows_its_labels(tmp_path: Path) -> None:
    found = classifier(run_dir=str(tmp_path / "run"), epochs=1).fit(TEXTS, [label == "pos" for label in LABELS])
    assert open_run(tmp_path / "run").result == found.result_
    assert open_run(tmp_path / "run").pretrained.labels == ("False", "True")
    again = TextClassifier.from_pretrained(tmp_path / "run")
    assert again.predict(NEW).tolist() == found.predict(NEW).tolist()
    with pytest.raises(UserError, match="holds a run already"):
        clone(found).fit(TEXTS, LABELS)


def test_a_run_of_the_command_line_and_a_bare_model_are_classifiers_too(tmp_path: Path) -> None:
    from attnvat.training import fit, load_data, prepare

    config = Config(**SMALL, **write_task(tmp_path, size=80))
    trained = fit(config, prepare(config, load_data(config)), tmp_path / "run")
    found = TextClassifier.from_pretrained(tmp_path / "run")
    assert (found.hidden, found.learning_rate) == (16, 0.02)
    assert found.classes_.tolist() == ["neg", "pos"]
    save_pretrained(trained.pretrained, tmp_path / "bare")
    bare = TextClassifier.from_pretrained(tmp_path / "bare")
    assert np.array_equal(bare.predict_proba(NEW), found.predict_proba(NEW))
    with pytest.raises(UserError, match="no model here"):
        TextClassifier.from_pretrained(tmp_path / "nothing")


@pytest.mark.parametrize(
    ("options", "arguments", "said"),
    [
        ({}, (TEXTS, LABELS[:-1]), "160 texts but 159 labels"),
        ({}, (TEXTS, ["pos"] * 160), "a classifier needs at least two classes"),
        ({}, ([], []), "a classifier needs at least two classes"),
        ({}, (["a", "b"], np.array([1, "x"], dtype=object)), "labels are of different types"),
        ({}, (["a", "b"], [[1, 2], [3, 4]]), "expected one label a text"),
        ({}, (TEXTS[:4], LABELS[:4]), "no validation part can be taken from 4 texts"),
        ({}, ("one text", ["pos"]), "expected a sequence of texts, not one text"),
        ({}, ([*TEXTS[:-1], None], LABELS), "item 159 of the texts is None"),
        ({}, ([*TEXTS[:-1], 3.5], LABELS), "item 159 of the texts is 3.5"),
        ({}, ([*TEXTS[:-1], ("a", "b", "c")], LABELS), "item 159 of the texts is"),
        ({}, ([*TEXTS[:-1], ("a", "b")], LABELS), "some items are single texts and some are pairs"),
        ({"hidden": "big"}, (TEXTS, LABELS), "TextClassifier: hidden is 'big'; expected int"),
        ({"technique": "attention-vatt"}, (TEXTS, LABELS), "did you mean 'attention-vat'"),
        ({"epsilon": 1.0}, (TEXTS, LABELS), "vanilla takes no option 'epsilon'"),
        ({}, (TEXTS, LABELS, ["more"]), "vanilla needs labels and cannot use unlabelled text"),
        ({"technique": "word-vat"}, (TEXTS, LABELS, []), "no texts"),
        ({"technique": "word-vat"}, (pairs(), LABELS[:80], ["more"]), "holds single texts"),
        ({}, (TEXTS, LABELS, None, (["a"], ["other"])), "labels that training has not: other"),
        ({}, (TEXTS, LABELS, None, (["a", "b"], ["pos"])), "2 texts but 1 labels"),
    ],
    ids=str,
)
def test_mistakes_are_named(options: Any, arguments: Any, said: str) -> None:
    with pytest.raises(UserError) as caught:
        classifier(**options).fit(*arguments)
    assert said in str(caught.value)


def test_an_unfitted_classifier_says_so() -> None:
    for call in (lambda c: c.predict(["a"]), lambda c: c.explain(["a"]), lambda c: c.save_pretrained("nowhere")):
        with pytest.raises(NotFittedError):
            call(classifier())


def test_predicting_pairs_with_a_model_of_single_texts_and_the_other_way_round(fitted: TextClassifier) -> None:
    paired = classifier(epochs=1).fit(pairs(), LABELS[:80])
    with pytest.raises(UserError, match="has one text, but the model reads pairs"):
        paired.predict(["single"])
    with pytest.raises(UserError, match="pairs, but the model reads single texts"):
        fitted.predict([("two", "texts")])


def test_fitting_says_nothing_unless_asked(capfd: pytest.CaptureFixture[str]) -> None:
    classifier(epochs=1).fit(TEXTS, LABELS)
    assert capfd.readouterr() == ("", "")
    classifier(epochs=1, verbose=True).fit(TEXTS, LABELS)
    assert "epoch 1:" in capfd.readouterr().err
