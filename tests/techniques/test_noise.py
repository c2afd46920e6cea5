"""Start directions: normal, and a property of the sentence alone."""

from __future__ import annotations

import torch
from scipy import stats

from attnvat.techniques.noise import sentence_noise
from batches import make_batch, widen


def test_noise_is_standard_normal_and_uncorrelated() -> None:
    batch = make_batch([50] * 40)
    noise = sentence_noise(batch.ids, batch.mask, 8, seed=3, dtype=torch.float64)
    assert stats.kstest(noise.flatten().numpy(), "norm").pvalue > 1e-3
    across = torch.corrcoef(noise.reshape(-1, 8).T) - torch.eye(8, dtype=torch.float64)
    assert across.abs().max() < 0.1
    along = torch.corrcoef(noise[:, :, 0])
    assert (along - torch.eye(40, dtype=torch.float64)).abs().max() < 0.7


def test_noise_depends_on_seed_sentence_and_position_only() -> None:
    batch = make_batch([5, 9])
    noise = sentence_noise(batch.ids, batch.mask, 2, seed=1, dtype=torch.float32)
    wide = widen(batch, 4)
    assert torch.equal(sentence_noise(wide.ids, wide.mask, 2, 1, torch.float32)[:, :9], noise)
    assert torch.equal(sentence_noise(batch.ids[1:], batch.mask[1:], 2, 1, torch.float32), noise[1:])
    assert not torch.equal(sentence_noise(batch.ids, batch.mask, 2, 2, torch.float32), noise)
    assert (noise[~batch.mask] == 0).all()
