"""What the tests of the probes ask for."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.probes.folders import Folders


@pytest.fixture
def folders(tmp_path: Path) -> Folders:
    """Trees of this test."""
    return Folders(tmp_path)
