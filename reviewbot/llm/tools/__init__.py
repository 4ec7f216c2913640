"""The tools that panelists may use. Another one is a module and a row."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from reviewbot.concurrency import run_all
from reviewbot.errors import GitError
from reviewbot.llm.provider import Tool, ToolCall, ToolTurn
from reviewbot.llm.tools import execute_command, list_directory, query_database, read_file, search
from reviewbot.llm.tools.context import Context, shown

MAX_CALLS = 16  # in one answer
MAX_CHARACTERS = 48_000  # of all results of one question, about 12,000 tokens


class Row(Struct, frozen=True):
    """A tool. {commands} and {database} are filled in; models get the schema of the arguments."""

    name: str
    description: str
    arguments: type[Struct]
    run: Callable[[Any, Context], Awaitable[str]]


READ = f"Read lines of a file, at most {read_file.MAX_LINES}."
SEARCH = f"Find lines that contain a text, at most {search.MAX_HITS}, in files up to 1 MB."
LIST = "List the files and folders in a folder."
EXECUTE = "Run a command on a copy of the head, without network. It must begin with: {commands}."
QUERY = "Ask a database ({database}) with one statement that only reads."
TOOLS = (
    Row("read_file", READ, read_file.Arguments, read_file.run),
    Row("search", SEARCH, search.Arguments, search.run),
    Row("list_directory", LIST, list_directory.Arguments, list_directory.run),
    Row("execute_command", EXECUTE, execute_command.Arguments, execute_command.run),
    Row("query_database", QUERY, query_database.Arguments, query_database.run),
)


class ToolBox:
    """The tools for one change. Raises ConfigError for a database that cannot be asked here."""

    steps = 4

    def __init__(self, context: Context, *, may_execute: bool) -> None:
        commands, address = context.settings.commands, context.settings.database
        database = address and query_database.placeholders_of(address)
        needs = {"execute_command": commands and may_execute, "query_database": database}
        self._context = context
        self._rows = {row.name: row for row in TOOLS if needs.get(row.name, True)}
        self.tools = tuple(
            Tool(
                name=row.name,
                description=row.description.format(commands=", ".join(commands), database=database),
                # Without the reference that `msgspec.json.schema` has at its root.
                parameters=msgspec.json.schema_components([row.arguments])[1]["Arguments"],
            )
            for row in self._rows.values()
        )

    async def run(
        self, calls: Sequence[ToolCall], earlier: Sequence[ToolTurn] = ()
    ) -> tuple[str, ...]:
        """What the model reads for each call of one answer, after earlier ones to a question."""
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
            return shown(await row.run(arguments, self._context))
        except GitError as error:
            return shown(f"git cannot answer: {error}")
