"""Fixtures for `tests/conftest.py`."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.fake_github.github import GitHub
from tests.fake_github.pull import Pull
from tests.fake_github.repository import Repository

LINES = [f"line {number}" for number in range(1, 41)]


@pytest.fixture
def github() -> Iterator[GitHub]:
    """A fake GitHub. The test fails if anything was not as GitHub describes it."""
    with GitHub() as github:
        yield github


@pytest.fixture
def repository(github: GitHub) -> Repository:
    """`octo/app` with one commit on main."""
    repository = github.repository("octo/app")
    files = {"a.py": "\n".join(LINES) + "\n", "README.md": "An app\n"}
    repository.commit("main", files, "Add the app")
    return repository


@pytest.fixture
def pull(repository: Repository) -> Pull:
    """A pull request that changes lines 10 and 30 of `a.py` and adds `b.py` with 2 lines."""
    lines = [*LINES]
    lines[9], lines[29] = "ten", "thirty"
    files = {"a.py": "\n".join(lines) + "\n", "b.py": "x = 1\ny = 2\n"}
    repository.commit("topic", files, "Change a.py")
    return repository.pull("Change a.py", "topic")
