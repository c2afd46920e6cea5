"""The sizes the paper's Table 1 gives, and how a corpus as loaded compares with them."""

from __future__ import annotations

from dataclasses import dataclass

from attnvat.corpora.corpus import Corpus


@dataclass(frozen=True)
class Sizes:
    """One row of Table 1; `unlabelled` is None where the paper draws it from One Billion Word."""

    classes: int
    train: int
    validation: int
    test: int
    unlabelled: int | None = None


TABLE1 = {
    "sst": Sizes(2, 6_920, 872, 1_821),
    "imdb": Sizes(2, 17_186, 4_294, 4_353),
    "agnews": Sizes(2, 51_000, 9_000, 3_800),
    "cnn": Sizes(584, 190_149, 3_924, 3_198, 190_149),
    "snli": Sizes(3, 274_683, 9_842, 9_824, 274_684),
    "multinli": Sizes(3, 157_080, 78_541, 19_647, 157_081),
}
TOLERANCE = 0.01
"""IMDB is cut by token count, and no two tokenizers agree; the other rows must agree exactly."""


def against_table1(corpus: Corpus, parts: dict[str, tuple[int, int]] | None = None) -> list[str]:
    """Notes on how the corpus' sizes stand to the paper's.

    `parts` gives, for files that may be incomplete, how many examples were found and how many the official
    release has; where one is a part, that is the note, since sizes cannot agree then.
    """
    short = {file: sizes for file, sizes in (parts or {}).items() if sizes[0] < sizes[1]}
    if short:
        listed = "; ".join(f"{file} has {found:,} of {official:,}" for file, (found, official) in short.items())
        return [f"only a part of the official release is here ({listed}): sizes differ from the paper's Table 1"]
    row = TABLE1.get(corpus.name)
    if row is None:
        return []
    found = Sizes(len(corpus.labels), len(corpus.train), len(corpus.validation), len(corpus.test))
    pairs = [(name, getattr(found, name), getattr(row, name)) for name in ("classes", "train", "validation", "test")]
    if row.unlabelled is not None:
        pairs.append(("unlabelled", len(corpus.unlabelled), row.unlabelled))
    different = [f"{name} {ours:,} (paper {paper:,})" for name, ours, paper in pairs if ours != paper]
    if not different:
        return ["sizes are those of the paper's Table 1"]
    near = all(abs(ours - paper) <= TOLERANCE * paper for _, ours, paper in pairs)
    return [f"sizes differ from the paper's Table 1{' by less than 1%' if near else ''}: {', '.join(different)}"]
