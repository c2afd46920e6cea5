"""Flat encodings and the padded batches made from them."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from attnvat.text.encoding import EncodedDataset, EncodedTexts, encode_texts
from attnvat.text.tokenizer import Tokenizer
from attnvat.text.vocabulary import Vocabulary

VOCABULARY = Vocabulary(["a", "good", "film", "."])  # ids 2, 3, 4, 5
SEQUENCES = st.lists(st.lists(st.integers(1, 99), min_size=1, max_size=9), min_size=1, max_size=12)


def test_texts_become_ids_and_nothing_is_dropped() -> None:
    texts = ["A good film.", "zzz good", "", "  ", ["A", "film", "of", "note"], []]
    encoded = encode_texts(texts, Tokenizer(), VOCABULARY)
    assert [encoded[row].tolist() for row in range(6)] == [[2, 3, 4, 5], [1, 3], [1], [1], [2, 4, 1, 1], [1]]
    assert encoded.ids.dtype == np.int32
    assert encoded.lengths.tolist() == [4, 2, 1, 1, 4, 1]
    assert encoded[-1].tolist() == [1]
    with pytest.raises(IndexError):
        encoded[6]


@settings(max_examples=40)
@given(st.lists(st.one_of(st.text(), st.lists(st.text())), max_size=6), st.one_of(st.none(), st.integers(1, 5)))
def test_encoding_is_tokenising_and_looking_up(texts: list[str | list[str]], max_length: int | None) -> None:
    tokenizer = Tokenizer()
    encoded = encode_texts(texts, tokenizer, VOCABULARY, max_length, progress="encoding")
    for row, text in enumerate(texts):
        tokens = tokenizer.words(text)[:max_length] or ["<unk>"]
        assert encoded[row].tolist() == VOCABULARY.encode(tokens).tolist()


@given(SEQUENCES, st.data())
def test_batches_hold_the_rows_asked_for(sequences: list[list[int]], data: st.DataObject) -> None:
    numbers = st.lists(st.integers(0, len(sequences) - 1), min_size=1, max_size=8)
    rows = np.array(data.draw(numbers))
    texts = EncodedTexts.from_lists(sequences)
    dataset = EncodedDataset(texts, questions=texts.select(np.arange(len(texts))[::-1]), labels=np.arange(len(texts)))
    for whole, own_rows in ((dataset, rows), (dataset.select(rows), np.arange(len(rows)))):
        batch = whole.batch(own_rows)
        assert batch.ids.dtype == batch.lengths.dtype == torch.int64
        assert batch.ids.shape == (len(rows), max(len(sequences[row]) for row in rows))
        assert batch.labels is not None
        assert batch.labels.tolist() == rows.tolist()
        assert batch.rows is not None
        assert batch.rows.tolist() == own_rows.tolist()
        assert batch.question is not None
        for place, row in enumerate(rows):
            assert batch.ids[place][batch.mask[place]].tolist() == sequences[row]
            assert not batch.ids[place][~batch.mask[place]].any()
            question = batch.question.ids[place][batch.question.mask[place]]
            assert question.tolist() == sequences[len(sequences) - 1 - row]


def test_classes_become_a_mask() -> None:
    texts = EncodedTexts.from_lists([[5], [6]])
    classes = EncodedTexts.from_lists([[0, 3], [2]])
    dataset = EncodedDataset(texts, classes=classes, n_classes=4)
    batch = dataset.batch([1, 0])
    assert batch.classes is not None
    assert batch.classes.tolist() == [[False, False, True, False], [True, False, False, True]]
    assert batch.labels is None
    assert batch.question is None


def test_parts_that_do_not_fit_are_refused() -> None:
    texts = EncodedTexts.from_lists([[5], [6]])
    with pytest.raises(ValueError, match="2 texts but 3"):
        EncodedDataset(texts, labels=np.zeros(3, dtype=np.int64))
    with pytest.raises(ValueError, match="n_classes"):
        EncodedDataset(texts, classes=texts)
