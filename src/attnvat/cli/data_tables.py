"""The tables of `attnvat data`."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from rich.markup import escape
from rich.table import Table

from attnvat.corpora.corpus import Corpus
from attnvat.corpora.example import Example, plain
from attnvat.corpora.official import Official
from attnvat.corpora.registry import CORPORA
from attnvat.corpora.summary import SAMPLE, class_balance, lengths
from attnvat.errors import UserError
from attnvat.progress import track
from attnvat.text.tokenizer import Tokenizer

MOST_CLASSES = 6
"""More classes than this are given as a number."""
LONGEST_EXAMPLE = 200
SPLITS = ("train", "validation", "test", "unlabelled")


def corpora_table(data_dir: Path | None, counts: bool) -> Table:
    """Every corpus with the size of its splits, or what is missing."""
    table = Table(title="Corpora")
    table.add_column("corpus", no_wrap=True)
    table.add_column("kind")
    for column in SPLITS:
        table.add_column(column, justify="right")
    table.add_column("state")
    for name, official in track(CORPORA.items(), "reading corpora", len(CORPORA)):
        found = official.find(data_dir) is not None
        sizes, state = _counts(official, data_dir) if found and counts else ([""] * 4, "here" if found else "missing")
        table.add_row(name, official.task, *sizes, state, style=None if found else "dim")
    return table


def corpora_files(data_dir: Path | None) -> list[str]:
    """For every corpus a line that says where it was found, or the official file to download."""
    lines = []
    for name, official in CORPORA.items():
        archive = official.find(data_dir)
        where = str(archive.path) if archive else f"missing; download {official.file}"
        lines.append(f"{name:14}{official.title}: {where}")
    return lines


def splits_table(corpus: Corpus, tokenizer: Tokenizer) -> Table:
    """The splits of a corpus: number of examples, class balance, lengths in words."""
    kind = "pairs of texts" if corpus.pair else "texts"
    table = Table(title=f"{escape(corpus.name)}: {kind}, judged by {corpus.metric}")
    table.add_column("split")
    table.add_column("examples", justify="right")
    few = 0 < len(corpus.labels) <= MOST_CLASSES
    table.add_column(escape(" · ".join(corpus.labels)) if few else "classes")
    for column in ("words: mean", "median", "95%", "longest"):
        table.add_column(column, justify="right")
    sampled = False
    for name, examples in corpus.splits().items():
        of = lengths(examples, tokenizer)
        sampled = sampled or len(examples) > SAMPLE
        measures = [f"{of.mean:.1f}", f"{of.median:,}", f"{of.most:,}", f"{of.longest:,}"]
        table.add_row(name, f"{len(examples):,}", _balance(corpus, examples), *measures)
    if sampled:
        table.caption = f"lengths of splits above {SAMPLE:,} examples are of a sample of that size"
    return table


def words_table(counts: Counter[str], vectors: str | None, data_dir: Path | None) -> Table:
    """The training split's vocabulary, and how much of it the given vectors cover."""
    table = Table(title="Vocabulary of the training split")
    for column in ("", "different words", "running words"):
        table.add_column(column, justify="right" if column else "left")
    table.add_row("all", f"{len(counts):,}", f"{counts.total():,}")
    more = [count for count in counts.values() if count > 1]
    table.add_row("more than once", f"{len(more):,}", f"{sum(more):,}")
    if vectors and counts:
        from attnvat.text.vectors import load_vectors  # brings torch, which takes longer to start than all the rest

        words = list(counts)
        found = load_vectors(vectors, words, data_dir=data_dir)
        running = sum(counts[word] for word, has in zip(words, found.found, strict=True) if has)
        covered = [
            f"{int(found.found.sum()):,} ({found.coverage:.1%})",
            f"{running:,} ({running / counts.total():.1%})",
        ]
        table.add_row(f"in {escape(Path(vectors).name)}", *covered)
        lacking = {word for word, has in zip(words, found.found, strict=True) if not has}
        missing = [word for word, _ in counts.most_common() if word in lacking][:8]
        table.caption = f"commonest without a vector: {escape(' '.join(missing))}" if missing else None
    return table


def examples_table(corpus: Corpus, each: int) -> Table:
    """The first examples of each class, long ones cut; evidence is underlined."""
    table = Table(title="Examples", show_lines=True)
    table.add_column("label")
    table.add_column("text", overflow="fold")
    if corpus.pair:
        table.add_column("read against", overflow="fold")
    examples = corpus.train or corpus.unlabelled
    for label in corpus.labels[:MOST_CLASSES] or (None,):
        for example in [example for example in examples if example.label == label][:each]:
            pair = [_cut(plain(example.pair))] if example.pair is not None else []
            table.add_row(escape(label or "–"), _shown(example), *pair)
    return table


def _shown(example: Example) -> str:
    if not example.rationale:
        return _cut(plain(example.text))
    start, end = example.rationale[0]
    words = list(example.text)
    before, evidence, after = (
        " ".join(part) for part in (words[max(start - 10, 0) : start], words[start:end], words[end:])
    )
    shown = f"{escape(before)} [underline]{escape(evidence)}[/] {_cut(after)}"
    return f"… {shown}" if start > 10 else shown


def _cut(text: str) -> str:
    text = " ".join(text.split())
    return escape(text if len(text) <= LONGEST_EXAMPLE else f"{text[:LONGEST_EXAMPLE]} …")


def _balance(corpus: Corpus, examples: list[Example]) -> str:
    balance = class_balance(examples)
    if not balance:
        return "[dim]no labels[/]"
    if len(corpus.labels) > MOST_CLASSES:
        commonest = max(balance, key=balance.__getitem__)
        return f"{len(balance):,} classes, commonest {escape(commonest)} {balance[commonest] / len(examples):.1%}"
    return " · ".join(f"{balance.get(label, 0) / len(examples):.1%}" for label in corpus.labels)


def _counts(official: Official, data_dir: Path | None) -> tuple[list[str], str]:
    try:
        corpus = official.read(official.require(data_dir))
    except UserError:
        return [""] * len(SPLITS), "[red]damaged[/]"
    sizes = [len(examples) for examples in (corpus.train, corpus.validation, corpus.test, corpus.unlabelled)]
    part = any(note.startswith("only a part") for note in corpus.notes)
    return [f"{size:,}" if size else "–" for size in sizes], "a part" if part else "whole"
