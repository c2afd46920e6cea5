"""`attnvat finetune`: a pretrained transformer fine-tuned on labelled texts, to teach a classifier."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from attnvat.training import Config, load_data
from attnvat.training.finetune import FinetuneOptions, finetune
from attnvat.training.transformer import PACKAGED

EXAMPLE = """
Examples:

    attnvat finetune minilm --data reviews.csv --out models/minilm

    attnvat train --data reviews.csv --technique attention-vat --unlabeled more.txt --teacher linear,models/minilm
"""
DEFAULTS = FinetuneOptions("")


def command(
    model: Annotated[
        str,
        typer.Argument(
            metavar="MODEL",
            help=f"Folder of a pretrained encoder, its name on the hub, or {', '.join(PACKAGED)} (extra `minilm`).",
        ),
    ],
    data: Annotated[str, typer.Option("--data", help="Corpus name, file, folder or hf:NAME.")],
    out: Annotated[Path, typer.Option("--out", help="Folder of the fine-tuned transformer.")],
    validation: Annotated[str | None, typer.Option(help="File of the validation texts.")] = None,
    text: Annotated[str | None, typer.Option(help="Column of the text; guessed if not given.")] = None,
    text_pair: Annotated[str | None, typer.Option(help="Column of the second text.")] = None,
    label: Annotated[str | None, typer.Option(help="Column of the label; guessed if not given.")] = None,
    skip_bad: Annotated[bool, typer.Option("--skip-bad", help="Go on without bad rows instead of stopping.")] = False,
    epochs: Annotated[int, typer.Option(help="Passes over the labelled texts.")] = DEFAULTS.epochs,
    batch_size: Annotated[int, typer.Option(help="Texts a step.")] = DEFAULTS.batch_size,
    learning_rate: Annotated[float, typer.Option(help="AdamW's, at its highest.")] = DEFAULTS.learning_rate,
    warmup: Annotated[float, typer.Option(help="Share of the steps over which it rises.")] = DEFAULTS.warmup,
    max_length: Annotated[
        int, typer.Option(help="Pieces of words read of a text: a third from its beginning, the rest from its end.")
    ] = DEFAULTS.max_length,
    seed: Annotated[int, typer.Option(help="Seed of everything random.")] = DEFAULTS.seed,
    mixed_precision: Annotated[
        Literal["no", "bf16"], typer.Option(help="bf16 is faster where the processor knows it, and less exact.")
    ] = DEFAULTS.mixed_precision,
    data_dir: Annotated[Path | None, typer.Option(help="Folder with the official files; else $ATTNVAT_DATA.")] = None,
) -> None:
    """Fine-tune a pretrained transformer on the labelled texts, for `attnvat train --teacher` to learn from.

    Stopped with Ctrl-C, the same command goes on where it was.
    """
    options = FinetuneOptions(model, epochs, batch_size, learning_rate, warmup, max_length, seed, mixed_precision)
    config = Config(data=data, validation=validation, text=text, text_pair=text_pair, label=label, skip_bad=skip_bad)
    found = finetune(options, load_data(config, data_dir), out)
    print(f"{found['metric']}: validation {100 * found['validation']:.4g} ({found['steps']:,} steps)")
    print(f"next: attnvat train --data {data} --technique attention-vat --unlabeled TEXTS --teacher {out}")


def register(app: typer.Typer) -> None:
    """Add the command to the app."""
    app.command("finetune", epilog=EXAMPLE)(command)
