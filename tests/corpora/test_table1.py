from __future__ import annotations

from attnvat.corpora.corpus import Corpus
from attnvat.corpora.example import Example
from attnvat.corpora.table1 import against_table1


def corpus(train: int, validation: int, test: int) -> Corpus:
    example = Example("x", label="a")
    return Corpus("sst", ("a", "b"), [example] * train, [example] * validation, [example] * test)


def test_the_papers_sizes_are_recognised() -> None:
    assert against_table1(corpus(6_920, 872, 1_821)) == ["sizes are those of the paper's Table 1"]


def test_a_difference_is_named_and_a_small_one_called_small() -> None:
    (near,) = against_table1(corpus(6_900, 872, 1_821))
    assert near == "sizes differ from the paper's Table 1 by less than 1%: train 6,900 (paper 6,920)"
    (far,) = against_table1(corpus(6_900, 872, 1_000))
    assert far.endswith("Table 1: train 6,900 (paper 6,920), test 1,000 (paper 1,821)")


def test_a_part_is_said_to_be_one() -> None:
    (note,) = against_table1(corpus(10, 872, 1_821), {"train.txt": (10, 8_544), "dev.txt": (1_101, 1_101)})
    assert note.startswith("only a part of the official release is here (train.txt has 10 of 8,544)")
