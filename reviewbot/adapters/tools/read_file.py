"""``read_file``: numbered lines of a file at either end of the change."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reviewbot.adapters.tools.arguments import Invalid
from reviewbot.adapters.tools.page import fitting, short
from reviewbot.adapters.tools.trees import LARGEST_FILE, SUBMODULE, SYMLINK, Trees, normal
from reviewbot.ports import ToolSpec, TreeEntry

MOST_LINES = 400
_SUGGESTIONS = 5


class ReadFile:
    """Reads files of either tree."""

    spec = ToolSpec(
        name="read_file",
        description=f"Read numbered lines of a file of the repository, at most {MOST_LINES} at a time.",
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

    def answer(self, arguments: Mapping[str, Any]) -> str:
        """The lines, or what the file is instead of text. Raises Invalid, GitError."""
        side, path = arguments.get("revision", "head"), normal(arguments["path"])
        entry = self._trees.files(side).get(path)
        if entry is None:
            raise Invalid(self._missing(side, path))
        if special := self._special(path, entry):
            return special
        lines = self._trees.lines(entry)
        if lines is None:
            return f"{path} is a binary file of {entry.size} bytes"
        return _numbered(f"{path} at {side}", lines, arguments)

    def _special(self, path: str, entry: TreeEntry) -> str:
        """In words, what is no text to be read."""
        if entry.mode == SUBMODULE:
            return f"{path} is a submodule at commit {entry.object_id}: its files are not here"
        if entry.size > LARGEST_FILE:
            return f"{path} has {entry.size} bytes: too large to be read"
        if entry.mode == SYMLINK:
            target = " ".join(self._trees.lines(entry) or ("something that is no text",))
            return f"{path} is a symbolic link to {short(target)}"
        return ""

    def _missing(self, side: str, path: str) -> str:
        if not path or next(self._trees.below(side, path), None):
            return f"{path or 'the top'} is a directory: use list_directory"
        name = path.rsplit("/", 1)[-1]
        alike = [known for known in self._trees.files(side) if known.rsplit("/", 1)[-1] == name][:_SUGGESTIONS]
        return f"there is no file {short(path)} at {side}" + (f"; perhaps {', '.join(alike)}" if alike else "")


def _numbered(title: str, lines: tuple[str, ...], arguments: Mapping[str, Any]) -> str:
    start, last = arguments.get("start", 1), len(lines)
    end = min(arguments.get("end", last), last)
    if not lines:
        return f"{title} is empty"
    if start > last or end < start:
        raise Invalid(f"{title} has {last} lines, so there are none from {start} to {arguments.get('end', 'the end')}")
    taken = fitting((f"{number:6} | {short(lines[number - 1])}" for number in range(start, end + 1)), MOST_LINES)
    stop = start + len(taken) - 1
    rest = f"⟨lines {stop + 1} to {end} are not shown: ask again with start {stop + 1}⟩" if stop < end else ""
    return "\n".join((f"{title}, lines {start} to {stop} of {last}:", *taken, *((rest,) if rest else ())))
