"""What teachers said is kept: the same question is asked once, and any other anew."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from generated_runs import trained
from torch import Tensor

from attnvat.corpora import Corpus, Example
from attnvat.training import Config, prepare, remembered_teachers
from attnvat.training.teacher import Lesson, taught_logits
from generated_task import small, task

CORPUS = task(80, unlabelled=60)
PUPIL = small(technique="attention-vat", unlabeled="corpus", teacher="linear")


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[Sequence[str]]:
    """The teachers each time that any are asked, with an empty cache at the start."""
    calls: list[Sequence[str]] = []

    def ask(names: Sequence[str], lesson: Lesson) -> tuple[Tensor, str]:
        calls.append(names)
        return taught_logits(names, lesson)

    monkeypatch.setenv("ATTNVAT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(remembered_teachers, "taught_logits", ask)
    return calls


def taught(config: Config = PUPIL, corpus: Corpus = CORPUS) -> tuple[Tensor, tuple[str, ...]]:
    prepared = prepare(config, corpus)
    assert prepared.taught is not None
    return prepared.taught, prepared.notes


def test_a_pupil_with_another_seed_hears_the_same_without_asking(asked: list[Sequence[str]]) -> None:
    first, notes = taught()
    again, same_notes = taught(replace(PUPIL, seed=5, technique="attention-ivat"))
    assert asked == [["linear"]]
    torch.testing.assert_close(again, first, rtol=0, atol=0)
    assert [note for note in notes if "taught by" in note] == [note for note in same_notes if "taught by" in note] != []


def test_pupils_that_come_together_ask_once(asked: list[Sequence[str]]) -> None:
    with ThreadPoolExecutor(2) as both:
        first, second = both.map(taught, [PUPIL, replace(PUPIL, seed=5)])
    assert asked == [["linear"]]
    torch.testing.assert_close(first[0], second[0], rtol=0, atol=0)


def test_another_question_is_asked(asked: list[Sequence[str]], tmp_path: Path) -> None:
    def other(examples: Sequence[Example], **change: str) -> list[Example]:
        return [replace(examples[0], **change), *examples[1:]]  # type: ignore[arg-type]

    label = next(name for name in CORPUS.labels if name != CORPUS.train[0].label)
    changed = [
        (PUPIL, replace(CORPUS, train=other(CORPUS.train, text="another good text"))),
        (PUPIL, replace(CORPUS, train=other(CORPUS.train, label=label))),
        (PUPIL, replace(CORPUS, validation=CORPUS.validation[1:])),
        (PUPIL, replace(CORPUS, unlabelled=other(CORPUS.unlabelled, text="another text"))),
        (replace(PUPIL, max_length=3), CORPUS),
        (replace(PUPIL, lower=False), CORPUS),
    ]
    taught()
    for number, (config, corpus) in enumerate(changed, 2):
        taught(config, corpus)
        assert len(asked) == number
    for number in range(2):
        # The same folder with another run in it is another teacher.
        trained(small(seed=number), CORPUS, tmp_path / str(number))
        (tmp_path / "run").unlink(missing_ok=True)
        (tmp_path / "run").symlink_to(tmp_path / str(number))
        taught(replace(PUPIL, teacher=str(tmp_path / "run")))
    assert len(asked) == 1 + len(changed) + 2


def test_what_is_not_whole_is_asked_again_and_a_cache_that_cannot_be_written_is_named(
    asked: list[Sequence[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    first, _ = taught()
    (kept,) = (tmp_path / "cache" / "teachers").glob("*.safetensors")
    kept.write_bytes(kept.read_bytes()[:-7])
    again, _ = taught()
    assert len(asked) == 2
    torch.testing.assert_close(again, first, rtol=0, atol=0)
    taught()
    assert len(asked) == 2
    (tmp_path / "taken").write_text("no folder")
    monkeypatch.setenv("ATTNVAT_CACHE", str(tmp_path / "taken"))
    capsys.readouterr()
    taught()
    assert len(asked) == 3
    assert "what the teachers said is not kept" in capsys.readouterr().err
