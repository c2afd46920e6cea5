from __future__ import annotations

from pathlib import Path

import pytest
from small_world import enter_world

from attnvat.experiments.records import Places


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return enter_world(tmp_path, monkeypatch)


@pytest.fixture
def places(world: Path) -> Places:
    return Places(world / "results", world / "work")
