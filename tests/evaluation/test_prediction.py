import dataclasses

import numpy as np
import pytest
import torch
from measured import tiny

from attnvat.corpora.example import Example
from attnvat.errors import UserError
from attnvat.evaluation.batches import token_batches
from attnvat.evaluation.prediction import predict, prediction_report
from attnvat.evaluation.reading import read
from attnvat.evaluation.subject import encode_examples
from attnvat.models.probability import probabilities


@pytest.mark.parametrize(("pair", "classes"), [(False, 2), (False, 3), (True, 3)])
def test_predict_is_each_text_alone(pair: bool, classes: int) -> None:
    subject = tiny(pair, classes)
    model, data = subject.pretrained.model, subject.data
    with torch.no_grad():
        alone = [probabilities(model(data.batch([row]))[0])[0].numpy() for row in range(len(data))]
    for tokens in (1, 30, 10_000):
        np.testing.assert_allclose(predict(subject.pretrained, data, tokens), np.stack(alone), atol=2e-6)


def test_predict_leaves_the_model_as_it_was() -> None:
    subject = tiny()
    model = subject.pretrained.model.train()
    predict(model, subject.data)
    assert model.training
    assert all(parameter.requires_grad for parameter in model.parameters())


def test_reading_gives_attention_of_real_tokens_only() -> None:
    subject = tiny()
    reading = read(subject.pretrained, subject.data)
    assert reading.attention.lengths.tolist() == subject.data.lengths.tolist()
    sums = [reading.attention[row].sum() for row in range(len(reading.attention))]
    np.testing.assert_allclose(sums, 1, atol=1e-6)
    np.testing.assert_allclose(reading.probabilities, predict(subject.pretrained, subject.data), atol=2e-6)


def test_batches_hold_every_row_once_within_the_budget() -> None:
    lengths = np.array([5, 100, 1, 7, 7, 30, 2])
    batches = token_batches(lengths, tokens=30, rows=3)
    assert sorted(np.concatenate(batches).tolist()) == list(range(7))
    # The one text above the budget is alone, no batch has more than three texts or thirty padded tokens.
    assert batches[0].tolist() == [1]
    assert all(len(rows) <= 3 and len(rows) * lengths[rows].max() <= 30 for rows in batches[1:])


def test_report_by_genre_and_by_length() -> None:
    # Four texts, the second and the last wrong; lengths 1, 5 in the first bucket (1 to 5), 6 and 10 in the second.
    p = np.array([[0.9, 0.1], [0.8, 0.2], [0.3, 0.7], [0.4, 0.6]], dtype=np.float32)
    labels = np.array([0, 1, 1, 0])
    found = prediction_report(p, labels, "accuracy", ("no", "yes"), np.array([1, 5, 6, 10]), ["x", "x", "x", None])
    assert found["score"] == 0.5
    assert found["confusion"] == [[1, 1], [1, 1]]
    assert set(found["by_genre"]) == {"x"}
    assert found["by_genre"]["x"]["accuracy"] == pytest.approx(2 / 3)
    assert [(b["from"], b["to"], b["examples"], b["accuracy"]) for b in found["by_length"]] == [
        (1, 5, 2, 0.5),
        (6, 10, 2, 0.5),
    ]


def test_classes_that_are_not_possible_have_no_probability() -> None:
    subject = tiny(pair=True, classes=3)
    examples = [dataclasses.replace(example, classes=("a", "c"), label="c") for example in subject.examples]
    found = predict(subject.pretrained, encode_examples(subject.pretrained, examples))
    assert (found[:, 1] == 0).all()
    np.testing.assert_allclose(found.sum(axis=1), 1, atol=1e-6)


def test_unknown_labels_and_missing_pairs_are_named() -> None:
    with pytest.raises(UserError, match=r"example 7 has the label 'z', which the model does not know; known: a, b"):
        encode_examples(tiny().pretrained, [Example("waa", label="z", id="7")])
    with pytest.raises(UserError, match="example 1 has one text, but the model reads pairs"):
        encode_examples(tiny(pair=True, classes=3).pretrained, [Example("waa", label="a")])
