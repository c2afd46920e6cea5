"""Whole training throughput, data loading and optimiser included, against the same model written the usual way.

    ATTNVAT_DATA=FOLDER python benchmarks/train.py [--check] [--quick]

Both sides train in turns within one process, for the same number of steps a turn, so that a busy machine slows both
alike. Tokens a second count real tokens, not padding.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Iterator

import torch

from attnvat.corpora import Example
from attnvat.pool.sentences import split_sentences
from attnvat.training import Config, Prepared, load_data, prepare
from attnvat.training.loop import TrainingStep, parts
from attnvat.training.memory import keep_memory
from attnvat.training.optimiser import build_optimisers
from attnvat.training.streams import Streams
from goals import Goals
from usual_way import UsualModel, steps

VECTORS, RATIO = "glove.6B.100d", 7
GOALS = {
    ("sst", "vanilla"): 2.0,
    ("imdb", "vanilla"): 3.0,
    ("sst", "attention-ivat"): 4.0,
    ("imdb", "attention-ivat"): 7.0,
}
OVERHEAD_GOAL = 0.05
STEPS = {("sst", "vanilla"): 40, ("imdb", "vanilla"): 6, ("sst", "attention-ivat"): 3, ("imdb", "attention-ivat"): 1}
"""Steps a turn: the usual way takes half a minute for one step of attention-ivat on IMDB."""
TURNS = {"sst": 5, "imdb": 3}


def prepared(data: str, technique: str) -> tuple[Config, Prepared]:
    """The corpus, with seven unlabelled texts a labelled one for the VAT technique."""
    config = Config(data=data, vectors=VECTORS, technique=technique)
    corpus = load_data(config)
    more = None
    if technique != "vanilla":
        reviews = load_data(Config(data="imdb")).unlabelled
        texts = (
            reviews
            if data == "imdb"
            else [
                Example(piece)
                for review in reviews[:6_000]
                if isinstance(review.text, str)
                for piece in split_sentences(review.text)
            ]
        )
        more = (texts * (1 + RATIO * len(corpus.train) // len(texts)))[: RATIO * len(corpus.train)]
    return config, prepare(config, corpus, more)


def our_steps(config: Config, data: Prepared, spent: dict[str, float]) -> Iterator[int]:
    """Our training step after step, as the loop takes them; gives tokens, and adds up where the time goes."""
    model = data.bundle.model
    training = TrainingStep(model, config.build_technique())
    optimisers = build_optimisers(model, config.learning_rate, config.l2, touched_only=True, sparse=True)
    streams = Streams(data.train, data.unlabelled, config.batch_size, config.seed)
    generator = torch.Generator().manual_seed(0)
    while True:
        begin = time.perf_counter()
        labelled, unlabelled = streams.next()
        loaded = time.perf_counter()
        loss = training(labelled, unlabelled, generator)
        loss.total.backward()
        for optimiser in optimisers:
            optimiser.step()
            optimiser.zero_grad()
        trained = time.perf_counter()
        parts(loss)
        tokens = labelled.tokens + (unlabelled.tokens if unlabelled else 0)
        spent["outside"] += loaded - begin + time.perf_counter() - trained
        spent["all"] += time.perf_counter() - begin
        yield tokens


def throughput(data: str, technique: str, turns: int, length: int) -> tuple[float, float, float]:
    """Tokens a second of ours and of the usual way (medians over turns), and our overhead outside the mathematics."""
    config, read = prepared(data, technique)
    spent = {"outside": 0.0, "all": 0.0}
    usual = UsualModel(read.bundle.model.embedding.weight.detach())
    sides = {
        "ours": our_steps(config, read, spent),
        "usual": steps(usual, read.train, read.unlabelled, config.batch_size, RATIO),
    }
    speeds: dict[str, list[float]] = {"ours": [], "usual": []}
    for turn in range(turns + 1):
        for name, side in sides.items():
            start = time.perf_counter()
            tokens = sum(next(side) for _ in range(length))
            if turn:
                speeds[name].append(tokens / (time.perf_counter() - start))
    return statistics.median(speeds["ours"]), statistics.median(speeds["usual"]), spent["outside"] / spent["all"]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="exit 1 when a goal is missed")
    parser.add_argument("--quick", action="store_true", help="SST only, fewer steps: under a minute")
    options = parser.parse_args()
    goals = Goals()
    keep_memory()
    print(f"Training throughput (B = 32, {VECTORS}, N_u/N_l = {RATIO} for VAT, {torch.get_num_threads()} threads)\n")
    print("| data | technique | ours, tokens/s | the usual way, tokens/s | faster by | outside the mathematics |")
    print("|---|---|---:|---:|---:|---:|")
    for (data, technique), goal in GOALS.items():
        if options.quick and data == "imdb":
            continue
        turns = 2 if options.quick else TURNS[data]
        ours, usual, overhead = throughput(data, technique, turns, STEPS[data, technique])
        print(
            f"| {data} | {technique} | {ours:,.0f} | {usual:,.0f} | {ours / usual:.1f} × | {overhead:.1%} |", flush=True
        )
        goals.at_least(f"{technique} on {data}", ours / usual, goal)
        goals.at_most(f"overhead of {technique} on {data}", overhead, OVERHEAD_GOAL)
    goals.finish(options.check)


if __name__ == "__main__":
    main()
