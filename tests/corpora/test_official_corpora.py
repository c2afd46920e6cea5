"""Every corpus from small archives in its official layout."""

from __future__ import annotations

from pathlib import Path

import pytest
from corpus_layouts import KINDS, LAYOUTS, lines, movie, pack, pairs, question

from attnvat.corpora import CORPORA, Corpus, Example, evaluation_texts, load_corpus, plain, unlabelled_examples
from attnvat.corpora.table1 import TABLE1
from attnvat.corpora.words import Words
from attnvat.errors import UserError


def load(name: str, folder: Path, kind: str = ".tar.gz", **options: object) -> Corpus:
    stem, files = LAYOUTS[name]
    pack(folder, f"{stem}{kind}", files())
    return load_corpus(name, data_dir=folder, **options)


def test_every_corpus_has_a_layout_here() -> None:
    assert set(LAYOUTS) | {"news"} == set(CORPORA)
    assert set(TABLE1) <= set(CORPORA)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", LAYOUTS)
def test_every_corpus_reads_alike_from_every_kind_of_archive(name: str, kind: str, tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    read, again = load(name, tmp_path / "a", kind), load(name, tmp_path / "b")
    assert read.splits() == again.splits()
    assert (read.labels, read.metric, read.notes) == (again.labels, again.metric, again.notes)
    assert all(len(digest) == 64 for digest in read.files.values())
    assert {example.label for example in read.train} <= set(read.labels)


def test_sst_drops_neutral_and_undoes_the_treebank_escapes(tmp_path: Path) -> None:
    corpus = load("sst", tmp_path, ".zip")
    assert [(list(e.text), e.label) for e in corpus.train] == [
        (["(", "A", "fine", "and/or"], "positive"),
        (["dull", '"'], "negative"),
        ([")", "superb"], "positive"),
        (["*", "awful"], "negative"),
    ]
    assert "1 neutral sentences" in corpus.notes[0]
    assert corpus.labels == ("negative", "positive")


def test_imdb_leaves_out_400_words_and_keeps_the_whole_test(tmp_path: Path) -> None:
    corpus = load("imdb", tmp_path)
    # 18 short reviews of 20: a fifth, rounded up, is 4.
    assert (len(corpus.train), len(corpus.validation), len(corpus.test)) == (14, 4, 4)
    short = {example.id for example in corpus.train + corpus.validation}
    assert short == {f"train/{kind}/{n}_7" for kind in ("pos", "neg") for n in range(9)}
    assert len(corpus.extra["test-full"]) == 20
    assert {e.id for e in corpus.test} < {e.id for e in corpus.extra["test-short"]}
    assert {e.id for e in corpus.extra["test-short"]} < {e.id for e in corpus.extra["test-full"]}
    assert [plain(e.text) for e in corpus.unlabelled] == [f"unlabelled {n}" for n in range(3)]
    assert sum(e.label == "positive" for e in corpus.validation) == 2
    whole = load_corpus("imdb", data_dir=tmp_path, reduced=False)
    assert (len(whole.train), len(whole.validation), len(whole.test)) == (16, 4, 20)


def test_imdb_by_film_sets_stretches_of_numbers_aside_and_leaves_test_as_it_is(tmp_path: Path) -> None:
    corpus = load("imdb-films", tmp_path)
    aside = {"pos/10000", "pos/12499", "neg/3100", "neg/3969", "neg/10870", "neg/12499"}
    assert {e.id for e in corpus.validation} == {f"train/{name}_7" for name in aside}
    assert {"train/pos/9999_7", "train/neg/3099_7", "train/neg/3970_7", "train/neg/10869_7"} < {
        e.id for e in corpus.train
    }
    assert not {e.id for e in corpus.train} & {e.id for e in corpus.validation}
    assert "not as in the paper" in corpus.notes[1]
    at_random = load_corpus("imdb", data_dir=tmp_path)
    assert (corpus.test, corpus.extra) == (at_random.test, at_random.extra)
    assert len(corpus.train + corpus.validation) == len(at_random.train + at_random.validation)


def test_the_split_depends_on_the_seed_alone(tmp_path: Path) -> None:
    first = load("imdb", tmp_path)
    assert load_corpus("imdb", data_dir=tmp_path).validation == first.validation
    assert load_corpus("imdb", data_dir=tmp_path, seed=1).validation != first.validation


def test_agnews_joins_title_and_description(tmp_path: Path) -> None:
    corpus = load("agnews", tmp_path)
    assert corpus.labels == ("World", "Business")
    assert (len(corpus.train), len(corpus.validation), len(corpus.test)) == (34, 6, 4)
    texts = {example.id: example.text for example in corpus.train + corpus.validation + corpus.test}
    assert texts["train.csv:1"] == 'Title 0 He said "so" line break 0'
    assert texts["test.csv:1"] == "Test 0"
    assert len(load("agnews4", tmp_path).train) == 68
    assert any("80 of 120,000" in note for note in corpus.notes)


def test_snli_attends_to_the_hypothesis_and_halves_train(tmp_path: Path) -> None:
    corpus = load("snli", tmp_path, ".zip")
    assert corpus.pair
    assert corpus.validation[0] == Example("dev hypothesis 0", "dev premise 0", "entailment", id="snli_1.0_dev.jsonl:1")
    assert (len(corpus.train), len(corpus.unlabelled)) == (16, 17)
    assert all(example.label is None for example in corpus.unlabelled)
    assert len({e.id for e in corpus.train + corpus.unlabelled}) == 33
    assert (len(corpus.validation), len(corpus.test)) == (6, 9)
    assert "train 11, validation 2, test 3" in corpus.notes[0]
    assert len(load_corpus("snli", data_dir=tmp_path, halves=False).train) == 33


def test_multinli_takes_validation_from_train_and_joins_the_development_sets(tmp_path: Path) -> None:
    corpus = load("multinli", tmp_path, ".zip")
    assert [len(x) for x in (corpus.train, corpus.unlabelled, corpus.validation, corpus.test)] == [24, 24, 12, 15]
    assert {name: len(pairs) for name, pairs in corpus.extra.items()} == {"test-matched": 6, "test-mismatched": 9}
    assert {e.genre for e in corpus.extra["test-mismatched"]} == {"letters"}
    single = load_corpus("multinli", data_dir=tmp_path, single=True)
    assert not single.pair
    assert single.extra["test-matched"][0].text == "matched premise 0 matched hypothesis 0"


def test_nli_records_run_together_are_cut(tmp_path: Path) -> None:
    files = LAYOUTS["multinli"][1]()
    row = {"gold_label": "neutral", "sentence1": "w " * 2_000, "sentence2": "short", "genre": "fiction"}
    files["multinli_1.0/multinli_1.0_dev_matched.jsonl"] += lines([row])
    pack(tmp_path, "multinli_1.0.zip", files)
    corpus = load_corpus("multinli", data_dir=tmp_path)
    assert len(plain(corpus.extra["test-matched"][-1].pair or "").split()) == 500
    assert any("run together" in note for note in corpus.notes)


def test_eraser_spans_are_the_union_of_the_evidence(tmp_path: Path) -> None:
    corpus = load("eraser-movies", tmp_path)
    review = corpus.train[0]
    assert review.rationale == ((1, 3), (3, 4))
    assert [review.text[a:b] for a, b in review.rationale] == [["fine", "film"], ["very"]]
    assert review.label == "positive"
    assert "without any evidence: 1" in corpus.notes[0]


def test_eraser_evidence_beside_its_words_is_an_error(tmp_path: Path) -> None:
    files = LAYOUTS["eraser-movies"][1]()
    files["movies/val.jsonl"] = lines([movie("n1.txt", "NEG", [(1, 2, "dull")])])
    pack(tmp_path, "movies.tar", files)
    with pytest.raises(UserError, match=r"val\.jsonl: line 1: evidence 'dull' is not at tokens 1 to 2"):
        load_corpus("eraser-movies", data_dir=tmp_path)


def test_cnn_classes_are_the_paragraphs_entities(tmp_path: Path) -> None:
    corpus = load("cnn", tmp_path, ".tgz")
    assert corpus.labels == ("@entity0", "@entity2", "@entity3", "@entity4", "@entity10")
    example = corpus.train[0]
    assert set(example.classes or ()) == {"@entity0", "@entity2", "@entity10"}
    assert example.label == "@entity2"
    assert list(example.text)[:2] == ["@entity10", "met"]
    assert "@placeholder" in list(example.pair or ())
    assert (len(corpus.train), len(corpus.unlabelled)) == (2, 3)
    assert corpus.unlabelled[0].classes == example.classes
    assert any("1 questions left out" in note for note in corpus.notes)


def test_one_billion_word_streams_all_shards(tmp_path: Path) -> None:
    corpus = load("1bw", tmp_path)
    assert [str(e.text) for e in corpus.unlabelled] == ["It 's .", "Next one .", "Café closed ."]
    assert list(unlabelled_examples("1bw", data_dir=tmp_path)) == corpus.unlabelled
    assert len(load_corpus("1bw", data_dir=tmp_path, limit=2).unlabelled) == 2


def test_news_sentences_have_their_source(tmp_path: Path) -> None:
    (tmp_path / "news_sentences.tsv").write_text("abc\tA sentence .\nreuters\tAnother .\n")
    assert [(e.text, e.genre) for e in unlabelled_examples("news", data_dir=tmp_path)] == [
        ("A sentence .", "abc"),
        ("Another .", "reuters"),
    ]
    (tmp_path / "news_sentences.tsv").write_text("abc\tA sentence .\nno tab\n")
    with pytest.raises(UserError, match=r"news_sentences\.tsv: line 2: expected"):
        load_corpus("news", data_dir=tmp_path)


@pytest.mark.parametrize("name", CORPORA)
def test_a_missing_corpus_names_the_file_and_where_it_looked(name: str, tmp_path: Path) -> None:
    with pytest.raises(UserError) as caught:
        load_corpus(name, data_dir=tmp_path)
    for part in (CORPORA[name].file, str(tmp_path), "--data-dir", "$ATTNVAT_DATA"):
        assert part in str(caught.value)


@pytest.mark.parametrize("name", LAYOUTS)
def test_an_archive_without_the_corpus_is_a_user_error(name: str, tmp_path: Path) -> None:
    pack(tmp_path, f"{LAYOUTS[name][0]}.tar", {"other/file": b"x"})
    with pytest.raises(UserError, match="take the official"):
        load_corpus(name, data_dir=tmp_path)


DAMAGE = [
    ("sst", "trees/dev.txt", b"(3 (2 good (2 film))\n", r"dev\.txt: line 1: not a tree"),
    ("sst", "trees/dev.txt", b"(3 (2 caf\xe9) (2 film))\n", "not UTF-8 at byte"),
    ("imdb", "aclImdb/train/pos/1_7.txt", b"caf\xe9", "1_7.txt: not UTF-8"),
    ("agnews", "ag_news_csv/test.csv", b'"1","a","b"\n"7","a","b"\n', r"test\.csv: line 2: not"),
    ("agnews", "ag_news_csv/test.csv", b'"1","a","b"\n"1","a","b\n', r"test\.csv: line \d"),
    ("snli", "snli_1.0/snli_1.0_dev.jsonl", pairs("dev", 1) + b"{\n", r"dev\.jsonl: line 2: not an object"),
    (
        "snli",
        "snli_1.0/snli_1.0_dev.jsonl",
        lines([{"gold_label": "maybe", "sentence1": "", "sentence2": ""}]),
        "maybe",
    ),
    ("eraser-movies", "movies/val.jsonl", b'{"a": 1}\n', r"val\.jsonl: line 1: not an ERASER annotation"),
    ("eraser-movies", "movies/val.jsonl", b"[[]]\n", r"val\.jsonl: line 1: not a JSON object"),
    ("cnn", "cnn/questions/test/x.question", b"http://a\n\nonly a paragraph", "not a question file"),
    ("cnn", "cnn/questions/test/x.question", question("@entity1 x", "q", "nobody"), "not a question file"),
]


@pytest.mark.parametrize(("name", "file", "content", "message"), DAMAGE)
def test_damage_is_named_with_file_and_line(name: str, file: str, content: bytes, message: str, tmp_path: Path) -> None:
    stem, files = LAYOUTS[name]
    pack(tmp_path, f"{stem}.zip", files() | {file: content})
    with pytest.raises(UserError, match=message):
        load_corpus(name, data_dir=tmp_path)


def test_unknown_names_and_options_get_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="did you mean 'imdb'"):
        load_corpus("imbd")
    with pytest.raises(UserError, match="did you mean 'halves'"):
        load_corpus("snli", data_dir=tmp_path, halfs=True)
    with pytest.raises(UserError, match="takes none"):
        load_corpus("sst", data_dir=tmp_path, halves=True)


def test_data_dir_may_be_the_corpus_itself(tmp_path: Path) -> None:
    stem, files = LAYOUTS["sst"]
    archive = pack(tmp_path, f"{stem}.zip", files())
    folder = pack(tmp_path, "folder", files())
    assert load_corpus("sst", data_dir=archive).train == load_corpus("sst", data_dir=folder).train


def test_evaluation_texts_are_all_that_is_judged(tmp_path: Path) -> None:
    corpus = load("imdb", tmp_path)
    judged = {example.text for example in corpus.validation + corpus.test + corpus.extra["test-full"]}
    assert set(evaluation_texts(corpus)) == judged
    assert "dev premise 0" in set(evaluation_texts(load("snli", tmp_path)))


def test_words_are_a_sequence() -> None:
    words = Words(["a", "b", "c"])
    assert (len(words), words[1], words[-2:], list(words), str(words)) == (3, "b", ["b", "c"], ["a", "b", "c"], "a b c")
    assert words == Words("a b c")
    assert hash(words) == hash(Words("a b c"))
    assert (len(Words("")), list(Words(""))) == (0, [])
