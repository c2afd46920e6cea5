"""Fixtures shared by all tests."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

# Some virtual machines announce matrix instructions (AMX) that kill the process; this keeps to those before them.
os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX512_CORE_BF16")
torch.set_num_threads(1)
# Tests that run in the background of a shell are born deaf to Ctrl-C, and so are the processes they start.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A cache that nobody has written to before: what an earlier version has left there is not to pass a test."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ATTNVAT_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of official corpora and vectors; the test is left out where there is none."""
    named = os.environ.get("ATTNVAT_DATA")
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    for folder in [Path(named)] if named else [beside]:
        if (folder / "trainDevTestTrees_PTB.zip").exists():
            return folder
    pytest.skip("no real data: set ATTNVAT_DATA to a folder with the official archives")
