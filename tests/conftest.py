"""What every test may ask for."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.repo import Repo
from tests.sandboxes import need_bubblewrap


@pytest.fixture(scope="session", autouse=True)
def interruptible() -> Iterator[None]:
    """Processes of tests answer Ctrl-C, though a shell that runs the tests in the background (`&`) ignores it for them."""
    before = signal.getsignal(signal.SIGINT)
    if before is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def git_repo(tmp_path: Path) -> Repo:
    """An empty real git repository."""
    return Repo(tmp_path)


@pytest.fixture
def bubblewrap() -> None:
    """The test is skipped where bubblewrap cannot run."""
    need_bubblewrap()
