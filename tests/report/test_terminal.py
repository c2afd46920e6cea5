"""Explanations in a terminal: legible without colour, at any width, and never obeying what the text says."""

from __future__ import annotations

import io

import pytest
from rich.console import Console
from test_heatmap import explanation

from attnvat.evaluation.explanations import Explanation
from attnvat.report.terminal import render_explanation


def printed(one: Explanation, width: int = 60, encoding: str = "utf-8", **options: object) -> str:
    raw = io.BytesIO()
    console = Console(file=io.TextIOWrapper(raw, encoding), width=width, **options)  # type: ignore[arg-type]
    console.print(render_explanation(one))
    console.file.flush()
    return raw.getvalue().decode(encoding)


def test_bars_stand_above_and_below_their_words() -> None:
    one = explanation(["not", "bad", "!"], [0.1, 0.8, 0.1], [0.0, 1.0, 0.5], label=0, rationale=[(1, 2)])
    lines = printed(one, no_color=True).splitlines()
    assert lines[0] == "yes 0.800  ✗ wrong, true: no  correlation 0.87"
    assert lines[2:5] == ["▁▁▁ ███ ▁", "not bad !", "    ███ ▄"]
    assert "most attention: bad 0.80, not 0.10, ! 0.10" in lines
    assert lines[-1] == "human rationale: bad"


def test_no_color_is_obeyed(monkeypatch: pytest.MonkeyPatch) -> None:
    one = explanation(["not", "bad"], [0.1, 0.9], [0.0, 1.0])
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    assert "38;" in printed(one, force_terminal=True, color_system="truecolor")
    monkeypatch.setenv("NO_COLOR", "1")
    plain = printed(one, force_terminal=True, color_system="truecolor")
    assert "38;" not in plain
    assert "███" in plain


def test_lines_fit_the_width_and_keep_every_word() -> None:
    words = [f"word{i}" for i in range(80)] + ["x" * 50]
    text = printed(explanation(words, [1 / 81] * 81, [1.0] * 81), width=30, no_color=True)
    assert max(map(len, text.splitlines())) <= 30
    shown = text.split()
    assert all(word in shown for word in words[:80])


def test_a_long_text_is_cut_to_its_densest_passage() -> None:
    weights = [0.0] * 900 + [1.0] + [0.0] * 99
    text = printed(explanation([f"w{i}" for i in range(1000)], weights, weights), no_color=True)
    assert "w900" in text.split()
    assert "of 1,000, where attention is densest" in text
    assert "w100" not in text.split()


def test_wide_letters_count_double() -> None:
    lines = printed(explanation(["映画", "a"], [0.9, 0.1], [0.5, 0.5]), no_color=True).splitlines()
    assert lines[2] == "████ ▁"


def test_right_to_left_words_come_as_a_list() -> None:
    text = printed(explanation(["שלום", "world"], [0.75, 0.25], [0.5, 0.5]), no_color=True)
    rows = [line.split() for line in text.splitlines()]
    assert ["שלום", "████████████████", "0.750", "████████████████", "0.500"] in rows


def test_digits_stand_for_bars_where_there_are_no_blocks() -> None:
    one = explanation(["not", "bad"], [0.1, 0.9], [0.0, 1.0], label=None)
    assert "112 999" in printed(one, no_color=True, encoding="ascii").replace("111", "112")


def test_terminal_escapes_and_markup_in_text_do_nothing() -> None:
    words = ["\x1b[2J", "[bold]x[/bold]", "[/]", "\x07", "a\nb"]
    one = explanation(words, [0.2] * 5, [1.0] * 5, question=["\x1b]0;title\x07", "[red]"], labels=("[x]", "[/y]"))
    text = printed(one, no_color=True)
    assert "\x1b" not in text
    assert "\x07" not in text
    for shown in ("␛[2J", "[bold]x[/bold]", "[/]", "[/y]", "[red]"):
        assert shown in text
