"""The tools that panelists may use. Another one is a module and a row."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from reviewbot.concurrency import run_all
from reviewbot.config.settings import ToolSettings
from reviewbot.errors import GitError
from reviewbot.git.change import Change
from reviewbot.git.repository import Repository
from reviewbot.journal import Journal
from reviewbot.llm.provider import Tool, ToolCall, ToolTurn
from reviewbot.llm.tools import execute_command, list_directory, query_database, read_file, search
from reviewbot.llm.tools.read_file import shown
from reviewbot.sandbox.executor import Executor

MAX_CALLS = 16  # in one answer
MAX_CHARACTERS = 48_000  # of all results of one question, about 12,000 tokens


class Row(Struct, frozen=True):
    """A tool. In its description, {commands} and {placeholders} are filled in.

    Attributes:
        arguments: what a call must say. Its JSON Schema is what models are told.
    """

    name: str
    description: str
    arguments: type[Struct]
    run: Callable[[ToolBox, Any], Awaitable[str]]


class ToolBox:
    """The tools for one change. See `debate.panel.ToolBox`.

    Args:
        executor: None if no code of the change can run.

    Raises ConfigError if the database of the settings cannot be asked here.
    """

    steps = 4

    def __init__(
        self,
        change: Change,
        repository: Repository,
        settings: ToolSettings,
        executor: Executor | None,
        journal: Journal,
    ) -> None:
        self.change = change
        self.repository = repository
        self.commands = settings.commands if executor else ()
        self.executor = executor
        self.database: query_database.Database | None = None
        if settings.database:
            self.database = query_database.Database(settings.database, journal, change)
        left_out = {"execute_command": not self.commands, "query_database": not self.database}
        self._rows = {row.name: row for row in TOOLS if not left_out.get(row.name)}
        self.tools = tuple(self._describe(row) for row in self._rows.values())

    async def run(
        self, calls: Sequence[ToolCall], earlier: Sequence[ToolTurn] = ()
    ) -> tuple[str, ...]:
        """What the model reads for each of the calls in one answer: a result, or what is wrong.

        Args:
            earlier: the calls for the same question so far.
        """
        if len(earlier) >= self.steps:
            return ("no more calls for this question: answer now",) * len(calls)
        results = list(await run_all(*(self._run(call) for call in calls[:MAX_CALLS])))
        results += ["too many calls at once: make fewer"] * (len(calls) - len(results))
        left = MAX_CHARACTERS - sum(len(result) for turn in earlier for result in turn.results)
        for number, result in enumerate(results):
            if len(result) > left:
                what = f"(Cut: a question has room for {MAX_CHARACTERS} characters of results.)"
                results[number] = f"{result[: max(left, 0)]}\n{what}".lstrip()
            left -= len(result)
        return tuple(results)

    async def _run(self, call: ToolCall) -> str:
        row = self._rows.get(call.name)
        if row is None:
            return shown(f"there is no tool {call.name}; there are {', '.join(self._rows)}")
        try:
            given = msgspec.json.decode(call.arguments.strip() or "{}", type=dict[str, Any])
            given = {name: value for name, value in given.items() if value is not None}
            arguments = msgspec.convert(given, row.arguments, strict=False)
        except (ValueError, RecursionError) as error:
            return shown(f"{row.name} cannot read its arguments: {error}")
        try:
            return shown(await row.run(self, arguments))
        except GitError as error:
            return shown(f"git cannot answer: {error}")

    def _describe(self, row: Row) -> Tool:
        _, (schema,) = 0, msgspec.json.schema_components([row.arguments])[1].values()
        placeholders = self.database.placeholders if self.database else ""
        text = row.description.format(
            commands=", ".join(self.commands), placeholders=placeholders
        )
        return Tool(name=row.name, description=text, parameters=schema)
