"""Runs that differ in one choice alone are held against each other, seed by seed."""

from __future__ import annotations

from dataclasses import replace

import pytest
from made_rows import made_row, rising

from attnvat.experiments.arms import Arm
from attnvat.experiments.catalogue import EXPERIMENTS
from attnvat.experiments.choices import (
    CHOICES,
    choices_table,
    readings_table,
    selection_table,
    technique_contrasts,
)
from attnvat.experiments.compared_arms import COMPARISON
from attnvat.experiments.findings import said


def test_pairs_differ_in_one_choice_alone() -> None:
    every = [made_row(arm, []) for arm in COMPARISON["sst"]]
    found = [(c.choice, c.ours.arm, c.other.arm) for c in technique_contrasts(every)]
    # Both sites, objectives and bases without unlabelled text, and VAT's four with it.
    assert [sum(choice == one for choice, _, _ in found) for one in CHOICES] == [6, 4, 6, 4]
    news = Arm("attention-ivat", unlabelled=True)
    assert [one for one in found if news in one] == [
        ("attention instead of words", news, Arm("word-ivat", unlabelled=True)),
        ("a basis", news, Arm("attention-vat", unlabelled=True)),
        ("unlabelled text", news, Arm("attention-ivat")),
    ]
    assert not any("vanilla" in (ours.technique, other.technique) for _, ours, other in found)


def test_differences_are_paired_by_seed_and_corrected_within_a_choice() -> None:
    lower = rising(8)
    rows = [
        made_row(Arm("word-at"), lower),
        made_row(Arm("attention-at"), [score + 0.02 for score in lower], correlation=0.9, epsilon=0.5),
        # Two of the eight seeds have no partner.
        made_row(Arm("word-iat"), lower[:6], flips=0.3),
        made_row(Arm("attention-iat"), lower, flips=0.1),
    ]
    table = choices_table(rows, "sst")
    lines = {(line[0], line[1], line[2]): line for line in table.texts()}
    assert set(lines) == {
        ("attention instead of words", "attention-at", "word-at"),
        ("attention instead of words", "attention-iat", "word-iat"),
        ("a basis", "word-iat", "word-at"),
        ("a basis", "attention-iat", "attention-at"),
    }
    words = lines["attention instead of words", "attention-at", "word-at"]
    assert words[4] == "ε 1 → ε 0.5"
    assert lines["attention instead of words", "attention-iat", "word-iat"][4] == "ε 1"
    # All eight signs alike: p = 2/2⁸ = 0.0078, doubled by Holm because this choice has two contrasts.
    assert words[5:9] == ["8", "2.00 [2.00, 2.00]", "0.016", "better"]
    assert words[9] == "0.100 [0.100, 0.100]"
    assert lines["attention instead of words", "attention-iat", "word-iat"][5] == "6"
    steadier = lines["attention instead of words", "attention-iat", "word-iat"][12:]
    # Fewer flips are better; six seeds alike have p = 2/2⁶ = 0.031, the other contrast's differences are 0 and p is 1.
    assert steadier == ["−20.00 [−20.00, −20.00]", "0.062", "too few seeds"]


def test_a_row_without_runs_is_said_to_be_missing() -> None:
    table = choices_table([made_row(Arm("word-at"), [0.8]), made_row(Arm("attention-at"), [])], "sst")
    assert table.texts()[0][5:] == ["0", *["not run", "–", "–"] * 3]


@pytest.mark.parametrize(("seeds", "empty"), [(5, True), (8, False)])
def test_what_the_choices_let_one_say(seeds: int, empty: bool) -> None:
    lower = rising(seeds)
    vat = Arm("attention-vat")
    rows = [
        made_row(vat, lower, flips=0.1),
        made_row(Arm("attention-vat", unlabelled=True), [s + 0.01 for s in lower], flips=0.2),
    ]
    sentences = [
        "By score, unlabelled text is better in attention-vat with 50,000 news.",
        "By correlation with gradients, nothing of 1 compared is shown to be better or worse.",
        "By flips under attention ε 1, unlabelled text is worse in attention-vat with 50,000 news.",
    ]
    assert said(rows, EXPERIMENTS["table-choices"]) == ([] if empty else sentences)


def test_readings_are_held_against_the_same_without_a_basis() -> None:
    lower = rising(8)
    higher = [score + 0.02 for score in lower]
    rows = [
        made_row(Arm("vanilla"), higher),
        made_row(Arm("attention-at"), lower),
        made_row(Arm("attention-vat"), higher, correlation=0.7),
        made_row(Arm("attention-vat", unlabelled=True), lower),
        made_row(Arm("attention-iat", reading="matrix"), higher),
        # An earlier table tests it.
        replace(made_row(Arm("attention-iat", reading="shared"), higher), borrowed=True),
        made_row(Arm("attention-ivat", reading="matrix"), lower, correlation=0.9),
        made_row(Arm("attention-ivat", unlabelled=True, reading="matrix"), []),
    ]
    lines = [[*line[:3], *line[7:10], *line[11:14]] for line in readings_table(rows, "sst").texts()]
    none = ["–", "–"]
    # All eight signs alike, and three of the table's rows compared, of which two have runs: p = 2 · 2/2⁸.
    assert lines == [
        ["vanilla", "no basis", "–", *none, "not compared", *none, "not compared"],
        ["attention-at", "no basis", "–", *none, "reference", *none, "reference"],
        ["attention-vat", "no basis", "–", *none, "reference", *none, "reference"],
        ["attention-vat", "no basis", "50,000 news", *none, "reference", *none, "reference"],
        *(
            ["attention-iat", reading, "–", "2.00 [2.00, 2.00]", p, what, "0.000 [0.000, 0.000]", *truth]
            for reading, p, what, truth in [
                ("matrix", "0.016", "better", ("1.000", "undecided")),
                ("shared", "–", "tested above", ("–", "tested above")),
            ]
        ),
        [
            *("attention-ivat", "matrix", "–", "−2.00 [−2.00, −2.00]", "0.016", "worse"),
            *("0.200 [0.200, 0.200]", "0.016", "better"),
        ],
        ["attention-ivat", "matrix", "50,000 news", "not run", *none, "not run", *none],
    ]
    assert said(rows, EXPERIMENTS["table-readings"])[:2] == [
        "By score, a basis is better in attention-iat (matrix), worse in attention-ivat (matrix).",
        "By correlation with gradients, a basis is better in attention-ivat (matrix).",
    ]


def test_near_texts_are_held_against_random_ones() -> None:
    lower = rising(8)
    drawn = Arm("attention-vat", unlabelled=True)
    rows = [made_row(Arm("vanilla"), lower), made_row(drawn, lower)]
    rows += [made_row(replace(drawn, strategy="bow"), [score + 0.01 for score in lower], correlation=0.7)]
    table = selection_table(rows, "sst")
    assert [line[1] for line in table.texts()] == ["–", "random", "bow"]
    assert [line[8] for line in table.texts()] == ["not compared", "reference", "better"]
    assert table.texts()[2][5:] == [
        *("83.20", "1.00 [1.00, 1.00]", "0.008", "better"),
        *("0.700 ± 0.000", "0.903", "−0.100 [−0.100, −0.100]", "0.008", "worse"),
    ]
    assert said(rows, EXPERIMENTS["table-selection"])[:2] == [
        "By score, choosing near texts is better in attention-vat with 50,000 news by bow.",
        "By correlation with gradients, choosing near texts is worse in attention-vat with 50,000 news by bow.",
    ]
