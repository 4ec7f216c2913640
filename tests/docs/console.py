"""A ``console`` block as commands with what they are shown to print, and a shell that runs them as a reader would."""

from __future__ import annotations

import os
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path

PROMPT = "$ "
CONTINUED = "> "
HANGS = 300.0
"""Seconds after which a command is taken for one that hangs."""

KEEP = """\
trap 'code=$?; export -p >"$0"; pwd >"$0.where"; exit $code' EXIT
if [ -f "$0" ]; then . "$0"; cd -- "$(cat "$0.where")"; fi
{command}
"""
"""What holds for the next command, as in a terminal: the folder, and what was exported."""


@dataclass(frozen=True)
class Command:
    """One command of a page, and the output that is shown below it (empty: none is)."""

    text: str
    output: str = ""


@dataclass(frozen=True)
class Said:
    """How a command ended, and all that could be read of it."""

    code: int
    text: str


def commands(text: str) -> tuple[Command, ...]:
    """The commands of a block. Raises ValueError for a block that does not begin with one."""
    found: list[Command] = []
    for line in text.splitlines():
        if line.startswith(PROMPT):
            found.append(Command(line.removeprefix(PROMPT)))
        elif not found:
            raise ValueError(f"{line!r} stands before any command")
        elif line.startswith(CONTINUED) and not found[-1].output:
            found[-1] = Command(f"{found[-1].text}\n{line.removeprefix(CONTINUED)}")
        else:
            found[-1] = Command(found[-1].text, f"{found[-1].output}{line}\n")
    return tuple(found)


class Shell:
    """One terminal: ``cd`` and ``export`` hold for what comes after. ``state`` is a file of its own."""

    def __init__(self, folder: Path, environment: dict[str, str], state: Path) -> None:
        self._folder = folder
        self._environment = environment
        self._state = state

    def run(self, command: str) -> Said:
        """One command, to its end. Nothing that it started is left."""
        child = subprocess.Popen(
            ["bash", "-c", KEEP.format(command=command), str(self._state)],
            cwd=self._folder,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            said, _ = child.communicate(timeout=HANGS)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            said, _ = child.communicate()
            raise AssertionError(f"{command!r} hangs: {said[-2000:]!r}") from None
        return Said(child.returncode, said.decode("utf-8", "replace"))

    @property
    def folder(self) -> Path:
        """Where the terminal stands."""
        where = Path(f"{self._state}.where")
        return Path(where.read_text(encoding="utf-8").rstrip("\n")) if where.exists() else self._folder
