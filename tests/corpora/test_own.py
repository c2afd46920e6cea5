"""People's own files: every format, and every way in which they are unsound."""

from __future__ import annotations

import gzip
import json
import lzma
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from attnvat.corpora import Corpus, load, load_own, read_unlabelled
from attnvat.corpora.words import Words
from attnvat.errors import UserError

ROWS = [(f"the {('dull', 'fine')[n % 2]} film, number {n}", ("neg", "pos")[n % 2]) for n in range(40)]
QUICK = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def csv_of(rows: list[tuple[str, str]], header: str = "text,label") -> str:
    quoted = ['"{}",{}'.format(text.replace('"', '""'), label) for text, label in rows]
    return "\n".join([header, *quoted]) + "\n"


def write(path: Path, content: str | bytes) -> str:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return str(path)


def all_texts(corpus: Corpus) -> set[object]:
    return {example.text for example in corpus.train + corpus.validation + corpus.test}


FORMATS = {
    "d.csv": csv_of(ROWS).encode(),
    "d.CSV": csv_of(ROWS).encode(),
    "bom.csv": b"\xef\xbb\xbf" + csv_of(ROWS).encode(),
    "semicolon.csv": "".join(f"{t};{lab}\r\n" for t, lab in [("text", "label"), *ROWS]).encode(),
    "d.csv.gz": gzip.compress(csv_of(ROWS).encode()),
    "d.tsv.xz": lzma.compress("".join(f"{t}\t{lab}\n" for t, lab in [("text", "label"), *ROWS]).encode()),
    "headless.tsv": "".join(f"{lab}\t{t}\n" for t, lab in ROWS).encode(),
    "other-names.csv": csv_of(ROWS, "Review,Sentiment").encode(),
    "no-known-name.csv": csv_of(ROWS, "aaa,bbb").encode(),
    "d.jsonl": "".join(json.dumps({"label": lab, "text": t, "n": 1}) + "\n\n" for t, lab in ROWS).encode(),
}


@pytest.mark.parametrize("name", FORMATS)
def test_every_text_format_reads_the_same_rows(name: str, tmp_path: Path) -> None:
    corpus = load_own(write(tmp_path / name, FORMATS[name]))
    assert corpus.labels == ("neg", "pos")
    assert all_texts(corpus) == {text for text, _ in ROWS}
    assert {e.text: e.label for e in corpus.train}.items() <= dict(ROWS).items()
    assert (len(corpus.train), len(corpus.validation), len(corpus.test)) == (32, 4, 4)
    assert sum(e.label == "pos" for e in corpus.test) == 2
    assert corpus.notes[0].startswith("columns: text ")
    assert [len(digest) for digest in corpus.files.values()] == [64]


def test_a_byte_order_mark_is_no_part_of_the_first_columns_name(tmp_path: Path) -> None:
    assert load_own(write(tmp_path / "d.csv", FORMATS["bom.csv"]), text="text").notes[0] == (
        "columns: text 'text', label 'label'"
    )


def test_parquet_with_integer_labels_and_word_lists(tmp_path: Path) -> None:
    rows = {"tokens": [text.split() for text, _ in ROWS], "label": [float(n % 3) for n in range(40)]}
    pq.write_table(pa.table(rows), tmp_path / "d.parquet")
    corpus = load_own(str(tmp_path / "d.parquet"), text="tokens")
    assert corpus.labels == ("0", "1", "2")
    assert isinstance(corpus.train[0].text, Words)
    assert corpus.metric == "micro-f1"


def test_ten_comes_after_two_among_number_labels(tmp_path: Path) -> None:
    rows = [(f"text {n}", str(n % 11)) for n in range(110)]
    assert load_own(write(tmp_path / "d.csv", csv_of(rows))).labels == tuple(map(str, range(11)))


def test_class_folders(tmp_path: Path) -> None:
    for number, (text, label) in enumerate(ROWS):
        (tmp_path / "d" / label).mkdir(parents=True, exist_ok=True)
        (tmp_path / "d" / label / f"{number}.txt").write_text(text)
    assert all_texts(load_own(str(tmp_path / "d"))) == {text for text, _ in ROWS}
    (tmp_path / "d" / "pos" / "bad.txt").write_bytes(b"caf\xe9")
    with pytest.raises(UserError, match=r"bad\.txt: not UTF-8"):
        load_own(str(tmp_path / "d"))
    assert {str(e.text) for e in read_unlabelled(str(tmp_path / "d"), skip_bad=True)} == {t for t, _ in ROWS}


def test_a_folder_with_split_folders_or_files(tmp_path: Path) -> None:
    for split, rows in (("train", ROWS[:30]), ("dev", ROWS[30:34]), ("test", ROWS[34:])):
        write(tmp_path / f"{split}.csv", csv_of(rows))
        for number, (text, label) in enumerate(rows):
            (tmp_path / "folders" / split / label).mkdir(parents=True, exist_ok=True)
            (tmp_path / "folders" / split / label / f"{number}.txt").write_text(text)
    for root in (tmp_path / "folders", tmp_path):
        corpus = load_own(str(root))
        assert (len(corpus.train), len(corpus.validation), len(corpus.test)) == (30, 4, 6)


def test_pairs_are_guessed_from_known_names(tmp_path: Path) -> None:
    rows = [{"premise": f"p {n}", "hypothesis": f"h {n}", "gold_label": "abc"[n % 3]} for n in range(30)]
    corpus = load_own(write(tmp_path / "d.jsonl", "".join(json.dumps(row) + "\n" for row in rows)))
    assert corpus.pair
    assert str(corpus.train[0].text).startswith("h ")
    assert str(corpus.train[0].pair).startswith("p ")


def test_named_columns_are_used_and_a_wrong_one_gets_the_nearest(tmp_path: Path) -> None:
    path = write(tmp_path / "d.csv", "text,label,other\n" + "".join(f"a {n},x,{'yn'[n % 2]}\n" for n in range(30)))
    assert load_own(path, label="other").labels == ("n", "y")
    with pytest.raises(UserError, match=r"no column 'lable' \(--label\); did you mean 'label'"):
        load_own(path, label="lable")


def test_the_split_is_the_same_for_a_seed_and_keeps_equal_texts_together(tmp_path: Path) -> None:
    path = write(tmp_path / "d.csv", csv_of(ROWS * 2))
    first = load_own(path, seed=3)
    assert load_own(path, seed=3) == first
    assert load_own(path, seed=4).test != first.test
    train, validation, test = ({e.text for e in split} for split in (first.train, first.validation, first.test))
    assert train.isdisjoint(validation | test)
    assert validation.isdisjoint(test)


def test_tsv_takes_a_lone_quotation_mark_as_text(tmp_path: Path) -> None:
    rows = [("text", "label"), ('"so he said', "pos"), ('"a ""quoted"" text"', "neg"), *ROWS]
    corpus = load_own(write(tmp_path / "d.tsv", "".join(f"{t}\t{lab}\n" for t, lab in rows)))
    assert {'"so he said', 'a "quoted" text'} <= all_texts(corpus)


GOOD = csv_of(ROWS)
AFTER = GOOD.count("\n") + 1
BAD_ROWS = [
    (",pos\n", f"line {AFTER}: no text"),
    ("  ,pos\n", f"line {AFTER}: no text"),
    ("a text,\n", f"line {AFTER}: no label"),
    ("a,b,c\n", f"line {AFTER}: ragged .3 fields where the first row has 2"),
    ("alone\n", f"line {AFTER}: ragged"),
    ('"over\ntwo lines",pos\n"also\n\nmore",\n', f"line {AFTER + 2}: no label"),
    ('fine,pos\n"never closed,pos\nmore,neg\n', f"line {AFTER + 1}: ragged .*not closed"),
    ('"closed"twice,pos\nlast one,\n', f"line {AFTER}: ragged(.|\n)*line {AFTER + 1}: no label"),
]


@pytest.mark.parametrize(("rows", "message"), BAD_ROWS)
def test_bad_csv_rows_are_named_by_line_and_can_be_skipped(rows: str, message: str, tmp_path: Path) -> None:
    path = write(tmp_path / "d.csv", GOOD + rows)
    with pytest.raises(UserError, match=message) as caught:
        load_own(path)
    assert str(caught.value).count(path) == int(str(caught.value).split()[0])
    assert "--skip-bad" in str(caught.value)
    corpus = load_own(path, skip_bad=True)
    assert {text for text, _ in ROWS} <= all_texts(corpus)
    assert "left out" in corpus.notes[1]


def test_undecodable_bytes_are_named_by_line(tmp_path: Path) -> None:
    path = write(tmp_path / "d.csv", GOOD.encode() + b"caf\xe9,pos\nfine,pos\n")
    with pytest.raises(UserError, match=f"line {AFTER}: not UTF-8"):
        load_own(path)
    assert "fine" in all_texts(load_own(path, skip_bad=True))
    utf16 = write(tmp_path / "u.csv", GOOD.encode("utf-16"))
    with pytest.raises(UserError, match="UTF-16; save it as UTF-8"):
        load_own(utf16)


def test_only_the_first_bad_rows_are_listed_with_a_count(tmp_path: Path) -> None:
    path = write(tmp_path / "d.csv", GOOD + ",pos\n" * 12)
    with pytest.raises(UserError) as caught:
        load_own(path)
    assert str(caught.value).startswith("12 bad rows:")
    assert "and 7 more (12 no text)" in str(caught.value)


def test_bad_json_lines(tmp_path: Path) -> None:
    good = "".join(json.dumps({"text": t, "label": lab}) + "\n" for t, lab in ROWS)
    bad = b'{"text": "x"\n[1]\n{"text": null, "label": "pos"}\n{"label": "pos"}\n{"text": "caf\xe9", "label": "pos"}\n'
    path = write(tmp_path / "d.jsonl", good.encode() + bad)
    with pytest.raises(UserError) as caught:
        load_own(path)
    for line, what in (
        (41, "not JSON"),
        (42, "not a JSON object"),
        (43, "no text"),
        (44, "no text"),
        (45, "not UTF-8"),
    ):
        assert f"line {line}: {what}" in str(caught.value)


def test_unknown_labels_and_shared_texts(tmp_path: Path) -> None:
    train = write(tmp_path / "train.csv", GOOD)
    validation = write(tmp_path / "dev.csv", csv_of([("new", "pos"), ("newer", "poss"), ROWS[5], ROWS[6]]))
    test = write(tmp_path / "test.csv", csv_of([("newest", "neg"), ROWS[6]]))
    with pytest.raises(UserError) as caught:
        load_own(train, validation=validation, test=test)
    message = str(caught.value)
    assert f"{validation}: line 3: unknown label ('poss'; did you mean 'pos'?)" in message
    assert f"{train}: line 7: duplicate across splits (also in validation: line 4)" in message
    assert f"{train}: line 8: duplicate across splits (also in test: line 3)" in message
    assert f"{validation}: line 5: duplicate across splits (also in test: line 3)" in message
    corpus = load_own(train, validation=validation, test=test, skip_bad=True)
    assert [e.text for e in corpus.validation] == ["new", ROWS[5][0]]
    assert [e.text for e in corpus.test] == ["newest", ROWS[6][0]]
    assert not {e.text for e in corpus.train} & {ROWS[5][0], ROWS[6][0]}


HOPELESS = [
    ("d.csv", "", "empty file"),
    ("d.csv", "\n\n", "no row"),
    ("d.csv", "text,label\n", "a header but no rows"),
    ("d.csv", "text,text\na,b\n", "same name"),
    ("d.csv", csv_of([(t, "pos") for t, _ in ROWS]), "all rows have the label 'pos'"),
    ("d.csv", "text,label\na,x\nb,y\n", "too few examples to split"),
    ("d.jsonl", "", "empty file"),
    ("d.jsonl", "no json\n", "JSON object"),
    ("d.parquet", "PAR1 no", "not a Parquet file"),
    ("d.docx", "x", "cannot tell its format"),
    ("d.csv.gz", "no gzip", "damaged or truncated"),
    ("d.csv.zip", "no zip", "damaged or truncated"),
]


@pytest.mark.parametrize(("name", "content", "message"), HOPELESS)
@pytest.mark.parametrize("skip_bad", [False, True])
def test_hopeless_files_are_named(name: str, content: str, message: str, skip_bad: bool, tmp_path: Path) -> None:
    path = write(tmp_path / name, content)
    with pytest.raises(UserError, match=message) as caught:
        load_own(path, skip_bad=skip_bad)
    assert name in str(caught.value)


def test_plain_text_is_one_text_a_line(tmp_path: Path) -> None:
    path = write(tmp_path / "d.txt.gz", gzip.compress(b"\xef\xbb\xbfone text\n\n  another\r\ncaf\xe9\nlast"))
    stream = read_unlabelled(path)
    assert [next(stream).text, next(stream).text] == ["one text", "another"]
    with pytest.raises(UserError, match="line 4: not UTF-8"):
        next(stream)
    assert [e.text for e in read_unlabelled(path, skip_bad=True)] == ["one text", "another", "last"]


@pytest.mark.parametrize("name", ["d.csv", "d.jsonl", "d.tsv.xz"])
def test_unlabelled_reads_the_text_column_of_a_table(name: str, tmp_path: Path) -> None:
    texts = [e.text for e in read_unlabelled(write(tmp_path / name, FORMATS[name]))]
    assert texts == [text for text, _ in ROWS]


def test_load_tells_names_files_and_nonsense_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "d.csv", GOOD)
    assert load("d.csv").name == "d.csv"
    with pytest.raises(UserError, match="no corpus of that name; did you mean 'sst'"):
        load("ssst")
    with pytest.raises(UserError, match="--text is for your own files"):
        load("sst", text="x")
    with pytest.raises(UserError, match="'halves' is for the official corpora"):
        load("d.csv", halves=True)


def test_hugging_face_datasets_from_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    datasets = pytest.importorskip("datasets")
    features = datasets.Features({"text": datasets.Value("string"), "label": datasets.ClassLabel(names=["neg", "pos"])})
    rows = {"text": [text for text, _ in ROWS], "label": [n % 2 for n in range(40)]}
    saved = datasets.DatasetDict(
        train=datasets.Dataset.from_dict(rows, features=features).select(range(36)),
        test=datasets.Dataset.from_dict(rows, features=features).select(range(36, 40)),
        unsupervised=datasets.Dataset.from_dict({"text": ["more"], "label": [-1]}, features=features),
    )
    saved.save_to_disk(tmp_path / "saved")
    corpus = load(f"hf:{tmp_path / 'saved'}")
    assert (corpus.labels, len(corpus.test)) == (("neg", "pos"), 4)
    assert [e.text for e in corpus.unlabelled] == ["more"]
    path = write(tmp_path / "d.csv", GOOD)
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "hf")
    assert all_texts(load(f"hf:{path}")) == {text for text, _ in ROWS}
    with pytest.raises(UserError, match="no such file or folder"):
        load("hf:./nothing")


@QUICK
@given(content=st.one_of(st.binary(max_size=300), st.text('a,;\t"\n\r{}[]:1\x00é', max_size=200).map(str.encode)))
@pytest.mark.parametrize("name", ["d.csv", "d.tsv", "d.jsonl", "d.parquet", "d.txt", "d.csv.gz", "d.jsonl.zip"])
def test_any_bytes_are_read_or_refused(name: str, content: bytes, tmp_path: Path) -> None:
    path = write(tmp_path / name, content)
    for skip_bad in (False, True):
        try:
            assert load_own(path, skip_bad=skip_bad).train
        except UserError as error:
            assert name in str(error)  # noqa: PT017  either outcome is right, another exception is not
        try:
            assert all(example.text for example in read_unlabelled(path, skip_bad=skip_bad))
        except UserError as error:
            assert name in str(error)  # noqa: PT017


@QUICK
@given(rows=st.lists(st.tuples(st.text(min_size=1), st.sampled_from("xy")), min_size=30, max_size=40))
def test_any_text_survives_csv(rows: list[tuple[str, str]], tmp_path: Path) -> None:
    wanted = {text.strip() for text, _ in rows if text.strip()}
    content = csv_of([*rows, ("first x", "x"), ("first y", "y")]).encode("utf-8", "surrogatepass")
    try:
        corpus = load_own(write(tmp_path / "d.csv", content), skip_bad=True)
    except UserError as error:
        assert "too few" in str(error)  # noqa: PT017
        return
    sound = {text for text in wanted if not any("\ud800" <= c <= "\udfff" for c in text)}
    assert sound <= all_texts(corpus)
