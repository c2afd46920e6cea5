"""The output layer's scale and shift, set by the validation texts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from generated_runs import trained

from attnvat.evaluation.calibration import calibration
from attnvat.evaluation.prediction import predict
from attnvat.evaluation.subject import encode_examples
from attnvat.models import from_pretrained
from attnvat.training.calibrate import calibrate, likeliest
from generated_task import small, task


@pytest.mark.parametrize("classes", [2, 3])
def test_what_was_scaled_and_shifted_is_set_right(classes: int) -> None:
    generator = np.random.default_rng(0)
    true = generator.normal(size=(20_000, classes if classes > 2 else 1)) * 2
    if classes == 2:
        labels = (generator.random(20_000) < 1 / (1 + np.exp(-true[:, 0]))).astype(np.int64)
    else:
        labels = (true + generator.gumbel(size=true.shape)).argmax(axis=1)
    moved = torch.tensor([0.7, -0.4, -0.3][: true.shape[1]])
    scale, shift = likeliest((torch.from_numpy(true) - moved) * 3, torch.from_numpy(labels))
    assert scale == pytest.approx(1 / 3, rel=0.05)
    torch.testing.assert_close(shift - shift.mean() * (classes > 2), moved.double(), atol=0.08, rtol=0)


def test_texts_that_are_all_told_apart_ask_for_no_endless_scale() -> None:
    scale, shift = likeliest(torch.tensor([[-1.0], [1.0]] * 50).double(), torch.tensor([0, 1] * 50))
    assert 1 < scale < 20
    assert abs(float(shift)) < 1e-6


@pytest.mark.parametrize("pair", [False, True])
def test_a_leaning_model_predicts_better_and_attends_as_before(pair: bool) -> None:
    corpus = task(200, pair=pair)
    model = trained(small(epochs=4), corpus).pretrained
    with torch.no_grad():
        model.model.decoder.bias.add_(4.0)
        model.model.decoder.weight.mul_(2.0)
    validation, test = (encode_examples(model, split) for split in (corpus.validation, corpus.test))
    assert test.labels is not None
    batch = test.batch(np.arange(8))
    before, attention = predict(model, test), model.model(batch)[1]
    calibrate(model.model, validation)
    after = predict(model, test)
    assert np.mean(after.argmax(axis=1) == test.labels) > np.mean(before.argmax(axis=1) == test.labels)
    assert calibration(after, test.labels)["ece"] < calibration(before, test.labels)["ece"]
    torch.testing.assert_close(model.model(batch)[1], attention)
    assert (np.argsort(after[:, 1]) == np.argsort(before[:, 1])).mean() > 0.9


def test_a_calibrated_run_is_saved_so_and_trains_as_one_that_is_not(tmp_path: Path) -> None:
    corpus, config = task(80), small(epochs=2)
    plain = trained(config, corpus, tmp_path / "plain")
    found = trained(replace(config, calibrate=True), corpus, tmp_path / "calibrated")
    assert found.result["validation"] == plain.result["validation"]
    weights = [from_pretrained(tmp_path / name).model.state_dict() for name in ("plain", "calibrated")]
    different = {name for name in weights[0] if not torch.equal(weights[0][name], weights[1][name])}
    assert different == {"decoder.weight", "decoder.bias"}
    torch.testing.assert_close(weights[1], dict(found.pretrained.model.state_dict()))
