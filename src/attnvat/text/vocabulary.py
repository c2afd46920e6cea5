"""The words a model knows, each with a number; every other word is the unknown word."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from attnvat.errors import UserError
from attnvat.storage import read_json, write_json

PAD, UNKNOWN = "<pad>", "<unk>"
PAD_ID, UNKNOWN_ID = 0, 1


class Vocabulary:
    """Words numbered from 0: `<pad>`, `<unk>`, then `words` (which may begin with these two)."""

    def __init__(self, words: Sequence[str]) -> None:
        given = tuple(words)
        self.words: tuple[str, ...] = given if given[:2] == (PAD, UNKNOWN) else (PAD, UNKNOWN, *given)
        """All words in the order of their ids, the two special ones included."""
        self.ids: dict[str, int] = {word: number for number, word in enumerate(self.words)}
        """The id of every word."""
        if len(self.ids) != len(self.words):
            twice = [word for word, count in Counter(self.words).items() if count > 1]
            raise UserError(f"the vocabulary holds {twice[0]!r} more than once; list each word once")
        # A text that spells out "<pad>" must not look like padding.
        self._readable = {word: number for word, number in self.ids.items() if number != PAD_ID}

    def __len__(self) -> int:
        return len(self.words)

    def __contains__(self, word: object) -> bool:
        return word in self.ids

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Vocabulary) and self.words == other.words

    def __hash__(self) -> int:
        return hash(self.words)

    def __repr__(self) -> str:
        return f"Vocabulary({len(self):,} words)"

    def id(self, word: str) -> int:
        """The id of a word in a text, that of `<unk>` where it is not known."""
        return self._readable.get(word, UNKNOWN_ID)

    def encode(self, tokens: Sequence[str]) -> npt.NDArray[np.int32]:
        """The ids of the tokens (T,)."""
        get = self._readable.get
        return np.array([get(token, UNKNOWN_ID) for token in tokens], dtype=np.int32)

    def save(self, path: Path | str) -> None:
        """Write the words as a JSON list."""
        write_json(path, list(self.words))

    @classmethod
    def load(cls, path: Path | str) -> Vocabulary:
        """The vocabulary written by `save`."""
        words = read_json(path)
        if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
            raise UserError(f"{path}: not a vocabulary: expected a JSON list of words")
        if words[:2] != [PAD, UNKNOWN]:
            raise UserError(f"{path}: not a vocabulary written by attnvat: it does not begin with {PAD} and {UNKNOWN}")
        return cls(words)


def build_vocabulary(
    token_lists: Iterable[Sequence[str]],
    min_frequency: int = 1,
    max_size: int | None = None,
    extra: Iterable[str] = (),
) -> Vocabulary:
    """The words seen at least `min_frequency` times, commonest first and then in order of appearance.

    At most `max_size` words are kept (the two special ones not counted); `extra` words join at the end in the
    order given, whatever their frequency.
    """
    counts: Counter[str] = Counter()
    for tokens in token_lists:
        counts.update(tokens)
    for special in (PAD, UNKNOWN):
        counts.pop(special, None)
    # Counter.most_common sorts stably, and a Counter keeps the order of first appearance.
    kept = [word for word, count in counts.most_common() if count >= min_frequency][:max_size]
    known = {PAD, UNKNOWN, *kept}
    joining = [word for word in dict.fromkeys(extra) if word not in known]
    return Vocabulary([*kept, *joining])
