"""Every corpus by name, and the one function that loads whatever a person names."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from attnvat.corpora import agnews, cnn, eraser_movies, imdb, multinli, news, one_billion_word, snli, sst
from attnvat.corpora.corpus import Corpus
from attnvat.corpora.example import Example
from attnvat.corpora.hugging_face import PREFIX
from attnvat.corpora.official import SPLIT_SEED, Official
from attnvat.corpora.own import load_own
from attnvat.errors import UserError, nearest

CORPORA: dict[str, Official] = {
    official.name: official
    for official in (
        sst.OFFICIAL,
        imdb.OFFICIAL,
        imdb.BY_FILM,
        agnews.OFFICIAL,
        agnews.FOUR,
        cnn.OFFICIAL,
        snli.OFFICIAL,
        multinli.OFFICIAL,
        eraser_movies.OFFICIAL,
        one_billion_word.OFFICIAL,
        news.OFFICIAL,
    )
}


def load_corpus(name: str, *, data_dir: Path | str | None = None, seed: int = SPLIT_SEED, **options: Any) -> Corpus:
    """The named corpus from its official archive or unpacked folder.

    `seed` decides the splits only and is best left alone, so that runs with different training seeds compare.
    """
    official = named(name)
    official.check_options(options)
    return official.read(official.require(data_dir), seed=seed, **options)


def unlabelled_examples(name: str, *, data_dir: Path | str | None = None) -> Iterator[Example]:
    """The unlabelled texts of the named corpus one at a time, without holding a large one in memory."""
    official = named(name)
    archive = official.require(data_dir)
    if official.stream:
        return official.stream(archive)
    corpus = official.read(archive)
    if not corpus.unlabelled:
        with_some = "1bw, news, imdb and the pair corpora have some"
        raise UserError(f"corpus {name!r} has no unlabelled text; {with_some}")
    return iter(corpus.unlabelled)


def named(name: str) -> Official:
    """The corpus of that name; a misspelt one gets the nearest."""
    if name not in CORPORA:
        raise UserError(f"no corpus {name!r}; {nearest(name, CORPORA)}")
    return CORPORA[name]


def load(
    data: str,
    *,
    data_dir: Path | str | None = None,
    validation: str | None = None,
    test: str | None = None,
    text: str | None = None,
    text_pair: str | None = None,
    label: str | None = None,
    seed: int = SPLIT_SEED,
    skip_bad: bool = False,
    **options: Any,
) -> Corpus:
    """Whatever a person calls their data: a corpus by name, a file or folder, or `hf:` and a data set.

    A corpus' name wins over a file of that name; `./sst` means the file.
    """
    own = {"validation": validation, "test": test, "text": text, "text_pair": text_pair, "label": label}
    if data in CORPORA:
        for option, value in own.items():
            if value is not None:
                raise UserError(f"--{option.replace('_', '-')} is for your own files; {data!r} has it already")
        return load_corpus(data, data_dir=data_dir, seed=seed, **options)
    if not data.startswith(PREFIX) and not Path(data).exists():
        hint = nearest(data, CORPORA)
        raise UserError(f"{data}: no such file or folder, and no corpus of that name; {hint}")
    if options:
        raise UserError(f"option {next(iter(options))!r} is for the official corpora; {data!r} is your own data")
    return load_own(data, seed=seed, skip_bad=skip_bad, **own)
