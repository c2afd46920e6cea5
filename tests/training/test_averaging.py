from __future__ import annotations

import pytest
import torch
from generated_runs import Counting, trained, weights

from attnvat.errors import UserError
from attnvat.training import fit, prepare
from attnvat.training.averaging import AveragedWeights
from generated_task import small, task


def test_a_steps_share_fades_by_the_factor_and_the_start_is_soon_forgotten() -> None:
    model = torch.nn.Linear(1, 1, bias=False)
    series = [8.0, 1.0, 5.0, 2.0]
    torch.nn.init.constant_(model.weight, 100.0)
    averaged = AveragedWeights(model, 0.2)
    for step, value in enumerate(series):
        torch.nn.init.constant_(model.weight, value)
        averaged.follow(model, step)
    # Factors: 1/10 and 2/11 while they are below 0.2, then 0.2.
    first = 0.1 * 100 + 0.9 * 8
    second = 2 / 11 * first + 9 / 11 * 1
    expected = 0.2 * (0.2 * second + 0.8 * 5) + 0.8 * 2
    with averaged.in_place(model):
        assert model.weight.item() == pytest.approx(expected)
    assert model.weight.item() == 2.0


def test_the_weights_come_back_from_an_error_and_are_the_same_tensors() -> None:
    model = torch.nn.Linear(2, 2)
    place = model.weight.data_ptr()
    averaged = AveragedWeights(model, 0.5)

    def fail() -> None:
        with averaged.in_place(model):
            assert model.weight.data_ptr() != place
            raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        fail()
    assert model.weight.data_ptr() == place


def test_a_run_keeps_the_averaged_weights_and_trains_on_with_its_own() -> None:
    corpus = task(80)

    def followed(average: float) -> tuple[torch.Tensor, list[torch.Tensor]]:
        config = small(average=average, epochs=1)
        data = prepare(config, corpus)
        passed: list[torch.Tensor] = []
        start = torch.cat([p.detach().flatten().clone() for p in data.bundle.model.parameters()])

        def keep(_: int) -> None:
            passed.append(torch.cat([p.detach().flatten().clone() for p in data.bundle.model.parameters()]))

        found = weights(fit(config, data, display=Counting(keep)))
        return found, [start, *passed]

    last, plain = followed(0)
    kept, passed = followed(0.6)
    assert all(torch.equal(one, other) for one, other in zip(plain, passed, strict=True))
    assert torch.equal(last, plain[-1])
    mean = passed[0]
    for step, now in enumerate(passed[1:]):
        mean = torch.lerp(mean, now, 1 - min(0.6, (1 + step) / (10 + step)))
    torch.testing.assert_close(kept, mean)
    assert not torch.allclose(kept, last)


def test_a_run_with_averaged_weights_learns_and_impossible_factors_are_refused() -> None:
    assert trained(small(average=0.9, epochs=6), task(200)).result["test"] > 0.9
    for factor in (1.0, -0.1):
        with pytest.raises(UserError, match=r"average is .*; it must be 0 or more and below 1"):
            small(average=factor)
