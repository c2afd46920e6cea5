"""Vocabularies: order, limits, special words, and saving."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attnvat.errors import UserError
from attnvat.text.vocabulary import PAD, UNKNOWN, Vocabulary, build_vocabulary

TOKENS = [["b", "a", "c"], ["a", "c", "d"], ["c", UNKNOWN, PAD]]


def test_words_are_ordered_by_count_then_appearance() -> None:
    # c 3, a 2, then b and d once each, b seen first; the special words of the text do not count.
    assert build_vocabulary(TOKENS).words == (PAD, UNKNOWN, "c", "a", "b", "d")


def test_limits_and_extra_words() -> None:
    assert build_vocabulary(TOKENS, min_frequency=2).words[2:] == ("c", "a")
    assert build_vocabulary(TOKENS, max_size=1).words[2:] == ("c",)
    extra = ["z", "c", "z", "y", PAD]
    assert build_vocabulary(TOKENS, max_size=1, extra=extra).words[2:] == ("c", "z", "y")


def test_unknown_words_and_a_spelt_out_pad_are_unknown() -> None:
    vocabulary = Vocabulary(["a", "b"])
    ids = vocabulary.encode(["b", "zzz", PAD, UNKNOWN, "a"])
    assert ids.tolist() == [3, 1, 1, 1, 2]
    assert ids.dtype == np.int32
    assert "a" in vocabulary
    assert "zzz" not in vocabulary
    assert vocabulary.ids[PAD] == 0


def test_a_vocabulary_made_of_its_own_words_is_the_same() -> None:
    vocabulary = Vocabulary(["a", "b"])
    assert Vocabulary(vocabulary.words) == vocabulary
    assert len(vocabulary) == 4


WORDS = st.text(st.characters(exclude_categories=["Cs"])).filter(lambda word: word not in (PAD, UNKNOWN))


@settings(max_examples=25)
@given(st.lists(WORDS, unique=True))
def test_saved_and_loaded_is_the_same(tmp_path_factory: pytest.TempPathFactory, words: list[str]) -> None:
    path = tmp_path_factory.mktemp("vocabulary") / "vocabulary.json"
    Vocabulary(words).save(path)
    assert Vocabulary.load(path) == Vocabulary(words)


@pytest.mark.parametrize("content", ["", "{}", '["a", 1]', '["a", "b"]'])
def test_a_file_that_is_no_vocabulary_is_named(tmp_path: Path, content: str) -> None:
    path = tmp_path / "vocabulary.json"
    path.write_text(content)
    with pytest.raises(UserError, match=r"vocabulary\.json"):
        Vocabulary.load(path)


def test_a_word_twice_is_refused() -> None:
    with pytest.raises(UserError, match="'a' more than once"):
        Vocabulary(["a", "b", "a"])
