"""A tool that another package adds, behind the same door as ours: checked arguments in, screened JSON on a page out.

It is given the trees and the search that our own tools have. Databases and the sandbox are not handed to it. Whatever it raises
or returns, the model gets an answer that says so, and the debate goes on.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from concurrent.futures import Future
from threading import Thread
from typing import Any

from reviewbot.adapters import installed
from reviewbot.adapters.installed import Broken, Extension
from reviewbot.adapters.tools import page
from reviewbot.adapters.tools.declined import Declined, Why
from reviewbot.adapters.tools.grounds import Grounds, Tool
from reviewbot.errors import ConfigError, GitError
from reviewbot.ports import ToolSpec

OWN = ("read_file", "search", "list_directory", "query_database", "execute_command", "code")
"""Names of reviewbot's own tools."""

SECONDS = 30.0
"""For one look-up [design]."""
MOST_DESCRIBED = 1_000
"""Characters of a description: every prompt carries it."""
MOST_DEEP = 8
"""Levels of a result, and of a schema."""
MOST_SIZE = 8 * page.MOST_BYTES
"""Bytes of a result before it is screened, which takes time."""
MOST_EXPECTED = page.MOST_BYTES // 2
"""Bytes of what a refusal names beside its message: both must fit on a page."""
_FIELD = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,39}")
_KINDS = frozenset({"string", "integer", "number", "boolean", "array", "null"})


class OutsideTool:
    """See the module."""

    def __init__(self, one: Extension, tool: Tool) -> None:
        self._one = one
        self._tool = tool
        self.spec = _spec(one, tool)

    def answer(self, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """What it gives. Raises Declined, GitError."""
        try:
            return self._in_time(arguments)
        except Broken as exc:
            raise Declined(Why.FAILED, f"the tool failed ({exc})") from exc
        except TimeoutError as exc:
            raise Declined(Why.TIMEOUT, f"the tool took longer than {SECONDS:g} s") from exc

    def _in_time(self, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """What the tool returned. Raises Broken, TimeoutError, Declined, GitError. One that never returns is left behind in its
        thread, which keeps nobody from going home."""
        answered: Future[Mapping[str, Any]] = Future()

        def work() -> None:
            try:
                with installed.guarded(Declined, GitError):
                    answered.set_result(self._told(arguments))
            except (Broken, Declined, GitError) as exc:
                answered.set_exception(exc)

        Thread(target=work, name=f"tool {self._one.name}", daemon=True).start()
        return answered.result(SECONDS)

    def _told(self, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """What it gives, as plain values. Reading them calls code of the tool, too: a mapping may be anybody's class."""
        try:
            made = self._tool.answer(arguments)
        except Declined as declined:
            raise _plainly(declined) from declined
        if not isinstance(made, Mapping):
            raise _unfit("it is no object")
        told: dict[str, Any] = _plain(made)
        if page.size(told) > MOST_SIZE:
            raise Declined(Why.FAILED, "the result is larger than a page: ask for less")
        return told


def named(name: str) -> Extension:
    """A tool that somebody named. Raises ConfigError."""
    if name in OWN:
        raise ConfigError(f"tools.extra names {name!r}, which is reviewbot's own", hint="leave it out: it is always there")
    return installed.wanted("tool", name)


def offered(one: Extension, grounds: Grounds) -> OutsideTool | None:
    """The tool, where it has something to work on. Raises ConfigError where it cannot be made."""
    make = installed.loaded(one)
    try:
        with installed.guarded():
            tool = make(Grounds(grounds.trees, grounds.search))
            return OutsideTool(one, tool) if tool is not None else None
    except Broken as exc:
        raise ConfigError(f"{one.described} cannot be used: {exc}", hint=installed.UPDATE) from exc


def _spec(one: Extension, tool: Tool) -> ToolSpec:
    """How it is shown to models: under the name that the operator wrote, with a schema of the few words that are known here."""
    given = tool.spec
    if not isinstance(given.description, str) or not 0 < len(given.description) <= MOST_DESCRIBED:
        raise ValueError(f"its description is a text of 1 to {MOST_DESCRIBED} characters")
    properties = {_field(name): _schema(schema) for name, schema in given.parameters["properties"].items()}
    parameters = {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}
    return ToolSpec(one.name, given.description, parameters)


def _schema(given: Mapping[str, Any], deep: int = 0) -> dict[str, Any]:
    """A schema of ``type``, ``description``, ``enum``, ``minimum`` and ``items``: all that arguments are held against."""
    kinds = [given["type"]] if isinstance(given["type"], str) else list(given["type"])
    if not kinds or not set(kinds) <= _KINDS or deep > MOST_DEEP:
        raise ValueError(f"an argument is of the types {', '.join(sorted(_KINDS))}")
    made: dict[str, Any] = {"type": given["type"] if isinstance(given["type"], str) else kinds}
    if "array" in kinds:
        made["items"] = _schema(given["items"], deep + 1)
    if "enum" in given:
        made["enum"] = [_plain(word) for word in given["enum"]]
    if "minimum" in given:
        made["minimum"] = _plain(given["minimum"])
    return made | ({"description": str(given["description"])[:MOST_DESCRIBED]} if "description" in given else {})


def _plain(value: Any, deep: int = 0) -> Any:
    """A value of JSON, names of its fields included: they are not screened. Raises Declined for any other."""
    if deep > MOST_DEEP:
        raise _unfit("it is nested too deeply")
    if value is None or isinstance(value, str | bool):
        return value
    if isinstance(value, int) and abs(value) < 2**63:
        return int(value)
    if isinstance(value, float) and math.isfinite(value):
        return value
    if isinstance(value, Mapping):
        return {_field(name): _plain(item, deep + 1) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item, deep + 1) for item in value]
    raise _unfit(f"{type(value).__name__} is no value of JSON")


def _field(name: Any) -> str:
    if not isinstance(name, str) or not _FIELD.fullmatch(name):
        raise _unfit("a field's name has letters, digits and '_', 40 at most")
    return name


def _plainly(declined: Declined) -> Declined:
    """A refusal whose parts can be told."""
    try:
        expected = _plain(declined.expected)
        if page.size(expected) > MOST_EXPECTED:
            expected = None
    except Declined:
        expected = None
    return Declined(Why(declined.why), str(declined.message), expected)


def _unfit(why: str) -> Declined:
    return Declined(Why.FAILED, f"the tool's result cannot be told: {why}")
