"""The official layout of every corpus in a few lines written for these tests, and archives to pack them in."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import tarfile
import zipfile
from pathlib import Path

KINDS = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.xz", ".tar.bz2", "folder")
ARCHIVES = KINDS[:-1]


def tar_bytes(files: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return buffer.getvalue()


def pack(folder: Path, stem_and_kind: str, files: dict[str, bytes]) -> Path:
    """Write files as an archive `STEM + kind`, or as a folder, and give its path."""
    path = folder / stem_and_kind
    if stem_and_kind.endswith(".zip"):
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in files.items():
                archive.writestr(name, content)
        return path
    if stem_and_kind.endswith("folder"):
        for name, content in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content)
        return folder / next(iter(files)).split("/")[0]
    compress = {"gz": gzip.compress, "tgz": gzip.compress, "xz": lzma.compress, "bz2": bz2.compress}
    path.write_bytes(compress.get(stem_and_kind.rpartition(".")[2], bytes)(tar_bytes(files)))
    return path


def lines(rows: list[dict[str, object]]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def sst() -> dict[str, bytes]:
    train = [
        r"(3 (2 -LRB-) (3 (3 (2 A) (3 fine)) (2 and\/or)))",
        "(1 (2 dull) (2 ``))",
        "(2 (2 neither) (2 nor))",
        "(4 (2 -RRB-) (4 superb))",
        "(0 (2 \\*) (0 awful))",
    ]
    return {
        "trees/train.txt": "\n".join(train).encode(),
        "trees/dev.txt": b"(3 (2 good) (2 film))\n",
        "trees/test.txt": b"(0 (2 bad) (2 film))\n\n",
    }


def imdb() -> dict[str, bytes]:
    files = {}
    for part in ("train", "test"):
        for kind in ("pos", "neg"):
            for number in range(10):
                # Review 9 has 400 words and is left out of the paper's split; 8 has 399 and as many marks.
                words = {9: "word " * 400, 8: "word, " * 399}.get(number, f"{part} {kind} review {number}<br />end")
                files[f"aclImdb/{part}/{kind}/{number}_7.txt"] = words.encode()
    files |= {f"aclImdb/train/unsup/{number}_0.txt": f"unlabelled {number}".encode() for number in range(3)}
    return files | {"aclImdb/README": b"about"}


def imdb_films() -> dict[str, bytes]:
    numbers = {"pos": (9_999, 10_000, 12_499), "neg": (3_099, 3_100, 3_969, 3_970, 10_869, 10_870, 12_499)}
    more = {f"aclImdb/train/{kind}/{n}_7.txt": f"{kind} {n}".encode() for kind in numbers for n in numbers[kind]}
    return imdb() | more


def agnews() -> dict[str, bytes]:
    train = [f'"{1 + n % 4}","Title {n}","He said ""so"" line\\break {n}"' for n in range(80)]
    test = [f'"{1 + n % 4}","","Test {n}"' for n in range(8)]
    classes = b"World\nSports\nBusiness\nSci/Tech\n"
    return {
        "ag_news_csv/train.csv": "\n".join(train).encode(),
        "ag_news_csv/test.csv": "\n".join(test).encode(),
        "ag_news_csv/classes.txt": classes,
    }


def pairs(prefix: str, count: int, genre: str | None = None) -> bytes:
    labels = ("entailment", "neutral", "contradiction", "-")
    rows = [
        {"gold_label": labels[n % 4], "sentence1": f"{prefix} premise {n}", "sentence2": f"{prefix} hypothesis {n}"}
        | ({"genre": genre} if genre else {})
        for n in range(count)
    ]
    return lines(rows)


def snli() -> dict[str, bytes]:
    return {
        "snli_1.0/snli_1.0_train.jsonl": pairs("train", 44),
        "snli_1.0/snli_1.0_dev.jsonl": pairs("dev", 8),
        "snli_1.0/snli_1.0_test.jsonl": pairs("test", 12),
        "__MACOSX/snli_1.0/snli_1.0_train.jsonl": b"\x00junk",
    }


def multinli() -> dict[str, bytes]:
    return {
        "multinli_1.0/multinli_1.0_train.jsonl": pairs("train", 80, "fiction"),
        "multinli_1.0/multinli_1.0_dev_matched.jsonl": pairs("matched", 8, "fiction"),
        "multinli_1.0/multinli_1.0_dev_mismatched.jsonl": pairs("mismatched", 12, "letters"),
    }


def movie(name: str, label: str, spans: list[tuple[int, int, str]]) -> dict[str, object]:
    evidences = [[{"docid": name, "start_token": a, "end_token": b, "text": text}] for a, b, text in spans]
    return {"annotation_id": name, "classification": label, "evidences": evidences}


def eraser() -> dict[str, bytes]:
    # "a fine film\nvery fine indeed" overlaps in words 1 to 3; (3, 4) only touches it.
    spans = [(2, 3, "film"), (1, 3, "fine film"), (3, 4, "very"), (0, 0, "")]
    return {
        "movies/docs/p1.txt": b"a fine film\nvery fine indeed",
        "movies/train.jsonl": lines([movie("p1.txt", "POS", spans), movie("n1.txt", "NEG", [])]),
        "movies/val.jsonl": lines([movie("n1.txt", "NEG", [(0, 1, "dull")])]),
        "movies/test.jsonl": lines([movie("n1.txt", "NEG", [(0, 2, "dull film")])]),
        "movies/docs/n1.txt": b"dull film",
    }


def question(paragraph: str, question: str, answer: str) -> bytes:
    return f"http://address\n\n{paragraph}\n\n{question}\n\n{answer}\n\n@entity0:A Name\n@entity2:Other: Name".encode()


def cnn() -> dict[str, bytes]:
    text = "@entity10 met @entity2 , said @entity0 ."
    train = {
        f"cnn/questions/training/t{n}.question": question(text, f"who met {n} @placeholder", "@entity2")
        for n in range(5)
    }
    lost = question("@entity1 alone", "where is @placeholder", "@entity9")
    return train | {
        "cnn/questions/training/lost.question": lost,
        "cnn/questions/validation/v.question": question("@entity3 came", "@placeholder came", "@entity3"),
        "cnn/questions/test/x.question": question("@entity4 left", "@placeholder left", "@entity4"),
    }


def one_billion_word() -> dict[str, bytes]:
    root = "1-billion-word-language-modeling-benchmark-r13output"
    return {
        f"{root}/heldout-monolingual.tokenized.shuffled/news.en.heldout-00000-of-00050": b"It 's .\n\nNext one .\n",
        f"{root}/training-monolingual.tokenized.shuffled/news.en-00001-of-00100": "Café closed .\n".encode(),
        f"{root}/README": b"no sentence",
    }


LAYOUTS = {
    "sst": ("trainDevTestTrees_PTB", sst),
    "imdb": ("aclImdb_v1", imdb),
    "imdb-films": ("aclImdb_v1", imdb_films),
    "agnews": ("ag_news_csv", agnews),
    "agnews4": ("ag_news_csv", agnews),
    "cnn": ("cnn", cnn),
    "snli": ("snli_1.0", snli),
    "multinli": ("multinli_1.0", multinli),
    "eraser-movies": ("movies", eraser),
    "1bw": ("1-billion-word-language-modeling-benchmark-r13output", one_billion_word),
}
