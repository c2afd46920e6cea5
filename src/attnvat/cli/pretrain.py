"""`attnvat pretrain`: a language model of unlabelled text, for classifiers to start from."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from attnvat.training.pretrain import MOST_TEXTS, STEP_TOKENS, PretrainOptions, pretrain

EXAMPLE = """
Examples:

    attnvat pretrain pools/reviews --vectors glove.6B.100d --out models/reviews

    attnvat train --data sst --vectors glove.6B.100d --language-model models/reviews
"""
DEFAULTS = PretrainOptions("")


def command(
    texts: Annotated[str, typer.Argument(metavar="TEXTS", help="A pool (POOL[:SELECTION]) or a file of texts.")],
    out: Annotated[Path, typer.Option("--out", help="Folder of the language model.")],
    size: Annotated[int | None, typer.Option(help="Only so many of the texts, drawn at random.")] = None,
    text: Annotated[str | None, typer.Option(help="Column of the text; guessed if not given.")] = None,
    skip_bad: Annotated[bool, typer.Option("--skip-bad", help="Go on without bad rows instead of stopping.")] = False,
    vectors: Annotated[str | None, typer.Option(help="Word vectors to begin with: a name or a file.")] = None,
    dimension: Annotated[int | None, typer.Option(help="Size of word vectors that are not from a file (100).")] = None,
    hidden: Annotated[int, typer.Option(help="Size of a state; the classifier's.")] = DEFAULTS.hidden,
    lower: Annotated[bool, typer.Option(help="Lower-case the text.")] = DEFAULTS.lower,
    numbers: Annotated[bool, typer.Option(help="Write every number as one symbol.")] = DEFAULTS.numbers,
    min_frequency: Annotated[int, typer.Option(help="Leave out rarer words.")] = DEFAULTS.min_frequency,
    max_vocabulary: Annotated[int | None, typer.Option(help="Keep the commonest words.")] = DEFAULTS.max_vocabulary,
    max_length: Annotated[int | None, typer.Option(help="Cut texts after so many tokens.")] = DEFAULTS.max_length,
    passes: Annotated[float, typer.Option(help="Passes over the texts.")] = DEFAULTS.passes,
    batch_size: Annotated[
        int | None,
        typer.Option(help=f"Texts a step (as many as make {STEP_TOKENS:,} tokens, {MOST_TEXTS} at most)."),
    ] = None,
    learning_rate: Annotated[float, typer.Option(help="Adam's, at the first step.")] = DEFAULTS.learning_rate,
    dropout: Annotated[float, typer.Option(help="Share of vector and state entries dropped.")] = DEFAULTS.dropout,
    rivals: Annotated[int, typer.Option(help="Words that the true one is held against.")] = DEFAULTS.rivals,
    seed: Annotated[int, typer.Option(help="Seed of everything random.")] = DEFAULTS.seed,
    data_dir: Annotated[Path | None, typer.Option(help="Folder with the word vectors; else $ATTNVAT_DATA.")] = None,
) -> None:
    """Learn word vectors and an encoder from unlabelled text alone, by foretelling the next word and the one before.

    `attnvat train --language-model FOLDER` starts from them, and knows all of their words. Stopped with Ctrl-C, the
    same command goes on where it was.
    """
    options = PretrainOptions(
        texts=texts,
        size=size,
        text=text,
        skip_bad=skip_bad,
        vectors=vectors,
        dimension=dimension,
        hidden=hidden,
        lower=lower,
        numbers=numbers,
        min_frequency=min_frequency,
        max_vocabulary=max_vocabulary,
        max_length=max_length,
        passes=passes,
        batch_size=batch_size,
        learning_rate=learning_rate,
        dropout=dropout,
        rivals=rivals,
        seed=seed,
    )
    learnt = pretrain(options, out, str(data_dir) if data_dir else None)
    found = learnt.description
    print(f"{found['texts']:,} texts, {found['tokens']:,} tokens, {found['words']:,} words, {found['steps']:,} steps")
    if found["perplexity"] is not None:
        print(f"perplexity on texts kept apart: {found['perplexity']:.1f}")
    print(f"next: attnvat train --language-model {out}")


def register(app: typer.Typer) -> None:
    """Add the command to the app."""
    app.command("pretrain", epilog=EXAMPLE)(command)
