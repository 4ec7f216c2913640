"""The port ``Toolbox``: calls checked, carried out, and remembered."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Mapping
from threading import Lock
from typing import Any, Protocol

from reviewbot.adapters.tools import arguments
from reviewbot.adapters.tools.arguments import Invalid
from reviewbot.adapters.tools.list_directory import ListDirectory
from reviewbot.adapters.tools.read_file import ReadFile
from reviewbot.adapters.tools.search import SearchText
from reviewbot.adapters.tools.trees import Trees
from reviewbot.domain.change import Revisions
from reviewbot.errors import GitError
from reviewbot.ports import Objects, Search, ToolCall, ToolResult, ToolSpec
from reviewbot.screen import shown

ANSWERS_KEPT = 200


class Tool(Protocol):
    """One tool. A further one is a file with such a class, and a line in :class:`Tools`."""

    @property
    def spec(self) -> ToolSpec:
        """How it is shown to models."""
        ...

    def answer(self, arguments: Mapping[str, Any]) -> str:
        """What it gives for checked arguments. Raises Invalid, GitError."""
        ...


class Tools:
    """All tools over one change. Safe to use from several threads; equal calls are answered from memory."""

    def __init__(self, objects: Objects, search: Search, revisions: Revisions) -> None:
        trees = Trees(objects, revisions)
        tools: tuple[Tool, ...] = (ReadFile(trees), SearchText(trees, search), ListDirectory(trees))
        self._tools = {tool.spec.name: tool for tool in tools}
        self._answers: OrderedDict[tuple[str, str], tuple[str, bool]] = OrderedDict()
        self._lock = Lock()

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """What there is."""
        return tuple(tool.spec for tool in self._tools.values())

    def use(self, call: ToolCall) -> ToolResult:
        """Carry out one call; never raises."""
        tool = self._tools.get(call.name)
        if tool is None:
            return ToolResult(call.id, f"there is no such tool; there are {', '.join(self._tools)}", is_error=True)
        try:
            given = arguments.read(tool.spec, call.arguments)
        except Invalid as error:
            return ToolResult(call.id, shown.text(str(error)), is_error=True)
        text, is_error = self._remembered(tool, given)
        return ToolResult(call.id, text, is_error)

    def _remembered(self, tool: Tool, given: Mapping[str, Any]) -> tuple[str, bool]:
        key = (tool.spec.name, json.dumps(given, sort_keys=True))
        with self._lock:
            if key in self._answers:
                return self._answers[key]
        answer = _answer(tool, given)
        with self._lock:
            self._answers[key] = answer
            if len(self._answers) > ANSWERS_KEPT:
                self._answers.popitem(last=False)
        return answer


def _answer(tool: Tool, given: Mapping[str, Any]) -> tuple[str, bool]:
    """The text and whether it is an error; screened at this door too, for what a model or git said itself."""
    try:
        return shown.text(tool.answer(given)), False
    except Invalid as error:
        return shown.text(str(error)), True
    except GitError as error:
        return shown.text(f"git could not answer: {error.message}"), True
