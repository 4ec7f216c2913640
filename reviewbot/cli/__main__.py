"""``python -m reviewbot.cli`` is ``reviewbot``."""

from __future__ import annotations

from reviewbot.cli import program

program()
