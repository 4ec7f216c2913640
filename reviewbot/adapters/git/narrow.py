"""A repository of which a review reads little: what it costs is decided by the change, not by the size of the tree."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Self

from reviewbot.adapters.git import GitRepo
from reviewbot.domain.change import Revisions
from reviewbot.ports import RawDiff, TreeEntry


class NarrowRepo(GitRepo):
    """``GitRepo`` for a review that asks a tree for a few files by name: of every tree these alone are listed."""

    _names: tuple[str, ...] = ()
    _listed: tuple[str, tuple[TreeEntry, ...]] | None = None
    _remote: tuple[str | None] | None = None
    _diff: tuple[tuple[str | None, str | None], RawDiff] | None = None

    @classmethod
    def among(
        cls, directory: Path, scratch: Path, *, environment: Mapping[str, str], index: Path | None, names: tuple[str, ...]
    ) -> Self:
        """As ``open``; ``names`` are the paths that may be listed. Raises RepositoryError."""
        repo = cls.open(directory, scratch, environment=environment, index=index)
        repo._names = names
        return repo

    def entries(self, tree: str) -> tuple[TreeEntry, ...]:
        """Those of the named files that are in a tree. git takes the names as they are, and walks through nothing else."""
        if not self._names:
            return ()
        if self._listed is None or self._listed[0] != tree:
            listed = self.place.bare.run("ls-tree", "-z", "-l", "--full-tree", "--end-of-options", tree, "--", *self._names)
            self._listed = (tree, tuple(_entry(record) for record in listed.split(b"\0") if record))
        return self._listed[1]

    def remote_name(self) -> str | None:
        """As ``GitRepo`` says it, asked for once."""
        if self._remote is None:
            self._remote = (super().remote_name(),)
        return self._remote[0]

    def diff(self, revisions: Revisions) -> RawDiff:
        """What differs between both ends, asked for once. Raises GitError."""
        ends = (revisions.base_tree, revisions.head_tree)
        if self._diff is None or self._diff[0] != ends:
            self._diff = (ends, super().diff(revisions))
        return self._diff[1]


def _entry(record: bytes) -> TreeEntry:
    about, _, path = record.partition(b"\t")
    mode, _, object_id, size = about.split()
    return TreeEntry(
        path.decode("utf-8", "surrogateescape"), int(mode, 8), object_id.decode(), int(size) if size.isdigit() else -1
    )
