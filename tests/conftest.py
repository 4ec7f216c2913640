"""What every test may ask for, and what every run does: see ``rings``, ``cpu`` and ``forkserver``."""

from __future__ import annotations

import gc
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import rings
from tests.cpu import Budget
from tests.forkserver import ForkServer, forking
from tests.repo import Repo
from tests.sandboxes import need_bubblewrap

rings.use_hypothesis_profile()
FORK_SERVER = ForkServer()


def pytest_configure(config: pytest.Config) -> None:
    is_controller = bool(config.getoption("numprocesses", None)) and not hasattr(config, "workerinput")
    config.pluginmanager.register(Budget(measures=not is_controller), "cpu-budget")


def pytest_report_header() -> str:
    return rings.heading()


def pytest_collection(session: pytest.Session) -> None:
    """What is imported and collected stays: the garbage collector need not look through it, now or later."""
    del session
    gc.disable()


def pytest_collection_finish(session: pytest.Session) -> None:
    del session
    gc.freeze()
    gc.enable()


def pytest_itemcollected(item: pytest.Item) -> None:
    rings.group_serial(item)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    rings.select(config, items)


@pytest.fixture(scope="session", autouse=True)
def interruptible() -> Iterator[None]:
    """Processes of tests answer Ctrl-C, though a shell that runs the tests in the background (`&`) ignores it for them."""
    before = signal.getsignal(signal.SIGINT)
    if before is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="session", autouse=True)
def forked_commands() -> Iterator[None]:
    """Commands are forked, unless the test or the ring asks for new interpreters."""
    with forking(FORK_SERVER):
        yield
    FORK_SERVER.close()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    FORK_SERVER.is_on = rings.FORKS and item.get_closest_marker("cold") is None


@pytest.fixture
def git_repo(tmp_path: Path) -> Repo:
    """An empty real git repository."""
    return Repo(tmp_path)


@pytest.fixture
def bubblewrap() -> None:
    """The test is skipped where bubblewrap cannot run."""
    need_bubblewrap()
