"""Read lines of a file."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from reviewbot.llm.tools.context import (
    MAX_LINE,
    AtSide,
    Context,
    Path,
    clean,
    entries_at,
    lines_of,
    shown,
)

MAX_LINES = 300
# Where git looks for a NUL to tell whether a file is binary.
BINARY_BYTES = 8_000


class Arguments(Struct, frozen=True, kw_only=True):
    path: Path
    side: AtSide = "head"
    start: Annotated[int, Meta(description="the first line, from 1")] = 1
    end: Annotated[int, Meta(description="the last line; as many as possible if 0")] = 0


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
    lines = lines_of(content)
    if not lines:
        return f"{where} is empty"
    start = max(arguments.start, 1)
    end = min(arguments.end if arguments.end > 0 else len(lines), len(lines))
    if end < start:
        return f"{where} has {len(lines)} lines; there are none from {start} to {end}"
    last = min(end, start + MAX_LINES - 1)
    rows = [f"{where}, lines {start} to {last} of {len(lines)}:"]
    for number, line in enumerate(lines[start - 1 : last], start):
        more = f" … ({len(line) - MAX_LINE} more characters)" if len(line) > MAX_LINE else ""
        rows.append(f"{number:5} {line[:MAX_LINE]}{more}")
    if last < end:
        rows.append(f"Lines {last + 1} to {end} are not shown; ask with start {last + 1}.")
    return "\n".join(rows)
