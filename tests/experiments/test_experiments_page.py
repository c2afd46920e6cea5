from __future__ import annotations

import copy
import dataclasses
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from attnvat.experiments.arms import Arm, Setup, plan_of, trials_of
from attnvat.experiments.catalogue import EXPERIMENTS
from attnvat.experiments.compared_arms import AMOUNTS
from attnvat.experiments.crossed import pack
from attnvat.experiments.figures import amount_figure, aside
from attnvat.experiments.findings import in_short, said
from attnvat.experiments.job import TrialJob
from attnvat.experiments.perform import perform
from attnvat.experiments.plan import Order
from attnvat.experiments.records import Places, Records
from attnvat.experiments.results_page import results_page, write_page
from attnvat.experiments.rows import SCORE, Reader, differences, most_seeds
from attnvat.experiments.setup_notes import by_corpus, covered, differences_from_paper
from attnvat.experiments.status import Times, duration, progress_of
from attnvat.experiments.tables import experiment_table
from attnvat.experiments.trial import Trial, described
from attnvat.models import ModelConfig, build_model
from attnvat.report.bootstrap import Interval

SETUP = Setup()
SAID = "By score, of 3 compared, better than vanilla: vanilla, words of the vectors; attention-ivat with 60 news."
"""What the fixture's records let one say."""
OURS = ("table-context", "table-pretraining", "table-averaging", "table-phrases", "table-larger", "table-few-labels")
"""Experiments whose arms the fixture has no records of, but for vanilla."""


@pytest.fixture
def template(places: Places) -> dict[str, Any]:
    """A real record."""
    return perform(TrialJob(trials_of(Arm("vanilla"), "sst", SETUP, [0], {})[0]), places)


def on_record(records: Records, template: dict[str, Any], trial: Trial, score: float, right: float = 0.8) -> None:
    """Put a record like the template's on record for a trial, with the given score."""
    record = copy.deepcopy(template)
    record |= {"identity": trial.identity, "name": trial.name, "seed": trial.config.seed}
    record["config"] = described(trial.config)
    record["measured"]["test"]["prediction"]["score"] = score
    record["result"]["validation"] = score + 0.01
    drawn = np.random.default_rng([trial.config.seed, int(1000 * score)]).random(200) < right
    record["right"] = {"texts": 200, "bits": pack(drawn)}
    records.write_run(trial, record)


@pytest.fixture
def records(places: Places, template: dict[str, Any]) -> Records:
    """Ten seeds of vanilla with fewer and more words, of a technique better by three points, and of one that is not."""
    found = Records(places.results)
    noise = np.random.default_rng(0).normal(0, 0.005, 10)
    wide = Arm("vanilla", wide=True)
    arms = {Arm("vanilla"): 0.80, wide: 0.81, Arm("attention-ivat", unlabelled=True): 0.84, Arm("attention-at"): 0.80}
    arms |= {Arm("attention-vat", unlabelled=True, amount=amount): 0.81 for amount in AMOUNTS[:2]}
    for place, (arm, score) in enumerate(arms.items()):
        own = np.random.default_rng(place).normal(0, 0.002, 10)
        for trial in trials_of(arm, "sst", SETUP, range(10), {}):
            seed = trial.config.seed
            on_record(found, template, trial, score + float(noise[seed] + own[seed]))
    return Records(places.results)


def test_the_table_says_what_the_records_say(records: Records) -> None:
    reader = Reader(records, SETUP)
    table = experiment_table(EXPERIMENTS["table-prediction"], "sst", reader)
    rows = {(row[0], row[1]): row for row in table.texts()}
    better = rows["attention-ivat", "60 news"]
    ours = [100 * r["measured"]["test"]["prediction"]["score"] for r in records.runs.values() if "ivat" in r["name"]]
    assert better[5] == f"{np.mean(ours):.2f} ± {np.std(ours, ddof=1):.2f}"
    assert better[6] == "83.22"
    assert better[9] == "better"
    assert rows["attention-at", "–"][9] == "undecided"
    assert rows["vanilla", "–"][9] == "reference"
    assert rows["word-at", "–"][5] == "not run"
    assert rows["word-at", "–"][6] == "79.61"
    latex = table.latex("tab:x")
    assert r"\toprule" in latex
    assert "83.22" in latex


def test_differences_are_those_of_the_same_seed(records: Records) -> None:
    rows = Reader(records, SETUP).rows(EXPERIMENTS["table-prediction"], "sst")
    found = {row.arm: d for row, d in zip(rows, differences(rows, SCORE), strict=True) if d is not None}
    # Only a row that knows words of unlabelled text is held against the vanilla that knows more words.
    vanilla, wide = Arm("vanilla"), Arm("vanilla", wide=True)
    held = {wide: vanilla, Arm("attention-at"): vanilla, Arm("attention-ivat", unlabelled=True): wide}
    assert set(found) == set(held)
    values = {row.arm: row.values(SCORE) for row in rows}
    for arm, reference in held.items():
        by_hand = np.mean([values[arm][s] - values[reference][s] for s in range(10)])
        assert found[arm].interval.estimate == pytest.approx(by_hand)


def test_the_page_comes_from_records_alone_and_is_always_the_same(
    records: Records, world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ATTNVAT_DATA", str(world / "nowhere"))
    monkeypatch.setenv("HOME", str(world / "nobody"))
    first, figures = results_page(records, SETUP)
    again, figures_again = results_page(Records(records.folder), SETUP)
    assert first == again
    assert figures == figures_again
    assert list(figures) == ["amount-sst.svg", "strength-sst.svg"]
    assert "attention-vat" in figures["amount-sst.svg"]
    # Only browsers know variables: what turns a figure into PDF would leave out its lines.
    assert not any("var(" in figure for figure in figures.values())
    assert str(world) not in first
    for experiment in EXPERIMENTS.values():
        assert f"## {experiment.title}" in first
        for corpus in experiment.arms:
            # The default ε is one of the curve of strengths.
            compared = corpus == "sst" and experiment.name not in OURS
            made = "Regenerate" if compared else "Not run yet"
            assert f"{made}: `attnvat paper run {experiment.name} --data {corpus} " in first
    assert SAID in first
    assert re.search(
        r"\| SST \| attention-ivat \| – \| 60 news \| 2 \| 10 \| 8\d\.\d\d ± \S+ \| 83\.22 \| (yes|no) \|", first
    )
    assert "| IMDB | attention-vat | – | 150,000 news | 2 | 0 | not run | 92.48 | not run | not run |" in first
    assert "fastText with 300 dimensions" in first
    written = write_page(world / "docs" / "results.md", records, SETUP)
    assert [path.name for path in written] == ["results.md", "amount-sst.svg", "strength-sst.svg"]
    assert written[0].read_text() == first


def test_a_row_that_an_earlier_table_has_is_tested_there_alone(records: Records) -> None:
    reader = Reader(records, SETUP)

    def line_of(name: str) -> list[str]:
        lines = experiment_table(EXPERIMENTS[name], "sst", reader).texts()
        return next(line for line in lines if line[:2] == ["attention-ivat", "60 news"])

    assert "better" in line_of("table-prediction")
    # The same arm among others, for its score and its correlation (the records have no flips).
    assert "better" not in line_of("table-mixing")
    assert line_of("table-mixing").count("tested above") == 2
    # The reading that is the default is the same arm, too, though it is named here.
    readings = EXPERIMENTS["table-readings"]
    rows = reader.rows(readings, "sst")
    assert "shared" in {row.arm.reading for row in rows if row.borrowed and row.records}
    assert not said(rows, readings)
    # Another measure of the same arms is another comparison.
    for name in ("table-correlation", "table-robustness", "table-choices"):
        assert not any(row.borrowed for row in reader.rows(EXPERIMENTS[name], "sst"))


def test_the_command_below_a_table_asks_for_no_seeds_that_are_not_on_record(records: Records) -> None:
    for identity, record in records.runs.items():
        if "-attention-at-" in record["name"] and record["seed"] >= 3:
            (found,) = (records.folder / "runs").glob(f"*{identity}.json")
            found.unlink()
    page, _ = results_page(Records(records.folder), SETUP)
    table = "Regenerate: `attnvat paper run table-prediction --data sst --seeds"
    assert f"{table} 3`; `--seeds 10` for the rows that have more\n" in page
    assert f"{table} 10`\n" in results_page(records, SETUP)[0]


def test_strengths_are_held_against_vanilla_with_the_same_dropout(
    places: Places, template: dict[str, Any], records: Records
) -> None:
    for arm, score in ((Arm("vanilla", searched=False), 0.8), (Arm("attention-vat", epsilon=2.0), 0.78)):
        for trial in trials_of(arm, "sst", SETUP, range(3), {}):
            assert trial.config.dropout == 0.3
            assert trial.config.epsilon == arm.epsilon
            on_record(records, template, trial, score)
    found = Records(places.results)
    table = experiment_table(EXPERIMENTS["figure-strength"], "sst", Reader(found, SETUP))
    # A row of fewer seeds than others is never the best of a column.
    assert most_seeds(Reader(found, SETUP).rows(EXPERIMENTS["table-prediction"], "sst")) == {0, 1, 2, 7, 14}
    first = [
        dataclasses.replace(row, records={0: {}})
        for row in Reader(found, SETUP).rows(EXPERIMENTS["table-mixing"], "sst")
    ]
    assert not most_seeds(first)  # nor of one seed
    (alone,) = trials_of(Arm("word-at"), "sst", SETUP, [0], {})
    on_record(records, template, alone, 0.99)
    prediction = experiment_table(EXPERIMENTS["table-prediction"], "sst", Reader(Records(places.results), SETUP))
    assert {row for row, _ in prediction.bold} == {14}
    lines = {(row[0], row[1]): row for row in table.rows}
    assert lines["vanilla", 0.0][6] == "reference"
    difference = lines["attention-vat", 2.0][4]
    assert isinstance(difference, Interval)
    assert difference.estimate == pytest.approx(-2.0)
    held = Reader(found, SETUP).row(Arm("attention-vat", epsilon=2.0), "sst")
    assert (held.arm.name, held.options) == ("attention-vat, ε 2", "ε 2, set")
    assert plan_of(held.arm, "sst", SETUP) is None


def test_a_penalty_on_context_is_held_against_vanilla_without_and_claims_stand_beside(
    places: Places, template: dict[str, Any], records: Records
) -> None:
    held = Arm("vanilla", context_penalty=0.1)
    assert plan_of(held, "sst", SETUP) == plan_of(Arm("vanilla"), "sst", SETUP)
    with_news = Arm("attention-vat", unlabelled=True, whole=True, context_penalty=0.1)
    for arm, score in ((held, 0.79), (with_news, 0.84)):
        for trial in trials_of(arm, "sst", SETUP, range(10), {}):
            assert trial.config.context_penalty == 0.1
            assert "context0.1" in trial.name
            on_record(records, template, trial, score)
    page, _ = results_page(Records(places.results), SETUP)
    table = experiment_table(EXPERIMENTS["table-context"], "sst", Reader(Records(places.results), SETUP))
    lines = {(row[0], row[1], row[2]): row for row in table.texts()}
    assert lines["vanilla", "0", "–"][9] == "reference"
    assert lines["vanilla", "0.1", "–"][6] == "79.00 ± 0.00"
    assert lines["vanilla", "0.1", "–"][9] == "worse"
    assert lines["attention-vat", "0.1", "60 news"][9] == "better"
    assert table.columns[-2:] == ["integrated", "leave-one-out"]
    assert (
        "| SST | attention-vat, context penalty 0.1 | – | 60 news | all, by epoch | 10 | 84.00 ± 0.00 | 83.18 | yes |"
        in page
    )
    assert "Rows that name a context penalty have one of our own" in page
    # Plain training in the other tables is still plain training.
    assert SAID in page


def test_a_language_model_to_start_from_is_held_against_vanilla_without(
    places: Places, template: dict[str, Any], records: Records
) -> None:
    started = Arm("vanilla", pretrained="near")
    assert plan_of(started, "sst", SETUP) == plan_of(Arm("vanilla"), "sst", SETUP)
    language = {"texts": 900, "tokens": 12_000, "options": {"passes": 1.0}, "pool": {"name": "review-sentences"}}
    for trial in trials_of(started, "sst", SETUP, range(10), {}):
        assert "after-review-sentences" in trial.name
        on_record(records, {**template, "data": {**template["data"], "language_model": language}}, trial, 0.84)
    table = experiment_table(EXPERIMENTS["table-pretraining"], "sst", Reader(Records(places.results), SETUP))
    lines = {(row[0], row[1], row[2]): row for row in table.texts()}
    assert lines["vanilla", "–", "–"][8] == "reference"
    assert lines["vanilla", "review-sentences", "–"][5] == "84.00 ± 0.00"
    assert lines["vanilla", "review-sentences", "–"][8] == "better"
    page, _ = results_page(Records(places.results), SETUP)
    assert "one that has read review-sentences (900 texts, 12,000 tokens; passes: 1)" in page


def test_averaged_techniques_are_held_against_averaged_vanilla_and_that_against_itself_without(
    places: Places, template: dict[str, Any]
) -> None:
    wide, technique = Arm("vanilla", wide=True), Arm("attention-ivat", unlabelled=True, averaged=True)
    found = {Arm("vanilla"): 0.80, wide: 0.81, technique: 0.86}
    found |= {Arm("vanilla", averaged=True): 0.82, dataclasses.replace(wide, averaged=True): 0.84}
    written = Records(places.results)
    for arm, score in found.items():
        for trial in trials_of(arm, "sst", SETUP, range(3), {}):
            on_record(written, template, trial, score)
    reader = Reader(Records(places.results), SETUP)
    lines = [row for row in experiment_table(EXPERIMENTS["table-averaging"], "sst", reader).texts() if row[4] == "3"]
    assert [row[0] for row in lines if row[8] == "reference"] == ["vanilla"]
    gains = {(row[0], row[2]): row[6].partition(" ")[0] for row in lines}
    assert gains == {
        ("vanilla", "–"): "–",
        ("vanilla, words of the vectors", "–"): "1.00",
        ("vanilla, averaged weights", "–"): "2.00",
        ("vanilla, words of the vectors, averaged weights", "–"): "3.00",
        ("attention-ivat, averaged weights", "60 news"): "2.00",
    }


def test_few_labels_show_what_unlabelled_text_gains_with_and_without_its_words_each_label_count_a_family(
    places: Places, template: dict[str, Any]
) -> None:
    written = Records(places.results)
    accuracies = {"plain": 0.70, "wide": 0.75, "technique": 0.74}
    for labels in (100, 500):
        plain = Arm("vanilla", labels=labels)
        arms = {"plain": plain, "wide": dataclasses.replace(plain, wide=True)}
        arms["technique"] = Arm("attention-ivat", unlabelled=True, labels=labels)
        for name, arm in arms.items():
            for trial in trials_of(arm, "sst", SETUP, range(7), {}):
                template["measured"]["test"]["prediction"]["accuracy"] = accuracies[name]
                # By F1 all are alike.
                on_record(written, template, trial, 0.66)
    reader = Reader(Records(places.results), SETUP)
    table = experiment_table(EXPERIMENTS["table-few-labels"], "sst", reader)
    lines = {(row[0], row[1]): row for row in table.texts() if row[5] == "7"}
    assert len(lines) == 6
    assert lines["100", "vanilla"][6:8] == ["66.00 ± 0.00", "70.00 ± 0.00"]
    # Half of the test texts are positive: 2 · 0.5/(1 + 0.5).
    assert "calling every text positive has 66.7 and 50.0" in table.caption
    for labels in ("100", "500"):
        # Seven seeds decide two comparisons (2/128 · 2), not four: the other label count takes nothing.
        assert lines[labels, "vanilla"][8:14] == ["–", "–", "reference", "–", "–", "–"]
        gained = lines[labels, "vanilla, words of the vectors"]
        assert gained[9:14] == ["0.031", "better", "–", "–", "–"]
        technique = lines[labels, "attention-ivat"]
        assert [cell.partition(" ")[0] for cell in technique[8:14]] == [
            *("−1.00", "0.031", "worse"),
            *("4.00", "0.016", "better"),
        ]
    page, _ = results_page(Records(places.results), SETUP)
    assert (
        "Their words counted as a gain too: better than plain vanilla: attention-ivat with 10,000 news, 100 labels;"
        in page
    )


def test_correlation_with_few_labels_is_a_column_where_it_was_measured(
    places: Places, template: dict[str, Any]
) -> None:
    trial = trials_of(Arm("vanilla", labels=100), "sst", SETUP, [0], {})[0]
    for measured in (True, False):
        if not measured:
            del template["measured"]["test"]["correlation"]
        on_record(Records(places.results), template, trial, 0.7)
        table = experiment_table(EXPERIMENTS["table-few-labels"], "sst", Reader(Records(places.results), SETUP))
        assert ("correlation" in table.columns) == measured
        assert all(len(row) == len(table.columns) for row in table.rows)


def test_how_unlabelled_text_is_mixed_in_is_a_column(
    places: Places, template: dict[str, Any], records: Records
) -> None:
    whole = Arm("attention-vat", unlabelled=True, whole=True)
    for trial in trials_of(whole, "sst", SETUP, range(3), {}):
        on_record(records, template, trial, 0.81)
    table = experiment_table(EXPERIMENTS["table-mixing"], "sst", Reader(Records(places.results), SETUP))
    lines = {(row[0], row[1], row[2]): row for row in table.texts()}
    assert lines["attention-vat", "60 news", "all, by epoch"][5] == "81.00 ± 0.00"
    assert lines["attention-vat", "60 news", "2"][5] == "not run"
    assert lines["vanilla", "–", "–"][8] == "reference"


def test_the_share_of_tokens_with_a_vector_is_told_by_corpus() -> None:
    def run(corpus: str, source: str, share: float) -> dict[str, Any]:
        note = f"vectors from {source}: 90.5% of the words, {share}% of the training tokens"
        return {"data": {"corpus": corpus, "prepared": ["a random part", note]}}

    runs = [run("sst", "glove", 91.0), run("snli", "glove", 89.0), run("sst", "glove", 90.5)]
    odd = run("sst", "the language model of news, then glove", 99.0)
    assert covered([*runs, odd]) == "SST 90.5 to 91%, SNLI 89%"
    assert covered([odd]) == ""


def test_bars_at_one_place_stand_side_by_side_on_both_kinds_of_axis() -> None:
    assert aside(10, 0.01, 0, 100, log=False) == pytest.approx(11)
    assert aside(1, 0.5, 0.1, 10, log=True) == pytest.approx(10)
    assert aside(3, 0.01, 3, 3, log=False) == aside(3, 0.01, 3, 3, log=True) == 3


def test_a_figure_leaves_out_rows_with_too_few_seeds(records: Records, template: dict[str, Any]) -> None:
    experiment = EXPERIMENTS["figure-amount"]
    before = amount_figure(Reader(records, SETUP).rows(experiment, "sst"), "SST")
    begun = Arm("attention-vat", unlabelled=True, amount=AMOUNTS[-1])
    for seeds, drawn_anew in ((2, False), (3, True)):
        for trial in trials_of(begun, "sst", SETUP, range(seeds), {}):
            on_record(records, template, trial, 0.83)
        rows = Reader(Records(records.folder), SETUP).rows(experiment, "sst")
        assert (amount_figure(rows, "SST") != before) == drawn_anew


def test_what_differs_between_corpora_is_told_with_their_names() -> None:
    runs = [{"data": {"corpus": corpus}, "size": size} for corpus, size in (("snli", 128), ("sst", 256), ("imdb", 128))]
    assert by_corpus(runs, lambda run: f"{run['size']} units") == "128 units on IMDB, SNLI; 256 units on SST"
    assert by_corpus([], str) == ""


def test_the_page_tells_the_units_that_the_models_have(records: Records, template: dict[str, Any]) -> None:
    size = template["config"]["hidden"]
    units = build_model(ModelConfig(vocabulary=3, dimension=2, hidden=size)).encoder.forwards.hidden_size
    (told,) = [sentence for sentence in differences_from_paper(records) if sentence.startswith("LSTM units")]
    assert told.startswith(f"LSTM units: {units} a direction on SST.")


def test_the_page_tells_which_dropout_the_techniques_have(records: Records, template: dict[str, Any]) -> None:
    assert "Dropout of the techniques: 0.3; the paper mentions none." in differences_from_paper(records)
    trial = trials_of(Arm("attention-at"), "sst", SETUP, [0], {})[0]
    on_record(records, template, Trial(dataclasses.replace(trial.config, dropout=0.5912), trial.evaluation), 0.8)
    told = "Dropout of the techniques: 0.3 (in rows that say so vanilla's, 0.591, at the ε chosen with 0.3)"
    assert [one for one in differences_from_paper(Records(records.folder)) if one.startswith(told)]


def test_the_page_tells_where_validation_is_on_some_texts_only(records: Records, template: dict[str, Any]) -> None:
    assert not [sentence for sentence in differences_from_paper(records) if "validation is on" in sentence]
    trial = trials_of(Arm("vanilla", labels=100), "sst", SETUP, [0], {})[0]
    on_record(records, template, Trial(dataclasses.replace(trial.config, validation_size=20)), 0.7)
    found = differences_from_paper(Records(records.folder))
    (told,) = [sentence for sentence in found if "validation is on" in sentence]
    assert "validation is on 20 texts on SST" in told


def test_tables_that_say_nothing_yet_share_a_sentence(places: Places, template: dict[str, Any]) -> None:
    found = Records(places.results)
    for arm in (Arm("vanilla"), Arm("attention-at")):
        for trial in trials_of(arm, "sst", SETUP, range(3), {}):
            on_record(found, template, trial, 0.8)
    (sentence,) = in_short(Reader(Records(places.results), SETUP))
    assert sentence.startswith("- **Too few seeds to call anything better or worse**")
    assert "Prediction (SST); Attention against word importance (SST)" in sentence


def test_nothing_on_record_gives_a_page_of_not_run(tmp_path: Path) -> None:
    page, figures = results_page(Records(tmp_path), SETUP)
    assert "0 runs and 0 searches" in page
    assert not figures
    assert (
        "| SST | attention-vat | – | 50,000 news | 2 | 0 | not run | 83.18 | not run | not run | 0.898 | not run |"
        in page
    )
    assert "| SST | attention-vat, context penalty" not in page
    assert "Not run yet: `attnvat paper run table-prediction --data sst " in page
    assert "| vanilla |" not in page


def test_status_counts_and_reckons_the_time_left(records: Records, places: Places) -> None:
    order = Order(EXPERIMENTS["table-prediction"], ("sst",), seeds=10, budget=2)
    found = progress_of(order, records, places, Times(records))
    assert found.trials == (40, 140)
    assert found.searches == (0, 13)
    seconds = sum(next(iter(records.runs.values()))["seconds"].values())
    # Every record here took as long: 100 runs and 13 searches of 2 runs are left.
    assert found.seconds_left == pytest.approx(126 * seconds, rel=1e-6)
    assert [duration(s) for s in (0, 30, 90, 7300)] == ["done", "30 s", "2 min", "2.0 h"]


def test_rows_follow_what_a_search_chose(records: Records, template: dict[str, Any]) -> None:
    arm = Arm("attention-at")
    plan = plan_of(arm, "sst", SETUP)
    assert plan is not None
    searched = {"format": 1, "identity": plan.identity, "chosen": {"epsilon": 2.0}, "budget": 4, "tried": []}
    searched |= {"config": plan.fixed(), "seconds": 1.0}
    records.write_search("s", plan.identity, searched)
    fresh = Records(records.folder)
    row = Reader(fresh, SETUP).row(arm, "sst")
    assert row.options == "ε 2"
    # The runs with the default ε are not those of the chosen one.
    assert not row.records
    trial = trials_of(arm, "sst", SETUP, [0], fresh.choices())[0]
    on_record(fresh, template, dataclasses.replace(trial), 0.9)
    assert list(Reader(Records(records.folder), SETUP).row(arm, "sst").records) == [0]


def test_scores_on_all_that_test_is_drawn_from_stand_beside_the_others(
    places: Places, template: dict[str, Any]
) -> None:
    arm, records = Arm("attention-vat", unlabelled=True), Records(places.results)
    trials = trials_of(arm, "sst", SETUP, [0, 1], {})
    on_record(records, template, trials[0], 0.9)
    row = Reader(Records(places.results), SETUP).row(arm, "sst")
    assert row.whole == "–"
    assert not [note for note in differences_from_paper(Records(places.results)) if "whole test" in note]
    whole = copy.deepcopy(template)
    confusion = [[10_500, 0], [0, 10_500]]
    whole["measured"]["whole"] = {"prediction": {"score": 0.925, "examples": 21_000, "confusion": confusion}}
    on_record(records, whole, trials[1], 0.92)
    found = Records(places.results)
    assert Reader(found, SETUP).row(arm, "sst").whole == "92.50 (1 of 2 seeds)"
    page, _ = results_page(found, SETUP)
    _, claimed = (line for line in page.splitlines() if line.startswith("| SST | attention-vat |"))
    assert claimed.endswith("| 92.50 (1 of 2 seeds) | 100% |")
    (note,) = (note for note in differences_from_paper(found) if "whole test" in note)
    assert "all 21,000 are read" in note
    assert "1 runs that were measured on both have a mean F1 of 92.00 on our fifth and 92.50 on all" in note
