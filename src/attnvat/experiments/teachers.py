"""The runs that teach an experiment's pupils: trained once each, and shared by all pupils.

`vanilla` is plain training, all else as the pupils have it. `word-vat` is VAT of words on the pupils' unlabelled texts.
`pupil` is a run that was taught itself, by two vanilla runs and the linear model: whom it teaches is of a second
generation. `pupil:2` are two of them, by their seeds. `minilm` is a pretrained transformer, fine-tuned on the labels,
and `minilm-long` the same for longer and with more of each text.
"""

from __future__ import annotations

import dataclasses
import fcntl
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from attnvat.errors import UserError
from attnvat.experiments.compared_arms import TEACHERS, WORD_EPOCHS, WORD_EPSILON
from attnvat.experiments.trial import Trial
from attnvat.models.pretrained import WEIGHTS
from attnvat.storage import read_json
from attnvat.training import Config, fit, load_data, prepare
from attnvat.training.display import Display, Silent
from attnvat.training.finetune import FinetuneOptions, finetune
from attnvat.training.run import CONFIG, RESULT
from attnvat.training.teacher import LINEAR, teachers
from attnvat.training.transformer import DESCRIPTION, is_transformer

VANILLA = "vanilla"
WORDS = "word-vat"
PUPIL = "pupil"
MINILM = "minilm"
TRANSFORMERS = {
    MINILM: FinetuneOptions(MINILM, epochs=1, max_length=192),
    f"{MINILM}-long": FinetuneOptions(MINILM, epochs=2, max_length=384, mixed_precision="bf16"),
}
"""How transformers are fine-tuned: in as much time as a few epochs of the others take, and so that it knows most."""
KINDS = (VANILLA, WORDS, PUPIL, *TRANSFORMERS)
SEED = 1000
"""The seed of a teaching run, and of the first of several: none of the pupils'."""
EPOCHS = {VANILLA: 3, WORDS: WORD_EPOCHS, PUPIL: 3}
"""Epochs of a teaching run; pupils may have more or fewer."""
OF_TECHNIQUES = ("epsilon", "xi", "iterations", "weight", "neighbours", "reading")
OF_UNLABELLED = ("unlabeled", "unlabeled_size", "unlabeled_ratio")


def teaching_run(name: str, pupil: Config, seed: int = SEED) -> Config:
    """The config of the run so named that teaches a pupil."""
    alike = dataclasses.replace(pupil, start=None, context_penalty=0.0, word_epsilon=0.0, calibrate=False, seed=seed)
    alike = dataclasses.replace(alike, epochs=EPOCHS[name], patience=EPOCHS[name])
    if name == PUPIL:
        return dataclasses.replace(alike, technique="attention-vat", reading=None, teacher=TEACHERS)
    unset: dict[str, Any] = dict.fromkeys((*OF_TECHNIQUES, "teacher"))
    if name == WORDS:
        return dataclasses.replace(alike, **(unset | {"epsilon": WORD_EPSILON}), technique=WORDS)
    unset |= dict.fromkeys(OF_UNLABELLED)
    return dataclasses.replace(alike, **unset, technique="vanilla")


def open_teachers(
    named: Config, pupil: Config, work: Path, display: Display | None = None
) -> tuple[Config, dict[str, Any]]:
    """The pupil's config with its teachers' folders, trained if that was not done, and what these runs are.

    `named` is the pupil's config as a trial has it, `pupil` the one with this machine's paths.
    """
    names = teachers(str(named.teacher))
    runs = open_runs([name for name in names if name != LINEAR], named, pupil, work, display)
    described: dict[str, Any] = {"names": names}
    if runs:
        described["runs"] = [read_json(folder / outcome(folder)) for folder in runs]
    linear = [LINEAR] if LINEAR in names else []
    return dataclasses.replace(pupil, teacher=",".join([*map(str, runs), *linear])), described


def open_start(
    named: Config, pupil: Config, work: Path, display: Display | None = None
) -> tuple[Config, dict[str, Any]]:
    """The same for the run that a pupil goes on from."""
    (folder,) = open_runs([str(named.start)], named, pupil, work, display)
    return dataclasses.replace(pupil, start=str(folder)), {"name": named.start, **read_json(folder / RESULT)}


def open_runs(
    names: Sequence[str], named: Config, pupil: Config, work: Path, display: Display | None = None
) -> list[Path]:
    """The folders of the runs so named, trained if that was not done."""
    display = display or Silent()
    runs = {work / "teachers" / folder_of(*run, named): run for name in names for run in runs_named(name)}

    def train(folder: Path) -> None:
        kind, seed = runs[folder]
        if kind in TRANSFORMERS:
            display.note(f"fine-tuning a teacher: {kind}, seed {seed}")
            finetune(dataclasses.replace(TRANSFORMERS[kind], seed=seed), load_data(pupil), folder)
            return
        called, config = (teaching_run(kind, one, seed) for one in (named, pupil))
        if called.teacher:
            config, _ = open_teachers(called, config, work, display)
        display.note(f"training a teacher: {kind}, seed {seed}")
        fit(config, prepare(config, load_data(config)), folder, resume=(folder / CONFIG).exists(), display=display)

    share_out(list(runs), train)
    return list(runs)


def runs_named(name: str) -> list[tuple[str, int]]:
    """The runs that `NAME` or `NAME:NUMBER` stands for, each with its seed."""
    kind, _, number = name.partition(":")
    if kind not in KINDS or not (number or "1").isdecimal() or not int(number or 1):
        known = ", ".join((LINEAR, *KINDS))
        raise UserError(f"no teacher {name!r} in experiments; name {known}, or {PUPIL}:2 for two")
    # Pupils have no transformer of their own: its seeds need not differ from theirs.
    first = 0 if kind in TRANSFORMERS else SEED
    return [(kind, first + place) for place in range(int(number or 1))]


def folder_of(kind: str, seed: int, pupil: Config) -> str:
    """The name of a teaching run's folder: the same for all pupils that it can teach."""
    if kind in TRANSFORMERS:
        if pupil.labeled_size:
            raise UserError(f"{kind} is fine-tuned on all labels, and so cannot teach a run with few of them")
        return f"{kind}-for-{pupil.data}-seed{seed}"
    return Trial(teaching_run(kind, pupil, seed)).training


def outcome(folder: Path) -> str:
    """The file that a teacher has once it is trained."""
    return DESCRIPTION if is_transformer(folder) else RESULT


def share_out(folders: Sequence[Path], train: Callable[[Path], None]) -> None:
    """Train what is not trained yet: processes that start together take different folders, then wait for each other."""
    for blocking in (fcntl.LOCK_NB, 0):
        for folder in folders:
            folder.mkdir(parents=True, exist_ok=True)
            with folder.with_name(f".{folder.name}.lock").open("w") as handle:
                try:
                    fcntl.flock(handle, fcntl.LOCK_EX | blocking)
                except BlockingIOError:
                    continue
                if not is_transformer(folder) and not all((folder / name).exists() for name in (RESULT, WEIGHTS)):
                    train(folder)
