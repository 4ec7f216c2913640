"""``read_file``: numbered lines of a file at either end of the change."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reviewbot.adapters.tools.declined import Declined, Why
from reviewbot.adapters.tools.grounds import Grounds
from reviewbot.adapters.tools.page import fitting, short
from reviewbot.adapters.tools.trees import LARGEST_FILE, SUBMODULE, SYMLINK, Trees, normal
from reviewbot.ports import ToolSpec, TreeEntry

MOST_LINES = 400
_SUGGESTIONS = 5


def offered(grounds: Grounds) -> ReadFile:
    """Always."""
    return ReadFile(grounds.trees)


class ReadFile:
    """Reads files of either tree."""

    spec = ToolSpec(
        name="read_file",
        description=f"Read numbered lines (`  12 | text`) of a file of the repository, at most {MOST_LINES} at a time.",
        parameters={
            "type": "object",
            "properties": {
                "path": {"type": "string", "description": "the file, from the top of the repository"},
                "revision": {
                    "type": ["string", "null"],
                    "enum": ["head", "base", None],
                    "description": "head (with the change; the default) or base (before it)",
                },
                "start": {"type": ["integer", "null"], "minimum": 1, "description": "the first line, 1 unless given"},
                "end": {"type": ["integer", "null"], "minimum": 1, "description": "the last line"},
            },
            "required": ["path", "revision", "start", "end"],
            "additionalProperties": False,
        },
    )

    def __init__(self, trees: Trees) -> None:
        self._trees = trees

    def answer(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The lines, or what the file is instead of text. Raises Declined, GitError."""
        side, path = arguments.get("revision", "head"), normal(arguments["path"])
        entry = self._trees.files(side).get(path)
        if entry is None:
            raise self._missing(side, path)
        named = {"path": path, "revision": side}
        if special := self._special(entry):
            return {**named, "is": special}
        lines = self._trees.lines(entry)
        if lines is None:
            return {**named, "is": f"a binary file of {entry.size} bytes"}
        return _numbered(named, lines, arguments)

    def _special(self, entry: TreeEntry) -> str:
        """In words, what is no text to be read."""
        if entry.mode == SUBMODULE:
            return f"a submodule at commit {entry.object_id}: its files are not here"
        if entry.size > LARGEST_FILE:
            return f"a file of {entry.size} bytes: too large to be read"
        if entry.mode == SYMLINK:
            target = " ".join(self._trees.lines(entry) or ("something that is no text",))
            return f"a symbolic link to {short(target)}"
        return ""

    def _missing(self, side: str, path: str) -> Declined:
        if not path or next(self._trees.below(side, path), None):
            return Declined(Why.MISSING, f"{short(path) or 'the top'} is a directory: use list_directory")
        name = path.rsplit("/", 1)[-1]
        alike = [short(known) for known in self._trees.files(side) if known.rsplit("/", 1)[-1] == name][:_SUGGESTIONS]
        return Declined(Why.MISSING, f"there is no file {short(path)} at {side}", alike or None)


def _numbered(named: Mapping[str, str], lines: tuple[str, ...], arguments: Mapping[str, Any]) -> dict[str, Any]:
    start, last = arguments.get("start", 1), len(lines)
    end = min(arguments.get("end", last), last)
    if not lines:
        return {**named, "start": 0, "end": 0, "of": 0, "lines": [], "more": None}
    if start > last or end < start:
        asked = f"from {start} to {arguments.get('end', 'the end')}"
        raise Declined(Why.MISSING, f"{short(named['path'])} at {named['revision']} has {last} lines, so there are none {asked}")
    numbered = (f"{number:6} | {short(lines[number - 1])}" for number in range(start, end + 1))
    taken = fitting(numbered, MOST_LINES, beside={**named, "start": start, "end": end, "of": last})
    stop = start + len(taken) - 1
    more = f"lines {stop + 1} to {end} are not shown: ask again with start {stop + 1}" if stop < end else None
    return {**named, "start": start, "end": stop, "of": last, "lines": list(taken), "more": more}
