"""Read files, search in them and list folders, as git has them, and run commands on a copy."""

import asyncio
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from reviewbot.config.settings import ToolSettings
from reviewbot.git.change import Change, Side
from reviewbot.git.repository import Entry, Repository
from reviewbot.journal import Journal
from reviewbot.sandbox.executor import Executor
from reviewbot.sandbox.job import COMMAND_NOT_FOUND, Job
from reviewbot.text.secrets import shown

MAX_LINE = 500  # characters
MAX_LINES = 300
MAX_HITS = 50
MAX_FILES = 50
MAX_TEXT = 200
MAX_NAMES = 300
# Where git looks for a NUL to tell whether a file is binary.
BINARY_BYTES = 8_000
KINDS = {"120000": "symbolic link", "160000": "submodule"}
MAX_SECONDS = 60  # of a command
MAX_CHARACTERS = 6_000
# Bytes of a stream that are searched for secrets, so that none is cut where it is shown.
MAX_SEARCHED = 200_000

Path = Annotated[str, Meta(description="from the top of the repository")]
AtSide = Annotated[Side, Meta(description="head is after the change, base before it")]
Words = Annotated[
    tuple[str, ...], Meta(description="the program and its arguments, a word each; no shell")
]


class Context(Struct, frozen=True, kw_only=True):
    """What tools work with. `database_lock` lets one question at a time go to the database."""

    change: Change
    repository: Repository
    settings: ToolSettings
    executor: Executor
    journal: Journal
    database_lock: asyncio.Lock = msgspec.field(default_factory=asyncio.Lock)


async def read_file(
    context: Context,
    path: Path,
    side: AtSide = "head",
    start: Annotated[int, Meta(description="the first line, from 1")] = 1,
    end: Annotated[int, Meta(description="the last line; as many as possible if 0")] = 0,
) -> str:
    path = _clean(path)
    files = await context.repository.read_files(context.change.tree(side), [path])
    content = files.get(path, b"\0")
    if b"\0" in content[:BINARY_BYTES]:
        return f"there is no text file {path} at {side} of up to 1 MB; list_directory shows files"
    lines = _lines(content)
    start = max(start, 1)
    end = min(end, len(lines)) if end > 0 else len(lines)
    last = min(end, start + MAX_LINES - 1)
    cut = f" ({MAX_LINES} at once)" if last < end else ""
    rows = [f"{path} at {side}, lines {start} to {last} of {len(lines)}{cut}:"]
    for number, line in enumerate(lines[start - 1 : last], start):
        more = f" … ({len(line) - MAX_LINE} more characters)" if len(line) > MAX_LINE else ""
        rows.append(f"{number:5} {line[:MAX_LINE]}{more}")
    return "\n".join(rows)


async def search(
    context: Context,
    text: Annotated[str, Meta(description="part of one line; no pattern, and case counts")],
    side: AtSide = "head",
    path: Annotated[Path, Meta(description="a folder or file to search in; empty for all")] = "",
) -> str:
    path = _clean(path)
    if not text or len(text) > MAX_TEXT or any(character in text for character in "\n\r\0"):
        return f"text must be 1 to {MAX_TEXT} characters of one line"
    inside = {entry.path for entry in await _entries(context, side, path)}
    if path and not inside:
        return f"there is no file or folder {path} at {side}; list_directory shows what is there"
    tree = context.change.tree(side)
    paths = [name for name in await context.repository.files_with(tree, text) if name in inside]
    files = await context.repository.read_files(tree, paths[:MAX_FILES])
    # A line whose text was redacted is no hit: hits would tell a secret, guess by guess.
    hits = [
        f"{shown(name)}:{number}: {_around(line, text)}"
        for name in paths[:MAX_FILES]
        for number, line in enumerate(_lines(files.get(name, b"")), 1)
        if text in line
    ]
    if not hits:
        return f"no line contains {text!r} at {side}" + (f" in {path}" if path else "")
    if len(hits) > MAX_HITS or len(paths) > MAX_FILES:
        hits[MAX_HITS:] = ["More lines contain it; search for a longer text, or in a path."]
    return "\n".join(hits)


async def list_directory(context: Context, path: Path = "", side: AtSide = "head") -> str:
    path = _clean(path)
    found = await _entries(context, side, path)
    depth = path.count("/") + 1 if path else 0
    if not found or found[0].path == path:
        return f"there is no folder {path} at {side}"
    names: dict[str, None] = {}
    for entry in found:
        name, *inner = entry.path.split("/")[depth:]
        kind = f" ({KINDS[entry.mode]})" if entry.mode in KINDS else ""
        names[shown(name) + ("/" if inner else kind)] = None
    rows = [f"{path or 'the top'} at {side}, {len(names)} names:", *list(names)[:MAX_NAMES]]
    return "\n".join([*rows, *(["More are not shown."] if len(names) > MAX_NAMES else [])])


async def execute_command(context: Context, command: Words) -> str:
    allowed = context.settings.commands
    if not any(words and list(command[: len(words)]) == words for words in map(str.split, allowed)):
        return f"only commands that begin with one of these may run: {', '.join(allowed)}"
    if any("\0" in word for word in command):
        return "a word of the command contains a null character"
    job = Job(tree=context.change.head_tree, command=command, executes=True, seconds=MAX_SECONDS)
    completed = await context.executor.execute(job)
    if completed.outcome == "not_run":
        if completed.exit_code == COMMAND_NOT_FOUND:
            return f"{command[0]} is not installed in the sandbox, or it ended with exit code 127"
        return f"the command did not run: {completed.reason}"
    streams = (completed.stdout, completed.stderr)
    texts = [stream[-MAX_SEARCHED:].decode(errors="replace").rstrip() for stream in streams]
    # Where the work tree is on this machine does not matter, and must not change the question.
    output = "\n".join(filter(None, texts)).replace(f"{completed.project}/", "")
    output = shown(output.replace(completed.project, "."))
    ended = f"exit code {completed.exit_code}"
    if completed.outcome == "stopped":
        ended = f"the command was stopped: {completed.reason}"
    if (missing := len(output) - MAX_CHARACTERS) > 0:
        output = f"({missing} characters are left out)\n{output[missing:]}"
    return f"{ended}\n{output or '(it printed nothing)'}"


async def _entries(context: Context, side: Side, path: str) -> list[Entry]:
    """What is at or below a path, which is only compared with those of the tree: none leads out."""
    entries = await context.repository.list_entries(context.change.tree(side))
    return [e for e in entries if not path or f"{e.path}/".startswith(f"{path}/")]


def _clean(path: str) -> str:
    """A path without slashes around it and single dots in it."""
    return "/".join(part for part in path.split("/") if part not in ("", "."))


def _lines(content: bytes) -> list[str]:
    """The lines of a file as they are shown. A secret may have several, so none is shown alone."""
    text = shown(content)
    return [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")] if text else []


def _around(line: str, text: str) -> str:
    """The line, or the part of a long one that has the text in it."""
    if len(line) <= MAX_LINE:
        return line.strip()
    start = max(0, line.index(text) - MAX_LINE // 2)
    return f"… {line[start : start + MAX_LINE]} …"
