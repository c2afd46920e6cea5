import dataclasses

import numpy as np
import pytest
from measured import tiny

from attnvat.corpora.example import Example
from attnvat.errors import UserError
from attnvat.evaluation.explanations import explain
from attnvat.evaluation.importances import importances


def test_explanations_line_up_with_the_text_as_written() -> None:
    subject = tiny()
    examples = [
        Example("Waa didn't cost 3,000!", label="b", rationale=((1, 3),), id="x"),
        Example(("Pre", "tokenised", "WORDS"), label="a"),
        Example("", label=None),
    ]
    names = ("gradient", "integrated-gradients", "leave-one-out")
    first, second, third = explain(subject.pretrained, examples, names)
    assert first.words == ["Waa", "did", "n't", "cost", "3,000", "!"]
    assert second.words == ["Pre", "tokenised", "WORDS"]
    assert third.words == [""]
    for found in (first, second, third):
        assert len(found.words) == len(found.attention)
        assert all(len(found.importance[name]) == len(found.words) for name in names)
        assert sum(found.attention) == pytest.approx(1, abs=1e-5)
        assert found.prediction == int(np.argmax(found.probabilities))
        assert found.question is None
    assert (first.label, first.rationale, first.id) == (1, [(1, 3)], "x")
    assert (third.label, third.rationale) == (None, None)


def test_numbers_are_those_of_the_measures() -> None:
    subject = tiny(pair=True, classes=3)
    found = explain(subject.pretrained, subject.examples)
    _, values = importances(subject.pretrained, subject.data, ("gradient",))
    for row, explanation in enumerate(found):
        np.testing.assert_allclose(explanation.importance["gradient"], values["gradient"][row], atol=1e-7)
        assert explanation.question == str(subject.examples[row].pair).split()


def test_unknown_importance_is_named() -> None:
    subject = tiny()
    with pytest.raises(UserError, match="did you mean 'leave-one-out'"):
        explain(subject.pretrained, [dataclasses.replace(subject.examples[0])], ("leave_one_out",))
