"""What selecting from a pool costs: each strategy, each search engine against Annoy, and how the cost grows.

    python benchmarks/pool.py            # the news pool for SST, and 3 million synthetic texts: about 20 minutes
    python benchmarks/pool.py --quick    # a small part: under a minute
    python benchmarks/pool.py --check    # exit 1 where a goal is missed

Reads SST, the news sentences and `glove.6B.100d` from $ATTNVAT_DATA. Each figure comes from a fresh process, so that
its peak memory (resident, the interpreter and its libraries included) is its own.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attnvat.corpora.example import Example
from attnvat.corpora.registry import load_corpus, unlabelled_examples
from attnvat.pool import Pool, Source, build_pool, select
from attnvat.pool.bag_of_words import Bags, bow_neighbours
from attnvat.pool.embedding import AverageEmbedding, embedding_neighbours
from attnvat.pool.neighbours import ENGINES, annoy_index
from attnvat.text.tokenizer import Tokenizer
from goals import Goals

VECTORS = "glove.6B.100d"
DEPTH = 10
SAMPLE = 500
"""Labelled texts whose neighbours are compared with brute force."""
ANNOY = [(10, 0.0), (50, 0.05), (100, 0.15), (100, 0.5)]
"""Trees, and nodes looked at as a share of the pool (0: Annoy's own choice): from a first try towards recall 1."""
MEMORY_GOAL = 4096


def labelled() -> list[Any]:
    """The training texts of SST."""
    return [example.text for example in load_corpus("sst").train]


def recall(found: NDArray[np.int64], cosines: NDArray[np.float64]) -> float:
    """The share of the ten nearest by brute force that was found; one as near as the tenth counts as it."""
    tenth = -np.sort(-cosines, axis=1)[:, DEPTH - 1, None]
    near = np.take_along_axis(cosines, found[:, :DEPTH], axis=1) >= tenth - 1e-6
    return float(near.mean())


def peak_mib() -> float:
    """The highest resident memory of this process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure_build(out: str, rows: int, synthetic: bool) -> dict[str, float]:
    """Build a pool of the first `rows` news sentences, or of as many texts put together from halves of them."""

    def news() -> Iterator[Example]:
        for number, example in enumerate(unlabelled_examples("news")):
            if number == rows:
                return
            yield example

    def halves() -> Iterator[Example]:
        sentences = [str(example.text) for example in unlabelled_examples("news")]
        generator = np.random.default_rng(0)
        for _ in range(0, rows, 10_000):
            for first, second in generator.integers(0, len(sentences), (10_000, 2)).tolist():
                one, other = sentences[first].split(), sentences[second].split()
                yield Example(" ".join(one[: len(one) // 2] + other[len(other) // 2 :]))

    start = time.perf_counter()
    pool = build_pool([Source("benchmark", halves if synthetic else news, "")], out)
    return {"seconds": time.perf_counter() - start, "peak": peak_mib(), "rows": len(pool)}


def measure_select(path: str, strategy: str, size: int, queries: int, accuracy: bool) -> dict[str, float]:
    """Select by a strategy, loading of vectors included; then the recall of its search against brute force."""
    pool, texts = Pool.open(path), labelled()[:queries]
    start = time.perf_counter()
    vectors = AverageEmbedding.from_vectors(VECTORS, pool, texts) if strategy == "embedding" else None
    selection = select(pool, texts, strategy, size, vectors=vectors)
    result = {"seconds": time.perf_counter() - start, "peak": peak_mib(), "depth": selection.made.get("depth", 0)}
    if accuracy and strategy != "random":
        sample = texts[:: max(1, len(texts) // SAMPLE)]
        everything = [text for _, block in pool.blocks() for text in block]
        if vectors is not None:
            found = embedding_neighbours(pool, sample, DEPTH, embedding=vectors, engine=ENGINES["exact"])
            cosines = vectors.vectors(sample).astype(float) @ vectors.vectors(everything).astype(float).T
        else:
            found = bow_neighbours(pool, sample, DEPTH)
            bags = Bags(sample, Tokenizer())
            (ours, our_lengths), (theirs, lengths) = bags.bags(sample), bags.bags(everything)
            cosines = (ours @ theirs.T).toarray().astype(float) / our_lengths[:, None] / lengths
        result["recall"] = recall(found.rows, cosines)
    return result


def measure_engine(folder: str, name: str, trees: int, search_k: int) -> dict[str, float]:
    """Index the pool's vectors with one library and find ten neighbours of every labelled text."""
    vectors, queries = np.load(f"{folder}/vectors.npy"), np.load(f"{folder}/queries.npy")
    before, start = peak_mib(), time.perf_counter()
    index = annoy_index(vectors, trees=trees, search_k=search_k) if trees else ENGINES[name].index(vectors)
    built = time.perf_counter()
    _, places = index(queries, DEPTH)
    end = time.perf_counter()
    memory = peak_mib() - before
    sample = np.arange(0, len(queries), max(1, len(queries) // SAMPLE))
    cosines = queries[sample].astype(float) @ vectors.astype(float).T
    times = {"build": built - start, "query": end - built, "seconds": end - start}
    return times | {"memory": memory, "recall": recall(places[sample], cosines)}


def measure_vectors(path: str, folder: str, queries: int) -> dict[str, float]:
    """Write the average embeddings of the pool and of the labelled texts for the engines."""
    pool, texts = Pool.open(path), labelled()[:queries]
    average = AverageEmbedding.from_vectors(VECTORS, pool, texts)
    start = time.perf_counter()
    np.save(f"{folder}/vectors.npy", np.concatenate([block for _, block in average.blocks(pool, 1 << 17)]))
    ours = average.vectors(texts)
    np.save(f"{folder}/queries.npy", ours[ours.any(axis=1)])
    return {"seconds": time.perf_counter() - start}


MEASUREMENTS: dict[str, Callable[..., dict[str, float]]] = {
    "build": measure_build,
    "select": measure_select,
    "engine": measure_engine,
    "vectors": measure_vectors,
}


def measured(name: str, *arguments: object) -> dict[str, float]:
    """A measurement in a process of its own."""
    command = [sys.executable, __file__, "--measure", name, json.dumps(arguments)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    result: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return result


def strategies(pool: str, rows: int, size: int, queries: int, goals: Goals) -> None:
    """The table of the three strategies."""
    print(f"\n### Selecting {size:,} of {rows:,} sentences for {queries:,} labelled texts\n")
    print("| strategy | seconds | peak memory, MiB | recall@10 | neighbours needed |\n|---|---:|---:|---:|---:|")
    for strategy in ("random", "bow", "embedding"):
        r = measured("select", pool, strategy, size, queries, True)
        found = f"{r['recall']:.4f}" if "recall" in r else "–"
        print(f"| {strategy} | {r['seconds']:.1f} | {r['peak']:,.0f} | {found} | {r['depth'] or '–'} |", flush=True)
        goals.at_least(f"recall@10 of {strategy}", r.get("recall", 1.0), 0.95)


def engines(folder: str, rows: int, queries: int, quick: bool, goals: Goals) -> None:
    """The table of search engines, Annoy at several settings."""
    print(f"\n### Search engines: 10 neighbours of {queries:,} texts among {rows:,}, 100 dimensions\n")
    print("| engine | recall@10 | build, s | query, s | both, s | memory, MiB |\n|---|---:|---:|---:|---:|---:|")
    names = ["exact"] if quick else [name for name in ENGINES if name != "annoy"]
    runs: list[tuple[str, str, int, int]] = [(name, name, 0, 0) for name in names]
    for trees, share in ANNOY[3:] if quick else ANNOY:
        nodes = int(share * rows) or -1
        setting = f"{nodes:,} nodes" if share else "its own number of nodes"
        runs.append((f"annoy, {trees} trees, {setting}", "annoy", trees, nodes))
    exact, equal = 0.0, []
    for label, name, trees, nodes in runs:
        r = measured("engine", folder, name, trees, nodes)
        figures = f"{r['recall']:.3f} | {r['build']:.1f} | {r['query']:.1f} | {r['seconds']:.1f} | {r['memory']:,.0f}"
        print(f"| {label} | {figures} |", flush=True)
        if name == "exact":
            exact = r["seconds"]
            goals.at_least("recall@10 of the default", r["recall"], 0.95)
        if name == "annoy" and r["recall"] >= 0.95:
            equal.append(r["seconds"])
    goals.at_least("settings of Annoy with a recall of 0.95 to compare with", len(equal), 1)
    if equal:
        print(f"\nexact takes {exact / min(equal):.2f} × the time of Annoy's fastest setting with recall ≥ 0.95")
        goals.at_most("time of the default over Annoy's at a recall of 0.95", exact / min(equal), 1.0)


def growth(folder: Path, sizes: list[tuple[int, bool]], queries: int, goals: Goals) -> None:
    """The table of pools of growing size, the last line extrapolated."""
    print(f"\n### Growth with the pool: 50,000 texts (or a fifth) selected for {queries:,} labelled texts\n")
    print("| rows | build, s | peak, MiB | bow, s | peak, MiB | embedding, s | peak, MiB |")
    print("|---:|---:|---:|---:|---:|---:|---:|")
    lines = []
    for rows, synthetic in sizes:
        path = folder / f"grow-{rows}"
        runs = [measured("build", str(path), rows, synthetic)]
        size = min(50_000, int(runs[0]["rows"]) // 5)
        runs += [measured("select", str(path), strategy, size, queries, False) for strategy in ("bow", "embedding")]
        cells = " | ".join(f"{r['seconds']:.1f} | {r['peak']:,.0f}" for r in runs)
        kind = " synthetic" if synthetic else ""
        print(f"| {int(runs[0]['rows']):,}{kind} | {cells} |", flush=True)
        lines.append((runs[0]["rows"], runs))
    (before, small), (largest, large) = lines[-2:]
    cells = " | ".join(f"{r['seconds'] * 30e6 / largest:,.0f} | {r['peak']:,.0f}" for r in large)
    print(f"| 30,000,000 extrapolated | {cells} |")
    for what, one, other in zip(("building", "bow", "embedding"), small, large, strict=True):
        goals.at_most(f"peak memory of {what} at {largest:,.0f} rows, MiB", other["peak"], MEMORY_GOAL)
        grown = (other["seconds"] / largest) / (one["seconds"] / before)
        goals.at_most(f"time a row of {what} at {largest:,.0f} rows over that at {before:,.0f}", grown, 1.5)


def main() -> None:
    """Measure, print the tables, and check the goals."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="exit 1 where a goal is missed")
    parser.add_argument("--quick", action="store_true", help="a small part, under a minute")
    parser.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(MEASUREMENTS[options.measure[0]](*json.loads(options.measure[1]))))
        return
    goals = Goals()
    queries = 500 if options.quick else len(labelled())
    with tempfile.TemporaryDirectory() as folder:
        pool = f"{folder}/pool"
        rows = int(measured("build", pool, 10_000 if options.quick else 10**9, False)["rows"])
        strategies(pool, rows, min(50_000, rows // 5), queries, goals)
        measured("vectors", pool, folder, queries)
        engines(folder, rows, queries, options.quick, goals)
        real = [(5_000, False), (10_000, False)]
        if not options.quick:
            real = [(30_000, False), (100_000, False), (287_936, False), (3_000_000, True)]
        growth(Path(folder), real, queries, goals)
    goals.finish(options.check)


if __name__ == "__main__":
    main()
