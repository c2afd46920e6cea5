"""How fast text and word vectors are read, against spaCy and gensim in the same run, and how much padding batches hold.

    python benchmarks/data.py            # all of IMDB: some minutes
    python benchmarks/data.py --quick    # a tenth of it: under a minute
    python benchmarks/data.py --check    # exit 1 where a goal is missed

Reads the official archives of IMDB and SST and `glove.6B.100d` from $ATTNVAT_DATA. Every figure is measured in a
fresh process on one core, so that nobody finds another's memory or caches; peak memory is what the work added.
Tokenising is compared by processor time, which other programs on the machine disturb less, reading by the clock.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from goals import Goals

QUICK_TEXTS = 5_000
BATCH_SIZE = 32
T = TypeVar("T")


def memory(field: str) -> float:
    """Resident memory of this process in MiB: now (`VmRSS`) or at its highest (`VmHWM`)."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1]) / 1024
    raise RuntimeError(f"/proc/self/status has no {field}")


class Figures(NamedTuple):
    """What a piece of work did, and what it took."""

    count: int
    seconds: float
    processor: float
    """Seconds of processor time."""
    peak: float
    """MiB of memory it needed at its highest, beyond what was there before."""


def timed(work: Callable[[], T], count: Callable[[T], int]) -> Figures:
    """The figures of `work`, with `count` telling from its result how much was done."""
    before, start, processor = memory("VmRSS"), time.perf_counter(), time.process_time()
    result = work()
    seconds, processor = time.perf_counter() - start, time.process_time() - processor
    return Figures(count(result), seconds, processor, max(0.0, memory("VmHWM") - before))


def imdb(quick: bool) -> list[str]:
    """The labelled reviews."""
    from attnvat.corpora.registry import load_corpus

    corpus = load_corpus("imdb", reduced=False)
    texts = [str(example.text) for example in (*corpus.train, *corpus.validation, *corpus.test)]
    return texts[:QUICK_TEXTS] if quick else texts


def prepare(quick: bool, folder: Path) -> None:
    """Parse the corpora once and write the vocabulary and a plain GloVe file, outside every measurement."""
    from attnvat.text.tokenizer import Tokenizer
    from attnvat.text.vector_files import find_vectors
    from attnvat.text.vocabulary import build_vocabulary

    texts = imdb(quick)
    build_vocabulary(map(Tokenizer().tokenize, texts[: len(texts) // 2]), min_frequency=2).save(folder / "words.json")
    with find_vectors("glove.6B.100d").open() as packed, (folder / "glove.txt").open("wb") as plain:
        shutil.copyfileobj(packed, plain, 1 << 20)


def encode(quick: bool, folder: Path) -> Figures:
    """Figures of tokenising and encoding with attnvat."""
    from attnvat.text.encoding import encode_texts
    from attnvat.text.tokenizer import Tokenizer
    from attnvat.text.vocabulary import Vocabulary

    texts, vocabulary = imdb(quick), Vocabulary.load(folder / "words.json")
    return timed(lambda: encode_texts(texts, Tokenizer(), vocabulary), lambda encoded: len(encoded.ids))


def spacy_tokenize(quick: bool, folder: Path) -> Figures:  # noqa: ARG001 (one signature for all)
    """Figures of tokenising with spaCy."""
    import spacy

    texts, tokenizer = imdb(quick), spacy.blank("en").tokenizer
    return timed(lambda: sum(map(len, tokenizer.pipe(texts))), int)


def padding(quick: bool, folder: Path) -> dict[str, tuple[float, float]]:  # noqa: ARG001
    """The share of padding in an epoch of batches and the milliseconds it takes to make one, by corpus."""
    import numpy as np

    from attnvat.corpora.registry import load_corpus
    from attnvat.text.batching import BatchStream, padding_waste
    from attnvat.text.encoding import EncodedDataset, encode_texts
    from attnvat.text.tokenizer import Tokenizer
    from attnvat.text.vocabulary import Vocabulary

    figures = {}
    corpora: dict[str, tuple[str, dict[str, bool]]] = {"SST": ("sst", {}), "IMDB, paper's split": ("imdb", {})}
    if not quick:
        corpora["IMDB, long reviews too"] = ("imdb", {"reduced": False})
    for name, (corpus, options) in corpora.items():
        train = load_corpus(corpus, **options).train
        texts = encode_texts((example.text for example in train), Tokenizer(), Vocabulary([]))
        dataset = EncodedDataset(texts, labels=np.zeros(len(texts), dtype=np.int64))
        stream = BatchStream(texts.lengths, BATCH_SIZE, seed=0)
        batches = [next(stream) for _ in range(stream.batches_per_epoch)]
        start = time.perf_counter()
        for rows in batches:
            dataset.batch(rows)
        milliseconds = (time.perf_counter() - start) * 1000 / len(batches)
        figures[name] = padding_waste(texts.lengths, batches), milliseconds
    return figures


def gensim_glove(quick: bool, folder: Path) -> Figures:  # noqa: ARG001
    """Figures of gensim's loader."""
    from gensim.models import KeyedVectors

    path = folder / "glove.txt"
    return timed(lambda: KeyedVectors.load_word2vec_format(path, no_header=True), len)


def glove(quick: bool, folder: Path) -> Figures:  # noqa: ARG001
    """Figures of attnvat's loader for all words of the file, cached or not."""
    from attnvat.text.vectors import load_vectors

    os.environ["ATTNVAT_CACHE"] = str(folder / "cache")
    with (folder / "glove.txt").open(encoding="utf-8") as lines:
        words = [line.partition(" ")[0] for line in lines]
    return timed(lambda: load_vectors(folder / "glove.txt", words), lambda vectors: int(vectors.found.sum()))


def learn(quick: bool, folder: Path) -> Figures:  # noqa: ARG001
    """Figures of learning vectors from five million tokens (half a million with --quick)."""
    from attnvat.text.learned_vectors import learn_vectors
    from attnvat.text.tokenizer import Tokenizer

    texts, tokens = [], 0
    for text in imdb(quick):
        texts.append(Tokenizer().tokenize(text))
        tokens += len(texts[-1])
        if tokens >= (500_000 if quick else 5_000_000):
            break
    return timed(lambda: learn_vectors(texts, ["film"], cache=False), lambda _: tokens)


def alone(work: Callable[[bool, Path], Any], quick: bool, folder: Path) -> Any:
    """The result of `work` in a fresh process on one core."""
    print(f"{work.__name__} …", file=sys.stderr, flush=True)
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=spawn, initializer=one_core) as process:
        return process.submit(work, quick, folder).result()


def one_core() -> None:
    """Keep this process on one core."""
    os.environ["OMP_NUM_THREADS"] = "1"
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def row(*cells: str) -> None:
    """Print a line of a Markdown table."""
    print("| " + " | ".join(cells) + " |")


def table(*names: str) -> None:
    """Print the head of a Markdown table."""
    row(*names)
    row(*["---"] * len(names))


def main() -> None:
    """Measure, print the tables, and compare with the goals."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="exit 1 where a goal is missed")
    parser.add_argument("--quick", action="store_true", help=f"{QUICK_TEXTS:,} reviews only")
    arguments = parser.parse_args()
    quick = arguments.quick
    goals = Goals()

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        alone(prepare, quick, folder)
        results = {w.__name__: alone(w, quick, folder) for w in (spacy_tokenize, encode, gensim_glove, glove)}
        again = alone(glove, quick, folder)
        learnt = alone(learn, quick, folder)
        waste = alone(padding, quick, folder)

    print(f"### Tokenising and encoding {QUICK_TEXTS if quick else 50_000:,} IMDB reviews, one core\n")
    table("", "tokens", "s", "processor s", "tokens/processor s", "peak MiB", "against spaCy", "goal", "met")
    speed = {name: results[name].count / results[name].processor for name in ("spacy_tokenize", "encode")}
    ratio = speed["encode"] / speed["spacy_tokenize"]
    rest = {"encode": [f"{ratio:.1f} ×", "**≥ 5 ×**", goals.at_least("tokenising against spaCy", ratio, 5)]}
    for name, label in (("spacy_tokenize", "spaCy blank English, tokens only"), ("encode", "attnvat, tokens and ids")):
        count, seconds, processor, peak = results[name]
        cells = f"{count:,}", f"{seconds:.1f}", f"{processor:.1f}", f"{speed[name]:,.0f}", f"{peak:.0f}"
        row(label, *cells, *rest.get(name, [""] * 3))

    print("\n### Reading 100-d GloVe, plain text, one core\n")
    table("", "vectors", "s", "peak MiB", "against gensim", "goal", "met")
    gensim = results["gensim_glove"]
    row("gensim load_word2vec_format", f"{gensim.count:,}", f"{gensim.seconds:.2f}", f"{gensim.peak:.0f}", "", "", "")
    for label, ours, bound in (("first time", results["glove"], 2), ("from cache", again, 20)):
        ratio = gensim.seconds / ours.seconds
        cells = f"{ours.count:,}", f"{ours.seconds:.2f}", f"{ours.peak:.0f}", f"{ratio:.1f} ×", f"**≥ {bound} ×**"
        row(f"attnvat, {label}", *cells, goals.at_least(f"GloVe {label} against gensim", ratio, bound))

    print(f"\n### Batches of {BATCH_SIZE}\n")
    table("corpus (train)", "padding", "goal", "met", "ms a batch")
    for corpus, (share, milliseconds) in waste.items():
        met = goals.at_most(f"padding on {corpus}", share, 0.05)
        row(corpus, f"{share:.1%}", "**< 5%**", met, f"{milliseconds:.2f}")
    print(
        f"\nLearning 100-d vectors (skip-gram, one worker) from {learnt.count:,} tokens: "
        f"{learnt.seconds:.0f} s, {learnt.processor:.0f} s of the processor."
    )
    goals.finish(arguments.check)


if __name__ == "__main__":
    main()
