"""From texts to what the loop reads: vocabulary, word vectors, encoded splits, and hashes of all of it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from attnvat.corpora import Corpus, Example
from attnvat.errors import UserError
from attnvat.evaluation.subject import encode_examples
from attnvat.models import ModelConfig, Pretrained, build_model
from attnvat.models.phrases import LEAST, common_phrases
from attnvat.techniques.catalogue import Options
from attnvat.techniques.neighbours import refuse_too_many
from attnvat.text.encoding import EncodedDataset
from attnvat.text.tokenizer import Tokenizer
from attnvat.text.vectors import Vectors, vector_words
from attnvat.text.vocabulary import Vocabulary
from attnvat.training.config import Config
from attnvat.training.learnt_language import open_language
from attnvat.training.starting_run import open_start
from attnvat.training.unlabelled import Unlabelled
from attnvat.training.words import DIMENSION, counted, words_and_vectors, words_of

SPREAD = 0.1
"""Standard deviation of random word vectors where there are no others to take it from."""
MISSED = 0.05
"""The share of validation tokens from which it is worth telling that the vectors know words that the model does not."""


@dataclass(frozen=True)
class Prepared:
    """A run's data and its freshly initialised model."""

    bundle: Pretrained
    train: EncodedDataset
    validation: EncodedDataset
    test: EncodedDataset
    unlabelled: EncodedDataset | None
    taught: Tensor | None
    """What a teacher predicts of the unlabelled texts, as logits: (N,) for two classes, (N, C) for more."""
    metric: str
    hashes: dict[str, str]
    """A digest of everything that was read, by part: what a resumed run compares."""
    notes: tuple[str, ...]


def prepare(config: Config, corpus: Corpus, unlabelled: Sequence[Example] | None = None) -> Prepared:
    """Everything the loop needs; `unlabelled` examples given here stand in for `config.unlabeled`."""
    if not corpus.train or not corpus.validation:
        raise UserError(f"{corpus.name}: training needs a training and a validation split; one of them is empty")
    if config.metric == "f1" and len(corpus.labels) != 2:
        raise UserError(f"metric f1 is of two classes, and {corpus.name} has {len(corpus.labels)}; use micro-f1")
    tokenizer = Tokenizer(lower=config.lower, numbers=config.numbers)
    train = few_labels(corpus.train, config.labeled_size, config.seed)
    validation = few_labels(corpus.validation, config.validation_size, config.seed, "validation")
    pool = Unlabelled.of(config, corpus, unlabelled)
    languages = [open_language(config.language_model)] if config.language_model else []
    start = open_start(config.start) if config.start else None
    if start:
        start.refuse_misfits(config, corpus)
        languages.append(start.language())
    vocabulary, vectors = words_and_vectors(config, tokenizer, train, pool, languages)
    neighbours = config.resolved().neighbours
    if neighbours is not None:
        refuse_too_many(neighbours, len(vocabulary))
    bundle = initial_model(config, corpus, tokenizer, vocabulary, vectors)
    for language in languages:
        language.begin(bundle.model)
    encoded = {
        "train": encode_examples(bundle, train, config.max_length),
        "validation": encode_examples(bundle, validation),
        "test": encode_examples(bundle, corpus.test),
    }
    extra = pool.encode(bundle, config.max_length) if pool else None
    phrases = [start.phrases(vocabulary)[0]] if start else []
    if config.phrases:
        read = [data for data in (encoded["train"], extra) if data]
        phrases.append(phrases_of(read, len(vocabulary), config.phrases))
    if any(map(len, phrases)):
        bundle.model.know_phrases(torch.unique(torch.cat(phrases)))
    if start:
        start.begin(bundle)
    hashes = {name: digest_of(dataset) for name, dataset in encoded.items()}
    hashes["vocabulary"] = hashlib.sha256("\n".join(vocabulary.words).encode("utf-8", "surrogatepass")).hexdigest()
    hashes["labels"] = hashlib.sha256(repr(corpus.labels).encode("utf-8", "surrogatepass")).hexdigest()
    hashes["vectors"] = digest(bundle.model.embedding.weight.detach().numpy())
    if extra is not None:
        hashes["unlabelled"] = digest_of(extra)
    if bundle.model.phrases is not None:
        hashes["phrases"] = digest(bundle.model.phrases.keys.numpy())
    if config.language_model:
        hashes["language_model"] = languages[0].digest
    if start:
        hashes["start"] = start.digest
    taught, note = None, ""
    if config.teacher:
        if pool is None:
            raise UserError("a teacher tells what it makes of unlabelled texts, and there are none; name some")
        # scikit-learn takes a while to import: only those who have a teacher wait for it.
        from attnvat.training.remembered_teachers import remembered_logits
        from attnvat.training.teacher import Lesson, digest_of_teachers, teachers

        named = teachers(config.teacher)
        lesson = Lesson(train, validation, pool, corpus.labels, corpus.pair, tokenizer, config.max_length)
        taught, note = remembered_logits(named, lesson)
        hashes["teacher"] = digest_of_teachers(named)
    notes = [*corpus.notes, *describe(vocabulary, vectors, encoded["train"], extra)]
    notes += [note] if note else []
    known = bundle.model.config.phrases
    notes += [f"{known:,} pairs of words have vectors of their own"] if known else []
    notes += missed(config, tokenizer, vocabulary, validation)
    notes += without_effect(config, len(corpus.labels))
    metric = config.metric or corpus.metric
    return Prepared(
        bundle, **encoded, unlabelled=extra, taught=taught, metric=metric, hashes=hashes, notes=tuple(notes)
    )


def few_labels(examples: Sequence[Example], size: int | None, seed: int, kind: str = "labeled") -> list[Example]:
    """`size` examples, as many of each class as the class' share of all says; all of them where size is None."""
    if size is None:
        return list(examples)
    if size > len(examples):
        texts = "labelled texts" if kind == "labeled" else f"{kind} texts"
        raise UserError(f"{kind}_size is {size:,}, but there are only {len(examples):,} {texts}")
    by_class: dict[str, list[int]] = {}
    for row in np.random.default_rng([seed, 1]).permutation(len(examples)).tolist():
        by_class.setdefault(str(examples[row].label), []).append(row)
    if size < len(by_class):
        raise UserError(f"{kind}_size is {size}, but there are {len(by_class)} classes; use at least one text of each")
    # The k-th of n rows of a class stands at (k + 1/2)/n: taking the first `size` in that order keeps the shares. The
    # first of each class goes before all others, so that none is left out.
    ranked = sorted(
        (place > 0, (place + 0.5) / len(rows), row) for rows in by_class.values() for place, row in enumerate(rows)
    )
    return [examples[row] for row in sorted(row for _, _, row in ranked[:size])]


def initial_model(
    config: Config, corpus: Corpus, tokenizer: Tokenizer, vocabulary: Vocabulary, vectors: Vectors | None
) -> Pretrained:
    """A model with random weights by the config's seed and the given word vectors."""
    shape = ModelConfig(
        vocabulary=len(vocabulary),
        dimension=vectors.dimension if vectors else config.dimension or DIMENSION,
        classes=len(corpus.labels),
        pair=corpus.pair,
        hidden=config.hidden,
        attention=config.attention,
        decoder=config.decoder,
        dropout=config.dropout,
    )
    torch.manual_seed(config.seed)
    model = build_model(shape)
    fill(model.embedding.weight, vectors)
    return Pretrained(model, vocabulary, tokenizer, tuple(corpus.labels))


def phrases_of(read: Sequence[EncodedDataset], vocabulary: int, most: int) -> Tensor:
    """The phrases that a model of this data is to know (P,)."""
    keys = common_phrases([texts for data in read for texts in (data.texts, data.questions) if texts], vocabulary, most)
    if not len(keys):
        raise UserError(f"phrases is {most:,}, but no two words stand in a row {LEAST} times; leave it out")
    return keys


def fill(table: Tensor, vectors: Vectors | None) -> None:
    """Put the vectors into a model's table; words without one get random numbers of the same spread, padding zeros."""
    spread = float(vectors.matrix[vectors.found].std()) if vectors and vectors.found.any() else SPREAD
    with torch.no_grad():
        table.normal_(0, spread)
        if vectors:
            found = torch.from_numpy(vectors.found)
            table[found] = torch.from_numpy(vectors.matrix)[found]
        table[0] = 0


def describe(
    vocabulary: Vocabulary, vectors: Vectors | None, train: EncodedDataset, unlabelled: EncodedDataset | None
) -> Iterator[str]:
    """What a person should know of the data before training starts."""
    yield f"{len(train):,} labelled texts, {len(train.texts.ids):,} tokens, {len(vocabulary):,} words in the vocabulary"
    if vectors:
        known = vectors.found[train.texts.ids].mean()
        yield f"vectors from {vectors.source}: {vectors.coverage:.1%} of the words, {known:.1%} of the training tokens"
    if unlabelled is not None:
        ratio = len(unlabelled) / len(train)
        yield f"{len(unlabelled):,} unlabelled texts (N_u/N_l = {ratio:.2f}), {len(unlabelled.texts.ids):,} tokens"


def missed(
    config: Config, tokenizer: Tokenizer, vocabulary: Vocabulary, validation: Sequence[Example]
) -> Iterator[str]:
    """A hint where many words of the validation texts are unknown to the model, but not to the vectors' file."""
    if not config.vectors or config.vectors.partition(":")[0] == "learn" or config.vector_words:
        return
    counts = counted(words_of(validation, tokenizer))
    unknown = {word: count for word, count in counts.items() if word not in vocabulary}
    if sum(unknown.values()) < MISSED * counts.total():
        return
    in_file = set(tokenizer.normalise(vector_words(config.vectors, data_dir=config.data_dir)))
    share = sum(count for word, count in unknown.items() if word in in_file) / counts.total()
    if share >= MISSED:
        yield (
            f"{share:.1%} of the validation tokens are words that have a vector and are not in the vocabulary; "
            "--vector-words 50000 lets the vectors' commonest words join it"
        )


def without_effect(config: Config, classes: int) -> Iterator[str]:
    """Options that were set and change nothing: with two classes VAT's direction has a closed form.

    Iterations still matter for the reading `released`, which turns the direction round in each.
    """
    usual = Options()
    names = ("xi",) if config.reading == "released" else ("xi", "iterations")
    given = [name for name in names if getattr(config, name) not in (None, getattr(usual, name))]
    if classes == 2 and given:
        yield f"{' and '.join(given)} without effect: with two classes VAT takes the gradient of the logit"


def digest(*arrays: npt.NDArray[np.generic] | None) -> str:
    """One hash of several arrays."""
    total = hashlib.sha256()
    for array in arrays:
        total.update(b"-" if array is None else np.ascontiguousarray(array).tobytes())
    return total.hexdigest()


def digest_of(data: EncodedDataset) -> str:
    """One hash of all that a data set holds."""
    parts = [data.texts.ids, data.texts.offsets, data.labels]
    for more in (data.questions, data.classes):
        parts += [more.ids, more.offsets] if more is not None else [None]
    return digest(*cast("list[npt.NDArray[np.generic]]", parts))
