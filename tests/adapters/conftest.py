"""What the tests of adapters share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.adapters.opener import Opener


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Opener]:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    opener = Opener(scratch)
    yield opener
    opener.close()
