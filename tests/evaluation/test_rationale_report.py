import dataclasses

import numpy as np
import pytest
from measured import tiny

from attnvat.errors import UserError
from attnvat.evaluation.faithfulness import aopc, faithfulness
from attnvat.evaluation.prediction import predict
from attnvat.evaluation.rationale_report import rationale_report
from attnvat.evaluation.rationales import soft_scores, token_scores
from attnvat.evaluation.reading import read
from attnvat.evaluation.spans import marks_of, top_share
from attnvat.evaluation.subject import encode_examples


def test_faithfulness_really_takes_words_out() -> None:
    subject = tiny(lengths=(4, 1, 10))
    reading = read(subject.pretrained, subject.data)
    shares = (0.25, 0.5)
    comprehensiveness, sufficiency = faithfulness(subject.pretrained, subject.data, reading, reading.attention, shares)
    for row, example in enumerate(subject.examples):
        words = str(example.text).split()
        order = np.argsort(-reading.attention[row], kind="stable")
        for column, share in enumerate(shares):
            top = set(order[: max(1, round(share * len(words)))].tolist())
            for found, kept in ((comprehensiveness, set(range(len(words))) - top), (sufficiency, top)):
                text = " ".join(word for place, word in enumerate(words) if place in kept)
                data = encode_examples(subject.pretrained, [dataclasses.replace(example, text=text)])
                p = predict(subject.pretrained, data)[0, reading.predictions[row]]
                assert found[row, column] == pytest.approx(reading.confidence[row] - p, abs=2e-6)
    assert aopc(sufficiency, shares)["aopc"] == pytest.approx(sufficiency.mean())


def test_report_takes_the_share_people_marked_and_scores_attention() -> None:
    subject = tiny(lengths=(6, 10, 4, 8))
    found = rationale_report(subject, [0, 1], None)
    truth = [marks_of(example.rationale, n) for example, n in zip(subject.examples, (6, 10, 4, 8), strict=True)]
    # Every document has its first half marked.
    assert found["share"] == pytest.approx(0.5)
    reading = read(subject.pretrained, subject.data)
    attention = [reading.attention[row] for row in range(4)]
    predicted = [top_share(values, 0.5) for values in attention]
    assert found["attention"]["token"]["macro"]["f1"] == pytest.approx(token_scores(truth, predicted)["macro"]["f1"])
    assert found["attention"]["auprc"] == pytest.approx(soft_scores(truth, attention)["auprc"], abs=1e-6)
    assert found["faithfulness"]["examples"] == 2
    assert found["faithfulness"]["of"] == 4


def test_texts_without_rationales_are_counted_and_left_out() -> None:
    subject = tiny(lengths=(6, 10, 4))
    subject.examples[1] = dataclasses.replace(subject.examples[1], rationale=None)
    found = rationale_report(subject, [0], None)
    assert (found["documents"], found["without_rationale"]) == (2, 1)
    assert found["instances"]["rows"] == [0, 2]


def test_without_any_rationale_only_faithfulness_is_measured() -> None:
    subject = tiny(lengths=(6, 3))
    subject.examples[:] = [dataclasses.replace(example, rationale=None) for example in subject.examples]
    found = rationale_report(subject, [0, 1], None)
    assert found["documents"] == 0
    assert "attention" not in found
    assert set(found["faithfulness"]) >= {"attention", "gradient"}


def test_documents_far_longer_than_a_batch_are_read_whole() -> None:
    subject = tiny(lengths=(9000, 3))
    found = rationale_report(subject, [1], 0.1)
    assert read(subject.pretrained, subject.data).attention.lengths.tolist() == [9000, 3]
    assert found["share_given"]


def test_rationales_outside_of_the_text_are_named() -> None:
    subject = tiny(lengths=(6, 3))
    subject.examples[1] = dataclasses.replace(subject.examples[1], rationale=((2, 5),))
    with pytest.raises(UserError, match="example text 1: its rationale has the span 2–5, but the text has 3 words"):
        rationale_report(subject, [0], None)


def test_pretokenised_documents_keep_their_tokens() -> None:
    # A tokenizer would cut "don't" and "3,000" its own way; words given as words stay as they are.
    subject = tiny(lengths=(3,))
    words = ("don't", "3,000", "...", "a b", "")
    subject.examples[0] = dataclasses.replace(subject.examples[0], text=words, rationale=((4, 5),))
    assert subject.data.lengths.tolist() == [5]
    assert rationale_report(subject, [0], 0.2)["documents"] == 1
