"""Every test of the store runs on both databases, each time on a new one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from reviewbot.adapters.store.opening import Store, open_store
from tests.store import cluster as servers


def pytest_itemcollected(item: pytest.Item) -> None:
    """One server serves all of them, on one worker."""
    item.add_marker(pytest.mark.xdist_group("store"))


@pytest.fixture(scope="session")
def cluster() -> Iterator[servers.Cluster]:
    with servers.running() as running:
        yield running


@pytest.fixture(params=["sqlite", "postgresql"])
def where(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A place for a ledger where none is yet."""
    if request.param == "sqlite":
        return str(tmp_path / "state")
    url: str = request.getfixturevalue("cluster").emptied()
    return url


@pytest.fixture
def store(where: str) -> Iterator[Store]:
    with open_store(where) as opened:
        yield opened
