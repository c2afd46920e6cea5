from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from attnvat.errors import UserError
from attnvat.experiments.arms import FEW_BUDGET, GROUNDS, Arm, Setup, config_of, plan_of, trials_of
from attnvat.experiments.catalogue import EXPERIMENTS, SEEDS, chosen_arms, experiment_named
from attnvat.experiments.compared_arms import COMPARISON
from attnvat.experiments.job import SearchJob, TrialJob, job_from_dict
from attnvat.experiments.plan import Order, check_only
from attnvat.experiments.records import Records
from attnvat.experiments.rows import Reader
from attnvat.experiments.statistics import LEVEL, least_p
from attnvat.experiments.trial import FIRST, MACHINE, Evaluation, Trial, described
from attnvat.training import Config

TRIAL = Trial(
    Config(data="sst", vectors="glove.6B.100d", technique="attention-vat", epsilon=0.5, dropout=0.0), Evaluation()
)


def test_an_identity_stays_what_it_was() -> None:
    # Finished runs are found by it: if this fails, every record in results/ is orphaned.
    assert TRIAL.identity == "21b5ab4d164b601e"
    assert TRIAL.training == "c799b71fa4cc72ca"


def test_where_a_run_is_kept_is_no_part_of_its_identity() -> None:
    moved = dataclasses.replace(
        TRIAL.config, data_dir="/elsewhere", device="cpu", keep=5, checkpoint_every=7, vectors="/there/glove.6B.100d"
    )
    assert Trial(moved).identity == TRIAL.identity
    assert "/" not in json.dumps(described(moved))


@pytest.mark.parametrize("change", [{"seed": 1}, {"epsilon": 0.6}, {"unlabeled": "pool:news"}, {"l2": 0.0}])
def test_what_a_run_computes_is_its_identity(change: dict[str, object]) -> None:
    assert Trial(dataclasses.replace(TRIAL.config, **change)).identity != TRIAL.identity


def test_another_measurement_is_another_trial_of_the_same_training() -> None:
    other = Trial(TRIAL.config, Evaluation(("prediction",)))
    assert other.identity != TRIAL.identity
    assert other.training == TRIAL.training


def test_defaults_written_out_or_not_are_the_same_trial() -> None:
    assert Trial(TRIAL.config.resolved()).identity == TRIAL.identity


def test_seeds_share_a_group() -> None:
    other = Trial(dataclasses.replace(TRIAL.config, seed=3))
    assert other.group == TRIAL.group
    assert other.identity != TRIAL.identity


def test_every_option_is_placed() -> None:
    names = {field.name for field in dataclasses.fields(Config)}
    assert names >= FIRST | set(MACHINE)
    assert not FIRST & set(MACHINE)


def test_jobs_survive_json() -> None:
    plan = plan_of(Arm("attention-ivat", unlabelled=True), "sst", Setup())
    assert plan is not None
    for job in (TrialJob(TRIAL), SearchJob(plan, 4)):
        again = job_from_dict(json.loads(json.dumps(job.to_dict())))
        assert again == job
        assert again.identity == job.identity


def test_prediction_correlation_robustness_and_choices_share_all_runs() -> None:
    records = Records("nowhere")
    names = ("prediction", "correlation", "robustness", "choices")
    orders = [Order(EXPERIMENTS[f"table-{name}"], ("sst",)) for name in names]
    found = [[job.identity for job in order.trials(records)] for order in orders]
    assert all(one == found[0] for one in found)
    # Until a search chooses a dropout, the tuned and the untuned vanilla are the same runs.
    assert len(found[0]) == SEEDS["sst"] * 14


def test_amount_and_selection_share_the_usual_amount_with_the_prediction_table() -> None:
    def identities(name: str) -> set[str]:
        return {job.identity for job in Order(EXPERIMENTS[name], ("sst",), seeds=1).trials(Records("nowhere"))}

    prediction = identities("table-prediction")
    # both vanillas, four techniques without and the same four with 50,000 texts
    assert len(identities("figure-amount") & prediction) == 10
    # both vanillas and the two random selections
    assert len(identities("table-selection") & prediction) == 4


def test_labelled_only_leaves_out_the_arms_with_unlabelled_text() -> None:
    order = Order(EXPERIMENTS["table-prediction"], ("sst",), labelled_only=True)
    assert len(order.arms("sst")) == 11
    assert not any(arm.unlabelled for arm in order.arms("sst"))
    assert len(order.searches()) == 9


def test_only_keeps_the_arms_whose_runs_are_called_so() -> None:
    order = Order(EXPERIMENTS["table-context"], ("sst",), seeds=2, only="sst-attention-*-context0.1")
    names = [job.name for job in order.trials(Records("nowhere"))]
    techniques = ("attention-vat", "attention-ivat")
    assert sorted(names) == sorted(f"sst-{name}-context0.1-seed{seed}" for name in techniques for seed in (0, 1))
    assert len(order.searches()) == 2
    check_only([order, Order(EXPERIMENTS["table-selection"], ("sst",), only=order.only)])
    with pytest.raises(UserError, match=r"called 'vanila'; there are\n  sst-vanilla\n  sst-vanilla-wide"):
        check_only([Order(EXPERIMENTS["table-pretraining"], ("sst",), only="vanila")])


def test_only_tells_arms_with_vanillas_dropout_from_those_without() -> None:
    plain, same = (
        Order(EXPERIMENTS["table-dropout"], ("sst",), only=f"sst-attention-vat{end}").arms("sst")
        for end in ("", "-same-dropout")
    )
    assert [arm.same_dropout for arm in (*plain, *same)] == [False, True]


def test_amounts_and_strategies_share_one_search_and_readings_have_their_own() -> None:
    assert len(Order(EXPERIMENTS["table-selection"], ("sst",)).searches()) == 3
    readings = Order(EXPERIMENTS["table-readings"], ("sst",)).searches()
    assert len(readings) == 4 + 11
    assert len({job.budget for job in readings if isinstance(job, SearchJob)}) == 1


def test_steps_have_two_unlabelled_texts_a_label_unless_epochs_read_all_and_both_share_a_search() -> None:
    some = Arm("attention-vat", unlabelled=True)
    whole = dataclasses.replace(some, whole=True)
    assert plan_of(some, "sst", Setup()) == plan_of(whole, "sst", Setup())
    ratios = [trials_of(arm, "sst", Setup(), [0], {})[0].config.unlabeled_ratio for arm in (some, whole)]
    assert ratios == [2.0, None]
    alone = trials_of(Arm("attention-vat"), "sst", Setup(), [0], {})[0]
    assert alone.config.unlabeled_ratio is None
    # Pairs have as many unlabelled as labelled ones, and an epoch reads each once.
    assert config_of(some, "snli", Setup(), 0).unlabeled_ratio == 1.0


def test_an_experiment_may_have_fewer_seeds_than_its_corpus_has_elsewhere() -> None:
    def seeds(name: str, asked: int | None) -> set[int]:
        jobs = Order(EXPERIMENTS[name], ("sst",), seeds=asked).trials(Records("nowhere"))
        return {job.trial.config.seed for job in jobs if isinstance(job, TrialJob)}

    assert seeds("table-prediction", None) == set(range(10))
    assert seeds("table-averaging", None) == set(range(5))
    assert seeds("table-mixing", None) == set(range(3))
    assert seeds("table-mixing", 4) == set(range(4))


def test_searches_with_few_labels_have_a_budget_of_their_own_unless_another_is_asked_for() -> None:
    def budgets(name: str, asked: int | None) -> set[int]:
        jobs = Order(EXPERIMENTS[name], ("sst",), budget=asked).searches()
        return {job.budget for job in jobs if isinstance(job, SearchJob)}

    assert budgets("table-few-labels", None) == {FEW_BUDGET}
    assert budgets("table-prediction", None) == {GROUNDS["sst"].budget}
    assert budgets("table-few-labels", 2) == {2}
    assert budgets("table-few-labels", 0) == set()


def test_searches_have_less_text_than_the_runs_they_decide_for() -> None:
    def sizes(arm: Arm, corpus: str) -> tuple[int | None, int | None]:
        plan = plan_of(arm, corpus, Setup())
        assert plan is not None
        return plan.config.labeled_size, plan.config.unlabeled_size

    assert sizes(Arm("attention-vat"), "sst") == (None, None)
    assert sizes(Arm("attention-vat", unlabelled=True), "sst") == (None, 10_000)
    assert sizes(Arm("vanilla"), "imdb") == (4_000, None)
    assert sizes(Arm("attention-vat", unlabelled=True), "imdb") == (4_000, 8_000)
    # Few-label searches have few labels already.
    assert sizes(Arm("attention-vat", unlabelled=True, labels=100), "imdb") == (500, 10_000)


def test_with_few_labels_less_is_measured_where_that_takes_long() -> None:
    def suites(arm: Arm, corpus: str) -> tuple[str, ...]:
        return trials_of(arm, corpus, Setup(), [0], {})[0].evaluation.suites

    assert suites(Arm("vanilla"), "imdb") == ("prediction", "correlation", "robustness")
    assert suites(Arm("vanilla", labels=100), "imdb") == ("prediction",)
    assert suites(Arm("vanilla", labels=100), "sst") == suites(Arm("vanilla"), "sst")


def test_what_a_search_chose_goes_into_the_trials() -> None:
    arm = Arm("attention-vat")
    plan = plan_of(arm, "sst", Setup())
    assert plan is not None
    assert plan.config.seed not in range(30)
    trials = trials_of(arm, "sst", Setup(), range(2), {plan.identity: {"epsilon": 1.25}})
    assert [(t.config.epsilon, t.config.seed) for t in trials] == [(1.25, 0), (1.25, 1)]


def test_a_technique_can_have_the_dropout_of_vanilla() -> None:
    arm = Arm("attention-vat", same_dropout=True)
    own, vanilla = (plan_of(one, "sst", Setup()) for one in (Arm("attention-vat"), Arm("vanilla")))
    assert own is not None
    assert vanilla is not None
    experiment = dataclasses.replace(EXPERIMENTS["table-dropout"], arms={"sst": [arm]})
    assert [job.identity for job in Order(experiment, ("sst",)).searches()] == [vanilla.identity, own.identity]
    choices = {own.identity: {"epsilon": 1.25}, vanilla.identity: {"dropout": 0.5}}
    (trial,) = trials_of(arm, "sst", Setup(), [0], choices)
    assert (trial.config.epsilon, trial.config.dropout) == (1.25, 0.5)
    assert trial.name == "sst-attention-vat-dropout0.5-seed0"
    (usual,) = trials_of(Arm("attention-vat"), "sst", Setup(), [0], choices)
    assert (usual.config.dropout, usual.name) == (Config.dropout, "sst-attention-vat-seed0")


def test_an_arm_with_phrases_is_no_reference_and_has_the_plain_arms_search() -> None:
    plain = Arm("vanilla")
    arm = dataclasses.replace(plain, phrases=7_000)
    assert plan_of(arm, "sst", Setup()) == plan_of(plain, "sst", Setup())
    (trial,) = trials_of(arm, "sst", Setup(), [0], {})
    assert trial.config.phrases == 7_000
    assert (trial.name, arm.title) == ("sst-vanilla-phrases7000-seed0", "vanilla, 7,000 phrases")
    assert (plain.reference, arm.reference) == (True, False)


def test_an_arm_with_larger_states_is_no_reference_and_has_the_plain_arms_search() -> None:
    plain = Arm("vanilla")
    arm = dataclasses.replace(plain, hidden=512)
    assert plan_of(arm, "sst", Setup()) == plan_of(plain, "sst", Setup())
    (usual,), (trial,) = (trials_of(one, "sst", Setup(), [0], {}) for one in (plain, arm))
    assert (usual.config.hidden, trial.config.hidden) == (Config.hidden, 512)
    assert (trial.name, arm.title) == ("sst-vanilla-hidden512-seed0", "vanilla, states of 512")
    assert (plain.reference, arm.reference) == (True, False)


def test_an_arm_that_moves_words_too_has_the_plain_arms_search() -> None:
    plain = Arm("attention-vat")
    arm = dataclasses.replace(plain, word_epsilon=1.5)
    assert plan_of(arm, "sst", Setup()) == plan_of(plain, "sst", Setup())
    (trial,) = trials_of(arm, "sst", Setup(), [0], {})
    assert trial.config.word_epsilon == 1.5
    assert (trial.name, arm.title) == ("sst-attention-vat-words1.5-seed0", "attention-vat, words moved by 1.5")


def test_an_arm_can_be_trained_for_longer_after_a_language_model_of_more_passes() -> None:
    arm = Arm("attention-ivat", pretrained="near", averaged=True)
    longer = dataclasses.replace(arm, passes=3, epochs=12)
    assert plan_of(arm, "imdb", Setup()) == plan_of(longer, "imdb", Setup())
    (usual,), (trial,) = (trials_of(one, "imdb", Setup(), [0], {}) for one in (arm, longer))
    assert (usual.config.language_model, usual.config.epochs, usual.config.patience) == ("pool:reviews", 6, 6)
    assert (trial.config.language_model, trial.config.epochs, trial.config.patience) == ("pool:reviews:3", 12, 12)
    assert trial.name == "imdb-attention-ivat-averaged-after-reviews-3-seed0"
    assert longer.title == (
        "attention-ivat, averaged weights, 12 epochs, language model of the task's kind of text (3 passes)"
    )
    row = Reader(Records(Path("nowhere")), Setup()).row(longer, "imdb")
    assert row.pretrained == "reviews, 3 passes"


def test_every_arm_of_every_experiment_is_a_sound_config() -> None:
    for experiment in EXPERIMENTS.values():
        for corpus, arms in experiment.arms.items():
            assert corpus in GROUNDS
            for arm in arms:
                config = config_of(arm, corpus, Setup(), 0)
                assert bool(config.unlabeled) == arm.unlabelled


def test_names_are_checked() -> None:
    with pytest.raises(UserError, match="table-prediction"):
        experiment_named("table-predictions")
    with pytest.raises(UserError, match="attention-vat"):
        chosen_arms(EXPERIMENTS["table-prediction"], "sst", ["attention-vatt"])
    with pytest.raises(UserError, match="not run on"):
        chosen_arms(EXPERIMENTS["table-selection"], "imdb")
    assert {arm.technique for arm in chosen_arms(EXPERIMENTS["table-prediction"], "sst", ["word-at"])} == {
        "vanilla",
        "word-at",
    }


def test_the_usual_seeds_can_decide_a_difference_among_all_rows() -> None:
    compared = [arm for arm in COMPARISON["sst"] if not arm.plain]
    assert len(compared) * least_p(SEEDS["sst"]) <= LEVEL < len(compared) * least_p(SEEDS["sst"] - 1)
