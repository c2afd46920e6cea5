"""The official archives themselves, where they are at hand: the sizes every user can check."""

from __future__ import annotations

from pathlib import Path

import pytest

from attnvat.corpora import Corpus, evaluation_texts, load_corpus, unlabelled_examples
from attnvat.corpora.table1 import TABLE1

pytestmark = pytest.mark.real_data


def sizes(corpus: Corpus) -> tuple[int, int, int]:
    return len(corpus.train), len(corpus.validation), len(corpus.test)


def test_sst(real_data: Path) -> None:
    corpus = load_corpus("sst", data_dir=real_data)
    assert sizes(corpus) == (6_920, 872, 1_821)
    assert corpus.notes[-1] == "sizes are those of the paper's Table 1"
    words = {word for example in corpus.train for word in example.text}
    assert "(" in words
    assert not {word for word in words if word.startswith("-LRB") or "\\" in word}


def test_imdb(real_data: Path) -> None:
    corpus = load_corpus("imdb", data_dir=real_data)
    for found, paper in zip(sizes(corpus), (17_186, 4_294, 4_353), strict=True):
        assert abs(found - paper) <= 0.01 * paper
    assert (len(corpus.extra["test-full"]), len(corpus.unlabelled)) == (25_000, 50_000)
    assert abs(len(corpus.extra["test-short"]) - 5 * len(corpus.test)) < 5
    whole = load_corpus("imdb", data_dir=real_data, reduced=False)
    assert sizes(whole) == (20_000, 5_000, 25_000)
    films = load_corpus("imdb-films", data_dir=real_data)
    assert films.test == corpus.test
    assert 0.19 < len(films.validation) / len(films.train + films.validation) < 0.21
    assert 0.48 < sum(e.label == "positive" for e in films.validation) / len(films.validation) < 0.52
    # The official release repeats 266 of its test reviews among the unlabelled ones.
    test_reviews = {e.text for e in corpus.extra["test-full"]}
    assert len(test_reviews & {e.text for e in corpus.unlabelled}) == 266
    assert test_reviews <= set(evaluation_texts(corpus))


def test_eraser_movies(real_data: Path) -> None:
    corpus = load_corpus("eraser-movies", data_dir=real_data)
    assert sizes(corpus) == (1_600, 200, 199)
    assert sum(not example.rationale for example in corpus.train) == 1
    marked = total = 0
    for example in corpus.test:
        ends = [0]
        for start, end in example.rationale or ():
            assert ends[-1] <= start < end <= len(example.text)
            ends.append(end)
            marked += end - start
        total += len(example.text)
    assert 0.30 < marked / total < 0.32


def test_snli(real_data: Path) -> None:
    corpus = load_corpus("snli", data_dir=real_data)
    assert (len(corpus.validation), len(corpus.test)) == (9_842, 9_824)
    if len(corpus.train) == TABLE1["snli"].train:
        assert corpus.notes[-1] == "sizes are those of the paper's Table 1"
    else:
        assert "of 550,152" in corpus.notes[-1]
        assert (len(corpus.train), len(corpus.unlabelled)) == (9_999, 10_000)


def test_the_parts_of_multinli_agnews_and_one_billion_word(real_data: Path) -> None:
    multinli = load_corpus("multinli", data_dir=real_data)
    assert len(multinli.train + multinli.unlabelled + multinli.validation) == 20_000
    assert len(multinli.extra["test-matched"]) == len(multinli.test) == 5_000
    assert max(len(str(e.pair).split()) for e in multinli.train + multinli.test) <= 500
    agnews = load_corpus("agnews4", data_dir=real_data)
    assert len(agnews.train) + len(agnews.validation) == 22_254
    assert len(agnews.test) == 7_600
    assert len(load_corpus("agnews", data_dir=real_data).test) == 3_800
    assert sum(1 for _ in unlabelled_examples("1bw", data_dir=real_data)) == 24_321
    for corpus in (multinli, agnews):
        assert any("only a part" in note for note in corpus.notes)


def test_news_sentences(real_data: Path) -> None:
    sources = [example.genre for example in unlabelled_examples("news", data_dir=real_data)]
    assert len(sources) == 287_936
    assert set(sources) == {"1bw", "reuters21578", "newsarticles2017", "abc", "brown"}
