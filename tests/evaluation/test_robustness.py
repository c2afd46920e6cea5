import numpy as np
import pytest
import torch
from measured import LENGTHS, tiny

from attnvat.evaluation.divergence import jensen_shannon, total_variation
from attnvat.evaluation.prediction import predict
from attnvat.evaluation.robustness import perturbation_curves, random_direction
from attnvat.techniques.norms import sentence_norm
from attnvat.techniques.sites import AttentionSite, WordSite, clean_pass

EPSILONS = (0.0, 0.1, 0.5, 2.0)


def test_divergences_by_hand() -> None:
    # Half of |0.5 - 0.1| + |0.5 - 0.9| = 0.4. Disjoint distributions: JSD = ln 2; equal ones: 0.
    assert total_variation(torch.tensor([0.5, 0.5]), torch.tensor([0.1, 0.9])).item() == pytest.approx(0.4)
    apart = jensen_shannon(torch.tensor([1.0, 0.0]), torch.tensor([0.0, 1.0]))
    assert apart.item() == pytest.approx(np.log(2))
    assert jensen_shannon(torch.tensor([0.3, 0.7]), torch.tensor([0.3, 0.7])).item() == pytest.approx(0, abs=1e-7)
    # p = (1, 0), q = (1/2, 1/2), middle (3/4, 1/4): (ln(4/3) + (ln(2/3) + ln 2)/2)/2.
    found = jensen_shannon(torch.tensor([1.0, 0.0]), torch.tensor([0.5, 0.5])).item()
    assert found == pytest.approx((np.log(4 / 3) + (np.log(2 / 3) + np.log(2)) / 2) / 2)


def test_divergence_has_a_gradient_at_zero_attention() -> None:
    p = torch.tensor([1.0, 0.0], requires_grad=True)
    jensen_shannon(torch.tensor([0.5, 0.5]), p).backward()
    assert p.grad is not None
    assert torch.isfinite(p.grad).all()


@pytest.mark.parametrize("site", ["attention", "word"])
@pytest.mark.parametrize(("pair", "classes"), [(False, 2), (True, 3)])
def test_worst_case_moves_predictions_further_than_chance(site: str, pair: bool, classes: int) -> None:
    subject = tiny(pair, classes, lengths=LENGTHS * 4)
    curves = perturbation_curves(subject.pretrained, subject.data, site, EPSILONS)
    assert set(curves) == {"vat", "at", "random"}
    for column in range(1, len(EPSILONS)):
        assert curves["vat"].tvd[:, column].mean() > 1.3 * curves["random"].tvd[:, column].mean()
    # The label's loss rises most along the gradient: accuracy falls at least as far as by chance.
    assert curves["at"].right is not None
    assert curves["random"].right is not None
    assert curves["at"].right[:, 1:].mean() <= curves["random"].right[:, 1:].mean()


@pytest.mark.parametrize("site", ["attention", "word"])
def test_no_perturbation_changes_nothing(site: str) -> None:
    subject = tiny()
    right = predict(subject.pretrained, subject.data).argmax(axis=1) == subject.data.labels
    for curve in perturbation_curves(subject.pretrained, subject.data, site, (0.0,)).values():
        assert curve.tvd.max() < 1e-6
        assert not curve.flipped.any()
        assert curve.right is not None
        assert curve.right[:, 0].tolist() == right.tolist()


@pytest.mark.parametrize("site", ["attention", "word"])
def test_batch_mates_and_padding_change_nothing(site: str) -> None:
    subject = tiny()
    together = perturbation_curves(subject.pretrained, subject.data, site, EPSILONS, seed=3)
    apart = perturbation_curves(subject.pretrained, subject.data, site, EPSILONS, seed=3, tokens=1)
    for kind in together:
        np.testing.assert_allclose(together[kind].tvd, apart[kind].tvd, atol=2e-5)


def test_random_directions_have_the_norm_of_the_worst_ones() -> None:
    subject = tiny()
    batch = subject.data.batch(range(len(LENGTHS)))
    clean = clean_pass(subject.pretrained.model, batch).detach()
    for site in (AttentionSite(), WordSite()):
        direction, none = random_direction(site, clean, batch, 0)
        torch.testing.assert_close(sentence_norm(direction), torch.ones(len(LENGTHS)))
        assert not none.any()
        assert (direction.masked_select(~site.mask(batch)) == 0).all()


def test_one_word_has_no_attention_to_move() -> None:
    subject = tiny(lengths=(1, 1))
    curves = perturbation_curves(subject.pretrained, subject.data, "attention", (5.0,))
    assert curves["vat"].vanished == 2
    assert curves["vat"].tvd.max() < 1e-6


def test_figures_are_means_over_texts() -> None:
    subject = tiny()
    curve = perturbation_curves(subject.pretrained, subject.data, "attention", (0.5, 5.0))["vat"]
    points = curve.figures()["points"]
    assert points[1]["tvd"] == pytest.approx(curve.tvd[:, 1].mean())
    assert points[1]["flip_rate"] == pytest.approx(curve.flipped[:, 1].mean())
    assert [point["epsilon"] for point in points] == [0.5, 5.0]
