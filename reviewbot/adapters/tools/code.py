"""``code``: the one tool that writes. It edits a scratch tree in memory, for the asks that want code and for no others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from reviewbot.adapters.tools import toolbox
from reviewbot.adapters.tools.declined import Declined, Why
from reviewbot.adapters.tools.list_directory import ListDirectory
from reviewbot.adapters.tools.page import short
from reviewbot.adapters.tools.read_file import ReadFile
from reviewbot.adapters.tools.search import SearchText
from reviewbot.adapters.tools.trees import normal
from reviewbot.adapters.tools.workspace import Scratch, ScratchSearch, Workspace
from reviewbot.domain.change import Revisions
from reviewbot.domain.repair import CodeVersion
from reviewbot.ports import Drafting, Objects, Question, Refinement, Search, ToolCall, ToolResult, ToolSpec

MOST_ARGUMENTS, LARGEST_TEXT = 100_000, 64_000
"""Bytes of a call's arguments, in which a line feed takes two; and of a text to be written [design]."""
SCRATCH = "scratch"
ACTIONS = ("read", "list", "search", "create", "update", "delete", "restore")
_TEXT = ["string", "null"]

SPEC = ToolSpec(
    name="code",
    description=(
        "Write code in a scratch copy of the repository, and read it: only files that the task names may be changed. Every write"
        " is a version with a number; restore takes a file back to one."
    ),
    parameters={
        "type": "object",
        "properties": {
            "action": {"type": "string", "enum": list(ACTIONS), "description": "what to do"},
            "path": {"type": _TEXT, "description": "the file or folder, from the top of the repository"},
            "find": {
                "type": _TEXT,
                "description": "update: text that stands exactly once in the file as it was shown, without line numbers",
            },
            "replace": {"type": _TEXT, "description": "update: what shall stand there instead"},
            "content": {"type": _TEXT, "description": "create: the whole file; update: instead of find and replace"},
            "text": {"type": _TEXT, "description": "search: what to find in one line"},
            "start": {"type": ["integer", "null"], "minimum": 1, "description": "read: the first line"},
            "end": {"type": ["integer", "null"], "minimum": 1, "description": "read: the last line"},
            "version": {
                "type": ["integer", "null"],
                "minimum": 0,
                "description": "restore: the version's number, or 0 with a path: as the file was at first",
            },
        },
        "required": ["action", "path", "find", "replace", "content", "text", "start", "end", "version"],
        "additionalProperties": False,
    },
)


class Workshop:
    """Where code is written: a bench for each ask that wants some."""

    def __init__(self, objects: Objects, revisions: Revisions, search: Search) -> None:
        self._objects = objects
        self._revisions = revisions
        self._search = search

    def bench(self, question: Question, by: str) -> Bench | None:
        """A scratch tree for this question, as it is at its beginning; ``None`` where no code is wanted. ``by``: the seat."""
        if not isinstance(question, Drafting | Refinement):
            return None
        scratch = Scratch(self._objects, self._revisions, question.files)
        return Bench(scratch, Workspace(scratch, question.task, by), ScratchSearch(self._search, scratch))


class Bench:
    """The tool over one scratch tree. Not for several threads at once: each write rests on the one before."""

    spec = SPEC

    def __init__(self, scratch: Scratch, workspace: Workspace, search: Search) -> None:
        self._scratch = scratch
        self._workspace = workspace
        self._reads = ReadFile(scratch)
        self._lists = ListDirectory(scratch)
        self._searches = SearchText(scratch, search)

    @property
    def written(self) -> tuple[CodeVersion, ...]:
        """Every write, in order."""
        return tuple(self._workspace.versions)

    def use(self, call: ToolCall) -> ToolResult:
        """Carry out one call; never raises, and never answers from memory."""
        return toolbox.once(self, call, MOST_ARGUMENTS)

    def answer(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """What the action gave. Raises Declined, GitError."""
        for name in ("content", "replace"):
            if len(arguments.get(name, "").encode()) > LARGEST_TEXT:
                raise Declined(Why.INVALID, f"{name} is longer than {LARGEST_TEXT} bytes: write it in parts")
        return _ACTIONS[arguments["action"]](self, arguments)

    def _read(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        path = _path(arguments)
        if path not in self._scratch.files(SCRATCH) and next(self._scratch.below(SCRATCH, path), None):
            raise Declined(Why.MISSING, f"{short(path)} is a directory: list it")
        asked = {name: arguments[name] for name in ("start", "end") if name in arguments}
        return self._reads.answer({"path": path, "revision": SCRATCH, **asked})

    def _list(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        path = normal(arguments.get("path", ""))
        if path in self._scratch.files(SCRATCH):
            raise Declined(Why.MISSING, f"{short(path)} is a file: read it")
        return self._lists.answer({"path": path, "revision": SCRATCH})

    def _search(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        return self._searches.answer({"text": _given(arguments, "text"), "path": arguments.get("path", "")})

    def _create(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        return self._told(self._workspace.create(_path(arguments), _given(arguments, "content")))

    def _update(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        path, find, content = _path(arguments), arguments.get("find", ""), arguments.get("content", "")
        if find and content:
            raise Declined(Why.INVALID, "give find and replace, or content, and not both")
        if content:
            return self._told(self._workspace.rewrite(path, content))
        if not find:
            raise Declined(Why.INVALID, "find is missing, or content: a file without any is deleted")
        version, line = self._workspace.replace(path, find, _given(arguments, "replace"))
        return {**self._told(version), "line": line}

    def _delete(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        return self._told(self._workspace.delete(_path(arguments)))

    def _restore(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        if "version" not in arguments:
            raise Declined(Why.INVALID, "version is missing")
        return self._told(self._workspace.restore(arguments["version"], arguments.get("path", "")))

    def _told(self, version: CodeVersion) -> dict[str, Any]:
        content = version.content
        of = None if content is None else content.count(b"\n") + (not content.endswith(b"\n") and bool(content))
        return {"version": version.number, "path": version.path, "exists": content is not None, "of": of}


_ACTIONS: Mapping[str, Callable[[Bench, Mapping[str, Any]], dict[str, Any]]] = {
    "read": Bench._read,
    "list": Bench._list,
    "search": Bench._search,
    "create": Bench._create,
    "update": Bench._update,
    "delete": Bench._delete,
    "restore": Bench._restore,
}


def _path(arguments: Mapping[str, Any]) -> str:
    path = normal(arguments.get("path", ""))
    if not path:
        raise Declined(Why.INVALID, "path is missing")
    return path


def _given(arguments: Mapping[str, Any], name: str) -> str:
    if name not in arguments:
        raise Declined(Why.INVALID, f"{name} is missing")
    return str(arguments[name])
