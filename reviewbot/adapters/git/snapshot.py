"""The index and the work tree as trees, made in the private repository: nothing of the user's changes by a byte."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from reviewbot.adapters.git.command import Git
from reviewbot.adapters.git.place import Place
from reviewbot.errors import RepositoryError

MAX_UNTRACKED_BYTES = 1 << 20
MAX_UNTRACKED_FILES = 2_000


def staged(place: Place, index: Path) -> str:
    """The tree of ``index``. Raises RepositoryError where it has conflicts."""
    return _written(_with_copy(place, index))


def worktree(place: Place, index: Path) -> tuple[str, tuple[str, ...]]:
    """The tree of the work tree: tracked files as they are, and untracked ones that are not ignored; with notes."""
    git = _with_copy(place, index)
    dirty = _names(git, "diff-files", "-z", "--name-only", "--ignore-submodules=dirty")
    kept, notes = _readable(place.toplevel, dirty)
    untracked = _names(git, "ls-files", "-z", "--others", "--exclude-standard")
    small, more_notes = _reasonable(place.toplevel, untracked)
    names = (*kept, *small)
    if names:
        lines = b"".join(os.fsencode(name) + b"\0" for name in names)
        answer = git.ask("update-index", "--add", "--remove", "--replace", "-z", "--stdin", stdin=lines)
        if not answer.ok:
            raise RepositoryError(f"the work tree cannot be read: {answer.complaint}", hint="see what `git status` says")
    return _written(git), (*notes, *more_notes)


def _with_copy(place: Place, index: Path) -> Git:
    """A git whose index is a private copy; split indexes come with their shared part.

    The copy is as old as the original: by its age git knows which files may have changed unseen in the same second
    (https://git-scm.com/docs/racy-git).
    """
    copy = place.private / "index"
    copy.unlink(missing_ok=True)
    if index.is_file():
        shutil.copy2(index, copy)
        for shared in place.git_dir.glob("sharedindex.*"):
            shutil.copy2(shared, place.private / shared.name)
    git = replace(place.tree, environment={**place.tree.environment, "GIT_INDEX_FILE": str(copy)})
    if _names(git, "ls-files", "-z", "--unmerged"):
        raise RepositoryError("the index has unresolved conflicts", hint="resolve them and `git add` the files first")
    return git


def _written(git: Git) -> str:
    return git.run("write-tree", "--missing-ok").decode("ascii").strip()


def _names(git: Git, *args: str) -> list[str]:
    answer = git.ask(*args)
    if not answer.ok:
        raise RepositoryError(f"the index cannot be read: {answer.complaint}", hint="look at it with `git status`")
    return [os.fsdecode(name) for name in answer.stdout.split(b"\0") if name]


def _readable(top: Path, names: list[str]) -> tuple[list[str], list[str]]:
    """Tracked names without those that cannot be opened: they stay as they are in the index, and it is said."""
    unreadable = {name for name in names if _is_regular(top / name) and not os.access(top / name, os.R_OK)}
    notes = [f"{name} cannot be read: taken as it is in the index" for name in sorted(unreadable)]
    return [name for name in names if name not in unreadable], notes


def _reasonable(top: Path, names: list[str]) -> tuple[list[str], list[str]]:
    """Untracked names that are worth a look, and notes of the others."""
    kept: list[str] = []
    notes: list[str] = []
    for name, complaint in ((name, _complaint(top / name)) for name in names):
        if complaint:
            notes.append(f"untracked {name} was left out: it {complaint}")
        else:
            kept.append(name)
    if len(kept) > MAX_UNTRACKED_FILES:
        notes.append(f"{len(kept) - MAX_UNTRACKED_FILES} of {len(kept)} untracked files were left out")
    return kept[:MAX_UNTRACKED_FILES], list(_short(notes))


def _complaint(path: Path) -> str:
    try:
        status = path.lstat()
    except OSError:
        return "cannot be read"
    if stat.S_ISDIR(status.st_mode):
        return "is a repository of its own"
    if stat.S_ISLNK(status.st_mode):
        return ""
    if not stat.S_ISREG(status.st_mode) or not os.access(path, os.R_OK):
        return "cannot be read"
    return "is larger than 1 MiB" if status.st_size > MAX_UNTRACKED_BYTES else ""


def _short(notes: list[str], limit: int = 20) -> Iterator[str]:
    yield from notes[:limit]
    if len(notes) > limit:
        yield f"{len(notes) - limit} more untracked files were left out for such reasons"


def _is_regular(path: Path) -> bool:
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except OSError:
        return False
