from __future__ import annotations

import pytest

from attnvat.pool.sentences import split_sentences


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It was bad. Really bad! Was it? Yes.", ["It was bad.", "Really bad!", "Was it?", "Yes."]),
        ("Mr. Smith met Dr. J. R. Jones in the U.S. Navy.", ["Mr. Smith met Dr. J. R. Jones in the U.S. Navy."]),
        ('He said "Stop!" and left. "Why?" she asked.', ['He said "Stop!" and left.', '"Why?" she asked.']),
        ('"It is over." Then he left.', ['"It is over."', "Then he left."]),
        ("It cost 3.50 dollars... and more. 10 times.", ["It cost 3.50 dollars... and more.", "10 times."]),
        ("So bad.The end.<br /><br />never again", ["So bad.", "The end.", "never again"]),
        ("It works . `` Yes , '' he said . He left .", ["It works .", "`` Yes , '' he said .", "He left ."]),
        ("one line\n\nanother  line\nof two", ["one line", "another line of two"]),
        ("Better than I. He knew.", ["Better than I.", "He knew."]),
        ("C'est fini. Écoutez.", ["C'est fini.", "Écoutez."]),
        ("   ", []),
    ],
)
def test_sentences(text: str, expected: list[str]) -> None:
    assert split_sentences(text) == expected


def test_nothing_but_white_space_and_line_breaks_is_lost() -> None:
    text = 'A. B said: "No. Never!" (He did.) And so on... Mr. X left.<br/>End'
    assert "".join("".join(split_sentences(text)).split()) == "".join(text.replace("<br/>", "").split())
