"""The report as a file: safe with hostile text, complete in itself, the same every time."""

from __future__ import annotations

import re
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hostile import tiny_subject

from attnvat.evaluation.explanations import Explanation, explain
from attnvat.report.page import SECTIONS, report_html, write_report

HOSTILE_TITLE = 'runs/<script>alert("t")</script>\u202e\x00'
VOID = {"meta", "input", "br", "img", "link", "hr"}


class Elements(HTMLParser):
    """Every element with its attributes, the text outside of styles, and whether tags are balanced."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.texts: list[str] = []
        self.balanced = True
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        self.balanced &= bool(self.open) and self.open[-1] == tag
        if self.open and self.open[-1] == tag:
            self.open.pop()

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] != "style":
            self.texts.append(data)


@pytest.fixture(scope="module")
def page(evaluation: dict[str, Any], explanations: list[Explanation]) -> str:
    title = HOSTILE_TITLE
    return report_html(title, evaluation, explanations, facts={title: title}, foot=[title])


def test_hostile_text_stays_text(page: str) -> None:
    parsed = Elements(page)
    assert parsed.balanced
    assert parsed.open == []
    tags = {tag for tag, _ in parsed.elements}
    assert not tags & {"script", "img", "iframe", "object", "embed", "link", "base", "form", "b1"}
    assert sum(tag == "style" for tag, _ in parsed.elements) == 1
    for tag, attributes in parsed.elements:
        assert not any(name.startswith("on") for name in attributes), (tag, attributes)
        assert not any("javascript:" in (value or "") for value in attributes.values())
    text = "".join(parsed.texts)
    words = re.sub(r"\s+", "", text)
    assert "<script>alert(1)</script>" in words
    assert "<imgsrc=xonerror=alert(3)>" in words
    assert "{{7*7}}" in words
    assert 'good"><script>alert(4)</script>' in words
    assert not re.search("[\u202a-\u202e\u2066-\u2069\x00\x1b\ud800-\udfff]", page)
    assert "[U+202E]" in text


def test_no_script_could_run_and_nothing_is_loaded(page: str) -> None:
    parsed = Elements(page)
    policy = [a["content"] for tag, a in parsed.elements if tag == "meta" and a.get("http-equiv")]
    assert policy == ["default-src 'none'; style-src 'unsafe-inline'"]
    for tag, attributes in parsed.elements:
        for name in ("src", "href", "xlink:href", "srcset", "action", "data"):
            assert (attributes.get(name) or "#").startswith("#"), (tag, attributes)
    style = re.search(r"<style>(.*?)</style>", page, re.DOTALL)
    assert style is not None
    assert "url(" not in style[1]
    assert "@import" not in style[1]
    # Of all addresses only the names of SVG's own vocabularies may appear.
    outside = set(re.findall(r"https?://[^\s\"'<>]+", page)) - {
        "http://www.w3.org/2000/svg",
        "http://www.w3.org/1999/xlink",
    }
    assert not outside


def test_ids_are_unique_and_every_reference_has_one(page: str) -> None:
    parsed = Elements(page)
    ids = [attributes["id"] for _, attributes in parsed.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    targets = {a[n] for _, a in parsed.elements for n in ("href", "xlink:href") if a.get(n)}
    targets |= {f"#{name}" for name in re.findall(r"url\(#([^)]+)\)", page)}
    assert {str(target)[1:] for target in targets} <= set(ids)


def test_the_same_input_gives_the_same_bytes(
    tmp_path: Path, page: str, evaluation: dict[str, Any], explanations: list[Explanation]
) -> None:
    again = write_report(
        tmp_path / "again.html",
        HOSTILE_TITLE,
        evaluation,
        explanations,
        facts={HOSTILE_TITLE: HOSTILE_TITLE},
        foot=[HOSTILE_TITLE],
    )
    assert again.read_bytes() == page.encode("utf-8")
    assert page.startswith("<!DOCTYPE html>")


def test_every_measure_says_how_to_read_it(evaluation: dict[str, Any]) -> None:
    for suite, (_, make) in SECTIONS.items():
        part = make(evaluation[suite])
        assert part.measures or part.listings
        for measure in part.measures + part.headline:
            assert measure.reading.endswith((".", ")")), measure
            assert measure.value not in ("", "nan")
        for plot in part.plots:
            assert plot.reading.endswith(".")
    assert {row[0] for row in SECTIONS["rationales"][1](evaluation["rationales"]).listings[0].table.rows} >= {
        "Token F1", "IOU F1", "AUPRC", "AP", "ROC-AUC"
    }  # fmt: skip


def test_numbers_are_those_of_the_evaluation(page: str, evaluation: dict[str, Any]) -> None:
    text = "".join(Elements(page).texts)
    prediction, correlation = evaluation["prediction"], evaluation["correlation"]
    for value in (
        prediction["f1"],
        prediction["roc_auc"],
        prediction["calibration"]["ece"],
        correlation["importances"]["gradient"]["pearson"]["mean"],
        evaluation["rationales"]["attention"]["auprc"],
        evaluation["rationales"]["faithfulness"]["attention"]["sufficiency"]["aopc"],
        evaluation["robustness"]["adversarial_attention"]["divergence"]["mean"],
        evaluation["robustness"]["perturbation"]["word"]["vat"]["points"][-1]["tvd"],
    ):
        assert f"{value:.3f}".replace("-", "−") in text


def test_a_report_of_one_suite_has_one_section(evaluation: dict[str, Any]) -> None:
    page = report_html("t", {"subject": {}, "prediction": evaluation["prediction"]})
    assert re.findall(r'<section id="(\w+)"', page) == ["prediction"]


def test_pairs_show_their_question() -> None:
    subject = tiny_subject(pair=True)
    page = report_html("t", {}, explain(subject.pretrained, subject.examples[:3]))
    questions = re.findall(r'<p class="question" dir="auto">(.*?)</p>', page)
    assert [unescape(question) for question in questions] == ["what </p><script>x()</script> of it"] * 3
    assert "<script" not in page
