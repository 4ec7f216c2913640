"""``execute_command``: a command that the operator allows, run in the sandbox on a copy of the head tree. No shell reads it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from threading import BoundedSemaphore
from typing import Any

from reviewbot.adapters.tools import page
from reviewbot.adapters.tools.declined import Declined, Why
from reviewbot.adapters.tools.grounds import Grounds
from reviewbot.adapters.tools.trees import Trees, normal
from reviewbot.domain.evidence import Side
from reviewbot.ports import Ended, Job, Outcome, Sandbox, ToolSpec

EVERYTHING = "*"
SECONDS, MOST_SECONDS = 30, 60
AT_A_TIME = 2
"""Commands of all panelists together: they are as heavy as tests, and hosted runners have two to four cores."""
MOST_OUTPUT = 11_000
"""Bytes of JSON of each stream, so that both fit on a page."""
MOST_SCREENED = 200_000
"""Bytes of each end of a stream that are looked at; far more than is shown, so that no key is cut where it is shown."""
_PROGRAM = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._+-]*")
"""A name to be looked for. Anything else is a path, seen from the command's directory."""
_CALL = "call.json"


def offered(grounds: Grounds) -> ExecuteCommand | None:
    """Where commands are allowed and there is a sandbox to run them in."""
    room = grounds.room
    if not grounds.commands or room is None or room.level == "none":
        return None
    return ExecuteCommand(grounds.commands, grounds.trees, room)


class ExecuteCommand:
    """Runs commands, each on a copy of the tree of its own."""

    def __init__(self, commands: tuple[str, ...], trees: Trees, room: Sandbox) -> None:
        self._allowed = tuple(tuple(command.split()) for command in commands)
        self._trees = trees
        self._room = room
        self._turns = BoundedSemaphore(AT_A_TIME)
        self.spec = _spec(commands)

    def answer(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """How it ended and both ends of what it wrote. Raises Declined."""
        argv: list[str] = arguments["argv"]
        self._check(argv)
        directory = self._directory(arguments.get("directory", ""))
        seconds = min(arguments.get("timeout_seconds", SECONDS), MOST_SECONDS)
        with self._turns:
            outcome = self._room.run(_job(argv, directory, seconds))
        if outcome.ended is Ended.MISSING:
            raise Declined(Why.MISSING, f"there is no program {page.short(argv[0])} in the sandbox")
        if outcome.ended is Ended.REFUSED:
            raise Declined(Why.REFUSED, f"it was not run: {outcome.reason}")
        return _told(outcome)

    def _check(self, argv: list[str]) -> None:
        if not argv or not argv[0]:
            raise Declined(Why.INVALID, "argv is empty: its first word is the program")
        if (EVERYTHING,) not in self._allowed and not any(tuple(argv[: len(words)]) == words for words in self._allowed if words):
            raise Declined(Why.REFUSED, "only commands with these first words may be run", [" ".join(a) for a in self._allowed])

    def _directory(self, path: str) -> str:
        """A folder of the head tree; the tree's own names, since a shown one may stand for something that nobody can type."""
        folder = normal(path)
        if folder and next(self._trees.below("head", folder), None) is None:
            raise Declined(Why.MISSING, f"there is no folder {page.short(folder)} at head")
        return folder


def _job(argv: list[str], directory: str, seconds: int) -> Job:
    """The words go in a file, where nothing is replaced in them; only a program's name is the sandbox's to find."""
    program = (f"{{tool:{argv[0]}}}",) if _PROGRAM.fullmatch(argv[0]) else ()
    call = json.dumps({"argv": argv, "directory": directory}).encode("ascii")
    launcher = ("{own_python}", "-I", "{probes}/reviewbot_execute.py", f"{{scratch}}/{_CALL}")
    return Job("execute_command", (*launcher, *program), float(seconds), executes=True, tree=Side.HEAD, files=((_CALL, call),))


def _told(outcome: Outcome) -> dict[str, Any]:
    stdout, stderr = page.screened([_text(outcome.stdout), _text(outcome.stderr)])
    return {
        "exit_code": outcome.exit_code,
        "ended": outcome.ended.value,
        "stdout": page.ends(stdout, MOST_OUTPUT),
        "stderr": page.ends(stderr, MOST_OUTPUT),
    }


def _text(output: bytes) -> str:
    if len(output) > 2 * MOST_SCREENED:
        output = output[:MOST_SCREENED] + b"\n" + output[-MOST_SCREENED:]
    return output.decode("utf-8", "replace")


def _spec(commands: tuple[str, ...]) -> ToolSpec:
    allowed = "any command" if EVERYTHING in commands else f"commands that begin with {', '.join(f'`{one}`' for one in commands)}"
    return ToolSpec(
        name="execute_command",
        description=(
            f"Run a command on a copy of the repository with the change applied, without network and without a shell: {allowed}."
        ),
        parameters={
            "type": "object",
            "properties": {
                "argv": {
                    "type": "array",
                    "items": {"type": "string"},
                    "description": "the program and its arguments, a word each",
                },
                "directory": {
                    "type": ["string", "null"],
                    "description": "where to run it, from the top of the repository; the top unless given",
                },
                "timeout_seconds": {
                    "type": ["integer", "null"],
                    "minimum": 1,
                    "description": f"after which it is ended: {SECONDS} unless given, {MOST_SECONDS} at most",
                },
            },
            "required": ["argv", "directory", "timeout_seconds"],
            "additionalProperties": False,
        },
    )
