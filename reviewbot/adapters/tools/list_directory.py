"""``list_directory``: what is in a folder at either end of the change."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reviewbot.adapters.tools.declined import Declined, Why
from reviewbot.adapters.tools.grounds import Grounds
from reviewbot.adapters.tools.page import fitting, short
from reviewbot.adapters.tools.trees import SUBMODULE, SYMLINK, Trees, normal
from reviewbot.ports import ToolSpec, TreeEntry

MOST_NAMES = 300


def offered(grounds: Grounds) -> ListDirectory:
    """Always."""
    return ListDirectory(grounds.trees)


class ListDirectory:
    """Lists folders of either tree."""

    spec = ToolSpec(
        name="list_directory",
        description=f"List the files and folders in one folder of the repository, at most {MOST_NAMES}.",
        parameters={
            "type": "object",
            "properties": {
                "path": {"type": "string", "description": "the folder, from the top of the repository; empty for the top"},
                "revision": {
                    "type": ["string", "null"],
                    "enum": ["head", "base", None],
                    "description": "head (with the change; the default) or base (before it)",
                },
            },
            "required": ["path", "revision"],
            "additionalProperties": False,
        },
    )

    def __init__(self, trees: Trees) -> None:
        self._trees = trees

    def answer(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """One name a line, folders first. Raises Declined, GitError."""
        side, folder = arguments.get("revision", "head"), normal(arguments["path"])
        files: list[str] = []
        folders: dict[str, int] = {}
        for name, entry in self._trees.below(side, folder):
            first, slash, _ = name.partition("/")
            if slash:
                folders[first] = folders.get(first, 0) + 1
            else:
                files.append(f"{short(name)}  {_about(entry)}")
        if not files and not folders and folder:
            is_file = folder in self._trees.files(side)
            what = f"{short(folder)} is a file: use read_file" if is_file else f"there is no folder {short(folder)} at {side}"
            raise Declined(Why.MISSING, what)
        names = [*(f"{short(name)}/  {count} files" for name, count in sorted(folders.items())), *sorted(files)]
        head = {"path": folder, "revision": side, "found": len(names)}
        taken = fitting(names, MOST_NAMES, beside=head)
        more = f"{len(names) - len(taken)} more are not shown" if len(taken) < len(names) else None
        return {**head, "names": list(taken), "more": more}


def _about(entry: TreeEntry) -> str:
    return {SYMLINK: "symbolic link", SUBMODULE: "submodule"}.get(entry.mode, f"{entry.size} bytes")
