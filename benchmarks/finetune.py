"""Time of one step of fine-tuning, and of predicting as many texts, in half precision against full.

    python benchmarks/finetune.py [--quick]

The encoder has the size of `minilm` and weights drawn at random; one thread, 16 texts of 256 pieces of words. Ratios
are of medians over interleaved rounds. How much there is to gain depends on the processor's instructions.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import torch
import torch.nn.functional as F  # noqa: N812
from transformers import BertConfig, BertModel

from attnvat.training.memory import keep_memory
from attnvat.training.transformer import TextTransformer
from step import interleaved

SIZE = {"hidden_size": 384, "num_hidden_layers": 6, "num_attention_heads": 12, "intermediate_size": 1536}
TEXTS, PIECES, WORDS = 16, 256, 30_000


def main() -> None:
    """Measure, and print the rows of docs/performance.md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="three rounds instead of fifteen")
    options = parser.parse_args()
    keep_memory()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = TextTransformer(BertModel(BertConfig(**SIZE)), None, ("a", "b"), False, PIECES).ready()
    ids, mask = torch.randint(1, WORDS, (TEXTS, PIECES)), torch.ones(TEXTS, PIECES, dtype=torch.long)
    labels = torch.randint(0, 2, (TEXTS,))
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-5, fused=True)

    def step(precision: str) -> Callable[[], None]:
        def run() -> None:
            model.precision = precision
            optimiser.zero_grad()
            F.cross_entropy(model(ids, mask), labels).backward()
            optimiser.step()

        return run

    def prediction(precision: str) -> Callable[[], None]:
        def run() -> None:
            model.precision = precision
            with torch.no_grad():
                model(ids, mask)

        return run

    print("| | full precision | bf16 | faster by |\n|---|---:|---:|---:|")
    for name, made in (("a step", step), ("predicting", prediction)):
        times = interleaved({one: made(one) for one in ("no", "bf16")}, 3 if options.quick else 15)
        ratio = times["no"] / times["bf16"]
        print(f"| {name} | {1000 * times['no']:,.0f} ms | {1000 * times['bf16']:,.0f} ms | {ratio:.1f} × |")


if __name__ == "__main__":
    main()
