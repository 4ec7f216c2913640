"""Read lines of a file, and what the tools for files have in common."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

from msgspec import Meta, Struct

from reviewbot.git.change import Side
from reviewbot.git.tree import Entry
from reviewbot.text.hidden import visible
from reviewbot.text.secrets import redact

if TYPE_CHECKING:
    from reviewbot.llm.tools import Context

MAX_LINES = 400
MAX_CHARACTERS = 20_000
MAX_LINE = 500
LINES = 200
# Where git looks for a NUL to tell whether a file is binary.
BINARY_BYTES = 8_000

Path = Annotated[str, Meta(description="from the top of the repository")]
AtSide = Annotated[Side, Meta(description="head is after the change, base before it")]


class Arguments(Struct, frozen=True, kw_only=True):
    path: Path
    side: AtSide = "head"
    start: Annotated[int, Meta(description="the first line, from 1")] = 1
    end: Annotated[int, Meta(description=f"the last line; start + {LINES - 1} if 0")] = 0


async def run(arguments: Arguments, context: Context) -> str:
    side, path = arguments.side, clean(arguments.path)
    where = f"{path} at {side}"
    found = await entries_at(context, side, path)
    if not found:
        return f"there is no file {where}; list_directory shows what is there"
    entry = found[0]
    if path not in (entry.path, shown(entry.path)):
        return f"{path or 'the top'} is a folder; list_directory shows what is in it"
    if entry.mode == "120000":
        return f"{where} is a symbolic link, and links are not followed; read what it leads to"
    if entry.mode == "160000":
        return f"{where} is a submodule; its files are not here"
    files = await context.repository.read_files(context.change.tree(side), [entry.path])
    if (content := files.get(entry.path)) is None:
        return f"{where} is larger than 1 MB, and cannot be read"
    if b"\0" in content[:BINARY_BYTES]:
        return f"{where} is a binary file of {len(content)} bytes"
    return _numbered(where, lines_of(content), arguments.start, arguments.end)


def _numbered(where: str, lines: Sequence[str], start: int, end: int) -> str:
    if not lines:
        return f"{where} is empty"
    start = max(start, 1)
    end = min(end if end > 0 else start + LINES - 1, len(lines))
    if end < start:
        return f"{where} has {len(lines)} lines; there are none from {start} to {end}"
    rows: list[str] = []
    size = 0
    for number in range(start, end + 1):
        row = f"{number:5} {lines[number - 1]}"
        if (missing := len(row) - MAX_LINE) > 0:
            row = f"{row[:MAX_LINE]} … ({missing} more characters)"
        size += len(row) + 1
        if len(rows) == MAX_LINES or size > MAX_CHARACTERS:
            break
        rows.append(row)
    last = start + len(rows) - 1
    more = f"\nLines {last + 1} to {end} are not shown; ask with start {last + 1}."
    heading = f"{where}, lines {start} to {last} of {len(lines)}:\n"
    return heading + "\n".join(rows) + (more if last < end else "")


async def entries_at(context: Context, side: Side, path: str) -> list[Entry]:
    """The file, link or submodule of that path, or all below the folder of that path.

    A path may be written as it is shown, with hidden characters made visible. It is only compared
    with those of the tree, so none leads out of it.
    """
    entries = await context.repository.list_entries(context.change.tree(side))
    if not path:
        return entries
    found = [e for e in entries if f"{e.path}/".startswith(f"{path}/")]
    return found or [e for e in entries if f"{shown(e.path)}/".startswith(f"{path}/")]


def clean(path: str) -> str:
    """A path without slashes around it and single dots in it."""
    return "/".join(part for part in path.split("/") if part not in ("", "."))


def lines_of(content: bytes) -> list[str]:
    """The lines of a file as they are shown. A secret may have several, so none is shown alone."""
    text = shown(content.decode(errors="replace"))
    return [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")] if text else []


def shown(text: str) -> str:
    """Text without secrets and hidden characters."""
    return visible(redact(text)[0])
