"""What other packages add: entry points of the groups `reviewbot.languages` and so on."""

import sys
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


def plugins(group: str) -> dict[str, "EntryPoint"]:
    """The entry points of a group, by name."""
    if f"[{group}]".encode() not in _declarations(*sys.path):
        return {}
    from importlib.metadata import entry_points  # takes a third of a small review to import

    return {entry.name: entry for entry in entry_points(group=group)}


@cache
def _declarations(*folders: str) -> bytes:
    texts = []
    for folder in folders:
        for path in Path(folder).glob("*.dist-info/entry_points.txt"):
            with suppress(OSError):
                texts.append(path.read_bytes())
    return b"\n".join(texts)
