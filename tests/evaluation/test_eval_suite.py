import dataclasses
import json

import numpy as np
import pytest
from measured import tiny

from attnvat.errors import UserError
from attnvat.evaluation.suite import SUITES, Options, evaluate, sample

FEW = Options(steps=4, costly=5, robustness=4, epsilons=(0.5, 2.0))


@pytest.mark.parametrize(("pair", "classes"), [(False, 2), (True, 3)])
def test_every_suite_gives_json_the_same_for_the_same_seed(pair: bool, classes: int) -> None:
    subject = tiny(pair, classes)
    first = json.dumps(evaluate(subject, tuple(SUITES), seed=1, options=FEW), allow_nan=False)
    assert first == json.dumps(evaluate(subject, tuple(SUITES), seed=1, options=FEW), allow_nan=False)
    assert set(json.loads(first)) == {"subject", *SUITES}
    other = evaluate(subject, ("robustness",), seed=2, options=FEW)
    assert other["robustness"] != json.loads(first)["robustness"]


def test_what_was_sampled_is_recorded() -> None:
    subject = tiny()
    found = evaluate(subject, ("correlation", "robustness"), options=FEW)
    importances = found["correlation"]["importances"]
    assert (importances["gradient"]["examples"], importances["gradient"]["of"]) == (8, 8)
    assert (importances["leave-one-out"]["examples"], importances["leave-one-out"]["of"]) == (5, 8)
    assert found["correlation"]["instances"]["leave-one-out"]["rows"] == sample(8, 5, 0).tolist()
    assert (found["robustness"]["examples"], found["robustness"]["of"]) == (4, 8)
    assert found["subject"]["options"]["costly"] == 5


def test_samples_are_drawn_by_the_seed() -> None:
    assert sample(100, 10, 0).tolist() == sample(100, 10, 0).tolist() != sample(100, 10, 1).tolist()
    assert len(set(sample(100, 10, 0).tolist())) == 10
    assert sample(5, 0, 0).tolist() == sample(5, 9, 0).tolist() == [0, 1, 2, 3, 4]


def test_single_numbers_are_a_texts_own_whatever_is_evaluated_beside_it() -> None:
    subject = tiny()
    options = dataclasses.replace(FEW, costly=0)
    whole = evaluate(subject, ("prediction", "correlation"), options=options)
    part = evaluate(subject.select([2, 5]), ("prediction", "correlation"), options=options)
    for name in ("gradient", "integrated-gradients", "leave-one-out"):
        r = whole["correlation"]["instances"][name]["pearson"]
        np.testing.assert_allclose(part["correlation"]["instances"][name]["pearson"], [r[2], r[5]], atol=2e-3)
    p = whole["prediction"]["instances"]["probability"]
    np.testing.assert_allclose(part["prediction"]["instances"]["probability"], [p[2], p[5]], atol=2e-6)


def test_mistakes_are_named() -> None:
    subject = tiny()
    with pytest.raises(UserError, match="unknown suite 'robust'; did you mean 'robustness'"):
        evaluate(subject, ("robust",))
    with pytest.raises(UserError, match="unknown importance 'gradients'; did you mean 'gradient'"):
        Options(importances=("gradients",))
    with pytest.raises(UserError, match="there are no examples"):
        evaluate(dataclasses.replace(subject, examples=[]))
    subject.examples[3] = dataclasses.replace(subject.examples[3], label=None)
    with pytest.raises(UserError, match="prediction needs labels, but example text 3 has none"):
        evaluate(subject, ("prediction",))


def test_without_labels_everything_but_prediction_is_measured() -> None:
    subject = tiny()
    subject.examples[:] = [dataclasses.replace(example, label=None) for example in subject.examples]
    found = evaluate(subject, ("correlation", "robustness"), options=FEW)
    assert found["robustness"]["accuracy"] is None
    assert set(found["robustness"]["perturbation"]["word"]) == {"vat", "random"}
