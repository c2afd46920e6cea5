"""Terms of texts: words, and words that stand in a row, as numbers and never as strings."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from scipy.sparse import csr_matrix, hstack

from attnvat.errors import UserError
from attnvat.text.encoding import EncodedTexts, encode_texts
from attnvat.text.tokenizer import Text, Tokenizer
from attnvat.text.vocabulary import UNKNOWN_ID, build_vocabulary

Numbers = npt.NDArray[np.int64]


class Terms:
    """The terms of up to `most` words that are in at least `least` of some texts."""

    def __init__(self, tokenizer: Tokenizer, texts: Iterable[Text], most: int, least: int) -> None:
        texts = list(texts)
        self.tokenizer = tokenizer
        # A rarer word is in no term that is so common.
        self.vocabulary = build_vocabulary(map(tokenizer.words, texts), least)
        if len(self.vocabulary) ** most > np.iinfo(np.int64).max:
            raise UserError(f"terms of {most} words cannot be made of {len(self.vocabulary):,} words; use fewer texts")
        encoded = self._encoded(texts)
        self.known = [self._common(encoded, size, least) for size in range(1, most + 1)]
        """Of each number of words, the keys of the terms in rising order."""

    def __len__(self) -> int:
        return sum(map(len, self.known))

    def matrix(self, texts: Iterable[Text]) -> csr_matrix:
        """Which term is in which text: a one in (N, terms)."""
        encoded = self._encoded(list(texts))
        return hstack([self._columns(encoded, size, known) for size, known in enumerate(self.known, 1)], format="csr")

    def _columns(self, texts: EncodedTexts, size: int, known: Numbers) -> csr_matrix:
        text, keys, number = self._found(texts, size)
        place = np.minimum(np.searchsorted(known, keys), len(known) - 1)
        here = known[place] == keys if len(known) else np.zeros(len(keys), dtype=bool)
        kept = here[number]
        return presence(text[kept], place[number[kept]], (len(texts), len(known)))

    def _encoded(self, texts: list[Text]) -> EncodedTexts:
        return encode_texts(texts, self.tokenizer, self.vocabulary)

    def _common(self, texts: EncodedTexts, size: int, least: int) -> Numbers:
        text, keys, number = self._found(texts, size)
        counts = np.bincount(presence(text, number, (len(texts), len(keys))).indices, minlength=len(keys))
        return np.sort(keys[counts >= least])

    def _found(self, texts: EncodedTexts, size: int) -> tuple[Numbers, Numbers, Numbers]:
        """Where terms of `size` words begin, the text (n,); the keys of different terms (k,); and which it is (n,)."""
        ids, count = texts.ids.astype(np.int64), max(0, len(texts.ids) - size + 1)
        text = np.repeat(np.arange(len(texts)), texts.lengths)
        # Terms of known words only, and none across the end of a text.
        whole = text[:count] == text[size - 1 :][:count]
        key = np.zeros(count, dtype=np.int64)
        for ahead in range(size):
            word = ids[ahead : ahead + count]
            whole &= word != UNKNOWN_ID
            key = key * len(self.vocabulary) + word
        # By hash: NumPy would sort millions of keys.
        told = pa.array(key[whole]).dictionary_encode()
        return text[:count][whole], told.dictionary.to_numpy(), told.indices.to_numpy()


def presence(row: Numbers, column: Numbers, shape: tuple[int, int]) -> csr_matrix:
    """A matrix with a one in each of the places, however often it is named."""
    found = csr_matrix((np.ones(len(row)), (row, column)), shape=shape)
    found.sum_duplicates()
    found.data[:] = 1
    return found
