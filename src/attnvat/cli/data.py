"""`attnvat data`: what is found, what is in it, and whether people's own files are sound."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from attnvat.cli.data_tables import corpora_files, corpora_table, examples_table, splits_table, words_table
from attnvat.corpora.corpus import Corpus
from attnvat.corpora.registry import load
from attnvat.corpora.summary import word_counts
from attnvat.progress import stderr
from attnvat.text.tokenizer import Tokenizer

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="markdown",
    help="See what corpora and files hold before training on them.",
)
DataDir = Annotated[
    Path | None,
    typer.Option("--data-dir", help="Folder with the official files; else $ATTNVAT_DATA, then ~/.cache/attnvat."),
]
Text = Annotated[str | None, typer.Option("--text", help="Column of the text; guessed if not given.")]
Pair = Annotated[str | None, typer.Option("--text-pair", help="Column of the second text, for pairs.")]
Label = Annotated[str | None, typer.Option("--label", help="Column of the label; guessed if not given.")]
Validation = Annotated[str | None, typer.Option("--validation", help="File for validation; else split off.")]
Test = Annotated[str | None, typer.Option("--test", help="File for the test; else split off.")]
SkipBad = Annotated[bool, typer.Option("--skip-bad", help="Leave bad rows out and count them, do not stop.")]


@app.command("list")
def list_corpora(
    data_dir: DataDir = None,
    counts: Annotated[bool, typer.Option(help="Read each corpus to count its examples.")] = True,
) -> None:
    """List the corpora: what is found where, how much it holds, and what to download for the rest.

    Example: `attnvat data list --data-dir ~/corpora`
    """
    console = Console()
    console.print(corpora_table(data_dir, counts))
    for line in corpora_files(data_dir):
        console.print(line, highlight=False, markup=False, soft_wrap=True)
    stderr.print("`attnvat data show NAME` says more of each", highlight=False)


@app.command()
def show(
    data: Annotated[str, typer.Argument(help="A corpus such as sst, a file, a folder, or hf:NAME.")],
    data_dir: DataDir = None,
    vectors: Annotated[
        str | None, typer.Option(help="Word vectors whose coverage is shown: a file, or a name as glove.6B.100d.")
    ] = None,
    text: Text = None,
    text_pair: Pair = None,
    label: Label = None,
    validation: Validation = None,
    test: Test = None,
    skip_bad: SkipBad = False,
    examples: Annotated[int, typer.Option(min=0, help="Examples to show of each class.")] = 1,
) -> None:
    """Show a corpus: splits, class balance, lengths, vocabulary, and examples.

    Example: `attnvat data show sst --vectors glove.6B.100d`
    """
    corpus = load(
        data,
        data_dir=data_dir,
        validation=validation,
        test=test,
        text=text,
        text_pair=text_pair,
        label=label,
        skip_bad=skip_bad,
    )
    report(corpus, vectors, data_dir, examples)


@app.command()
def check(
    file: Annotated[str, typer.Argument(help="Your labelled data: a file, a folder of class folders, or hf:NAME.")],
    text: Text = None,
    text_pair: Pair = None,
    label: Label = None,
    validation: Validation = None,
    test: Test = None,
    skip_bad: SkipBad = False,
) -> None:
    """Check your own data: which columns are read, what each split would hold, and every bad row with its line.

    Ends with exit code 0 when the data can be trained on as they are, 2 otherwise.

    Example: `attnvat data check reviews.csv --text review --label sentiment`
    """
    corpus = load(
        file, validation=validation, test=test, text=text, text_pair=text_pair, label=label, skip_bad=skip_bad
    )
    report(corpus, None, None, examples=1)
    Console().print("sound: can be trained on", style="green")


def report(corpus: Corpus, vectors: str | None, data_dir: Path | None, examples: int) -> None:
    """Print what is in a corpus, the notes on standard error."""
    console, tokenizer = Console(), Tokenizer()
    console.print(splits_table(corpus, tokenizer))
    console.print(words_table(word_counts(corpus, tokenizer), vectors, data_dir))
    if examples:
        console.print(examples_table(corpus, examples))
    for note in corpus.notes:
        stderr.print(f"note: {note}", highlight=False, markup=False, soft_wrap=True)


def register(parent: typer.Typer) -> None:
    """Add the group of commands to the app."""
    parent.add_typer(app, name="data")
