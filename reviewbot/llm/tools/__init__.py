"""The tools that panelists may use. Another one is a function and a row."""

import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import asdict

from reviewbot.concurrency import run_all
from reviewbot.errors import GitError
from reviewbot.llm.provider import Tool, ToolCall, ToolTurn
from reviewbot.llm.tools import files
from reviewbot.llm.tools.database import placeholders_of, query_database
from reviewbot.llm.tools.files import Context
from reviewbot.text.secrets import shown

STEPS = 4  # answers with calls, to one question
MAX_CALLS = 16  # in one answer
MAX_CHARACTERS = 48_000  # of all results of one question, about 12,000 tokens

ToolTable = Mapping[str, tuple[Callable[..., Awaitable[str]], str]]
# By name, a function and what models read of it, with {commands} and {database} filled in. They get
# the schema of its parameters but the first, the context.
TOOLS: ToolTable = {
    "read_file": (files.read_file, f"Read lines of a file, at most {files.MAX_LINES}."),
    "search": (
        files.search,
        f"Find lines that contain a text, at most {files.MAX_HITS}, in files up to 1 MB.",
    ),
    "list_directory": (files.list_directory, "List the files and folders in a folder."),
    "execute_command": (
        files.execute_command,
        "Run a command on a copy of the head, without network. It must begin with: {commands}.",
    ),
    "query_database": (
        query_database,
        "Ask a database ({database}) with one statement that only reads.",
    ),
}


def _arguments_of(tool: Callable[..., Awaitable[str]]) -> type[Struct]:
    _, *given = inspect.signature(tool, eval_str=True).parameters.values()
    defaults = [msgspec.NODEFAULT if p.default is p.empty else p.default for p in given]
    fields = [(p.name, p.annotation, d) for p, d in zip(given, defaults, strict=True)]
    return msgspec.defstruct("Arguments", fields, kw_only=True, forbid_unknown_fields=True)


class ToolBox:
    """The tools for one change, of a table, and so many uses for a question.

    Raises ConfigError for a database that cannot be asked here.
    """

    def __init__(self, context: Context, table: ToolTable = TOOLS, steps: int = STEPS) -> None:
        commands, address = context.settings.commands, context.settings.database
        database = address and placeholders_of(address)
        needs = {"execute_command": commands, "query_database": database}
        words = {"commands": ", ".join(commands), "database": database}
        self.context, self.steps = context, steps
        self._table = {name: row for name, row in table.items() if needs.get(name, True)}
        self._arguments = {name: _arguments_of(tool) for name, (tool, _) in self._table.items()}
        self.tools = tuple(
            Tool(
                name=name,
                description=self._table[name][1].format(**words),
                # Without the reference that `msgspec.json.schema` has at its root.
                parameters=msgspec.json.schema_components([arguments])[1]["Arguments"],
            )
            for name, arguments in self._arguments.items()
        )

    async def run(self, calls: Sequence[ToolCall], earlier: Sequence[ToolTurn] = ()) -> list[str]:
        """What the model reads for each call of one answer, after earlier ones to a question."""
        if len(earlier) >= self.steps:
            return ["no more calls for this question: answer now"] * len(calls)
        results = list(await run_all(*(self._run(call) for call in calls[:MAX_CALLS])))
        results += ["too many calls at once: make fewer"] * (len(calls) - len(results))
        left = MAX_CHARACTERS - sum(len(result) for turn in earlier for result in turn.results)
        for number, result in enumerate(results):
            if len(result) > left:
                what = f"(Cut: a question has room for {MAX_CHARACTERS} characters of results.)"
                results[number] = f"{result[: max(left, 0)]}\n{what}".lstrip()
            left -= len(result)
        return results

    async def _run(self, call: ToolCall) -> str:
        type_ = self._arguments.get(call.name)
        if type_ is None:
            return shown(f"there is no tool {call.name}; there are {', '.join(self._arguments)}")
        try:
            given = msgspec.json.decode(call.arguments.strip() or "{}", type=dict[str, Any])
            given = {name: value for name, value in given.items() if value is not None}
            arguments = msgspec.convert(given, type_, strict=False)
        except (ValueError, RecursionError) as error:
            takes = ", ".join(type_.__struct_fields__)
            return shown(f"{call.name} cannot read its arguments: {error}; it takes {takes}")
        try:
            return shown(await self._table[call.name][0](self.context, **asdict(arguments)))
        except GitError as error:
            return shown(f"git cannot answer: {error}")
