"""Runs that go on from a finished one: they begin where it ended, and learn from there."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from generated_runs import trained

from attnvat.corpora import Corpus, Example
from attnvat.errors import UserError
from attnvat.evaluation.prediction import predict
from attnvat.evaluation.subject import encode_examples
from attnvat.models import Pretrained, from_pretrained
from attnvat.training import prepare
from generated_task import small, task

PHRASED = small(epochs=2, phrases=50)


def with_new_words(corpus: Corpus) -> Corpus:
    """The same task, of which every text begins with words that it did not have."""

    def longer(example: Example) -> Example:
        return replace(example, text=f"quagga zebra {example.text}")

    return replace(corpus, train=[longer(example) for example in corpus.train])


def answers(bundle: Pretrained, corpus: Corpus) -> np.ndarray[Any, Any]:
    bundle.model.eval()
    return predict(bundle, encode_examples(bundle, corpus.test))


@pytest.mark.parametrize("pair", [False, True], ids=["single", "pair"])
@pytest.mark.parametrize("phrases", [0, 50])
def test_a_run_begins_with_what_the_other_predicts(tmp_path: Path, pair: bool, phrases: int) -> None:
    corpus = task(300, pair=pair)
    trained(PHRASED, corpus, tmp_path)
    config = small(start=str(tmp_path), technique="attention-vat", phrases=phrases, seed=7)
    # Its vocabulary numbers words otherwise; all of the other's words and phrases are in it.
    prepared = prepare(config, with_new_words(corpus))
    first = from_pretrained(tmp_path)
    assert prepared.bundle.vocabulary.words != first.vocabulary.words
    assert prepared.bundle.vocabulary.words[2:4] == ("quagga", "zebra")
    np.testing.assert_allclose(answers(prepared.bundle, corpus), answers(first, corpus), atol=1e-6)
    assert prepared.bundle.model.config.phrases > first.model.config.phrases * bool(phrases)
    plain = prepare(replace(config, start=None, phrases=50), with_new_words(corpus)).bundle
    assert np.abs(answers(plain, corpus) - answers(first, corpus)).max() > 0.01


def test_all_its_words_are_known_even_if_no_other_text_brings_any(tmp_path: Path) -> None:
    trained(small(epochs=1), task(80), tmp_path)
    few = replace(task(80), train=task(80).train[:10])
    kept = prepare(small(start=str(tmp_path), pool_words=False), few).bundle.vocabulary
    words = set(from_pretrained(tmp_path).vocabulary.words)
    assert words <= set(kept.words)
    assert not words <= set(prepare(small(pool_words=False), few).bundle.vocabulary.words)


def test_a_word_that_the_other_did_not_have_gets_its_usual_vector(tmp_path: Path) -> None:
    corpus = task(80)
    trained(small(epochs=1), corpus, tmp_path / "run")
    vectors = tmp_path / "vectors.txt"
    rows = {"quagga": 1.0, "good": 2.0}
    size = small().dimension
    vectors.write_text("".join(f"{word}{f' {value}' * (size or 0)}\n" for word, value in rows.items()), "utf-8")
    config = small(start=str(tmp_path / "run"), vectors=str(vectors), dimension=None)
    bundle = prepare(config, with_new_words(corpus)).bundle
    first = from_pretrained(tmp_path / "run")

    def vector(one: Pretrained, word: str) -> torch.Tensor:
        return one.model.embedding.weight[one.vocabulary.id(word)]

    assert vector(bundle, "quagga").eq(1).all()
    for known in ("good", "<unk>"):
        assert vector(bundle, known).equal(vector(first, known))


def test_a_run_with_another_technique_goes_on_from_it_and_is_told_apart(tmp_path: Path) -> None:
    corpus = task(80, unlabelled=40)
    first = trained(small(epochs=6), corpus, tmp_path / "first")
    config = small(start=str(tmp_path / "first"), technique="attention-vat", unlabeled="corpus", epochs=1)
    second = trained(config, corpus, tmp_path / "second")
    cold = trained(replace(config, start=None), corpus, tmp_path / "cold")
    scores = {name: run.result["validation"] for name, run in (("first", first), ("second", second), ("cold", cold))}
    assert scores["second"] > scores["first"] - 0.1
    assert scores["second"] > scores["cold"]
    before, now = (from_pretrained(tmp_path / name).model.decoder.weight for name in ("first", "second"))
    assert not torch.equal(before, now)
    hashes = prepare(config, corpus).hashes
    trained(small(epochs=6, seed=1), corpus, tmp_path / "other")
    assert hashes["start"] != prepare(replace(config, start=str(tmp_path / "other")), corpus).hashes["start"]


@pytest.mark.parametrize(
    ("others", "message"),
    [
        ({"hidden": 32}, "its hidden is 16, this run's 32; set hidden to 16"),
        ({"attention": 9}, "its attention is .*, this run's 9; set attention"),
        ({"lower": False}, "has read its texts otherwise"),
        ({"start": "nowhere"}, "nowhere: no model here"),
    ],
    ids=["hidden", "attention", "lower", "nowhere"],
)
def test_runs_that_do_not_fit_are_refused(
    tmp_path: Path, others: dict[str, Any], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    trained(small(epochs=1, hidden=16), task(40), tmp_path / "run")
    with pytest.raises(UserError, match=message):
        prepare(small(**{"start": "run", "hidden": 16, **others}), task(40))


def test_a_run_on_another_task_is_refused(tmp_path: Path) -> None:
    trained(small(epochs=1), task(40), tmp_path)
    with pytest.raises(UserError, match="apart in single texts; start from a run on the same task"):
        prepare(small(start=str(tmp_path)), task(40, pair=True))
