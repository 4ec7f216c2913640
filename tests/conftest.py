"""What every test may ask for."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.repo import Repo
from tests.sandboxes import need_bubblewrap


@pytest.fixture
def git_repo(tmp_path: Path) -> Repo:
    """An empty real git repository."""
    return Repo(tmp_path)


@pytest.fixture
def bubblewrap() -> None:
    """The test is skipped where bubblewrap cannot run."""
    need_bubblewrap()
