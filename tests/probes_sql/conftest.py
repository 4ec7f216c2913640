"""One sandbox for the tests of this folder: a job leaves nothing in it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from reviewbot.adapters import sandbox
from tests.probes_sql.rooms import room_over


@pytest.fixture(scope="package")
def room(tmp_path_factory: pytest.TempPathFactory) -> Iterator[sandbox.ClosableSandbox]:
    """bubblewrap over an empty tree."""
    opened = room_over(tmp_path_factory.mktemp("tree"))
    yield opened
    opened.close()
