"""What the tests of the Action share: an environment that its own install step made, once for all of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.action.runner import run_action
from tests.action.world import World


@pytest.fixture(scope="session")
def action_venv(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """``reviewbot-venv`` as the install step of ``action.yml`` makes it: give it to a :class:`World`, whose jobs then find the
    step's work done, as a second use in the same job does."""
    world = World(tmp_path_factory.mktemp("action-venv"))
    result = run_action({"mode": "all", "timeout_minutes": "none"}, "push", {}, world)
    made = world.folder / "machine-0" / "temp" / "reviewbot-venv"
    assert (made / "reviewbot-state").is_file(), result.log
    return made
