"""Copies of the index, and what git makes of the files that it names.

Git reads and writes them in the private repository, as it did where the reviewed tree was made (``adapters/git/snapshot.py``):
there is no filter, no hook and no monitor that it could run. The index itself is only ever replaced whole, as git does it.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from reviewbot.adapters.git.command import Git
from reviewbot.adapters.git.place import Place
from reviewbot.adapters.git.writing.journal import Entry
from reviewbot.errors import WriteError

_SKIPPED = "S"


@dataclass(frozen=True, slots=True)
class Named:
    """An entry as it stands in the index, and whether git was told not to look at its file (``assumed``, ``skipped``)."""

    entry: Entry
    assumed: bool
    skipped: bool


@dataclass(frozen=True, slots=True)
class IndexCopy:
    """A copy of the index at ``path``, which may be none as long as nothing was staged."""

    place: Place
    path: Path

    @classmethod
    def take(cls, place: Place, index: Path, path: Path) -> IndexCopy:
        """A copy of the same age: by it git knows which files may have changed unseen (https://git-scm.com/docs/racy-git)."""
        path.unlink(missing_ok=True)
        if index.is_file():
            shutil.copy2(index, path)
            for shared in place.git_dir.glob("sharedindex.*"):
                shutil.copy2(shared, place.private / shared.name)
        return cls(place, path)

    @property
    def digest(self) -> str:
        """Of all its bytes, empty where there is no file."""
        return digest(self.path)

    def copied(self, path: Path) -> IndexCopy:
        """Another copy."""
        return self.take(self.place, self.path, path)

    def conflicts(self) -> bool:
        """A merge is not resolved."""
        return bool(self._git.run("ls-files", "-z", "--unmerged"))

    def named(self, paths: Iterable[str]) -> dict[str, Named]:
        """The entries of these paths, of those that have one."""
        wanted = tuple(paths)
        if not wanted:
            return {}
        output = self._git.run("ls-files", "-z", "--stage", "-v", "--", *wanted)
        return dict(_named(record) for record in output.split(b"\0") if record)

    def put(self, entries: Mapping[str, Entry | None]) -> None:
        """Set entries, and remove those that are ``None``. Raises WriteError where git does not take a path."""
        put(self._git, entries, "0" * len(self.place.empty_tree))

    def look(self, paths: Iterable[str]) -> dict[str, Entry]:
        """Make the entries of these paths what their files are, converted as git converts them. Raises WriteError where a file
        cannot be read."""
        wanted = tuple(paths)
        lines = b"".join(os.fsencode(path) + b"\0" for path in wanted)
        answer = self._git.ask("update-index", "--add", "--remove", "--replace", "-z", "--stdin", stdin=lines)
        if not answer.ok:
            raise WriteError(f"the work tree cannot be read: {answer.complaint}", hint="see what `git status` says")
        return {path: named.entry for path, named in self.named(wanted).items()}

    @property
    def _git(self) -> Git:
        tree = self.place.tree
        return replace(tree, environment=indexed(tree, self.path), settings={**tree.settings, **WHOLE})


WHOLE = {"core.splitIndex": "false", "index.sparse": "false", "core.protectHFS": "true", "core.protectNTFS": "true"}
"""An index in one file, as it can be read anywhere."""


def indexed(git: Git, index: Path) -> dict[str, str]:
    """Git's environment with another index. Paths are no patterns there."""
    return {**git.environment, "GIT_INDEX_FILE": str(index), "GIT_LITERAL_PATHSPECS": "1"}


def put(git: Git, entries: Mapping[str, Entry | None], zero: str) -> None:
    """Set entries of an index. ``zero`` is no object's id. Raises WriteError where git does not take a path."""
    records = (f"{one.mode:o} {one.object_id} 0\t{path}\0" if one else f"0 {zero} 0\t{path}\0" for path, one in entries.items())
    answer = git.ask("update-index", "--replace", "-z", "--index-info", stdin="".join(records).encode("utf-8", "surrogateescape"))
    if not answer.ok:
        raise WriteError(f"git does not take one of the paths: {answer.complaint}")


def digest(path: Path) -> str:
    """Of all bytes of a file, empty where there is none."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except FileNotFoundError:
        return ""


def _named(record: bytes) -> tuple[str, Named]:
    """A record ``TAG MODE ID STAGE TAB PATH`` of ``git ls-files --stage -v``: a small letter says assumed, an S skipped."""
    about, _, path = record.partition(b"\t")
    tag, mode, object_id, _ = about.decode("ascii").split(" ")
    entry = Entry(int(mode, 8), object_id)
    return path.decode("utf-8", "surrogateescape"), Named(entry, tag.islower(), tag.upper() == _SKIPPED)
