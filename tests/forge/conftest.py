"""What tests of the forge may ask for."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.forge.hub import Hub, Pull, Repository


@pytest.fixture
def hub() -> Iterator[Hub]:
    """A fake GitHub. The test fails where anything was sent or answered that GitHub does not describe."""
    with Hub() as hub:
        yield hub


@pytest.fixture
def repository(hub: Hub) -> Repository:
    """``octo/app`` with one commit on main."""
    made = hub.repository("octo/app")
    made.commit("main", {"a.py": "".join(f"line {n}\n" for n in range(1, 41)), "README.md": "An app\n"}, "Begin")
    return made


@pytest.fixture
def pull(repository: Repository) -> Pull:
    """A pull request that changes lines 10 and 30 of ``a.py`` and adds ``b.py``."""
    lines = [f"line {n}" for n in range(1, 41)]
    lines[9], lines[29] = "ten", "thirty"
    repository.commit("topic", {"a.py": "\n".join(lines) + "\n", "b.py": "x = 1\ny = 2\n"}, "Change a.py")
    return repository.pull("Change a.py", "topic")
