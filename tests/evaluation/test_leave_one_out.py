import numpy as np
import pytest
from measured import tiny

from attnvat.corpora.example import Example
from attnvat.evaluation.leave_one_out import groups, leave_one_out
from attnvat.evaluation.prediction import predict
from attnvat.evaluation.reading import read
from attnvat.evaluation.subject import encode_examples


@pytest.mark.parametrize(("pair", "classes"), [(False, 2), (True, 3)])
@pytest.mark.parametrize("tokens", [1, 10_000])
def test_each_word_is_really_taken_out(pair: bool, classes: int, tokens: int) -> None:
    subject = tiny(pair, classes)
    reading = read(subject.pretrained, subject.data)
    found = leave_one_out(subject.pretrained, subject.data, reading, tokens)
    for row, example in enumerate(subject.examples):
        words = str(example.text).split()
        without = [Example(" ".join(words[:k] + words[k + 1 :]), pair=example.pair) for k in range(len(words))]
        p = predict(subject.pretrained, encode_examples(subject.pretrained, without))
        expected = np.abs(p - reading.probabilities[row])[:, reading.predictions[row]]
        np.testing.assert_allclose(found[row], expected, atol=2e-6)


def test_groups_hold_every_text_once() -> None:
    lengths = np.array([3, 50, 1, 8, 8, 2])
    for tokens in (1, 60, 10_000):
        assert sorted(np.concatenate(groups(lengths, tokens)).tolist()) == list(range(6))
    assert len(groups(lengths, 1)) > len(groups(lengths, 10_000))
