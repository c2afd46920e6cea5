"""Heat maps: heights, underlined rationales, long texts, direction."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from attnvat.evaluation.explanations import Explanation
from attnvat.report.emphasis import emphasis, pearson, right_to_left
from attnvat.report.heatmap import EXCERPT, LONG, heatmap


def explanation(words: list[str], attention: list[float], importance: list[float], **changes: object) -> Explanation:
    fields: dict[str, object] = {
        "words": words,
        "attention": attention,
        "importance": {"gradient": importance},
        "probabilities": [0.2, 0.8],
        "prediction": 1,
        "label": 1,
        "rationale": None,
        "question": None,
        "labels": ("no", "yes"),
        "id": None,
    }
    return Explanation(**(fields | changes))  # type: ignore[arg-type]


def heights(markup: str) -> list[tuple[float, float]]:
    return [(float(a), float(i)) for a, i in re.findall(r'style="--a:([\d.]+);--i:([\d.]+)"', markup)]


def test_heights_are_relative_to_the_largest_weight_of_each_kind() -> None:
    shown = emphasis(explanation(["a", "b", "c"], [0.5, 0.4, 0.1], [0.0, 3.0, 1.0]))
    markup = str(heatmap(shown))
    assert heights(markup) == [(1.0, 0.0), (0.8, 1.0), (0.2, 0.33)]
    assert 'title="attention 0.400 · gradient 0.750"' in markup  # importance as a share: 3 / (3 + 1)
    assert shown.correlation == pytest.approx(np.corrcoef([0.5, 0.4, 0.1], [0, 3, 1])[0, 1])
    assert [word for word, _ in shown.top(shown.importance)] == ["b", "c"]
    twice = emphasis(explanation(["a", "b", "a", "c"], [0.4, 0.3, 0.2, 0.1], [1.0] * 4))
    assert twice.top(twice.attention, 2) == [("a", 0.4), ("b", 0.3)]


def test_rationales_are_one_underlined_run_each() -> None:
    shown = emphasis(explanation([*"abcdef"], [1 / 6] * 6, [1.0] * 6, rationale=[(1, 3), (5, 6)]))
    runs = re.findall(r'<u class="rationale">(.*?)</u>', str(heatmap(shown)))
    assert [re.sub("<[^>]*>", "", run) for run in runs] == ["b c", "f"]
    assert np.isnan(shown.correlation)


def test_a_long_text_is_folded_around_its_densest_passage() -> None:
    count = 5 * LONG
    attention = np.full(count, 0.1 / count)
    attention[400:410] = 0.09
    shown = emphasis(explanation([f"w{i}" for i in range(count)], attention.tolist(), attention.tolist()))
    start, end = shown.densest(EXCERPT)
    assert start <= 400
    assert end >= 410
    markup = str(heatmap(shown))
    whole = re.search(r"<details.*?</details>", markup, re.DOTALL)
    assert whole is not None
    assert f"All {count} words" in whole[0]
    assert len(heights(whole[0])) == count
    assert len(heights(markup)) == count + EXCERPT
    assert markup.startswith('<svg class="strip"')
    assert "<details" not in str(
        heatmap(emphasis(explanation(["a"] * (LONG - 1), [0.0] * (LONG - 1), [0.0] * (LONG - 1))))
    )


def test_right_to_left_text_keeps_its_order_in_one_paragraph() -> None:
    words = ["שלום", "עולם", "2", "."]
    markup = str(heatmap(emphasis(explanation(words, [0.25] * 4, [0.1] * 4))))
    assert markup.startswith('<p class="words" dir="auto">')
    assert re.sub("<[^>]*>", "", markup) == "שלום עולם 2 ."
    assert "bdi" not in markup  # dir="auto" does not look into isolated text
    assert right_to_left(words)
    assert not right_to_left(["(", "a", "ש"])
    assert right_to_left(["12", "،", "كان"])
    long = emphasis(explanation(words * 60, [0.25] * 240, [0.1] * 240))
    assert '<svg class="strip rtl"' in str(heatmap(long))


def test_weights_that_do_not_fit_the_words_are_refused() -> None:
    with pytest.raises(ValueError, match="3 words, 2 attention"):
        emphasis(explanation(["a", "b", "c"], [0.5, 0.5], [1.0, 1.0, 1.0]))


def test_pearson_has_no_value_for_constants() -> None:
    assert np.isnan(pearson(np.ones(3), np.arange(3.0)))
    assert np.isnan(pearson(np.ones(1), np.ones(1)))


def test_an_explanation_without_importance_still_shows_attention() -> None:
    shown = emphasis(replace(explanation(["a", "b"], [0.9, 0.1], []), importance={}))
    assert heights(str(heatmap(shown))) == [(1.0, 0.0), (0.11, 0.0)]
