"""Do one job here and now: load, build the pool, train from the last checkpoint, measure on test, put on record."""

from __future__ import annotations

import dataclasses
import fcntl
import re
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from attnvat.corpora import Corpus, load_corpus
from attnvat.errors import UserError
from attnvat.evaluation.subject import Subject
from attnvat.evaluation.suite import evaluate
from attnvat.experiments.job import Job, SearchJob, TrialJob
from attnvat.experiments.languages import open_language_of
from attnvat.experiments.pools import PREFIX, open_pool
from attnvat.experiments.records import Places, Records, run_record, search_record
from attnvat.experiments.search import Tried, search
from attnvat.experiments.teachers import open_start, open_teachers
from attnvat.experiments.trial import Trial, described
from attnvat.models import Pretrained, from_pretrained
from attnvat.progress import stderr
from attnvat.training import Config, Prepared, fit, load_data, prepare
from attnvat.training.display import Display
from attnvat.training.run import CHECKPOINTS, CONFIG, RESULT, open_run, training_seconds

DRAWN_FROM = {"imdb": "test-short"}
"""Corpora whose test texts are a sample, and the further split that it is drawn from."""


class BusyError(UserError):
    """Another process is doing the job."""


def perform(job: Job, places: Places, display: Display | None = None) -> dict[str, Any]:
    """The job's record, also written to the results folder; a finished job is not done again."""
    records = Records(places.results)
    if job.finished(records):
        return (records.runs if isinstance(job, TrialJob) else records.searches)[job.identity]
    folder = work_folder(job, places)
    folder.mkdir(parents=True, exist_ok=True)
    with held(folder):
        if isinstance(job, SearchJob):
            record = perform_search(job, folder, places, records)
            records.write_search(job.name, job.identity, record)
        else:
            record = perform_trial(job.trial, folder, places, display)
            records.write_run(job.trial, record)
        clean(folder, keep_models=places.keep_models and isinstance(job, TrialJob))
    return record


def work_folder(job: Job, places: Places) -> Path:
    """Where a job keeps what it needs to go on; trials that train alike share one."""
    if isinstance(job, SearchJob):
        return places.work / "searches" / job.identity
    return places.work / "runs" / job.trial.training


def perform_trial(trial: Trial, folder: Path, places: Places, display: Display | None) -> dict[str, Any]:
    """The record of a trial, gone on with from its last checkpoint."""
    config, corpus, data = on_this_machine(trial.config, places, display)
    prepared = prepare(config, corpus)
    if (folder / RESULT).exists():
        pretrained, result, history = finished_training(folder)
    else:
        trained = fit(config, prepared, folder, resume=(folder / CONFIG).exists(), display=display)
        pretrained, result, history = trained.pretrained, trained.result, trained.history
    started = time.monotonic()
    evaluations = measure(trial, pretrained, corpus, places)
    seconds = {"training": training_seconds(folder), "evaluation": time.monotonic() - started}
    source = data["vectors"]
    if "language_model" in data:
        source = f"the language model of {data['language_model']['pool']['name']}, then {source}"
    if "start" in data:
        source = f"the {data['start']['name']} run it starts from, then {source}"
    return run_record(trial, result, history, evaluations, data | sizes(corpus, prepared, source), seconds)


def finished_training(folder: Path) -> tuple[Pretrained, dict[str, Any], list[dict[str, Any]]]:
    """The model and records of a training that came to its end."""
    run = open_run(folder)
    history = [line for line in run.history if line["event"] == "epoch"]
    return from_pretrained(folder), run.result or {}, history


def measure(trial: Trial, pretrained: Pretrained, corpus: Corpus, places: Places) -> dict[str, dict[str, Any]]:
    """The evaluations of a model by name: `test`, `attached` (gradients through the attention), `whole`, `rationales`.

    `whole` is prediction alone, on all texts that those of test are drawn from.
    """
    asked = trial.evaluation
    options = asked.options()
    subject = Subject(pretrained, corpus.test, corpus.metric, f"{corpus.name}, test")
    found = {"test": evaluate(subject, asked.suites, options=options)}
    if "correlation" in asked.suites:
        through = dataclasses.replace(options, importances=("gradient",), detached=False)
        found["attached"] = evaluate(subject, ("correlation",), options=through)
    population = DRAWN_FROM.get(corpus.name, "")
    if population in corpus.extra:
        whole = Subject(pretrained, corpus.extra[population], corpus.metric, f"{corpus.name}, {population}")
        found["whole"] = evaluate(whole, ("prediction",), options=options)
    if asked.rationales:
        marked = load_corpus(asked.rationales, data_dir=places.data_dir)
        judged = Subject(pretrained, marked.test, marked.metric, f"{marked.name}, test")
        found["rationales"] = evaluate(judged, ("prediction", "rationales"), options=options)
    return found


def perform_search(job: SearchJob, folder: Path, places: Places, records: Records) -> dict[str, Any]:
    """The record of a search, gone on with from its journal or from a record with a smaller budget."""
    config, corpus, data = on_this_machine(job.plan.config, places)
    earlier = records.searches.get(job.identity)
    known = [Tried(**run) for run in earlier["tried"]] if earlier else []

    def told(run: Tried) -> None:
        stderr.print(run.line(), highlight=False, soft_wrap=True)

    found = search(job.plan, config, corpus, job.budget, folder / "journal.log", known=known, told=told)
    return search_record(job.plan, job.budget, found, data | {"notes": list(corpus.notes)})


def on_this_machine(
    config: Config, places: Places, display: Display | None = None
) -> tuple[Config, Corpus, dict[str, Any]]:
    """The config with names turned into this machine's paths, its corpus, and what a record says of the data."""
    named = config
    config = dataclasses.replace(config, data_dir=places.data_dir, checkpoint_every=500, keep=1)
    corpus = load_data(config)
    data: dict[str, Any] = {"corpus": corpus.name, "vectors": described(config)["vectors"], "pool": None}
    if config.unlabeled and config.unlabeled.startswith(PREFIX):
        pool = open_pool(config.unlabeled, corpus, config.unlabeled_size, places.work, places.data_dir, config.vectors)
        config = dataclasses.replace(config, unlabeled=pool.spec)
        data["pool"] = pool.description
    elif config.unlabeled == "corpus":
        data["pool"] = {"name": "corpus", "title": f"{corpus.name}'s own unlabelled texts", "strategy": "random"}
    if config.language_model:
        folder, data["language_model"] = open_language_of(
            config.language_model, corpus, places.work, places.data_dir, config.vectors, config.hidden
        )
        config = dataclasses.replace(config, language_model=folder)
    if config.teacher:
        config, data["teacher"] = open_teachers(named, config, places.work, display)
    if config.start:
        config, data["start"] = open_start(named, config, places.work, display)
    return config, corpus, data


def sizes(corpus: Corpus, prepared: Prepared, vectors: str | None) -> dict[str, Any]:
    """N_l, N_u and the other sizes, and the notes on the corpus."""
    return {
        "n_labelled": len(prepared.train),
        "n_unlabelled": 0 if prepared.unlabelled is None else len(prepared.unlabelled),
        "n_validation": len(prepared.validation),
        "n_test": len(prepared.test),
        "vocabulary": len(prepared.bundle.vocabulary),
        "metric": corpus.metric,
        "notes": list(corpus.notes),
        "prepared": [named_vectors(note, vectors) for note in prepared.notes[len(corpus.notes) :]],
    }


def named_vectors(note: str, vectors: str | None) -> str:
    """A note on the data with the vectors' name in the place of their path."""
    return re.sub(r"^vectors from .*?: (?=\d)", f"vectors from {vectors}: ", note)


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """Hold the job for this process."""
    with (folder / ".job").open("w") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise BusyError(f"{folder}: another process is doing this job") from error
        yield


def clean(folder: Path, keep_models: bool) -> None:
    """Remove what a finished job no longer needs: everything, or all but its model."""
    if keep_models:
        shutil.rmtree(folder / CHECKPOINTS, ignore_errors=True)
    else:
        shutil.rmtree(folder, ignore_errors=True)
