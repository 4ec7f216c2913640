"""List what is in a folder."""

from __future__ import annotations

from msgspec import Struct

from reviewbot.llm.tools.context import AtSide, Context, Path, clean, entries_at, shown

MAX_NAMES = 300
KINDS = {"120000": " (symbolic link)", "160000": " (submodule)"}


class Arguments(Struct, frozen=True, kw_only=True):
    path: Path = ""
    side: AtSide = "head"


async def run(arguments: Arguments, context: Context) -> str:
    path = clean(arguments.path)
    where = f"{path or 'the top'} at {arguments.side}"
    found = await entries_at(context, arguments.side, path)
    depth = path.count("/") + 1 if path else 0
    if not found:
        empty = "the repository is empty" if not path else f"there is no folder {path}"
        return f"{empty} at {arguments.side}"
    if found[0].path.count("/") < depth:
        return f"{path} is a file; read_file shows its lines"
    names: dict[str, None] = {}
    for entry in found:
        name, *inner = entry.path.split("/")[depth:]
        names[shown(name) + ("/" if inner else KINDS.get(entry.mode, ""))] = None
    heading = f"{where}, {len(names)} names:" if len(names) != 1 else f"{where}, 1 name:"
    more = [f"{len(names) - MAX_NAMES} more are not shown."] if len(names) > MAX_NAMES else []
    return "\n".join([heading, *list(names)[:MAX_NAMES], *more])
