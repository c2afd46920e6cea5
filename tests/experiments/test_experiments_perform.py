from __future__ import annotations

import json
import os
import signal
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest
from small_world import BAD, GOOD, PLAIN

from attnvat.corpora import Corpus
from attnvat.errors import UserError
from attnvat.experiments import perform as perform_module
from attnvat.experiments import teachers
from attnvat.experiments.arms import Arm, Setup, config_of, trials_of
from attnvat.experiments.job import TrialJob
from attnvat.experiments.perform import BusyError, held, perform, work_folder
from attnvat.experiments.records import Places, Records
from attnvat.experiments.runner import unfinished
from attnvat.experiments.teachers import runs_named, share_out, teaching_run
from attnvat.interruption import Interrupted
from attnvat.training import Config, load_config, load_data, transformer
from attnvat.training.display import Silent


def job_for(arm: Arm, seed: int = 0) -> TrialJob:
    return TrialJob(trials_of(arm, "sst", Setup(), [seed], {})[0])


class InterruptAt(Silent):
    """Presses Ctrl-C at a step, as a person would."""

    def __init__(self, step: int) -> None:
        self.left = step

    def step(self, examples: int, tokens: int, losses: dict[str, float]) -> None:
        self.left -= 1
        if self.left == 0:
            os.kill(os.getpid(), signal.SIGINT)


class Listening(Silent):
    """Remembers what it was told."""

    def __init__(self) -> None:
        self.notes: list[str] = []

    def note(self, text: str) -> None:
        self.notes.append(text)


def test_a_trial_becomes_a_record_and_is_never_run_again(places: Places, world: Path) -> None:
    job = job_for(Arm("attention-vat", unlabelled=True))
    record = perform(job, places)
    (file,) = (places.results / "runs").glob("*.json")
    assert file.name == f"sst-attention-vat-news-60-ratio2-seed0-{job.identity}.json"
    assert json.loads(file.read_text()) == record
    assert record["data"]["n_labelled"] == 96
    assert record["data"]["n_unlabelled"] == 60
    assert record["data"]["pool"]["texts"] > 60
    assert record["config"]["epsilon"] == 0.5
    assert len(record["epochs"]) >= 1
    assert record["measured"]["test"]["prediction"]["score"] == pytest.approx(record["result"]["test"], rel=1e-5)
    assert {"test", "attached"} <= set(record["measured"])
    assert set(record["versions"]) >= {"attnvat", "torch", "python"}
    # Small, and nothing of this machine in it.
    assert file.stat().st_size < 20_000
    assert str(world) not in file.read_text()
    # What it needed is gone, but for the pool that others share.
    assert not work_folder(job, places).exists()
    assert (places.work / "pools" / "news-for-sst").is_dir()

    written = file.stat().st_mtime_ns
    assert perform(job, places) == record
    assert file.stat().st_mtime_ns == written
    assert not work_folder(job, places).exists()
    assert unfinished([job, job], Records(places.results)) == []


def test_an_interrupted_trial_goes_on_and_ends_the_same(places: Places, world: Path) -> None:
    job = job_for(Arm("attention-at"))
    with pytest.raises(Interrupted):
        perform(job, places, InterruptAt(8))
    assert list((work_folder(job, places) / "checkpoints").iterdir())
    assert unfinished([job], Records(places.results)) == [job]
    went_on = perform(job, places)
    whole = perform(job, Places(world / "other-results", world / "other-work"))
    for part in ("result", "epochs", "right"):
        assert went_on[part] == whole[part]
    assert went_on["measured"]["test"]["correlation"] == whole["measured"]["test"]["correlation"]


def test_a_kept_model_is_measured_anew_without_training(places: Places, world: Path) -> None:
    kept = Places(places.results, places.work, keep_models=True)
    job = job_for(Arm("vanilla"))
    perform(job, kept)
    folder = work_folder(job, kept)
    assert (folder / "model.safetensors").exists()
    assert not (folder / "checkpoints").exists()
    trained = (folder / "model.safetensors").stat().st_mtime_ns
    next((kept.results / "runs").iterdir()).unlink()
    perform(job, kept)
    assert (folder / "model.safetensors").stat().st_mtime_ns == trained


def test_a_job_is_done_by_one_process_at_a_time(places: Places, world: Path) -> None:
    job = job_for(Arm("vanilla"))
    folder = work_folder(job, places)
    folder.mkdir(parents=True)
    with held(folder), pytest.raises(BusyError):
        perform(job, places)


def test_selections_are_made_once_by_neighbours(places: Places, world: Path) -> None:
    record = perform(job_for(Arm("attention-vat", unlabelled=True, strategy="bow")), places)
    assert record["data"]["pool"]["strategy"] == "bow"
    assert [file.name for file in places.work.glob("pools/*/selections/*")] == ["sst-bow-60.arrow"]


def test_a_language_model_is_pretrained_once_for_all_runs_and_described_in_their_records(
    places: Places, world: Path
) -> None:
    first, second = (job_for(arm) for arm in (Arm("vanilla", pretrained="far"), Arm("attention-at", pretrained="far")))
    record = perform(first, places)
    (file,) = places.work.glob("languages/news-for-sst-*/language.safetensors")
    written = file.stat().st_mtime_ns
    described = record["data"]["language_model"]
    assert described["pool"]["name"] == "news"
    assert described["texts"] > 60
    assert record["config"]["language_model"] == "pool:news"
    assert "sst-vanilla-after-news-seed0" in record["name"]
    assert any(note.startswith("vectors from the language model of news, then ") for note in record["data"]["prepared"])
    (kept,) = (places.results / "runs").glob("*.json")
    assert str(world) not in kept.read_text()
    perform(second, places)
    assert file.stat().st_mtime_ns == written


def test_several_passes_make_another_language_model(places: Places, world: Path) -> None:
    record = perform(job_for(Arm("vanilla", pretrained="far", passes=2)), places)
    assert record["config"]["language_model"] == "pool:news:2"
    assert record["data"]["language_model"]["options"]["passes"] == 2
    assert "sst-vanilla-after-news-2-seed0" in record["name"]
    assert [file.parent.name for file in places.work.glob("languages/*/*.safetensors")] == ["news-2-for-sst-8"]


def test_pupils_share_a_teacher_that_is_trained_once_and_named_without_its_path(places: Places, world: Path) -> None:
    taught = Arm("attention-vat", unlabelled=True, teacher="vanilla,linear", calibrated=True, learning_rate=0.03)
    record = perform(job_for(taught), places)
    assert record["config"]["teacher"] == "vanilla,linear"
    assert (record["config"]["learning_rate"], record["config"]["weight"]) == (0.03, 3.0)
    assert record["config"]["calibrate"] is True
    assert "sst-attention-vat-calibrated-taught-by-vanilla-and-linear-news" in record["name"]
    assert record["data"]["teacher"]["names"] == ["vanilla", "linear"]
    (run,) = record["data"]["teacher"]["runs"]
    assert 0 < run["validation"] <= 1
    assert str(world) not in next((places.results / "runs").glob("*.json")).read_text()
    (model,) = places.work.glob("teachers/*/model.safetensors")
    written = model.stat().st_mtime_ns
    perform(job_for(taught, seed=1), places)
    assert [(one, one.stat().st_mtime_ns) for one in places.work.glob("teachers/*/*.safetensors")] == [(model, written)]
    # A linear model alone needs no run.
    alone = perform(job_for(replace(taught, teacher="linear")), places)
    assert alone["data"]["teacher"] == {"names": ["linear"]}


def test_a_teaching_run_has_nothing_of_its_pupil_but_what_both_need() -> None:
    special: dict[str, Any] = {"calibrated": True, "context_penalty": 0.1, "word_epsilon": 1.5}
    taught = Arm("attention-ivat", unlabelled=True, teacher="vanilla,linear", **special)
    (pupil,) = trials_of(taught, "sst", Setup(), [3], {})
    with_seed: Any = ("sst", Setup(), [1001], {})
    plain = config_of(Arm("vanilla"), "sst", Setup(), seed=1000)
    assert teaching_run("vanilla", pupil.config) == replace(plain, epochs=3, patience=3)
    first = teaching_run("pupil", pupil.config, seed=1001)
    (alike,) = trials_of(
        replace(taught, technique="attention-vat", **dict.fromkeys(special, 0) | {"calibrated": False}), *with_seed
    )
    assert first == replace(alike.config, teacher="vanilla:2,linear", epochs=3, patience=3)
    # VAT of words learns from its own predictions of the pupil's unlabelled texts, each of which counts as usual.
    words = teaching_run("word-vat", pupil.config, seed=1001)
    (alike,) = trials_of(Arm("word-vat", unlabelled=True, epsilon=1.5), *with_seed)
    assert words == replace(alike.config, epochs=4, patience=4)


def test_runs_of_several_kinds_teach_together(places: Places, world: Path) -> None:
    taught = Arm("attention-vat", unlabelled=True, teacher="word-vat,vanilla,linear")
    assert taught.name.endswith("taught by a word-vat run, a vanilla run and a linear model")
    record = perform(job_for(taught), places)
    configs = [load_config(file) for file in places.work.glob("teachers/*/config.yaml")]
    runs = sorted((config.technique, config.epsilon, config.unlabeled is None) for config in configs)
    assert runs == [("vanilla", None, True), ("word-vat", 1.5, False)]
    assert len(record["data"]["teacher"]["runs"]) == 2
    assert any("3 teachers together" in note for note in record["data"]["prepared"])


def test_a_fine_tuned_transformer_teaches_beside_runs(
    places: Places, world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_transformer = pytest.importorskip("small_transformer").write_transformer
    folder = str(write_transformer(world / "encoder", [*GOOD, *BAD, *PLAIN]))
    monkeypatch.setattr(transformer, "packaged", lambda name: folder if name == "minilm" else name)
    monkeypatch.setitem(teachers.TRANSFORMERS, "minilm", replace(teachers.TRANSFORMERS["minilm"], max_length=16))
    taught = Arm("attention-vat", unlabelled=True, teacher="minilm,vanilla,linear")
    record = perform(job_for(taught), places)
    assert any("3 teachers together" in note for note in record["data"]["prepared"])
    fine, run = record["data"]["teacher"]["runs"]
    assert fine["options"]["model"] == "minilm"
    assert 0 <= fine["validation"] <= 1
    assert run["metric"] == fine["metric"]
    assert "taught by a fine-tuned MiniLM, a vanilla run and a linear model" in taught.name
    # A second pupil finds it there.
    (weights,) = places.work.glob("teachers/minilm-for-sst-seed0/head.safetensors")
    written = weights.stat().st_mtime_ns
    perform(job_for(replace(taught, technique="attention-ivat")), places)
    assert weights.stat().st_mtime_ns == written


def test_a_run_goes_on_from_one_that_also_teaches_it(places: Places, world: Path) -> None:
    taught = Arm("attention-vat", unlabelled=True, teacher="word-vat", start="word-vat")
    assert taught.name.endswith("taught by a word-vat run, from a word-vat run")
    record = perform(job_for(taught), places)
    assert "taught-by-word-vat-from-word-vat" in record["name"]
    (run,) = record["data"]["teacher"]["runs"]
    assert record["data"]["start"] == {"name": "word-vat", **run}
    assert any(
        note.startswith("vectors from the word-vat run it starts from, then") for note in record["data"]["prepared"]
    )
    assert str(world) not in next((places.results / "runs").glob("*.json")).read_text()
    cold = perform(job_for(replace(taught, start="")), places)
    assert record["epochs"][0]["validation"] != cold["epochs"][0]["validation"]


def test_a_second_generation_is_taught_by_two_runs_that_were_taught_by_two(places: Places, world: Path) -> None:
    taught = Arm("attention-ivat", unlabelled=True, teacher="pupil:2,linear")
    listening = Listening()
    record = perform(job_for(taught), places, listening)
    assert [note.rpartition("teacher: ")[2] for note in listening.notes] == [
        *("vanilla, seed 1000", "vanilla, seed 1001", "pupil, seed 1000", "pupil, seed 1001")
    ]
    assert record["data"]["teacher"]["names"] == ["pupil:2", "linear"]
    assert len(record["data"]["teacher"]["runs"]) == 2
    assert "taught-by-pupil-2-and-linear" in record["name"]
    configs = [load_config(file) for file in places.work.glob("teachers/*/config.yaml")]
    runs = sorted((config.technique, config.seed) for config in configs)
    assert runs == [("attention-vat", 1000), ("attention-vat", 1001), ("vanilla", 1000), ("vanilla", 1001)]
    assert any("3 teachers together" in note for note in record["data"]["prepared"])


def test_processes_that_start_together_train_different_teachers_and_each_once(tmp_path: Path) -> None:
    folders = [tmp_path / name for name in "ab"]
    both, trained = Barrier(2, timeout=20), []

    def train(folder: Path) -> None:
        both.wait()  # breaks unless the other process is training another one
        trained.append(folder)
        for name in ("result.json", "model.safetensors"):
            (folder / name).touch()

    with ThreadPoolExecutor(2) as pool:
        for _ in pool.map(lambda _: share_out(folders, train), range(2)):
            assert sorted(trained) == folders


@pytest.mark.parametrize("name", ["runs/one", "pupil:0", "vanilla:x"])
def test_teachers_that_experiments_do_not_know_are_refused(name: str) -> None:
    with pytest.raises(UserError, match=r"no teacher .* in experiments"):
        runs_named(name)


def test_a_transformer_that_knows_all_labels_does_not_teach_runs_with_few() -> None:
    assert teachers.folder_of("minilm", 0, Config(data="sst")) == "minilm-for-sst-seed0"
    with pytest.raises(UserError, match="is fine-tuned on all labels"):
        teachers.folder_of("minilm", 0, Config(data="sst", labeled_size=100))


def test_a_foreign_record_is_named(places: Places) -> None:
    folder = places.results / "runs"
    folder.mkdir(parents=True)
    (folder / "odd.json").write_text("{}")
    with pytest.raises(UserError, match=r"odd\.json: not a record"):
        Records(places.results).runs  # noqa: B018


def test_where_test_is_a_sample_all_it_is_drawn_from_is_measured_too(
    places: Places, world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def with_more(config: Config) -> Corpus:
        corpus = load_data(config)
        corpus.extra["more"] = [*corpus.test, *corpus.validation]
        return corpus

    monkeypatch.setattr(perform_module, "load_data", with_more)
    assert "whole" not in perform(job_for(Arm("vanilla")), places)["measured"]
    monkeypatch.setattr(perform_module, "DRAWN_FROM", {"sst": "more"})
    record = perform(job_for(Arm("vanilla"), seed=1), places)
    sizes = {name: record["measured"][name]["prediction"]["examples"] for name in ("test", "whole")}
    assert sizes == {
        "test": record["data"]["n_test"],
        "whole": record["data"]["n_test"] + record["data"]["n_validation"],
    }
