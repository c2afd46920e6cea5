"""A cached copy of word vectors: one safetensors file, written in a stream and read by memory map.

The whole file of vectors is kept, not the rows of one vocabulary: every later vocabulary is fast as well, and
only the pages with the rows asked for are read from disk.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from safetensors import SafetensorError, safe_open

from attnvat.progress import stderr
from attnvat.storage import atomic_write, cache_dir
from attnvat.text.vector_files import VectorFile
from attnvat.text.vector_text import Block

VERSION = "1"
HEADER_BYTES = 512
"""Room kept for the header, which is known only after the last vector; safetensors pads it with spaces."""


@dataclass(frozen=True)
class VectorTable:
    """All words of a file, and their vectors (N, d) still on disk."""

    words: list[str]
    matrix: torch.Tensor

    @property
    def dimension(self) -> int:
        """Length of a vector, d."""
        return int(self.matrix.shape[1])

    def rows(self, numbers: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
        """The vectors of these rows, read from disk, zero for row -1 (n, d)."""
        vectors = np.zeros((len(numbers), self.dimension), dtype=np.float32)
        if len(self.words):
            # Clipping -1 to a real row lets numpy write straight into the result, without a second copy of it.
            np.take(self.matrix.numpy(), numbers, axis=0, out=vectors, mode="clip")
        vectors[numbers < 0] = 0
        return vectors


def open_table(path: Path) -> VectorTable | None:
    """The table written to `path`, if there is a sound one."""
    try:
        with safe_open(path, framework="pt") as stored:
            words = json.loads(stored.get_tensor("words").numpy().tobytes())
            return VectorTable(words, stored.get_tensor("matrix"))
    except (OSError, SafetensorError, ValueError):
        return None


def cache_path(file: VectorFile, ending: str = ".safetensors") -> Path:
    """Where the cached copy of this state of the file is kept."""
    place = hashlib.sha256(str(file.path.resolve()).encode()).hexdigest()[:8]
    return cache_dir() / "vectors" / f"{file.stem}-{place}-v{VERSION}-{file.identity()[:16]}{ending}"


class NotCached(Exception):  # noqa: N818 (no error: the work goes on without a cache)
    """The cache could not be written."""


def write_table(path: Path, blocks: Iterable[Block]) -> None:
    """Write all words and vectors to a safetensors file, holding no more than a block of them in memory.

    Raises `NotCached` where they do not fit on the disk.
    """
    names: list[bytes] = []
    count = dimension = 0
    with atomic_write(path, "wb") as handle:

        def put(data: bytes | memoryview) -> None:
            try:
                handle.write(data)
            except OSError as error:
                raise NotCached(error.strerror) from error

        handle.seek(HEADER_BYTES)
        for words, matrix in blocks:
            names.append(json.dumps(words)[1:-1].encode("ascii"))
            put(np.ascontiguousarray(matrix, dtype="<f4").data)
            count, dimension = count + len(words), matrix.shape[1]
        text = b"[" + b",".join(names) + b"]"
        put(text)
        end = 4 * count * dimension
        header = {
            "__metadata__": {"attnvat": "word vectors", "version": VERSION},
            "matrix": {"dtype": "F32", "shape": [count, dimension], "data_offsets": [0, end]},
            "words": {"dtype": "U8", "shape": [len(text)], "data_offsets": [end, end + len(text)]},
        }
        handle.seek(0)
        handle.write((HEADER_BYTES - 8).to_bytes(8, "little"))
        handle.write(json.dumps(header).encode().ljust(HEADER_BYTES - 8))


def forget_earlier(path: Path) -> None:
    """Make room for a cached copy at `path`: copies of the same file's earlier states go.

    Raises `NotCached` where the cache cannot be written.
    """
    source, _, _ = path.name.rpartition("-v")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        for old in path.parent.iterdir():
            if old.name.startswith(f"{source}-v") and old.suffix == path.suffix:
                old.unlink(missing_ok=True)
        with tempfile.TemporaryFile(dir=path.parent):
            pass
    except OSError as error:
        raise NotCached(error.strerror) from error


@contextmanager
def cache_or_note(path: Path) -> Iterator[None]:
    """Turn a cache at `path` that cannot be written into a note: the work can go on without."""
    try:
        yield
    except NotCached as reason:
        stderr.print(f"{path.parent}: word vectors are not cached: {reason}", highlight=False, soft_wrap=True)
