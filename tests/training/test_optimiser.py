from __future__ import annotations

import pytest
import torch

from attnvat.models import SequenceClassifier
from attnvat.training.optimiser import (
    TouchedRowsAdam,
    build_optimisers,
    optimiser_tensors,
    restore_optimisers,
    touched,
)
from batches import make_batch, make_model

LR, L2 = 0.05, 0.01


def gradient(step: int, rows: list[int], size: int = 7) -> torch.Tensor:
    """A gradient on these rows of a (size, 3) table."""
    whole = torch.zeros(size, 3, dtype=torch.float64)
    whole[rows] = torch.randn(len(rows), 3, generator=torch.Generator().manual_seed(step), dtype=torch.float64)
    return whole


def table() -> torch.nn.Parameter:
    return torch.nn.Parameter(torch.randn(7, 3, generator=torch.Generator().manual_seed(99), dtype=torch.float64))


@pytest.mark.parametrize("sparse", [False, True])
def test_equals_adam_with_l2_where_every_row_has_a_gradient(sparse: bool) -> None:
    ours, theirs = table(), table()
    mine = TouchedRowsAdam([ours], LR, L2)
    torchs = torch.optim.Adam([theirs], lr=LR, weight_decay=L2)
    for step in range(20):
        grad = gradient(step, list(range(7)))
        ours.grad, theirs.grad = grad.to_sparse(1) if sparse else grad.clone(), grad.clone()
        mine.step()
        torchs.step()
    torch.testing.assert_close(ours, theirs, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("sparse", [False, True])
def test_rows_without_a_gradient_stand_still_with_their_moments(sparse: bool) -> None:
    ours, before = table(), table()
    optimiser = TouchedRowsAdam([ours], LR, L2)
    for step in range(4):
        grad = gradient(step, [1, 4] if step else [1, 2, 4])
        ours.grad = grad.to_sparse(1) if sparse else grad
        optimiser.step()
        if step == 0:
            second_row = ours[2].detach().clone(), optimiser.state[ours]["exp_avg"][2].clone()
    untouched = [0, 3, 5, 6]
    assert ours[untouched].equal(before[untouched])
    assert not ours[[1, 2, 4]].eq(before[[1, 2, 4]]).any()
    assert ours[2].equal(second_row[0])
    assert optimiser.state[ours]["exp_avg"][2].equal(second_row[1])


def test_a_first_step_by_hand() -> None:
    # Adam's first step is lr · g/(|g| + eps) whatever g is, with g = gradient + l2 · value.
    row = torch.nn.Parameter(torch.tensor([[2.0, -1.0]], dtype=torch.float64))
    row.grad = torch.tensor([[0.5, 0.005]], dtype=torch.float64)
    TouchedRowsAdam([row], lr=0.1, l2=0.01).step()
    # g = (0.5 + 0.02, 0.005 − 0.01): signs + and −.
    torch.testing.assert_close(row.detach(), torch.tensor([[1.9, -0.9]], dtype=torch.float64), atol=1e-6, rtol=0)


def test_a_repeated_row_of_a_sparse_gradient_counts_all_its_parts() -> None:
    grad = torch.sparse_coo_tensor(
        torch.tensor([[3, 1, 3]]), torch.tensor([[1.0], [2.0], [4.0]]), (5, 1), check_invariants=True
    )
    rows, values = touched(grad)
    assert rows.tolist() == [1, 3]
    assert values.flatten().tolist() == [2.0, 5.0]


def loss_of(model: SequenceClassifier, seed: int) -> torch.Tensor:
    batch = make_batch([5, 3, 4], seed=seed)
    logits, _ = model(batch)
    assert batch.labels is not None
    return torch.nn.functional.binary_cross_entropy_with_logits(logits, batch.labels.to(logits.dtype))


def train(model: SequenceClassifier, optimisers: list[torch.optim.Optimizer], steps: range) -> None:
    for step in steps:
        loss_of(model, step).backward()
        for optimiser in optimisers:
            optimiser.step()
            optimiser.zero_grad()


def weights(model: SequenceClassifier) -> torch.Tensor:
    return torch.cat([p.detach().flatten() for p in model.parameters()])


@pytest.mark.parametrize("phrases", [False, True])
def test_sparse_and_dense_gradients_train_the_same_model(phrases: bool) -> None:
    found = []
    for sparse in (False, True):
        model = make_model(phrases=phrases)
        train(model, build_optimisers(model, LR, L2, touched_only=True, sparse=sparse), range(6))
        assert all(table.sparse == sparse for table in model.tables())
        found.append(weights(model))
    torch.testing.assert_close(found[0], found[1], rtol=1e-10, atol=1e-12)


def test_the_fused_network_optimiser_equals_the_plain_one() -> None:
    model, plain = make_model(), make_model()
    optimisers = build_optimisers(model, LR, L2, touched_only=False, sparse=False)
    assert len(optimisers) == 1
    assert optimisers[0].defaults["fused"] is True
    train(model, optimisers, range(6))
    train(plain, [torch.optim.Adam(plain.parameters(), lr=LR, weight_decay=L2)], range(6))
    torch.testing.assert_close(weights(model), weights(plain), rtol=1e-9, atol=1e-11)


def test_words_that_do_not_occur_keep_their_vectors_unless_all_are_updated() -> None:
    words = set(torch.cat([make_batch([5, 3, 4], seed=step).ids.flatten() for step in range(6)]).tolist())
    absent = [word for word in range(2, 40) if word not in words]
    assert absent
    for touched_only in (True, False):
        model = make_model()
        before = model.embedding.weight.detach().clone()
        train(model, build_optimisers(model, LR, L2, touched_only, sparse=touched_only), range(6))
        assert model.embedding.weight[absent].equal(before[absent]) == touched_only
        assert model.embedding.weight[0].eq(0).all()


@pytest.mark.parametrize("touched_only", [True, False])
def test_restored_moments_go_on_identically(touched_only: bool) -> None:
    def fresh() -> tuple[SequenceClassifier, list[torch.optim.Optimizer]]:
        model = make_model(dtype=torch.float32)
        return model, build_optimisers(model, LR, L2, touched_only, sparse=touched_only)

    model, optimisers = fresh()
    train(model, optimisers, range(5))
    kept = {name: tensor.clone() for name, tensor in optimiser_tensors(optimisers).items()}
    state = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    train(model, optimisers, range(5, 9))
    again, others = fresh()
    again.load_state_dict(state)
    restore_optimisers(others, kept)
    train(again, others, range(5, 9))
    assert weights(again).equal(weights(model))
    forgetful, without = fresh()
    forgetful.load_state_dict(state)
    train(forgetful, without, range(5, 9))
    assert not weights(forgetful).equal(weights(model))
