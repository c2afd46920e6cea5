from __future__ import annotations

import dataclasses
import os
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from attnvat.errors import UserError
from attnvat.interruption import Interrupted
from attnvat.models.classifiers import PairSequenceClassifier
from attnvat.training import prepare
from attnvat.training.learnt_language import FILE, open_language
from attnvat.training.pretrain import CHECKPOINTS, Learner, PretrainOptions, chances_of, pretrain, read_texts
from generated_task import small, task

CIRCLE = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]


@pytest.fixture
def texts(tmp_path: Path) -> str:
    """Texts in which every word says what comes next."""
    generator = np.random.default_rng(0)
    lines = []
    for _ in range(400):
        start, length = generator.integers(10), generator.integers(3, 9)
        lines.append(" ".join(CIRCLE[(start + place) % 10] for place in range(length)))
    path = tmp_path / "texts.txt"
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return str(path)


def options(texts: str, **others: Any) -> PretrainOptions:
    usual: dict[str, Any] = {
        "dimension": 8,
        "hidden": 16,
        "passes": 12,
        "batch_size": 16,
        "rivals": 20,
        "numbers": False,
    }
    return PretrainOptions(texts, **{**usual, "learning_rate": 0.02, **others})


def stop_after(steps: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Presses Ctrl-C within a step, as a person would."""
    learn = Learner.learn

    def once(self: Learner) -> None:
        if self.step == steps:
            os.kill(os.getpid(), signal.SIGINT)
        learn(self)

    monkeypatch.setattr(Learner, "learn", once)


def test_it_learns_what_words_come_next_and_starts_from_nothing(texts: str, tmp_path: Path) -> None:
    short = pretrain(options(texts, passes=0.05), tmp_path / "short").description
    long = pretrain(options(texts), tmp_path / "long").description
    assert short["perplexity"] > 8  # ten words, and hardly anything learnt
    assert 1 <= long["perplexity"] < 1.5
    assert (long["texts"], long["words"]) == (396, 10)
    assert long["steps"] == 12 * 25


def test_a_stopped_pretraining_ends_with_the_same_numbers(
    texts: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen = options(texts, passes=2)
    pretrain(chosen, tmp_path / "whole")
    for step in (7, 31, 49):  # within a pass, in the second one, at the last step
        with monkeypatch.context() as stopped:
            stop_after(step, stopped)
            with pytest.raises(Interrupted, match="run the same command again to go on"):
                pretrain(chosen, tmp_path / "stopped", checkpoint_every=5)
        assert not (tmp_path / "stopped" / FILE).exists()
    pretrain(chosen, tmp_path / "stopped", checkpoint_every=5)
    whole, again = (open_language(tmp_path / name) for name in ("whole", "stopped"))
    assert whole.digest == again.digest
    assert whole.vectors.matrix.equal(again.vectors.matrix)
    assert whole.description == again.description
    assert not (tmp_path / "stopped" / CHECKPOINTS).exists()


def test_long_texts_are_fewer_a_step_unless_a_number_is_asked_for(tmp_path: Path) -> None:
    words = [f"w{place % 7}" for place in range(300)]
    for name, length in (("short", 10), ("long", 256)):
        (tmp_path / f"{name}.txt").write_text("\n".join(" ".join(words[:length]) for _ in range(130)))

    def learnt(name: str, size: int | None, folder: str) -> tuple[int, int]:
        chosen = options(str(tmp_path / f"{name}.txt"), passes=1, batch_size=size)
        found = pretrain(chosen, tmp_path / folder).description
        return found["options"]["batch_size"], found["steps"]

    assert learnt("short", None, "a") == (64, 3)  # 129 texts, one kept apart
    assert learnt("long", None, "b") == (8, 17)
    assert learnt("long", 8, "b") == (8, 17)  # read
    with pytest.raises(UserError, match="batch_size is 8 there, 9 here"):
        learnt("long", 9, "b")
    assert learnt("long", 64, "c") == (64, 3)


def test_a_folder_with_another_pretraining_is_refused_and_a_finished_one_is_read(
    texts: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen = options(texts, passes=1)
    with monkeypatch.context() as stopped:
        stop_after(3, stopped)
        with pytest.raises(Interrupted):
            pretrain(chosen, tmp_path / "one")
    other = dataclasses.replace(chosen, seed=1)
    with pytest.raises(UserError, match=r"holds another pretraining \(seed is 0 there, 1 here\)"):
        pretrain(other, tmp_path / "one")
    with Path(texts).open("a") as handle:
        handle.write("one two three\n")
    with pytest.raises(UserError, match="the texts have changed since it was stopped"):
        pretrain(chosen, tmp_path / "one")
    pretrain(chosen, tmp_path / "two")
    written = (tmp_path / "two" / FILE).stat().st_mtime_ns
    pretrain(chosen, tmp_path / "two")
    monkeypatch.chdir(tmp_path)
    pretrain(dataclasses.replace(chosen, texts="texts.txt"), tmp_path / "two")  # the same file by another way
    assert (tmp_path / "two" / FILE).stat().st_mtime_ns == written
    with pytest.raises(UserError, match=r"texts is .* there, 'others\.txt' here"):
        pretrain(dataclasses.replace(chosen, texts="others.txt"), tmp_path / "two")
    with pytest.raises(UserError, match="seed is 0 there, 1 here"):
        pretrain(other, tmp_path / "two")


def test_a_folder_in_use_or_not_writable_is_refused_before_anything_is_learnt(
    texts: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    learnt: list[int] = []
    learn = Learner.learn

    def once(self: Learner) -> None:
        if not learnt:
            with pytest.raises(UserError, match="another process is training this run"):
                pretrain(chosen, tmp_path / "one")
        learnt.append(self.step)
        learn(self)

    monkeypatch.setattr(Learner, "learn", once)
    chosen = options(texts, passes=0.1)
    (tmp_path / "file").touch()
    with pytest.raises(UserError, match=r"cannot be written \(Not a directory\)"):
        pretrain(chosen, tmp_path / "file" / "out")
    assert not learnt
    pretrain(chosen, tmp_path / "one")
    assert learnt == [0, 1]


def test_rivals_are_words_that_occur(texts: str) -> None:
    material = read_texts(options(texts))
    chances = chances_of(material.read, len(material.vocabulary))
    assert chances.sum() == pytest.approx(1)
    assert chances[:2].tolist() == [0, 0]
    assert (chances[2:] > 0).all()


@pytest.mark.parametrize(
    "wrong",
    [{"hidden": 7}, {"passes": 0.0}, {"dropout": 1.0}, {"rivals": 0}, {"seed": -1}, {"learning_rate": -1.0}],
    ids=str,
)
def test_impossible_options_are_refused_by_name(wrong: dict[str, Any]) -> None:
    with pytest.raises(UserError, match=next(iter(wrong))):
        PretrainOptions("texts.txt", **wrong)


def test_texts_without_a_word_that_comes_twice_are_refused(tmp_path: Path) -> None:
    (tmp_path / "few.txt").write_text("every word once\n", "utf-8")
    with pytest.raises(UserError, match="no word comes 2 times; give more text"):
        pretrain(PretrainOptions(str(tmp_path / "few.txt")), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_damaged_and_missing_files_are_named(texts: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"no language model here \(no language.safetensors\); make one with"):
        open_language(tmp_path)
    pretrain(options(texts, passes=0.1), tmp_path / "out")
    file = tmp_path / "out" / FILE
    file.write_bytes(file.read_bytes()[:-50])
    with pytest.raises(UserError, match="damaged or not attnvat's"):
        open_language(tmp_path / "out")


@pytest.mark.parametrize("pair", [False, True])
def test_classifiers_start_from_its_vectors_and_its_encoder(texts: str, tmp_path: Path, pair: bool) -> None:
    with Path(texts).open("a") as handle:
        handle.write("good one two three\n" * 3)
    language = pretrain(options(texts, passes=1, dimension=8, hidden=16), tmp_path / "language")
    config = small(language_model=str(tmp_path / "language"), numbers=False, dimension=None, hidden=16)
    prepared = prepare(config, task(40, pair=pair))
    bundle = prepared.bundle
    for name, tensor in bundle.model.encoder.state_dict().items():
        assert tensor.equal(language.encoder[name])
    if pair:
        assert isinstance(bundle.model, PairSequenceClassifier)
        for name, tensor in bundle.model.question_encoder.state_dict().items():
            assert tensor.equal(language.encoder[name])
    known = {word: language.vectors.matrix[row] for row, word in enumerate(language.vectors.words)}
    assert {"good", *CIRCLE} <= set(bundle.vocabulary.words)  # its words join those of the task
    for word in ("good", "seven"):
        assert bundle.model.embedding.weight[bundle.vocabulary.id(word)].equal(known[word])
    assert "bad" in bundle.vocabulary
    assert prepared.hashes["language_model"] == language.digest
    # Nothing of it hangs on the seed but what the language model does not know.
    other = prepare(dataclasses.replace(config, seed=1), task(40, pair=pair)).bundle
    seven = other.vocabulary.id("seven")
    assert other.model.embedding.weight[seven].equal(known["seven"])
    assert not torch.equal(other.model.decoder.weight, bundle.model.decoder.weight)


@pytest.mark.parametrize(
    ("others", "message"),
    [
        ({"hidden": 32}, "its states have 16 numbers, the classifier's 32"),
        ({"numbers": True}, "has read its texts otherwise"),
        ({"vectors": "vectors.txt"}, "its word vectors have 8 numbers, those of .* 3; use the vectors"),
    ],
    ids=["hidden", "numbers", "vectors"],
)
def test_classifiers_that_do_not_fit_are_refused(
    texts: str, tmp_path: Path, others: dict[str, Any], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ATTNVAT_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    Path("vectors.txt").write_text("good 1 2 3\n", "utf-8")
    pretrain(options(texts, passes=0.1), tmp_path / "language")
    usual: dict[str, Any] = {"language_model": "language", "hidden": 16, "numbers": False, "dimension": None}
    with pytest.raises(UserError, match=message):
        prepare(small(**{**usual, **others}), task(40))
