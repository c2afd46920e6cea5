"""One example of a corpus: a text or a pair of texts, with what is known of it."""

from __future__ import annotations

from dataclasses import dataclass

from attnvat.text.tokenizer import Text


@dataclass(frozen=True, slots=True)
class Example:
    """A text (the paper's S or P), in pair tasks the text it is read against (Q), and its label if known."""

    text: Text
    """The attended text, raw or already cut into words: the hypothesis in NLI, the paragraph in QA."""
    pair: Text | None = None
    """The second text: the premise in NLI, the question in QA."""
    label: str | None = None
    classes: tuple[str, ...] | None = None
    """The labels possible for this example alone (QA: the entities in the paragraph); None means all."""
    rationale: tuple[tuple[int, int], ...] | None = None
    """Token spans [start, end) of the text's words that people marked as evidence, sorted, disjoint."""
    id: str | None = None
    genre: str | None = None


def plain(text: Text) -> str:
    """The text as one string, words joined by single spaces."""
    return text if isinstance(text, str) else " ".join(text)
