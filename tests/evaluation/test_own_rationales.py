import gzip
import json
from pathlib import Path

import pytest

from attnvat.errors import UserError
from attnvat.evaluation.own_rationales import read_rationales


def write(path: Path, *lines: object) -> Path:
    path.write_text("".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines), "utf-8")
    return path


def test_characters_become_words(tmp_path: Path) -> None:
    #        0123456789012345678901
    text = "A truly wonderful film"
    file = write(
        tmp_path / "own.jsonl",
        {"text": text, "label": "pos", "rationale": [[2, 17]], "id": "r1"},
        "",
        # Half a word counts as the word; spans that touch are one, in any order.
        {"text": text, "rationale": [[18, 19], [10, 12]]},
        {"text": text, "rationale": []},
    )
    first, second, third = read_rationales(file)
    assert (first.rationale, first.label, first.id) == (((1, 3),), "pos", "r1")
    assert second.rationale == ((2, 4),)
    assert second.id == f"{file}: line 3"
    assert third.rationale == ()


def test_compressed_files_and_other_scripts(tmp_path: Path) -> None:
    path = tmp_path / "own.jsonl.gz"
    with gzip.open(path, "wt", encoding="utf-8") as handle:
        handle.write(json.dumps({"text": "Très bon, vraiment", "rationale": [[10, 18]]}, ensure_ascii=False))
    # Très | bon | , | vraiment
    assert read_rationales(path)[0].rationale == ((3, 4),)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("{", "line 2: not valid JSON"),
        ("[1]", "line 2: expected a JSON object"),
        ({"text": "a b", "rationales": [[0, 1]]}, "did you mean 'rationale' where it says 'rationales'?"),
        ({"rationale": []}, "line 2: has no 'text'; it has: rationale"),
        ({"text": 3, "rationale": []}, "text is 3; it must be a string"),
        ({"text": "a b", "rationale": [[0, 9]]}, "0–9 does not lie in the text, which has 3 characters"),
        ({"text": "a b", "rationale": [[2, 2]]}, "2–2 does not lie in the text"),
        ({"text": "a b", "rationale": [[0, 1.5]]}, r"\[0, 1.5\] is not a pair of whole numbers"),
        ({"text": "a b", "rationale": ["ab"]}, "'ab' is not a pair of whole numbers"),
        ({"text": "a b", "rationale": [[1, 2]]}, "1–2 holds no word, only ' '"),
        ({"text": "a b", "rationale": "a"}, r"it must be a list of \[start, end\] pairs"),
    ],
)
def test_faults_are_named_with_file_and_line(tmp_path: Path, line: object, says: str) -> None:
    file = write(tmp_path / "own.jsonl", {"text": "a", "rationale": []}, line)
    with pytest.raises(UserError, match=says) as caught:
        read_rationales(file)
    assert f"{file}: line 2" in str(caught.value)


def test_empty_and_undecodable_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="holds no examples"):
        read_rationales(write(tmp_path / "empty.jsonl"))
    (tmp_path / "latin.jsonl").write_bytes('{"text": "très", "rationale": []}'.encode("latin-1"))
    with pytest.raises(UserError, match="line 1: not UTF-8"):
        read_rationales(tmp_path / "latin.jsonl")
