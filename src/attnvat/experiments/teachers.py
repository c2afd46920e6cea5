"""The run that teaches an experiment's pupils: vanilla, all else as they have it, trained once and shared by them."""

from __future__ import annotations

import dataclasses
import fcntl
from pathlib import Path
from typing import Any

from attnvat.experiments.trial import Trial
from attnvat.models.pretrained import WEIGHTS
from attnvat.storage import read_json
from attnvat.training import Config, fit, load_data, prepare
from attnvat.training.run import CONFIG, RESULT
from attnvat.training.teacher import teachers

RUN = "vanilla"
"""What `Config.teacher` calls that run in an experiment."""
SEED = 1000
"""Its seed: none of the pupils'."""
OF_TECHNIQUES = ("epsilon", "xi", "iterations", "weight", "neighbours", "reading")
OF_UNLABELLED = ("unlabeled", "unlabeled_size", "unlabeled_ratio", "teacher")


def teaching_run(pupil: Config) -> Config:
    """The config of the run that teaches a pupil."""
    unset: dict[str, Any] = dict.fromkeys((*OF_TECHNIQUES, *OF_UNLABELLED))
    return dataclasses.replace(pupil, **unset, technique="vanilla", context_penalty=0.0, calibrate=False, seed=SEED)


def open_teachers(named: Config, pupil: Config, work: Path) -> tuple[Config, dict[str, Any]]:
    """The pupil's config with the run's folder in the place of its name, trained if that was not done, and what it is.

    `named` is the pupil's config as a trial has it, `pupil` the one with this machine's paths.
    """
    names = teachers(str(pupil.teacher))
    described: dict[str, Any] = {"names": names}
    if RUN in names:
        folder = work / "teachers" / Trial(teaching_run(named)).training
        folder.mkdir(parents=True, exist_ok=True)
        with folder.with_name(f".{folder.name}.lock").open("w") as handle:
            # Pupils that start together wait here for the one that trains their teacher.
            fcntl.flock(handle, fcntl.LOCK_EX)
            if not (folder / RESULT).exists() or not (folder / WEIGHTS).exists():
                config = teaching_run(pupil)
                fit(config, prepare(config, load_data(config)), folder, resume=(folder / CONFIG).exists())
        described["run"] = read_json(folder / RESULT)
        names = [str(folder) if name == RUN else name for name in names]
    return dataclasses.replace(pupil, teacher=",".join(names)), described
