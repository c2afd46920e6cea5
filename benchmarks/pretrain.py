"""Time of one step of pretraining against the same step with a softmax over all words.

    python benchmarks/pretrain.py [--check] [--quick]

The ratio is one of medians over interleaved rounds. Only loss and gradients are timed: what the two do differently.
"""

from __future__ import annotations

import argparse

import torch
import torch.nn.functional as F  # noqa: N812

from attnvat.text.vocabulary import UNKNOWN_ID
from attnvat.training.language_model import LanguageModel
from attnvat.training.memory import keep_memory
from goals import Goals
from step import interleaved, make_batch

WORDS, DIMENSION, HIDDEN, TEXTS, WIDTH, RIVALS = 50_000, 100, 256, 64, 22, 1_000
GOAL = 5.0


def main() -> None:
    """Measure, print a row of docs/performance.md, and hold it against the goal."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="exit 1 if the goal is missed")
    parser.add_argument("--quick", action="store_true", help="three rounds instead of fifteen")
    options = parser.parse_args()
    keep_memory()
    torch.manual_seed(0)
    batch, model = make_batch(WIDTH, TEXTS), LanguageModel(WORDS, DIMENSION, HIDDEN, 0.2)
    model.look_alike()
    log_chance = torch.zeros(WORDS)
    generator = torch.Generator().manual_seed(0)

    def sampled() -> None:
        model.zero_grad()
        rivals = torch.randint(UNKNOWN_ID + 1, WORDS, (RIVALS,))
        expected, words = model.expected(batch, generator)
        model.sampled_loss(expected, words, rivals, log_chance).backward()

    def whole() -> None:
        model.zero_grad()
        expected, words = model.expected(batch, generator)
        F.cross_entropy(expected @ model.output.weight.T, words).backward()

    times = interleaved({"sampled": sampled, "whole": whole}, 3 if options.quick else 15)
    tokens, ratio = int(batch.lengths.sum()), times["whole"] / times["sampled"]
    print("| tokens | sampled softmax | softmax over 50,000 words | faster by |\n|---:|---:|---:|---:|")
    print(f"| {tokens:,} | {1000 * times['sampled']:.0f} ms | {1000 * times['whole']:.0f} ms | {ratio:.1f} × |")
    goals = Goals()
    goals.at_least("the sampled softmax against the whole", ratio, GOAL)
    goals.finish(options.check)


if __name__ == "__main__":
    main()
