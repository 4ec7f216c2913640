"""Both trees of a change as the tools see them: files by name, and their lines as shown."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from threading import RLock

from reviewbot.adapters.tools.declined import Declined, Why
from reviewbot.domain.change import Revisions
from reviewbot.ports import Objects, TreeEntry
from reviewbot.screen import shown

SYMLINK, SUBMODULE = 0o120000, 0o160000
LARGEST_FILE = 2_000_000
"""Bytes of the largest file that is read. Screening one of this size takes about 0.1 s."""
FILES_KEPT = 32
_BINARY_LOOK = 8_000
"""git looks at so many bytes for a NUL (``xdiff-interface.c``)."""


class Trees:
    """Files at ``base`` and ``head``. Safe to use from several threads."""

    def __init__(self, objects: Objects, revisions: Revisions) -> None:
        self._objects = objects
        self._trees: Mapping[str, str | None] = {"base": revisions.base_tree, "head": revisions.head_tree}
        self._files: dict[str, Mapping[str, TreeEntry]] = {}
        self._lines: OrderedDict[str, tuple[str, ...] | None] = OrderedDict()
        self._lock = RLock()

    def tree(self, side: str) -> str:
        """The tree's id. Raises Declined where that side is not known."""
        tree = self._trees[side]
        if tree is None:
            raise Declined(Why.MISSING, f"the files at {side} are not known: only a patch was given")
        return tree

    def files(self, side: str) -> Mapping[str, TreeEntry]:
        """Every file by its name as shown. Raises Declined, GitError."""
        with self._lock:
            if side not in self._files:
                self._files[side] = {shown.text(entry.path): entry for entry in self._objects.entries(self.tree(side))}
            return self._files[side]

    def lines(self, entry: TreeEntry) -> tuple[str, ...] | None:
        """A file's lines as shown, ``None`` where it is binary. Raises GitError."""
        with self._lock:
            if entry.object_id in self._lines:
                self._lines.move_to_end(entry.object_id)
                return self._lines[entry.object_id]
            content = self._objects.blob(entry.object_id)
            lines = None if b"\0" in content[:_BINARY_LOOK] else shown.whole(content)
            self._lines[entry.object_id] = lines
            if len(self._lines) > FILES_KEPT:
                self._lines.popitem(last=False)
            return lines

    def below(self, side: str, folder: str) -> Iterator[tuple[str, TreeEntry]]:
        """The files under a folder (empty: all), with their names relative to it."""
        prefix = f"{folder}/" if folder else ""
        return ((name[len(prefix) :], entry) for name, entry in self.files(side).items() if name.startswith(prefix))


def normal(path: str) -> str:
    """A path as models write it, in git's form: without ``./`` before and ``/`` around it. Raises Declined for ``..``."""
    parts = [part for part in path.strip().split("/") if part not in ("", ".")]
    if ".." in parts:
        raise Declined(Why.INVALID, "a path is given from the top of the repository, without '..'")
    return "/".join(parts)
