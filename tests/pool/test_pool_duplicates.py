from __future__ import annotations

import numpy as np
import pytest

from attnvat.pool.duplicates import evaluation_keys, mark_repeats, normal_form, text_key


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Do n't panic .", "Don't panic!"),
        ("It cost 1,250 dollars", "it cost 37.5 dollars"),
        ("So bad.<br /><br />The end", "so bad. The end"),
        ("Café — straße", "CAFÉ STRASSE"),
        ("  white \t space\n", "White space"),
    ],
)
def test_case_punctuation_space_and_digits_do_not_tell_texts_apart(one: str, other: str) -> None:
    assert text_key(one) == text_key(other)
    assert text_key(one, exact=True) != text_key(other, exact=True)


@pytest.mark.parametrize(("one", "other"), [("good film", "good films"), ("it is 5", "it is"), ("किताब", "कताब")])
def test_other_words_are_other_texts(one: str, other: str) -> None:
    assert text_key(one) != text_key(other)


def test_normal_form_by_hand() -> None:
    assert normal_form("He paid $3.20, twice!") == b"hepaid0twice"
    assert normal_form("… ?!") == b""


def test_a_pair_is_not_the_text_of_its_parts_joined() -> None:
    assert len({text_key("a b"), text_key("a", "b"), text_key("b", "a")}) == 3


def test_texts_without_words_are_never_looked_for() -> None:
    assert evaluation_keys(["...", "a film"]) == {text_key("A film.")}


@pytest.mark.parametrize("in_memory", [10, 64, 10_000])
def test_repeats_are_marked_whatever_fits_in_memory(in_memory: int) -> None:
    generator = np.random.default_rng(0)
    distinct = generator.integers(0, 2**64, 400, dtype=np.uint64)
    distinct[:2] = 0, 2**64 - 1
    keys = generator.choice(distinct, 1000)
    parts = np.split(keys, [100, 100, 730])
    repeats = np.zeros(1000, dtype=np.bool_)
    found = mark_repeats(parts, repeats, in_memory)
    seen: set[int] = set()
    expected = []
    for key in keys.tolist():
        expected.append(key in seen)
        seen.add(key)
    assert repeats.tolist() == expected
    assert found == sum(expected)
