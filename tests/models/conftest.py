"""What every test of reviews with models may ask for. None of their processes reaches beyond this machine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes import Models
from tests.models.stage import Stage
from tests.store import cluster as servers


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    """A place for reviews."""
    made = Stage(tmp_path)
    yield made
    made.close()
    assert made.attempts == [], "beyond this machine"


@pytest.fixture
def models() -> Iterator[Models]:
    """The models, of whose requests none was refused."""
    with Models() as made:
        yield made
        assert made.refused == []


@pytest.fixture(scope="session")
def cluster() -> Iterator[servers.Cluster]:
    """A PostgreSQL."""
    with servers.running() as running:
        yield running
