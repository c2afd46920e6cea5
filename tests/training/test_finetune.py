"""Fine-tuned transformers: what they read, that they learn, that a stopped one goes on, and that they teach."""

from __future__ import annotations

import dataclasses
import os
import signal
from pathlib import Path

import numpy as np
import pytest

from small_transformer import LONGEST, write_transformer  # isort: skip  (first: leaves all out without transformers)
import torch
from generated_runs import trained

from attnvat.corpora import Example
from attnvat.errors import UserError
from attnvat.interruption import Interrupted
from attnvat.text.tokenizer import Tokenizer
from attnvat.training import devices, prepare, teacher, transformer
from attnvat.training.finetune import FinetuneOptions, Learner, finetune
from attnvat.training.run import CHECKPOINTS
from attnvat.training.teacher import Lesson, taught_logits
from attnvat.training.transformer import DESCRIPTION, TextTransformer, open_transformer
from attnvat.training.unlabelled import Unlabelled
from generated_task import NEUTRAL, TELLING, small, task

WORDS = [*NEUTRAL, *TELLING["neg"], *TELLING["pos"]]
CORPUS = task(160, unlabelled=60)


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(write_transformer(tmp_path_factory.mktemp("encoder"), WORDS))


@pytest.fixture
def options(encoder: str) -> FinetuneOptions:
    return FinetuneOptions(encoder, epochs=8, learning_rate=0.01, max_length=16)


def begun(encoder: str, max_length: int = 8, pair: bool = False) -> TextTransformer:
    return TextTransformer.begun(encoder, ("neg", "pos"), pair, max_length, seed=0)


def weights(folder: Path) -> dict[str, torch.Tensor]:
    return open_transformer(folder).state_dict()


def test_of_a_long_text_the_beginning_and_more_of_the_end_are_read(encoder: str) -> None:
    model = begun(encoder, max_length=9)

    def names(text: str | list[str]) -> list[str]:
        return model.tokenizer.convert_ids_to_tokens(model.read([text])[0])  # type: ignore[no-any-return]

    short = NEUTRAL[:7]
    assert names(" ".join(short)) == names(short) == ["[CLS]", *short, "[SEP]"]
    # Nine pieces: three from the beginning, with the one that is put before it, and six from the end.
    assert names(" ".join(NEUTRAL[:20])) == ["[CLS]", *NEUTRAL[:2], *NEUTRAL[15:20], "[SEP]"]
    both = begun(encoder, max_length=9, pair=True)
    (found,) = both.read_examples([Example(NEUTRAL[0], NEUTRAL[1])])
    assert both.tokenizer.convert_ids_to_tokens(found) == ["[CLS]", NEUTRAL[0], "[SEP]", NEUTRAL[1], "[SEP]"]


def test_a_prediction_does_not_depend_on_the_texts_beside_it(encoder: str) -> None:
    model = begun(encoder, max_length=16)
    pieces = model.read([" ".join(NEUTRAL[:n]) for n in range(1, 12)])
    alone = np.concatenate([model.log_chances([one]) for one in pieces])
    np.testing.assert_allclose(model.log_chances(pieces), alone, atol=1e-5)
    np.testing.assert_allclose(np.exp(alone).sum(axis=1), 1)
    assert np.ptp(alone[:, 0]) > 1e-3


def test_it_learns_and_is_the_same_when_opened_again(options: FinetuneOptions, tmp_path: Path) -> None:
    found = finetune(options, CORPUS, tmp_path / "one")
    assert found["validation"] == found["accuracy"] > 0.9
    assert found["steps"] == 8 * 10
    assert not (tmp_path / "one" / CHECKPOINTS).exists()
    opened = open_transformer(tmp_path / "one")
    chances = opened.log_chances(opened.read_examples(CORPUS.validation))
    known = [CORPUS.labels.index(str(example.label)) for example in CORPUS.validation]
    assert np.mean(chances.argmax(axis=1) == known) == found["accuracy"]
    # A finished one is read, whatever the texts; with other options it is refused.
    assert finetune(options, dataclasses.replace(CORPUS, train=[]), tmp_path / "one") == found
    with pytest.raises(UserError, match=r"holds another fine-tuning \(seed is 0 there, 1 here\)"):
        finetune(dataclasses.replace(options, seed=1), CORPUS, tmp_path / "one")


def test_half_precision_learns_and_predicts_so_too(options: FinetuneOptions, tmp_path: Path) -> None:
    half = dataclasses.replace(options, mixed_precision="bf16")
    assert finetune(half, CORPUS, tmp_path / "half")["accuracy"] > 0.9
    opened = open_transformer(tmp_path / "half")
    assert {value.dtype for value in opened.state_dict().values() if value.is_floating_point()} == {torch.float32}
    pieces = opened.read_examples(CORPUS.validation)
    chances = opened.log_chances(pieces)
    opened.precision = "no"
    exact = opened.log_chances(pieces)
    np.testing.assert_allclose(np.exp(chances), np.exp(exact), atol=0.05)
    assert not np.allclose(chances, exact, atol=1e-6)


def test_half_precision_that_would_kill_the_process_is_refused(
    options: FinetuneOptions, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(devices, "computes_bf16", lambda: False)
    with pytest.raises(UserError, match="mixed_precision bf16 would kill the process"):
        finetune(dataclasses.replace(options, mixed_precision="bf16"), CORPUS, tmp_path / "half")
    assert not (tmp_path / "half").exists()


def test_the_learning_rate_rises_and_falls(options: FinetuneOptions) -> None:
    learner = Learner(dataclasses.replace(options, epochs=2), CORPUS)  # 20 steps, two of them rising
    rates = []
    for _ in range(learner.steps):
        rates.append(learner.rate())
        learner.step += 1
    np.testing.assert_allclose(rates[:4], [1 / 3, 2 / 3, 1, 17 / 18])
    assert rates[-1] == pytest.approx(1 / 18)


def test_a_stopped_one_ends_with_the_same_weights(
    options: FinetuneOptions, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = dataclasses.replace(options, epochs=2)
    whole = finetune(options, CORPUS, tmp_path / "whole")
    learn = Learner.learn
    for step in (3, 14):
        with monkeypatch.context() as stopped:

            def once(self: Learner, step: int = step) -> None:
                if self.step == step:
                    os.kill(os.getpid(), signal.SIGINT)
                learn(self)

            stopped.setattr(Learner, "learn", once)
            with pytest.raises(Interrupted, match="run the same command again to go on"):
                finetune(options, CORPUS, tmp_path / "stopped", checkpoint_every=5)
        assert not (tmp_path / "stopped" / DESCRIPTION).exists()
    with pytest.raises(UserError, match="the texts have changed since it was stopped"):
        finetune(options, dataclasses.replace(CORPUS, train=CORPUS.train[1:]), tmp_path / "stopped")
    assert finetune(options, CORPUS, tmp_path / "stopped") == whole
    for name, value in weights(tmp_path / "whole").items():
        torch.testing.assert_close(weights(tmp_path / "stopped")[name], value, rtol=0, atol=0)


@pytest.mark.parametrize("labels", [("neg", "pos"), ("a", "b", "c")])
def test_it_teaches_as_it_predicts(labels: tuple[str, ...], options: FinetuneOptions, tmp_path: Path) -> None:
    corpus = task(160, labels=labels, unlabelled=60)
    finetune(options, corpus, tmp_path / "one")
    lesson = Lesson(
        corpus.train, corpus.validation, Unlabelled(corpus.unlabelled), corpus.labels, False, Tokenizer(), None
    )
    evidence, asked = teacher.evidence_of(open_transformer(tmp_path / "one"), lesson)
    opened = open_transformer(tmp_path / "one")
    logs = opened.log_chances(opened.read_examples(corpus.unlabelled))
    np.testing.assert_allclose(asked, logs[:, 1:] - logs[:, :1] if len(labels) == 2 else logs, atol=1e-6)
    assert evidence.shape == (40, 1 if len(labels) == 2 else 3)
    logits, note = taught_logits([str(tmp_path / "one"), "linear"], lesson)
    assert logits.shape == ((60,) if len(labels) == 2 else (60, 3))
    assert "2 teachers together" in note


def test_a_pupil_goes_on_only_with_the_same_transformer(options: FinetuneOptions, tmp_path: Path) -> None:
    for seed in (0, 1):
        finetune(dataclasses.replace(options, epochs=1, seed=seed), CORPUS, tmp_path / str(seed))
    config = small(technique="attention-vat", unlabeled="corpus", epochs=1)
    digests = [prepare(dataclasses.replace(config, teacher=str(tmp_path / n)), CORPUS).hashes["teacher"] for n in "01"]
    assert digests[0] != digests[1]


def test_what_one_teacher_said_is_not_asked_again_beside_another(
    options: FinetuneOptions, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    finetune(dataclasses.replace(options, epochs=1), CORPUS, tmp_path / "one")
    trained(small(epochs=1), CORPUS, tmp_path / "run")
    asked: list[str] = []
    ask = teacher.evidence_of

    def listening(one: teacher.Pretrained | TextTransformer, lesson: Lesson) -> tuple[teacher.Evidence, ...]:
        asked.append(type(one).__name__)
        return ask(one, lesson)

    monkeypatch.setenv("ATTNVAT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(teacher, "evidence_of", listening)
    config = small(technique="attention-vat", unlabeled="corpus")
    for names in ("one", "one,run", "run", "run,one"):
        folders = ",".join(str(tmp_path / name) for name in names.split(","))
        prepare(dataclasses.replace(config, teacher=folders), CORPUS)
    assert asked == ["TextTransformer", "Pretrained"]
    # Other texts are another question.
    prepare(
        dataclasses.replace(config, teacher=str(tmp_path / "one")),
        dataclasses.replace(CORPUS, unlabelled=CORPUS.unlabelled[1:]),
    )
    assert asked == ["TextTransformer", "Pretrained", "TextTransformer"]


def test_mistakes_are_named(options: FinetuneOptions, encoder: str, tmp_path: Path) -> None:
    def attempt(**changes: object) -> None:
        finetune(dataclasses.replace(options, **changes), CORPUS, tmp_path / "one")  # type: ignore[arg-type]

    for changes, message in (
        ({"epochs": 0}, "epochs is 0; it must be at least 1"),
        ({"learning_rate": 0.0}, "learning_rate is 0.0; it must be above 0"),
        ({"warmup": 1.0}, "warmup is 1.0; it must be 0 or more and below 1"),
        ({"max_length": 4}, "max_length is 4; it must be at least 8"),
        ({"max_length": LONGEST + 1}, f"reads {LONGEST} pieces of words at most"),
        ({"seed": -1}, "seed is -1"),
        ({"model": str(tmp_path / "nothing")}, "no encoder that transformers can read"),
    ):
        with pytest.raises(UserError, match=message):
            attempt(**changes)
    with pytest.raises(UserError, match="one of them is empty"):
        finetune(options, dataclasses.replace(CORPUS, validation=[]), tmp_path / "one")
    assert not (tmp_path / "one").exists()
    finetune(dataclasses.replace(options, epochs=1), CORPUS, tmp_path / "two")
    config = small(technique="attention-vat", unlabeled="corpus", teacher=str(tmp_path / "two"))
    with pytest.raises(UserError, match=r"tells neg, pos apart in single texts, and so cannot teach .* a, b, c"):
        prepare(config, task(60, labels=("a", "b", "c"), unlabelled=20))


@pytest.mark.parametrize(
    ("file", "message"), [("head.safetensors", "not the whole output layer"), ("encoder/model.safetensors", "encoder")]
)
def test_a_damaged_one_is_named(file: str, message: str, options: FinetuneOptions, tmp_path: Path) -> None:
    finetune(dataclasses.replace(options, epochs=1), CORPUS, tmp_path / "one")
    damaged = tmp_path / "one" / file
    damaged.write_bytes(damaged.read_bytes()[:-9])
    with pytest.raises(UserError, match=message):
        open_transformer(tmp_path / "one")


def test_a_packaged_encoder_that_is_not_installed_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transformer, "PACKAGED", {"minilm": "no_such_package"})
    with pytest.raises(UserError, match="minilm comes with a package of its own: pip install no-such-package"):
        transformer.read_encoder("minilm")
    assert transformer.packaged("models/own") == "models/own"
