"""Memory and time of the search for every word's nearest words, which Word iAT and Word iVAT do once an epoch.

    python benchmarks/neighbours.py [--check] [--quick]

Each size has a process of its own: what counts is how far its memory rises.
"""

from __future__ import annotations

import argparse
import resource
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import torch

from attnvat.techniques.neighbours import nearest_words
from attnvat.training.memory import keep_memory
from goals import Goals

SIZES, DIMENSION, COUNT = (20_000, 40_000, 77_000), 100, 15
GOAL = 200.0


def measured(words: int) -> tuple[float, float]:
    """By how many MiB memory rises, and seconds."""
    torch.set_num_threads(1)
    keep_memory()
    table = torch.randn(words, DIMENSION)
    before, started = peak(), time.monotonic()
    nearest_words(table, COUNT)
    return peak() - before, time.monotonic() - started


def peak() -> float:
    """The most memory this process has had, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    """Measure, print the table of docs/performance.md, and hold it against the goal."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="exit 1 if the goal is missed")
    parser.add_argument("--quick", action="store_true", help="the smallest vocabulary alone")
    options = parser.parse_args()
    goals = Goals()
    print("| words | memory, MiB | s |\n|---:|---:|---:|")
    for words in SIZES[:1] if options.quick else SIZES:
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
            memory, seconds = process.submit(measured, words).result()
        print(f"| {words:,} | {memory:.0f} | {seconds:.1f} |", flush=True)
        goals.at_most(f"MiB for {words:,} words", memory, GOAL)
    goals.finish(options.check)


if __name__ == "__main__":
    main()
