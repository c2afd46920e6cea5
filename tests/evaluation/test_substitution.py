import numpy as np
import pytest
import torch
from measured import LENGTHS, tiny

from attnvat.evaluation.importance import gradient_importance
from attnvat.evaluation.prediction import predict
from attnvat.evaluation.substitution import nearest_of, substitute
from attnvat.text.encoding import EncodedDataset


@pytest.mark.parametrize(("pair", "classes"), [(False, 2), (True, 3)])
@pytest.mark.parametrize("budget", [0.2, 1.0])
def test_the_attack_is_what_it_says(pair: bool, classes: int, budget: float) -> None:
    subject = tiny(pair, classes)
    data = subject.data
    reading, importance = gradient_importance(subject.pretrained, data)
    found = substitute(subject.pretrained, data, reading, importance, budget=budget, candidates=4)
    near = nearest_of(subject.pretrained.model, np.unique(data.texts.ids), 4)
    after = predict(subject.pretrained, EncodedDataset(found.texts, data.questions, None, None, classes))
    for row, length in enumerate(LENGTHS):
        before, now = data.texts[row], found.texts[row]
        replaced = np.flatnonzero(before != now)
        assert len(replaced) == found.changed[row] <= max(1, int(budget * length))
        assert all(now[place] in near[int(before[place])] for place in replaced)
        assert found.flipped[row] == (after[row].argmax() != reading.predictions[row])
        drop = reading.confidence[row] - after[row, reading.predictions[row]]
        assert drop == pytest.approx(found.drop[row], abs=1e-5)
        assert drop >= 0
    assert found.changed.sum() > 0


def test_one_step_takes_the_best_candidate_for_the_most_important_word() -> None:
    subject = tiny(lengths=(6,))
    data = subject.data
    reading, importance = gradient_importance(subject.pretrained, data)
    found = substitute(subject.pretrained, data, reading, importance, budget=0.17, candidates=5)
    near = nearest_of(subject.pretrained.model, data.texts.ids, 5)
    for place in np.argsort(-importance[0], kind="stable").tolist():
        tried = []
        for word in near[int(data.texts[0][place])]:
            ids = data.texts.ids.copy()
            ids[place] = word
            texts = type(data.texts)(ids, data.texts.offsets)
            tried.append(predict(subject.pretrained, EncodedDataset(texts))[0, reading.predictions[0]])
        if min(tried) < reading.confidence[0]:
            expected = near[int(data.texts[0][place])][int(np.argmin(tried))]
            assert np.flatnonzero(found.texts[0] != data.texts[0]).tolist() == [place]
            assert found.texts[0][place] == expected
            return
    raise AssertionError("no word could be replaced with effect: the test needs another seed")


def test_nearest_words_are_by_cosine_without_the_special_ones() -> None:
    model = tiny().pretrained.model
    table = model.embedding_table().detach()
    near = nearest_of(model, np.array([0, 1, 7], dtype=np.int32), 3)
    assert set(near) == {7}
    similarity = torch.cosine_similarity(table[7][None], table)
    similarity[[0, 1, 7]] = -2
    assert near[7].tolist() == torch.topk(similarity, 3).indices.tolist()


def test_unknown_words_are_left_alone() -> None:
    subject = tiny(lengths=(3,))
    data = subject.data
    data.texts.ids[:] = 1
    reading, importance = gradient_importance(subject.pretrained, data)
    found = substitute(subject.pretrained, data, reading, importance, budget=1.0)
    assert found.changed.tolist() == [0]


def test_accuracy_counts_texts_that_were_right_and_stood() -> None:
    subject = tiny()
    reading, importance = gradient_importance(subject.pretrained, subject.data)
    found = substitute(subject.pretrained, subject.data, reading, importance)
    right = reading.predictions == subject.data.labels
    figures = found.figures(right)
    assert figures["accuracy_before"] == pytest.approx(right.mean())
    assert figures["accuracy"] == pytest.approx((right & ~found.flipped).mean())
