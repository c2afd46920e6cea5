from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from attnvat.corpora import Corpus, Example
from attnvat.errors import UserError
from attnvat.pool import Source, build_pool, select, texts_source
from attnvat.training import Prepared, prepare
from attnvat.training.prepare import few_labels
from generated_task import NEUTRAL, sentences, small, task


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ATTNVAT_CACHE", str(tmp_path / "cache"))


def vectors_file(folder: Path, words: list[str], seed: int = 0) -> str:
    """A GloVe file of 8 numbers a word."""
    numbers = np.random.default_rng(seed).normal(size=(len(words), 8))
    lines = [f"{word} {' '.join(f'{x:.4f}' for x in row)}" for word, row in zip(words, numbers, strict=True)]
    path = folder / f"vectors-{seed}-{len(words)}.txt"
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return str(path)


def test_vocabulary_is_of_the_training_texts_alone() -> None:
    corpus = task(40)
    corpus.validation = [Example("good only in validation", label="pos")]
    corpus.test = [Example("bad only in test", label="neg")]
    vocabulary = prepare(small(), corpus).bundle.vocabulary
    words = {word for example in corpus.train for word in str(example.text).split()}
    assert set(vocabulary.words) == words | {"<pad>", "<unk>"}
    assert "validation" not in vocabulary
    assert "test" not in vocabulary


def test_vocabulary_counts_only_the_labelled_texts_that_are_used() -> None:
    corpus = task(100)
    data = prepare(small(labeled_size=4), corpus)
    assert len(data.train) == 4
    used = few_labels(corpus.train, 4, 0)
    assert set(data.bundle.vocabulary.words[2:]) == {word for e in used for word in str(e.text).split()}


def test_words_of_unlabelled_texts_join_only_with_a_vector(tmp_path: Path) -> None:
    corpus = task(40)
    more = [Example("good zebra quagga"), Example("zebra okapi")]
    named = vectors_file(tmp_path, ["good", "zebra", "okapi", "unseen"])
    config = small(technique="attention-vat", dimension=None, vectors=named)
    vocabulary = prepare(config, corpus, more).bundle.vocabulary
    assert ("zebra" in vocabulary, "okapi" in vocabulary) == (True, True)
    assert ("quagga" in vocabulary, "unseen" in vocabulary) == (False, False)
    rare = prepare(replace(config, min_frequency=2), corpus, more).bundle.vocabulary
    assert ("zebra" in rare, "okapi" in rare) == (True, False)
    without = prepare(replace(config, pool_words=False), corpus, more).bundle.vocabulary
    assert "zebra" not in without
    assert "zebra" not in prepare(small(technique="attention-vat"), corpus, more).bundle.vocabulary


def test_the_vectors_commonest_words_join_when_asked_for(tmp_path: Path) -> None:
    corpus = task(40)
    corpus.test = [Example("an okapi", label="pos")]
    named = vectors_file(tmp_path, ["good", "Zebra", "ZEBRA", "okapi", "rare"])
    config = small(dimension=None, vectors=named)
    alone = prepare(config, corpus)
    more = prepare(replace(config, vector_words=3), corpus)
    assert more.bundle.vocabulary.words == (*alone.bundle.vocabulary.words, "zebra", "okapi")
    ids = more.bundle.vocabulary.ids
    assert ids["okapi"] in more.test.texts.ids
    assert list(alone.test.texts.ids) == [1, 1]
    written = np.loadtxt(named, dtype=str)
    zebra = torch.tensor(written[1, 1:].astype(float), dtype=torch.float32)
    torch.testing.assert_close(more.bundle.model.embedding.weight.detach()[ids["zebra"]], zebra)
    assert len(prepare(replace(config, vector_words=99), corpus).bundle.vocabulary) == len(ids) + 1


def test_words_that_only_the_vectors_know_are_told_of(tmp_path: Path) -> None:
    corpus = task(40)
    corpus.validation = [Example("good Zebra quagga quagga okapi", label="pos")]

    def told(*words: str, **options: Any) -> list[str]:
        config = small(dimension=None, vectors=vectors_file(tmp_path, list(words)), **options)
        return [note for note in prepare(config, corpus).notes if "vector-words" in note]

    (note,) = told("good", "zebra", "quagga", "rare")
    assert note.startswith("60.0% of the validation tokens are words that have a vector and are not in the vocabulary")
    assert not told("good", "bad", "a")
    assert not told("good", "zebra", "quagga", "rare", vector_words=2)
    corpus.validation += [Example("good " * 60, label="pos")]
    assert not told("good", "zebra", "quagga", "rare")


@pytest.mark.parametrize("vectors", [None, "learn", "learn:texts.txt"])
def test_words_join_only_from_a_file_of_vectors(vectors: str | None) -> None:
    with pytest.raises(UserError, match="vector_words takes words from a file of word vectors"):
        small(vectors=vectors, vector_words=10)


def test_found_words_take_their_vectors_and_the_others_random_ones(tmp_path: Path) -> None:
    named = vectors_file(tmp_path, ["good", "bad"])
    rows = [line.split() for line in Path(named).read_text().splitlines()]
    data = prepare(small(dimension=None, vectors=named), task(40))
    table, ids = data.bundle.model.embedding.weight.detach(), data.bundle.vocabulary.ids
    for word, *numbers in rows:
        torch.testing.assert_close(table[ids[word]], torch.tensor([float(x) for x in numbers]))
    assert table[0].eq(0).all()
    others = [ids[word] for word in ids if word in NEUTRAL]
    known = torch.tensor([[float(x) for x in numbers] for _, *numbers in rows])
    assert 0.7 < float(table[others].std() / known.std(correction=0)) < 1.3
    tokens = [word for e in task(40).train for word in str(e.text).split()]
    share = sum(word in ("good", "bad") for word in tokens) / len(tokens)
    words = len(set(tokens)) + 2
    (note,) = [note for note in data.notes if note.startswith("vectors from")]
    assert f"{share:.1%} of the training tokens" in note
    assert f"{2 / words:.1%} of the words" in note


def test_learnt_vectors_reach_words_seen_often_enough() -> None:
    corpus = task(60, unlabelled=60)
    corpus.unlabelled += [Example("zebra zebra quagga zebra")]
    config = small(technique="attention-vat", vectors="learn", unlabeled="corpus", dimension=6)
    data = prepare(config, corpus)
    assert data.bundle.model.config.dimension == 6
    assert ("zebra" in data.bundle.vocabulary, "quagga" in data.bundle.vocabulary) == (True, False)
    assert prepare(config, corpus).hashes == data.hashes


@pytest.mark.parametrize("size", [2, 3, 4, 7, 10, 50, 99, 100])
@pytest.mark.parametrize("counts", [(50, 50), (90, 10), (34, 33, 33), (97, 1, 1, 1)], ids=str)
def test_few_labels_keep_the_classes_shares(counts: tuple[int, ...], size: int) -> None:
    train = [Example(f"text {n}", label=str(c)) for c, count in enumerate(counts) for n in range(count)]
    if size < len(counts):
        with pytest.raises(UserError, match=f"labeled_size is {size}, but there are {len(counts)} classes"):
            few_labels(train, size, 0)
        return
    chosen = few_labels(train, size, 0)
    assert len(chosen) == size
    assert len({(e.text, e.label) for e in chosen}) == size
    found = Counter(e.label for e in chosen)
    for c, count in enumerate(counts):
        assert found[str(c)] >= 1
        assert abs(found[str(c)] - size * count / 100) <= len(counts) - 1


def test_few_labels_depend_on_the_seed_alone() -> None:
    train = sentences(60)
    assert few_labels(train, 10, 3) == few_labels(train, 10, 3)
    assert few_labels(train, 10, 3) != few_labels(train, 10, 4)
    assert few_labels(train, None, 3) == train
    with pytest.raises(UserError, match="labeled_size is 61, but there are only 60"):
        few_labels(train, 61, 0)


def test_validation_can_be_of_some_texts_of_each_class() -> None:
    corpus = task(100)
    data = prepare(small(validation_size=4), corpus)
    assert data.validation.labels is not None
    assert sorted(Counter(data.validation.labels.tolist()).values()) == [2, 2]
    assert len(data.train) == len(corpus.train)
    assert data.hashes["validation"] != prepare(small(), corpus).hashes["validation"]
    too_many = len(corpus.validation) + 1
    with pytest.raises(UserError, match=f"validation_size is {too_many}, but there are only .* validation texts"):
        prepare(small(validation_size=too_many), corpus)


def changed(corpus: Corpus, part: str) -> Corpus:
    """The corpus with one word of one example of a part exchanged for another known one."""
    examples = list(getattr(corpus, part))
    examples[3] = replace(examples[3], text=f"{NEUTRAL[0]} {examples[3].text}")
    return replace(corpus, **{part: examples})


@pytest.mark.parametrize(
    ("change", "parts"),
    [
        (lambda c: c, set()),
        (lambda c: changed(c, "validation"), {"validation"}),
        (lambda c: changed(c, "test"), {"test"}),
        (lambda c: changed(c, "unlabelled"), {"unlabelled"}),
        (lambda c: replace(c, validation=c.validation[::-1]), {"validation"}),
        (lambda c: replace(c, test=[replace(e, label="neg") for e in c.test]), {"test"}),
        (
            lambda c: replace(c, train=[replace(e, label="neg") if n == 0 else e for n, e in enumerate(c.train)]),
            {"train"},
        ),
        (lambda c: replace(c, unlabelled=c.unlabelled[:-1]), {"unlabelled"}),
        (
            lambda c: replace(c, train=[*c.train, Example("zebra", label="pos")]),
            {"train", "vocabulary", "vectors"},
        ),
    ],
)
def test_hashes_change_with_what_was_read(change: Any, parts: set[str]) -> None:
    corpus = task(80, unlabelled=40)
    assert corpus.train[0].label == "pos"
    config = small(technique="attention-vat", unlabeled="corpus")
    before, after = prepare(config, corpus).hashes, prepare(config, change(corpus)).hashes
    assert {part for part in before if before[part] != after[part]} == parts


def test_hashes_change_with_the_classes_names_and_with_the_vectors(tmp_path: Path) -> None:
    def differ(a: Prepared, b: Prepared) -> set[str]:
        return {part for part in a.hashes if a.hashes[part] != b.hashes[part]}

    corpus = task(40)
    other = {name: [replace(e, label=f"x{e.label}") for e in examples] for name, examples in corpus.splits().items()}
    renamed = replace(corpus, labels=("xneg", "xpos"), **{k: other[k] for k in ("train", "validation", "test")})
    assert differ(prepare(small(), corpus), prepare(small(), renamed)) == {"labels"}
    first, second = (
        prepare(small(dimension=None, vectors=vectors_file(tmp_path, ["good"], seed)), corpus) for seed in (0, 1)
    )
    assert differ(first, second) == {"vectors"}


def test_texts_are_cut_for_training_and_whole_for_judging() -> None:
    data = prepare(small(max_length=3, technique="attention-vat", unlabeled="corpus"), task(40, unlabelled=20))
    assert data.unlabelled is not None
    assert (data.train.lengths.max(), data.unlabelled.lengths.max()) == (3, 3)
    assert data.validation.lengths.max() > 3
    assert data.test.lengths.max() > 3


def test_notes_tell_the_ratio() -> None:
    data = prepare(small(technique="attention-vat", unlabeled="corpus"), task(40, unlabelled=30))
    assert any("30 unlabelled texts (N_u/N_l = 0.75)" in note for note in data.notes)
    assert any(note.startswith("40 labelled texts") for note in data.notes)


def test_epochs_are_judged_by_the_metric_asked_for() -> None:
    corpus = task(40)
    assert prepare(small(), corpus).metric == corpus.metric == "accuracy"
    assert prepare(small(metric="f1"), corpus).metric == "f1"
    three = replace(corpus, labels=(*corpus.labels, "other"))
    assert prepare(small(metric="micro-f1"), three).metric == "micro-f1"
    with pytest.raises(UserError, match="has 3; use micro-f1"):
        prepare(small(metric="f1"), three)


def test_options_of_power_iterations_are_told_to_have_no_effect_with_two_classes() -> None:
    def told(**options: Any) -> list[str]:
        config = small(**{"technique": "word-vat", **options})
        return [note for note in prepare(config, task(40)).notes if "effect" in note]

    assert told() == told(xi=0.1, iterations=1) == []
    assert told(xi=1e-6) == ["xi without effect: with two classes VAT takes the gradient of the logit"]
    assert told(xi=1.0, iterations=3)[0].startswith("xi and iterations without effect")
    # This reading turns the direction round in each iteration.
    assert told(technique="attention-ivat", reading="released", iterations=2) == []


def test_unlabelled_texts_of_a_file_a_pool_and_a_selection(tmp_path: Path) -> None:
    corpus = task(40)
    texts = [str(e.text) for e in sentences(50, seed=9)]
    (tmp_path / "more.txt").write_text("\n".join(texts), "utf-8")
    pool = build_pool([texts_source("made", texts)], tmp_path / "pool")
    chosen = select(pool, [str(e.text) for e in corpus.train], "random", 12, seed=1)
    chosen.save(pool.path / "selections" / "few.arrow")

    def read(spec: str, **options: Any) -> list[str]:
        data = prepare(small(technique="attention-vat", unlabeled=str(tmp_path / spec), **options), corpus)
        assert data.unlabelled is not None
        words = data.bundle.vocabulary.words
        return [" ".join(words[i] for i in data.unlabelled.texts[row]) for row in range(len(data.unlabelled))]

    known = set(prepare(small(), corpus).bundle.vocabulary.words)
    as_read = [" ".join(word if word in known else "<unk>" for word in text.split()) for text in texts]
    assert read("more.txt") == as_read
    assert Counter(read("pool")) == Counter(as_read)
    assert len(read("pool:few")) == 12
    assert read("pool:few") == read("pool:few")
    assert not Counter(read("pool:few")) - Counter(as_read)
    for spec in ("more.txt", "pool"):
        few = read(spec, unlabeled_size=5)
        assert len(few) == 5
        assert few == read(spec, unlabeled_size=5)
        assert few != read(spec, unlabeled_size=5, seed=8)
    with pytest.raises(UserError, match="51"):
        read("more.txt", unlabeled_size=51)
    with pytest.raises(UserError, match="did you mean 'few'"):
        read("pool:fev")
    with pytest.raises(UserError, match=r"nothing\.txt"):
        read("nothing.txt")
    (tmp_path / "empty.txt").write_text("\n\n")
    with pytest.raises(UserError, match=r"empty\.txt: no texts"):
        read("empty.txt")


def test_unlabelled_texts_a_corpus_does_not_have_are_refused() -> None:
    with pytest.raises(UserError, match="generated has no unlabelled texts of its own"):
        prepare(small(technique="word-vat", unlabeled="corpus"), task(40))


def test_pairs_are_read_with_both_texts(tmp_path: Path) -> None:
    corpus = task(40, unlabelled=20, pair=True)
    config = small(technique="attention-vat", unlabeled="corpus")
    data = prepare(config, corpus)
    assert data.bundle.model.config.pair
    for part in (data.train, data.validation, data.test, data.unlabelled):
        assert part is not None
        assert part.questions is not None
    other = replace(corpus, train=[replace(corpus.train[0], pair=corpus.train[1].pair), *corpus.train[1:]])
    assert prepare(config, other).hashes["train"] != data.hashes["train"]
    (tmp_path / "single.txt").write_text("good\nbad\n")
    single = replace(config, unlabeled=str(tmp_path / "single.txt"))
    for attempt in (lambda: prepare(single, corpus), lambda: prepare(config, corpus, [Example("good")])):
        with pytest.raises(UserError, match="holds single texts, but generated is a task on pairs"):
            attempt()


def test_pools_of_pairs(tmp_path: Path) -> None:
    corpus = task(40, unlabelled=20, pair=True)
    pairs = [Example(e.text, e.pair) for e in corpus.unlabelled]
    source = Source("pairs", lambda: iter(pairs), "1")
    single = texts_source("single", [str(e.text) for e in sentences(20, seed=3)])
    build_pool([source], tmp_path / "pairs")
    build_pool([source, single], tmp_path / "mixed")
    build_pool([single], tmp_path / "single")
    config = small(technique="attention-vat", unlabeled=str(tmp_path / "pairs"))
    data = prepare(config, corpus)
    assert data.unlabelled is not None
    assert data.unlabelled.questions is not None
    assert len(data.unlabelled) == len(data.unlabelled.questions) == 20
    for name in ("mixed", "single"):
        with pytest.raises(UserError, match=f"{name}: holds single texts"):
            prepare(replace(config, unlabeled=str(tmp_path / name)), corpus)
        learnt = prepare(small(vectors=f"learn:{tmp_path / name}"), corpus)
        assert any("skip-gram" in note for note in learnt.notes)


def test_empty_splits_are_refused() -> None:
    for part in ("train", "validation"):
        with pytest.raises(UserError, match="generated: training needs a training and a validation split"):
            prepare(small(), replace(task(40), **{part: []}))


def test_the_model_depends_on_the_seed_alone() -> None:
    def weights(seed: int) -> torch.Tensor:
        torch.rand(seed + 1)
        return torch.cat([p.detach().flatten() for p in prepare(small(seed=seed), task(40)).bundle.model.parameters()])

    assert weights(0).equal(weights(0))
    assert not weights(0).equal(weights(1))


def test_phrases_are_of_the_texts_that_are_trained_on() -> None:
    corpus = task(40, unlabelled=20)
    corpus.unlabelled += [Example("good fine great")] * 5
    corpus.validation += [Example("awful poor", label="neg")] * 9
    config = small(technique="attention-vat", unlabeled="corpus", phrases=1000)
    data = prepare(config, corpus)
    known, words = data.bundle.model.phrases, data.bundle.vocabulary
    assert known is not None

    def key(first: str, second: str) -> int:
        return words.id(first) * len(words) + words.id(second)

    assert key("good", "fine") in known.keys.tolist()
    assert key("awful", "poor") not in known.keys.tolist()
    assert any("pairs of words have vectors of their own" in note for note in data.notes)
    other = prepare(replace(config, phrases=1), corpus)
    assert other.bundle.model.config.phrases == 1
    assert {part for part in data.hashes if data.hashes[part] != other.hashes[part]} == {"phrases"}


def test_phrases_where_there_are_none_are_refused() -> None:
    corpus = replace(task(40), train=[Example("good", label="pos"), Example("bad", label="neg")])
    with pytest.raises(UserError, match="no two words stand in a row 5 times"):
        prepare(small(phrases=10), corpus)
    with pytest.raises(UserError, match="phrases is -1; it must be 0 or more"):
        small(phrases=-1)
