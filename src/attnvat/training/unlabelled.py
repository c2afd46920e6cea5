"""Unlabelled texts: from a pool, a file or the corpus itself, readable more than once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from attnvat.corpora import Corpus, Example, read_unlabelled
from attnvat.errors import UserError
from attnvat.models import Pretrained
from attnvat.pool import Pool, open_unlabelled
from attnvat.text.encoding import EncodedDataset, EncodedTexts, encode_texts
from attnvat.text.tokenizer import Text, Tokenizer
from attnvat.training.config import Config

BLOCK = 8192
"""Texts of a pool read at once."""


@dataclass(frozen=True)
class Unlabelled:
    """Unlabelled texts that can be read more than once without being held in memory when they come from a pool."""

    examples: Sequence[Example] | None
    pool: Pool | None = None
    rows: npt.NDArray[np.int64] | None = None

    @classmethod
    def named(cls, source: str, config: Config, size: int | None = None) -> Unlabelled:
        """What a person names: a pool (or a selection of it), or a file of texts."""
        if Path(source.partition(":")[0]).is_dir() and not Path(source).is_file():
            return cls(None, *open_unlabelled(source, size, config.seed))
        columns = {"text": config.text, "text_pair": config.text_pair}
        return cls(
            list(
                read_unlabelled(source, text=columns["text"], text_pair=columns["text_pair"], skip_bad=config.skip_bad)
            )
        )

    @classmethod
    def of(cls, config: Config, corpus: Corpus, given: Sequence[Example] | None) -> Unlabelled | None:
        """The texts given, or what `config.unlabeled` names, cut to `config.unlabeled_size`."""
        if given is not None:
            found = cls(given)
        elif config.unlabeled is None:
            return None
        elif config.unlabeled == "corpus":
            found = cls(corpus.unlabelled)
            if not corpus.unlabelled:
                raise UserError(f"{corpus.name} has no unlabelled texts of its own; name a pool or a file")
        else:
            found = cls.named(config.unlabeled, config, config.unlabeled_size)
        source = config.unlabeled or "the unlabelled texts"
        if found.examples is not None and not found.examples:
            raise UserError(f"{source}: no texts")
        if corpus.pair and not found.paired:
            raise UserError(f"{source}: holds single texts, but {corpus.name} is a task on pairs")
        return found.first(config.unlabeled_size, config.seed)

    @property
    def paired(self) -> bool:
        """Whether every text has a second one."""
        if self.examples is not None:
            return all(example.pair is not None for example in self.examples)
        return self.pool is not None and self.pool.has_pairs and None not in self._column("pairs")

    def first(self, size: int | None, seed: int) -> Unlabelled:
        """`size` of the texts, drawn by the seed; a pool has drawn them already."""
        if size is None or self.examples is None:
            return self
        if size > len(self.examples):
            raise UserError(f"unlabeled_size is {size:,}, but there are only {len(self.examples):,} texts")
        chosen = np.random.default_rng(seed).permutation(len(self.examples))[:size]
        return Unlabelled([self.examples[row] for row in sorted(chosen.tolist())])

    def texts(self) -> Iterator[Text]:
        """The texts one by one, first ones only."""
        if self.examples is not None:
            yield from (example.text for example in self.examples)
        else:
            yield from self._column("texts")

    def questions(self) -> Iterator[Text]:
        """The second texts of pairs."""
        if self.examples is not None:
            yield from (example.pair for example in self.examples if example.pair is not None)
        else:
            yield from (question for question in self._column("pairs") if question is not None)

    def _column(self, name: str) -> Iterator[Any]:
        assert self.rows is not None
        assert self.pool is not None
        for start in range(0, len(self.rows), BLOCK):
            yield from getattr(self.pool, name)(self.rows[start : start + BLOCK])

    def all_words(self, tokenizer: Tokenizer, pair: bool) -> Iterator[list[str]]:
        """The words of every text."""
        yield from map(tokenizer.words, self.texts())
        if pair:
            yield from map(tokenizer.words, self.questions())

    def encode(self, bundle: Pretrained, max_length: int | None) -> EncodedDataset:
        """The texts as ids of the model's vocabulary."""

        def ids(texts: Iterable[Text]) -> EncodedTexts:
            return encode_texts(texts, bundle.tokenizer, bundle.vocabulary, max_length)

        return EncodedDataset(ids(self.texts()), ids(self.questions()) if bundle.model.config.pair else None)
