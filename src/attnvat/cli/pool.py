"""`attnvat pool`: build a pool of unlabelled texts and choose the part of it to train on."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from attnvat.cli.pool_tables import examples_table, pool_table, selection_table, selections_table
from attnvat.corpora.corpus import evaluation_texts
from attnvat.corpora.example import Example, plain
from attnvat.corpora.registry import load
from attnvat.errors import UserError
from attnvat.pool import BuildOptions, Pool, Selection, build_pool, open_source, select
from attnvat.pool.duplicates import Duplicates
from attnvat.pool.embedding import LEARN
from attnvat.pool.neighbours import ENGINES
from attnvat.pool.random_sample import random_rows
from attnvat.pool.selection import FOLDER, selection_file
from attnvat.progress import stderr
from attnvat.text.tokenizer import Text
from attnvat.text.vector_files import find_vectors

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="markdown",
    help="Build pools of unlabelled texts and choose texts from them.",
)
PAPER_RATIO = 7
"""Unlabelled texts for each labelled one, beyond which the paper saw no more gain."""
VECTORS = "glove.6B.100d"

DataDir = Annotated[
    Path | None,
    typer.Option("--data-dir", help="Folder with the official files; else $ATTNVAT_DATA, then ~/.cache/attnvat."),
]


@app.command()
def build(
    sources: Annotated[
        list[str],
        typer.Argument(metavar="SOURCE...", help="Corpora (1bw, news, imdb), files of texts, or hf:NAME."),
    ],
    out: Annotated[Path, typer.Option("--out", help="The pool's folder.")],
    for_: Annotated[
        list[str] | None,
        typer.Option("--for", help="Corpora or files whose validation and test texts must not enter; may be repeated."),
    ] = None,
    sentences: Annotated[bool, typer.Option("--sentences", help="Cut each text into its sentences.")] = False,
    min_tokens: Annotated[int, typer.Option(help="Leave out shorter texts.")] = 3,
    max_tokens: Annotated[int, typer.Option(help="Leave out longer texts; 0 for no limit.")] = 400,
    duplicates: Annotated[
        str, typer.Option(help="Remove near duplicates (case, punctuation, digits apart), exact ones, or keep all.")
    ] = "near",
    text: Annotated[str | None, typer.Option("--text", help="Column of the text; guessed if not given.")] = None,
    text_pair: Annotated[str | None, typer.Option("--text-pair", help="Column of the second text.")] = None,
    skip_bad: Annotated[bool, typer.Option("--skip-bad", help="Leave bad rows out, do not stop.")] = False,
    data_dir: DataDir = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a pool that is there.")] = False,
) -> None:
    """Build a pool of unlabelled texts, without duplicates and without texts a model is evaluated on.

    An interrupted build goes on where it was when the same command is run again.

    Example: `attnvat pool build news --for sst --out pools/news`
    """
    kinds: dict[str, Duplicates] = {"near": "near", "exact": "exact", "keep": "keep"}
    if duplicates not in kinds:
        raise UserError(f"--duplicates {duplicates}: choose one of {', '.join(kinds)}")
    options = BuildOptions(min_tokens, max_tokens or None, sentences, kinds[duplicates])
    names = split_names(for_ or [])
    opened = [
        open_source(source, data_dir=data_dir, text=text, text_pair=text_pair, skip_bad=skip_bad) for source in sources
    ]
    exclude = (held for name in names for held in evaluation_texts(load(name, data_dir=data_dir)))
    pool = build_pool(opened, out, exclude=exclude, excluded=names, options=options, overwrite=overwrite)
    Console().print(pool_table(pool))


@app.command("select")
def select_command(
    pool_path: Annotated[Path, typer.Argument(metavar="POOL", help="A pool's folder.")],
    for_: Annotated[str, typer.Option("--for", help="The labelled data to find neighbours of: a corpus or a file.")],
    strategy: Annotated[str, typer.Option(help="random, bow (bag of words) or embedding (average word vector).")],
    size: Annotated[
        int | None, typer.Option(help=f"How many texts; {PAPER_RATIO} for each labelled one if not given.")
    ] = None,
    neighbours: Annotated[int, typer.Option(help="Neighbours of each labelled text that come first.")] = 10,
    engine: Annotated[str, typer.Option(help=f"Search engine for embeddings: {', '.join(ENGINES)}.")] = "exact",
    vectors: Annotated[
        str | None,
        typer.Option(help=f"Word vectors: a file, a name, or {LEARN!r}; {VECTORS} where it is found, else {LEARN!r}."),
    ] = None,
    tfidf: Annotated[bool, typer.Option("--tfidf", help="Weigh bags of words by inverse document frequency.")] = False,
    seed: Annotated[int, typer.Option(help="Seed of the random strategy.")] = 0,
    out: Annotated[Path | None, typer.Option("--out", help="The file; else POOL/selections/NAME.arrow.")] = None,
    text: Annotated[str | None, typer.Option("--text", help="Column of the labelled text.")] = None,
    label: Annotated[str | None, typer.Option("--label", help="Column of the label.")] = None,
    examples: Annotated[int, typer.Option(min=0, help="Selected texts to show.")] = 5,
    data_dir: DataDir = None,
) -> None:
    """Choose texts of a pool for training: at random, or nearest to the labelled texts of a task.

    Example: `attnvat pool select pools/news --for sst --strategy embedding --size 50000`
    """
    pool = Pool.open(pool_path)
    corpus = load(for_, data_dir=data_dir, text=text, label=label)
    if corpus.name not in pool.manifest["plan"]["excluded"] and for_ not in pool.manifest["plan"]["excluded"]:
        note(f"{pool.path} was not built with --for {for_}: it may hold texts of its test split")
    labelled = joined(corpus.train)
    size = size if size is not None else min(PAPER_RATIO * len(labelled), len(pool))
    selection = select(
        pool,
        labelled,
        strategy,
        size,
        neighbours,
        seed,
        vectors=(vectors or default_vectors(data_dir)) if strategy == "embedding" else None,
        engine=engine,
        weighting="tfidf" if tfidf else "counts",
        labelled_name=for_,
        data_dir=data_dir,
    )
    variant = ("-tfidf" if tfidf and strategy == "bow" else "") + (f"-seed{seed}" if seed else "")
    name = f"{Path(for_).stem}-{strategy}{variant}-{size}"
    file = selection.save(out or pool.path / FOLDER / f"{name}.arrow")
    console = Console()
    console.print(selection_table(selection, len(labelled)))
    if examples:
        console.print(examples_table(pool, selection, labelled, examples))
    console.print(f"train on it with  --unlabeled {pool.path}:{file if out else name}", soft_wrap=True, highlight=False)


@app.command()
def show(
    spec: Annotated[str, typer.Argument(metavar="POOL[:SELECTION]", help="A pool, or a selection from it.")],
    examples: Annotated[int, typer.Option(min=0, help="Texts to show.")] = 5,
) -> None:
    """Show what a pool holds and what was left out, the selections made from it, or one of them.

    Example: `attnvat pool show pools/news`
    """
    path, name = (spec, "") if Path(spec).is_dir() else spec.rpartition(":")[::2]
    pool, console = Pool.open(path or spec), Console()
    if name:
        selection = Selection.load(selection_file(pool, name), pool)
        console.print(selection_table(selection, selection.made["labelled"]["texts"]))
        rows = selection.rows[:examples]
    else:
        console.print(pool_table(pool))
        selections = selections_table(pool)
        if selections:
            console.print(selections)
        rows = random_rows(len(pool), examples, seed=0)
    for text in pool.texts(rows):
        console.print(f"· {text}", markup=False, highlight=False, soft_wrap=True)


@app.command()
def check(pool_path: Annotated[Path, typer.Argument(metavar="POOL", help="A pool's folder.")]) -> None:
    """Read every file of a pool and its selections and compare them with their checksums.

    Example: `attnvat pool check pools/news`
    """
    pool = Pool.open(pool_path)
    pool.verify()
    selections = sorted((pool.path / FOLDER).glob("*.arrow"))
    for file in selections:
        Selection.load(file, pool)
    Console().print(f"sound: {len(pool):,} texts in {len(pool.shards)} files, {len(selections)} selections")


def split_names(given: Iterable[str]) -> list[str]:
    """Names given one by one or with commas between."""
    return [name for names in given for name in names.split(",") if name]


def joined(examples: Iterable[Example]) -> list[Text]:
    """The text of each example, with its second text where it has one."""
    return [
        example.text if example.pair is None else f"{plain(example.text)} {plain(example.pair)}" for example in examples
    ]


def default_vectors(data_dir: Path | None) -> str:
    """The usual vectors where they are found, else vectors to be learned from the pool."""
    try:
        find_vectors(VECTORS, data_dir)
    except UserError:
        note(f"no {VECTORS} found; word vectors are learned from the texts (--vectors names others)")
        return LEARN
    return VECTORS


def note(sentence: str) -> None:
    """Say something beside the result."""
    stderr.print(f"note: {sentence}", highlight=False, markup=False, soft_wrap=True)


def register(parent: typer.Typer) -> None:
    """Add the group of commands to the app."""
    parent.add_typer(app, name="pool")
