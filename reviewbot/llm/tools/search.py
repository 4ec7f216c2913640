"""Find the lines that contain a text."""

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

MAX_HITS = 50
MAX_FILES = 50
MAX_TEXT = 200


class Arguments(Struct, frozen=True, kw_only=True):
    text: Annotated[str, Meta(description="part of one line; no pattern, and case counts")]
    side: AtSide = "head"
    path: Annotated[Path, Meta(description="a folder or file to search in; empty for all")] = ""


async def run(arguments: Arguments, context: Context) -> str:
    text, side, path = arguments.text, arguments.side, clean(arguments.path)
    if not text or len(text) > MAX_TEXT or any(character in text for character in "\n\r\0"):
        return f"text must be 1 to {MAX_TEXT} characters of one line"
    inside = {entry.path for entry in await entries_at(context, side, path)}
    if path and not inside:
        return f"there is no file or folder {path} at {side}; list_directory shows what is there"
    tree = context.change.tree(side)
    paths = [name for name in await context.repository.files_with(tree, text) if name in inside]
    files = await context.repository.read_files(tree, paths[:MAX_FILES])
    hits: list[str] = []
    for name in paths[:MAX_FILES]:
        # A line whose text was redacted is no hit: hits would tell a secret, guess by guess.
        hits += [
            f"{shown(name)}:{number}: {_around(line, text)}"
            for number, line in enumerate(lines_of(files.get(name, b"")), 1)
            if text in line
        ]
    if not hits:
        return f"no line contains {text!r} at {side}" + (f" in {path}" if path else "")
    if len(hits) > MAX_HITS or len(paths) > MAX_FILES:
        hits[MAX_HITS:] = ["More lines contain it; search for a longer text, or in a path."]
    return "\n".join(hits)


def _around(line: str, text: str) -> str:
    """The line, or the part of a long one that has the text in it."""
    if len(line) <= MAX_LINE:
        return line.strip()
    start = max(0, line.index(text) - MAX_LINE // 2)
    return f"… {line[start : start + MAX_LINE]} …"
