"""A cache of their own for the tests of corpora."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def kept_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One cache for all tests on small archives."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def _own_cache(kept_cache: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    if request.node.get_closest_marker("real_data"):
        return  # real corpora come from the person's own cache: parsing IMDB takes longer than all other tests
    monkeypatch.setenv("ATTNVAT_CACHE", str(kept_cache))
    monkeypatch.setenv("HOME", str(kept_cache))
    monkeypatch.delenv("ATTNVAT_DATA", raising=False)
