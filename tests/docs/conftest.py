"""What the tests of the pages share with those of the Action: the environment that its install step makes."""

from __future__ import annotations

from tests.action.conftest import action_venv

__all__ = ["action_venv"]
