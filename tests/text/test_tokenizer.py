"""Tokens and their places in the text, for any text there can be."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from attnvat.text.tokenizer import BREAK, NUMBER, Memo, Tokenizer, split

# Pieces that meet in one text what the rules treat apart, between stretches of arbitrary Unicode.
CONTRACTIONS = ["don't", "N’T", "it's", "'s", "n't", "'"]
SIGNS = ["U.S.", "3,000.5", "1st", "<br />", "<BR>", "<br", "/>", "...", "--", "_x_", " ", "\x1c", "\u2028", "\u00a0"]
SCRIPTS = ["İ", "ß", "e\u0301", "北京", "हिन्दी", "👩\u200d👩\u200d👧", "\u200d", "\ud800"]
TRICKY = st.sampled_from([*CONTRACTIONS, *SIGNS, *SCRIPTS])
TEXTS = st.lists(st.one_of(st.text(max_size=8), TRICKY), max_size=12).map("".join)
TOKENIZERS = st.builds(Tokenizer, lower=st.booleans(), numbers=st.booleans())


@given(TEXTS)
@example("İstanbul'da")
@example("<br\u2028/>")
def test_spans_cover_the_text_in_order_without_overlap(text: str) -> None:
    spans = Tokenizer().spans(text)
    covered = [False] * len(text)
    end_before = 0
    for start, end in spans:
        assert end_before <= start < end
        end_before = end
        covered[start:end] = [True] * (end - start)
    # Nothing is dropped, and nothing but white space lies between tokens.
    for character, is_covered in zip(text, covered, strict=True):
        assert is_covered or character.isspace()
    for start, end in spans:
        inside = text[start:end]
        assert not any(map(str.isspace, inside)) or inside.lower().startswith("<br")


@given(TEXTS, TOKENIZERS)
@example("İİ n’t <br /> 5", Tokenizer())
@example(":\u200d<BR>", Tokenizer())
def test_tokens_are_the_normalised_spans(text: str, tokenizer: Tokenizer) -> None:
    surfaces = [text[start:end] for start, end in tokenizer.spans(text)]
    assert tokenizer.tokenize(text) == tokenizer.normalise(surfaces)


@given(TEXTS)
def test_a_second_reading_from_memory_is_the_same(text: str) -> None:
    assert Tokenizer().tokenize(text) == Tokenizer().tokenize(text)


@pytest.mark.parametrize(
    ("text", "surfaces"),
    [
        ("I don't think it's bad.", ["I", "do", "n't", "think", "it", "'s", "bad", "."]),
        ("can’t WON'T we’ll", ["ca", "n’t", "WO", "N'T", "we", "’ll"]),
        ("o'clock rock'n'roll dogs'", ["o'clock", "rock'n'roll", "dogs", "'"]),
        ("'quoted' 'd", ["'", "quoted", "'", "'d"]),
        ("U.S. e.g. end.", ["U.S.", "e.g.", "end", "."]),
        ("3,000.50 10:30 1/2 1st 90s 7.", ["3,000.50", "10:30", "1/2", "1st", "90s", "7", "."]),
        ("1.2x", ["1", ".", "2x"]),
        ("well-made -- or... not!", ["well", "-", "made", "--", "or", "...", "not", "!"]),
        ("film.<br /><br />The <BR>end<br", ["film", ".", "<br />", "<br />", "The", "<BR>", "end", "<", "br"]),
        ("हिन्दी cafe\u0301 北京の", ["हिन्दी", "cafe\u0301", "北", "京", "の"]),
        ("👩\u200d👩\u200d👧👍🏽!", ["👩\u200d👩\u200d👧", "👍", "🏽", "!"]),
        ("_so_ $5 #tag a@b", ["_", "so", "_", "$", "5", "#", "tag", "a", "@", "b"]),
        ("", []),
        (" \n\t\u00a0", []),
    ],
)
def test_tokens_of_worked_examples(text: str, surfaces: list[str]) -> None:
    assert [text[start:end] for start, end in Tokenizer().spans(text)] == surfaces


def test_normalisation_is_what_the_options_say() -> None:
    text = "The 3,000 FILMS can’t<br />end"
    assert Tokenizer().tokenize(text) == ["the", NUMBER, "films", "ca", "n't", BREAK, "end"]
    assert Tokenizer(lower=False).tokenize(text) == ["The", NUMBER, "FILMS", "ca", "n't", BREAK, "end"]
    assert Tokenizer(numbers=False).tokenize(text) == ["the", "3,000", "films", "ca", "n't", BREAK, "end"]


def test_broken_characters_become_writable_ones() -> None:
    """Half of a surrogate pair, as JSON escapes can hold, could not be saved with a vocabulary."""
    assert Tokenizer().tokenize("a\ud83d b") == ["a", "\ufffd", "b"]
    assert Tokenizer().normalise(["a\ud83d"]) == ["a\ufffd"]


def test_words_cut_by_somebody_else_are_kept_one_for_one() -> None:
    words = ["The", "well-made", "-5.5", "12", "", "don't", "-LRB-", "<br />"]
    assert Tokenizer().words(words) == ["the", "well-made", NUMBER, NUMBER, "", "don't", "-lrb-", BREAK]
    assert Tokenizer().words("The 12") == ["the", NUMBER]


@given(TOKENIZERS)
def test_options_survive_json(tokenizer: Tokenizer) -> None:
    assert Tokenizer.from_dict(json.loads(json.dumps(tokenizer.to_dict()))) == tokenizer


@pytest.mark.parametrize("piece", ["1.1", "a'", "n't", "<br ", "x.", "\u0301", "\u200d", "'s", "-", "1"])
def test_long_repetition_takes_linear_time(piece: str) -> None:
    """A quadratic rule would take minutes on these 400,000 repetitions."""
    text = piece * 400_000 + "x"
    assert Tokenizer().spans(text)[-1][1] == len(text)


def test_memory_of_pieces_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Memo, "LIMIT", 10)
    memo = Memo(len)
    assert [memo["x" * n] for n in range(100)] == list(range(100))
    assert len(memo) <= 10
    assert "x" * 99 not in memo


def test_a_text_is_cut_at_white_space_and_line_breaks() -> None:
    assert split("a b<br />c\u2003d") == ["a", "b", BREAK, "c", "d"]
