from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from attnvat.corpora.example import Example
from attnvat.errors import UserError
from attnvat.pool import BuildOptions, Pool, Source, build_pool, shards, staging, texts_source
from attnvat.pool.pool import MANIFEST, STAGING
from attnvat.storage import read_json

Make = Callable[..., list[str]]


def everything(pool: Pool) -> list[str]:
    return [text for _, texts in pool.blocks() for text in texts]


def test_what_enters_and_what_does_not_is_counted(tmp_path: Path) -> None:
    first = [
        "A fine film indeed .",
        "a fine film, indeed!",
        "Too short",
        "w " * 9,
        "... !!! ???",
        "Held out text one .",
    ]
    second = ["A different film altogether", "held-out TEXT: one", "A fine film indeed ."]
    pool = build_pool(
        [texts_source("first", first), texts_source("second", second)],
        tmp_path / "pool",
        exclude=["Held out text one."],
        excluded=["task"],
        options=BuildOptions(max_tokens=8),
    )
    assert everything(pool) == ["A fine film indeed .", "A different film altogether"]
    assert pool.sources([0, 1]) == ["first", "second"]
    assert pool.manifest["counts"] == {
        "records": 9,
        "in evaluation splits": 2,
        "texts": 7,
        "too short": 1,
        "too long": 1,
        "without words": 1,
        "duplicates": 2,
        "kept": 2,
    }
    assert not (tmp_path / "pool" / STAGING).exists()


@pytest.mark.parametrize(("duplicates", "kept"), [("near", 1), ("exact", 2), ("keep", 3)])
def test_kinds_of_duplicates(tmp_path: Path, duplicates: str, kept: int) -> None:
    source = texts_source("s", ["It rains again .", "It rains again .", "it rains AGAIN"])
    options = BuildOptions(duplicates=duplicates)  # type: ignore[arg-type]
    assert len(build_pool([source], tmp_path / "pool", options=options)) == kept


def test_evaluation_documents_and_their_sentences_stay_out_of_a_pool_of_sentences(tmp_path: Path) -> None:
    held = "The plot is thin. The acting is worse."
    reviews = [held, "I liked it a lot. The plot is thin. Mr. Fox is great fun.", "Nothing to add here. Nothing!"]
    pool = build_pool(
        [texts_source("reviews", reviews)], tmp_path / "pool", exclude=[held], options=BuildOptions(sentences=True)
    )
    assert everything(pool) == ["I liked it a lot.", "Mr. Fox is great fun.", "Nothing to add here."]
    counts = pool.manifest["counts"]
    assert (counts["in evaluation splits"], counts["sentences in evaluation splits"]) == (1, 1)


def test_pairs_keep_their_second_text(tmp_path: Path) -> None:
    examples = [
        Example("a man sleeps", "he is tired"),
        Example(["a", "man", "sleeps"], "he is awake"),
        Example("a man sleeps"),
    ]
    pool = build_pool([Source("pairs", lambda: iter(examples), "")], tmp_path / "pool")
    assert pool.texts([2, 0]) == ["a man sleeps", "a man sleeps"]
    assert pool.pairs([0, 1, 2]) == ["he is tired", "he is awake", None]


def test_the_texts_do_not_depend_on_the_size_of_shards(tmp_path: Path, make_sentences: Make) -> None:
    texts = make_sentences(700)
    pools = [
        build_pool([texts_source("s", texts)], tmp_path / str(rows), options=BuildOptions(shard_rows=rows))
        for rows in (64, 10_000)
    ]
    assert len(pools[0].shards) > 5
    assert everything(pools[0]) == everything(pools[1])
    unique = list(dict.fromkeys(texts))
    assert everything(pools[0]) == unique


class Stop(BaseException):
    """Stands for a kill: nothing in the package may catch it."""


def test_a_build_stopped_at_any_write_goes_on_to_the_same_pool(
    tmp_path: Path, make_sentences: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, options = texts_source("s", make_sentences(500)), BuildOptions(shard_rows=100)
    whole = build_pool([source], tmp_path / "whole", options=options)
    real, stops = staging.write_arrow, 0
    for stop in range(100):
        writes = 0

        def counted(file: Path, table: object, stop: int = stop) -> None:
            nonlocal writes
            if writes == stop:
                raise Stop
            writes += 1
            real(file, table)

        monkeypatch.setattr(staging, "write_arrow", counted)
        monkeypatch.setattr(shards, "write_arrow", counted)
        out = tmp_path / f"stopped-{stop}"
        try:
            build_pool([source], out, options=options)
        except Stop:
            stops += 1
            with pytest.raises(UserError, match="interrupted"):
                Pool.open(out)
        finally:
            monkeypatch.undo()
        assert build_pool([source], out, options=options).manifest == whole.manifest
        if writes < stop:
            break
    assert stops >= 10


SLOW_BUILD = """
import sys, time
from attnvat.corpora.example import Example
from attnvat.pool import BuildOptions, Source, build_pool
texts = open(sys.argv[1]).read().splitlines()
def read():
    for number, text in enumerate(texts):
        if number == 450: time.sleep(60)
        yield Example(text)
try:
    build_pool([Source("s", read, "stamp")], sys.argv[2], options=BuildOptions(shard_rows=100))
except KeyboardInterrupt:
    sys.exit(130)
"""


@pytest.mark.parametrize("kind", [signal.SIGINT, signal.SIGKILL])
def test_a_killed_process_leaves_a_build_that_can_go_on(tmp_path: Path, make_sentences: Make, kind: int) -> None:
    texts = list(dict.fromkeys(make_sentences(900)))[:600]
    (tmp_path / "texts").write_text("\n".join(texts))
    out = tmp_path / "pool"
    command = [sys.executable, "-c", SLOW_BUILD, str(tmp_path / "texts"), str(out)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
    try:
        until = time.monotonic() + 50
        while len(list(out.glob("staging/0*.arrow"))) < 4 and time.monotonic() < until:
            time.sleep(0.02)
        with pytest.raises(UserError, match="another build is writing here"):
            build_pool([Source("s", lambda: iter(()), "stamp")], out, options=BuildOptions(shard_rows=100))
        process.send_signal(kind)
        _, errors = process.communicate(timeout=20)
    finally:
        process.kill()
    if kind == signal.SIGINT:
        assert process.returncode == 130
        assert "400 records are kept; run the same command again" in errors
    reads = 0

    def read() -> Iterator[Example]:
        nonlocal reads
        for text in texts:
            reads += 1
            yield Example(text)

    resumed = build_pool([Source("s", read, "stamp")], out, options=BuildOptions(shard_rows=100))
    fresh = build_pool([Source("s", read, "stamp")], tmp_path / "fresh", options=BuildOptions(shard_rows=100))
    assert resumed.manifest == fresh.manifest
    assert not list(out.rglob("*.part"))


def test_a_source_that_changed_is_not_gone_on_with(
    tmp_path: Path, make_sentences: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts, options = make_sentences(500), BuildOptions(shard_rows=100)

    def interrupted() -> Iterator[Example]:
        yield from map(Example, texts[:300])
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build_pool([Source("s", interrupted, "same")], tmp_path / "pool", options=options)
    for other in (["changed", *texts[1:]], texts[:50]):
        source = Source("s", lambda other=other: map(Example, other), "same")  # type: ignore[misc]
        with pytest.raises(UserError, match="a source has changed"):
            build_pool([source], tmp_path / "pool", options=options)
    rebuilt = build_pool([source], tmp_path / "pool", options=options, overwrite=True)
    assert everything(rebuilt) == texts[:50]


def test_a_finished_pool_is_left_alone_and_another_is_refused(tmp_path: Path, make_sentences: Make) -> None:
    source = texts_source("s", make_sentences(50))
    pool = build_pool([source], tmp_path / "pool")
    before = (tmp_path / "pool" / MANIFEST).stat().st_mtime_ns
    assert build_pool([source], tmp_path / "pool").fingerprint == pool.fingerprint
    assert (tmp_path / "pool" / MANIFEST).stat().st_mtime_ns == before
    with pytest.raises(UserError, match="different: options"):
        build_pool([source], tmp_path / "pool", options=BuildOptions(min_tokens=5))
    with pytest.raises(UserError, match="different: sources"):
        build_pool([texts_source("s", ["one other text"])], tmp_path / "pool")
    with pytest.raises(UserError, match="different: exclude"):
        build_pool([source], tmp_path / "pool", exclude=["held out"])


def test_a_folder_with_other_files_is_not_touched(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(UserError, match=r"not empty \(it holds 'thesis.tex'\)"):
        build_pool([texts_source("s", ["some text here"])], tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ["thesis.tex"]


@pytest.mark.parametrize(
    ("options", "message"),
    [(BuildOptions(min_tokens=9, max_tokens=3), "--min-tokens"), (BuildOptions(min_tokens=400), "nothing is left")],
)
def test_a_pool_of_nothing_is_an_error(tmp_path: Path, options: BuildOptions, message: str) -> None:
    with pytest.raises(UserError, match=message):
        build_pool([texts_source("s", ["some text here"])], tmp_path / "pool", options=options)
    with pytest.raises(UserError, match="no source"):
        build_pool([], tmp_path / "pool")


def test_memory_is_that_of_one_shard_not_of_the_pool(tmp_path: Path) -> None:
    def read() -> Iterator[Example]:
        for number in range(4000):
            letters = "".join(chr(97 + int(digit)) for digit in f"{number:05d}")
            yield Example(f"{letters} " + f"{'padding' * 8} " * 85)

    options = BuildOptions(max_tokens=None, shard_rows=200)
    build_pool([texts_source("tables", ["made once for all"])], tmp_path / "small")
    tracemalloc.start()
    pool = build_pool([Source("long", read, "")], tmp_path / "pool", options=options)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(pool) == 4000
    total = sum(shard.bytes for shard in pool.shards)
    assert total > 19e6
    assert peak < total / 3  # a build that holds its texts needs more than the total


def test_the_manifest_says_what_is_in_each_file(pool: Pool) -> None:
    manifest = read_json(pool.path / MANIFEST)
    assert manifest["rows"] == len(pool) == sum(shard["rows"] for shard in manifest["shards"])
    assert manifest["plan"]["sources"][0]["name"] == "invented"
    assert len(json.dumps(manifest)) < 5000


@pytest.mark.real_data
def test_reviews_of_the_test_set_are_kept_out_of_the_imdb_pool(real_data: Path, tmp_path: Path) -> None:
    from attnvat.corpora.corpus import evaluation_texts
    from attnvat.corpora.registry import load_corpus

    corpus = load_corpus("imdb", data_dir=real_data)
    held = {example.text for example in corpus.extra["test-full"]}
    unsup = corpus.unlabelled
    shared = [example for example in unsup if example.text in held]
    assert len({example.text for example in shared}) == 266
    part = shared + unsup[:500]
    pool = build_pool(
        [Source("imdb", lambda: iter(part), "")],
        tmp_path / "pool",
        exclude=evaluation_texts(corpus),
        options=BuildOptions(max_tokens=None),
    )
    assert pool.manifest["counts"]["in evaluation splits"] >= len(shared)
    assert not held & set(everything(pool))
