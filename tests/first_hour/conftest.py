"""What the tests of the first hour share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def newcomer(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Their home: nothing of this machine's user is read or written."""
    home = tmp_path / "newcomer"
    home.mkdir()
    for variable in [name for name in os.environ if name.startswith(("REVIEWBOT_", "XDG_", "GIT_")) or name.endswith("_API_KEY")]:
        monkeypatch.delenv(variable)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.chdir(tmp_path)
    return home
