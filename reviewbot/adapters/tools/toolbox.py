"""The port ``Toolbox``: calls checked, carried out, and remembered."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from threading import Lock
from typing import Any

from reviewbot.adapters.tools import arguments, execute_command, list_directory, page, query_database, read_file, search
from reviewbot.adapters.tools.declined import PASSING, Declined, Why
from reviewbot.adapters.tools.grounds import Grounds, Tool
from reviewbot.errors import GitError
from reviewbot.ports import ToolCall, ToolResult, ToolSpec

Offered = Callable[[Grounds], Tool | None]
TOOLS: tuple[Offered, ...] = (
    read_file.offered,
    search.offered,
    list_directory.offered,
    query_database.offered,
    execute_command.offered,
)
"""Every tool, in the order in which models see them; ``None`` where it has nothing to work on. A further one is a file with such
a function, and a line here."""

ANSWERS_KEPT = 200

_Answer = tuple[str, Why | None]


class Tools:
    """All tools over one change. Safe to use from several threads; equal calls are made once and answered from memory."""

    def __init__(self, grounds: Grounds, table: tuple[Offered, ...] = TOOLS) -> None:
        made = (offered(grounds) for offered in table)
        self._tools = {tool.spec.name: tool for tool in made if tool is not None}
        self._answers: OrderedDict[tuple[str, str], Future[_Answer]] = OrderedDict()
        self._lock = Lock()

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """What there is."""
        return tuple(tool.spec for tool in self._tools.values())

    def use(self, call: ToolCall) -> ToolResult:
        """Carry out one call; never raises. The text is a JSON object, also where it says why there is no answer.

        It takes as long as the tool does: commands and queries have limits of their own, in seconds to a minute.
        """
        tool = self._tools.get(call.name)
        if tool is None:
            return _result(call, _refusal(Declined(Why.UNKNOWN, "there is no such tool", list(self._tools))))
        try:
            given = arguments.read(tool.spec, call.arguments)
        except Declined as declined:
            return _result(call, _refusal(declined))
        return _result(call, self._remembered(tool, given))

    def _remembered(self, tool: Tool, given: Mapping[str, Any]) -> _Answer:
        """One answer for equal calls: who comes while it is looked up waits for it. What failed may be tried again."""
        key = (tool.spec.name, json.dumps(given, sort_keys=True))
        with self._lock:
            known = self._answers.get(key)
            mine: Future[_Answer] = Future()
            if known is None:
                self._answers[key] = mine
                if len(self._answers) > ANSWERS_KEPT:
                    self._answers.popitem(last=False)
        if known is not None:
            return known.result()
        try:
            answer = _answer(tool, given)
        except BaseException as error:
            mine.set_exception(error)
            raise
        mine.set_result(answer)
        if answer[1] in PASSING:
            with self._lock:
                self._answers.pop(key, None)
        return answer


def once(tool: Tool, call: ToolCall, most_bytes: int) -> ToolResult:
    """Carry out one call of one tool, whatever was answered before; never raises."""
    try:
        given = arguments.read(tool.spec, call.arguments, most_bytes)
    except Declined as declined:
        return _result(call, _refusal(declined))
    return _result(call, _answer(tool, given))


def _answer(tool: Tool, given: Mapping[str, Any]) -> _Answer:
    try:
        return page.told(tool.answer(given)), None
    except Declined as declined:
        return _refusal(declined, tool.spec)
    except GitError as error:
        return _refusal(Declined(Why.FAILED, f"git could not answer: {error.message}"))


def _refusal(declined: Declined, spec: ToolSpec | None = None) -> _Answer:
    """Why there is no answer. Who called a tool in the wrong way is shown the schema again."""
    if declined.why is Why.INVALID and declined.expected is None and spec is not None:
        declined = Declined(declined.why, declined.message, spec.parameters)
    return page.told(declined.document()), declined.why


def _result(call: ToolCall, answer: _Answer) -> ToolResult:
    text, why = answer
    return ToolResult(call.id, text, is_error=why is not None)
