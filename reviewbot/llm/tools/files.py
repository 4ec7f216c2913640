"""Read files, search in them, and list folders, as git has them."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from reviewbot.git.change import Side
from reviewbot.git.tree import Entry
from reviewbot.llm.tools.context import Context, shown

MAX_LINE = 500  # characters
MAX_LINES = 300
MAX_HITS = 50
MAX_FILES = 50
MAX_TEXT = 200
MAX_NAMES = 300
# Where git looks for a NUL to tell whether a file is binary.
BINARY_BYTES = 8_000
KINDS = {"120000": "symbolic link", "160000": "submodule"}

Path = Annotated[str, Meta(description="from the top of the repository")]
AtSide = Annotated[Side, Meta(description="head is after the change, base before it")]


async def read_file(
    context: Context,
    path: Path,
    side: AtSide = "head",
    start: Annotated[int, Meta(description="the first line, from 1")] = 1,
    end: Annotated[int, Meta(description="the last line; as many as possible if 0")] = 0,
) -> str:
    path = _clean(path)
    where = f"{path} at {side}"
    found = await _entries(context, side, path)
    if not found:
        return f"there is no file {where}; list_directory shows what is there"
    entry = found[0]
    if path not in (entry.path, shown(entry.path)):
        return f"{path or 'the top'} is a folder; list_directory shows what is in it"
    if kind := KINDS.get(entry.mode):
        return f"{where} is a {kind}, which is not followed"
    files = await context.repository.read_files(context.change.tree(side), [entry.path])
    if (content := files.get(entry.path)) is None:
        return f"{where} is larger than 1 MB, and cannot be read"
    if b"\0" in content[:BINARY_BYTES]:
        return f"{where} is a binary file of {len(content)} bytes"
    lines = _lines(content)
    if not lines:
        return f"{where} is empty"
    start = max(start, 1)
    end = min(end if end > 0 else len(lines), len(lines))
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
    if not found:
        return f"there is no folder {path} at {side}" if path else f"there is no file at {side}"
    if found[0].path.count("/") < depth:
        return f"{path} is a file; read_file shows its lines"
    names: dict[str, None] = {}
    for entry in found:
        name, *inner = entry.path.split("/")[depth:]
        kind = f" ({KINDS[entry.mode]})" if entry.mode in KINDS else ""
        names[shown(name) + ("/" if inner else kind)] = None
    heading = f"{path or 'the top'} at {side}, {len(names)} name{'s' * (len(names) != 1)}:"
    more = [f"{len(names) - MAX_NAMES} more are not shown."] if len(names) > MAX_NAMES else []
    return "\n".join([heading, *list(names)[:MAX_NAMES], *more])


async def _entries(context: Context, side: Side, path: str) -> list[Entry]:
    """The file, link or submodule of that path, or all below the folder of that path.

    A path may be written as it is shown, with hidden characters made visible. It is only compared
    with those of the tree, so none leads out of it.
    """
    entries = await context.repository.list_entries(context.change.tree(side))
    if not path:
        return entries
    found = [e for e in entries if f"{e.path}/".startswith(f"{path}/")]
    return found or [e for e in entries if f"{shown(e.path)}/".startswith(f"{path}/")]


def _clean(path: str) -> str:
    """A path without slashes around it and single dots in it."""
    return "/".join(part for part in path.split("/") if part not in ("", "."))


def _lines(content: bytes) -> list[str]:
    """The lines of a file as they are shown. A secret may have several, so none is shown alone."""
    text = shown(content.decode(errors="replace"))
    return [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")] if text else []


def _around(line: str, text: str) -> str:
    """The line, or the part of a long one that has the text in it."""
    if len(line) <= MAX_LINE:
        return line.strip()
    start = max(0, line.index(text) - MAX_LINE // 2)
    return f"… {line[start : start + MAX_LINE]} …"
