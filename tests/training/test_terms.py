"""Terms of texts: the same as a vectorizer that works with strings finds."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer

from attnvat.errors import UserError
from attnvat.text.tokenizer import Tokenizer
from attnvat.training.terms import Terms

RNG = np.random.default_rng(0)
TEXTS = [" ".join(f"w{n}" for n in RNG.integers(0, 12, RNG.integers(1, 9))) for _ in range(60)]
OTHERS = ["w1 w2 unheard w3 w4 w5", "unheard", "w1 w1 w1 w1", *TEXTS[:5]]


@pytest.mark.parametrize("least", [1, 2, 5])
@pytest.mark.parametrize("most", [1, 2, 3])
def test_terms_are_those_of_a_vectorizer_of_strings(most: int, least: int) -> None:
    peer = CountVectorizer(ngram_range=(1, most), binary=True, min_df=least, token_pattern=r"\S+").fit(TEXTS)
    terms = Terms(Tokenizer(), TEXTS, most, least)
    assert len(terms) == len(peer.vocabulary_)
    for texts in (TEXTS, OTHERS):
        found, expected = (matrix.toarray() for matrix in (terms.matrix(texts), peer.transform(texts)))
        # In another order: as columns, sorted.
        assert sorted(map(tuple, found.T)) == sorted(map(tuple, expected.T))


def test_no_term_spans_two_texts_or_a_word_that_is_not_known() -> None:
    terms = Terms(Tokenizer(), ["a b", "b a"], 2, 1)
    assert len(terms) == 4  # a, b, "a b", "b a"; not "b b" at the seam
    # Of two texts of one word each, and of one with a strange word between, only the single words are found.
    np.testing.assert_array_equal(terms.matrix(["a", "b", "a strange b"]).sum(axis=1).ravel(), [[1, 1, 2]])


def test_texts_without_words_have_no_terms() -> None:
    terms = Terms(Tokenizer(), ["", "", "a"], 1, 1)
    assert len(terms) == 1
    np.testing.assert_array_equal(terms.matrix(["", "strange", "a"]).toarray(), [[0], [0], [1]])


def test_more_words_than_a_number_can_tell_are_refused() -> None:
    with pytest.raises(UserError, match=r"terms of 15 words cannot be made of \d+ words"):
        Terms(Tokenizer(), [" ".join(f"w{n}" for n in range(20))], 15, 1)


def test_there_may_be_none() -> None:
    terms = Terms(Tokenizer(), ["a", "b"], 3, 2)
    assert len(terms) == 0
    assert terms.matrix(["a b"]).shape == (1, 0)
