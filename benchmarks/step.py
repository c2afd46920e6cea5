"""Time of one training step of every technique against vanilla, of the BiLSTM against a packed one, and memory.

    python benchmarks/step.py [--check] [--quick]

A ratio is one of medians over interleaved rounds, so that a busy machine slows both sides alike; of several processes
the median ratio counts, because where things happen to lie in memory moves each process by some hundredths.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from attnvat.models import ModelConfig, SequenceClassifier, build_model
from attnvat.models.lstm import BiLSTM
from attnvat.techniques import TECHNIQUES, Technique, technique
from attnvat.text.batch import Batch
from attnvat.training.memory import keep_memory
from attnvat.training.optimiser import build_optimisers
from goals import Goals

BATCH, DIMENSION, VOCABULARY = 32, 300, 14_000
LENGTHS = (20, 170)
ATTENTION_GOAL = {20: 1.10, 170: 1.05}
WORD_GOAL = 2.5
LSTM_GOAL = {20: 1.5, 170: 3.5}
MEMORY_GOAL = 1.1
LONG = 2000
HELD = "vanilla with a penalty on context"
PHRASED = "vanilla with phrases"
MOVED = "attention-vat that moves words"
PHRASES = 100_000


def make_batch(width: int, size: int = BATCH) -> Batch:
    """Random texts of nearly equal length, as length buckets give them."""
    lengths = torch.randint(max(1, int(0.95 * width)), width + 1, (size,))
    lengths[0] = width
    ids = torch.randint(2, VOCABULARY, (size, width)) * (torch.arange(width) < lengths[:, None])
    return Batch(ids, lengths, torch.randint(0, 2, (size,)))


def interleaved(jobs: dict[str, Callable[[], None]], rounds: int) -> dict[str, float]:
    """The median time of each job over rounds in which every job runs once, in another order each round."""
    times: dict[str, list[float]] = {name: [] for name in jobs}
    shuffle = random.Random(0).shuffle
    for number in range(rounds + 2):
        order = list(jobs)
        shuffle(order)
        for name in order:
            start = time.perf_counter()
            jobs[name]()
            if number >= 2:
                times[name].append(time.perf_counter() - start)
    return {name: statistics.median(values) for name, values in times.items()}


def step_times(width: int, rounds: int) -> dict[str, float]:
    """Seconds of a whole step (loss, backward, optimiser) of each technique, all taking turns on one model.

    The model with phrases is another one.
    """
    keep_memory()
    batch = make_batch(width)
    plain, phrased = (build_model(ModelConfig(VOCABULARY, DIMENSION)) for _ in range(2))
    # All pairs of words of the batch are phrases, and as many more as a model of long texts knows.
    pairs = (batch.ids[:, :-1] * VOCABULARY + batch.ids[:, 1:]).flatten()
    phrased.know_phrases(torch.unique(torch.cat([pairs, torch.randint(VOCABULARY**2, (PHRASES,))])))
    adam = {model: build_optimisers(model, 1e-3, 1e-5, touched_only=True, sparse=True) for model in (plain, phrased)}

    def job(chosen: Technique, model: SequenceClassifier = plain) -> Callable[[], None]:
        chosen.refresh(model)

        def run() -> None:
            chosen.loss(model, batch).total.backward()
            for optimiser in adam[model]:
                optimiser.step()
                optimiser.zero_grad()

        return run

    jobs = {name: job(technique(name)) for name in TECHNIQUES}
    more = {
        HELD: job(technique("vanilla", context_penalty=0.1)),
        PHRASED: job(technique("vanilla"), phrased),
        MOVED: job(technique("attention-vat", word_epsilon=1.0)),
    }
    return interleaved(jobs | more, rounds)


def lstm_times(width: int, rounds: int) -> dict[str, float]:
    """Seconds of forward and backward of our BiLSTM and of a packed one, on the lengths of a bucketed batch."""
    keep_memory()
    batch = make_batch(width)
    lengths, mask = batch.lengths, batch.mask
    x = torch.randn(BATCH, width, DIMENSION, requires_grad=True)
    ours, theirs = BiLSTM(DIMENSION, 128), nn.LSTM(DIMENSION, 128, batch_first=True, bidirectional=True)

    def unpacked() -> None:
        ours(x, lengths, mask).sum().backward()

    def packed() -> None:
        states, _ = theirs(pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False))
        pad_packed_sequence(states, batch_first=True)[0].sum().backward()

    return interleaved({"ours": unpacked, "packed": packed}, rounds)


def in_new_process(script: str) -> Any:
    """What a script that has this module as `step` prints last, as JSON."""
    begin = "import json, sys; sys.path.insert(0, 'benchmarks'); import step, torch; torch.manual_seed(0);"
    done = subprocess.run([sys.executable, "-c", begin + script], stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout)


def times_by_process(job: str, width: int, rounds: int, processes: int) -> list[dict[str, float]]:
    """The seconds that `job`, a function of this module, finds in each of several fresh processes."""
    script = f"print(json.dumps(step.{job}({width}, {rounds})))"
    return [in_new_process(script) for _ in range(processes)]


def middle(measured: list[dict[str, float]], name: str, against: str | None = None) -> float:
    """The median over processes of a job's seconds, or of their ratio to those of another job."""
    return statistics.median(times[name] / (times[against] if against else 1.0) for times in measured)


def peak_megabytes(name: str, width: int) -> float:
    """Peak memory of a process that takes one step of a technique at a width."""
    script = (
        "import resource;"
        "m = step.build_model(step.ModelConfig(step.VOCABULARY, step.DIMENSION));"
        f"step.technique({name!r}).loss(m, step.make_batch({width})).total.backward();"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)"
    )
    return float(in_new_process(script))


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="exit 1 when a goal is missed")
    parser.add_argument("--quick", action="store_true", help="fewer rounds: under a minute")
    options = parser.parse_args()
    goals = Goals()
    rounds, processes = ({20: 8, 170: 1}, 1) if options.quick else ({20: 40, 170: 6}, 5)

    print(f"Step time against vanilla (B = {BATCH}, {DIMENSION}-d vectors, {torch.get_num_threads()} threads)\n")
    measured = {width: times_by_process("step_times", width, rounds[width], processes) for width in LENGTHS}
    print("| technique | " + " | ".join(f"T = {width}" for width in LENGTHS) + " |")
    print("|---|" + "---:|" * len(LENGTHS))
    for name in (*TECHNIQUES, HELD, PHRASED, MOVED):
        cells = []
        for width in LENGTHS:
            ratio = middle(measured[width], name, "vanilla")
            cells.append(f"{ratio:.2f} × ({1000 * middle(measured[width], name):.1f} ms)")
            if name.startswith("attention"):
                goals.at_most(f"{name} at T = {width}", ratio, ATTENTION_GOAL[width])
            if name.startswith("word"):
                goals.at_most(f"{name} at T = {width}", ratio, WORD_GOAL)
        print(f"| {name} | {' | '.join(cells)} |")

    print("\nBiLSTM, forward and backward, against `pack_padded_sequence`\n")
    print("| T | ours | packed | faster by |\n|---:|---:|---:|---:|")
    for width in LENGTHS:
        times = times_by_process("lstm_times", width, rounds[width], processes)
        ratio, ours, packed = middle(times, "packed", "ours"), middle(times, "ours"), middle(times, "packed")
        print(f"| {width} | {1000 * ours:.1f} ms | {1000 * packed:.1f} ms | {ratio:.1f} × |")
        goals.at_least(f"BiLSTM at T = {width}", ratio, LSTM_GOAL[width])

    print(f"\nPeak memory of one step at T = {LONG}\n")
    print("| technique | MB |\n|---|---:|")
    weighed = ["vanilla", "attention-vat", "attention-ivat"][1 if options.quick else 0 :]
    memory = {name: peak_megabytes(name, LONG) for name in weighed}
    for name, megabytes in memory.items():
        print(f"| {name} | {megabytes:,.0f} |")
    ratio = memory["attention-ivat"] / memory["attention-vat"]
    goals.at_most(f"memory of attention-ivat against attention-vat at T = {LONG}", ratio, MEMORY_GOAL)
    goals.finish(options.check)


if __name__ == "__main__":
    main()
