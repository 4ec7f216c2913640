"""Trees made beside the repository: files put into a tree, a patch applied to one, and what differs between two.

Everything happens in the private repository, each call with an index of its own, so that several threads may ask at once. No
work tree is touched, no attribute, filter or hook of the reviewed repository is read.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from reviewbot.adapters.git.command import Answer, Git
from reviewbot.adapters.git.place import Place
from reviewbot.errors import GitError, PatchError

if TYPE_CHECKING:
    from reviewbot.domain.repair import Edit

_OBJECT_ID = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_REGULAR = {0o100644: 0o100644, 0o100755: 0o100755, 0o100664: 0o100644}
"""Modes of files that may be written, and how git writes them now; the last one is of git before 1.0."""
_NEW = 0o100644
_GUARDS = {"core.protectHFS": "true", "core.protectNTFS": "true"}
"""git itself refuses names that some file system reads as ``.git``."""

_APPLY = ("apply", "--cached", "--verbose", "--whitespace=nowarn", "-p1", "-")
"""All of the context must match. ``--verbose`` says where a hunk was found elsewhere than it says."""
_OFFSET = re.compile(rb"^Hunk #\d+ succeeded at \d+ \(offset -?\d+ lines?\)", re.MULTILINE)

_BETWEEN = (
    "diff-tree",
    "-r",
    "-z",
    "--raw",
    "--numstat",
    "--patch",
    "--binary",
    "--no-abbrev",
    "--full-index",
    "--no-renames",
    "--no-color",
    "--no-ext-diff",
    "--no-textconv",
    "--no-relative",
    "--ignore-submodules=none",
    "--src-prefix=a/",
    "--dst-prefix=b/",
    "--unified=3",
    "--inter-hunk-context=0",
    "--diff-algorithm=myers",
    "--indent-heuristic",
    "--end-of-options",
)
"""What may differ from one version of git to another is said, so that a patch is the same wherever it is made."""


def graft(place: Place, tree: str, edits: tuple[Edit, ...]) -> str:
    """The tree with these files in it. A file that shall go and is not there changes nothing.

    Raises GitError, where a path cannot be in a tree, is edited twice, is no regular file, or lies below a file.
    """
    with _index(place, tree) as git:
        modes = _modes(git, tree)
        _expect_room(modes, edits)
        removed = [b"0 %s\t%s\0" % (b"0" * len(tree), _raw(edit.path)) for edit in edits if edit.content is None]
        written = [(edit.path, edit.content) for edit in edits if edit.content is not None]
        ids = _stored(git, [content for _, content in written])
        added = [
            b"%06o %s\t%s\0" % (_mode(modes, path), name.encode("ascii"), _raw(path))
            for (path, _), name in zip(written, ids, strict=True)
        ]
        answer = git.ask("update-index", "-z", "--index-info", stdin=b"".join((*removed, *added)))
        # A path that git does not take is passed over with a remark, and no failure.
        if not answer.ok or answer.stderr:
            raise GitError(f"git does not take these files: {answer.complaint}")
        return _written(git)


def apply(place: Place, tree: str, patch: bytes) -> str:
    """The tree with the patch in it, each hunk exactly where it says. Raises PatchError with git's complaint."""
    with _index(place, tree) as git:
        answer = git.ask(*_APPLY, stdin=patch)
        if not answer.ok:
            raise PatchError(f"git does not apply the patch: {_complaint(answer)}", hint="make it against this very tree")
        if moved := _OFFSET.search(answer.stderr):
            said = moved[0].decode("ascii")
            raise PatchError(f"the patch is for other lines: {said}", hint="make it against this very tree")
        return _written(git)


def between(place: Place, old: str, new: str) -> bytes:
    """What differs between two trees: records of ``--raw``, of ``--numstat``, and the patch, as one output of ``-z``."""
    return place.bare.run(*_BETWEEN, _tree(old), _tree(new))


@contextmanager
def _index(place: Place, tree: str) -> Iterator[Git]:
    """A git whose index holds the tree, and is gone after the block."""
    with tempfile.TemporaryDirectory(prefix="graft-", dir=place.private) as folder:
        own = {**place.bare.environment, "GIT_INDEX_FILE": str(Path(folder) / "index")}
        git = replace(place.bare, environment=own, settings={**place.bare.settings, **_GUARDS})
        git.run("read-tree", _tree(tree))
        yield git


def _tree(name: str) -> str:
    if not _OBJECT_ID.fullmatch(name):
        raise GitError(f"{name!r} is no object id")
    return name


def _modes(git: Git, tree: str) -> dict[str, int]:
    """The mode of every file of a tree."""
    found = {}
    for record in git.run("ls-tree", "-r", "-z", "--full-tree", tree).split(b"\0"):
        if record:
            about, _, path = record.partition(b"\t")
            found[path.decode("utf-8", "surrogateescape")] = int(about[:6], 8)
    return found


def _expect_room(modes: Mapping[str, int], edits: tuple[Edit, ...]) -> None:
    """git would remove without a word what stands in the way of a new file, and write through nothing else either."""
    paths = [edit.path for edit in edits]
    if len(set(paths)) < len(paths):
        twice = next(path for at, path in enumerate(paths) if path in paths[:at])
        raise GitError(f"{twice!r} is edited twice at once")
    for path in paths:
        if any(part in ("", ".", "..") for part in path.split("/")) or "\0" in path:
            raise GitError(f"{path!r} is no name of a file in a tree")
    written = {edit.path for edit in edits if edit.content is not None}
    left = (modes.keys() - set(paths)) | written
    for path in sorted(written):
        if modes.get(path, _NEW) not in _REGULAR:
            raise GitError(f"{path!r} is no regular file: its content cannot be edited")
        if above := next((folder for folder in _folders(path) if folder in left), None):
            raise GitError(f"{path!r} cannot be written: {above!r} is a file")
    folders = {folder for path in left for folder in _folders(path)}
    meant = written | (set(paths) - modes.keys())  # a file that goes may leave its name to a folder
    if stands := next((path for path in sorted(meant) if path in folders), None):
        raise GitError(f"{stands!r} cannot be edited: it is a folder")


def _folders(path: str) -> Iterator[str]:
    parts = path.split("/")
    return ("/".join(parts[:depth]) for depth in range(1, len(parts)))


def _mode(modes: Mapping[str, int], path: str) -> int:
    return _REGULAR[modes.get(path, _NEW)]


def _stored(git: Git, contents: list[bytes]) -> list[str]:
    """The ids of blobs with these bytes, written by one process. No filter goes over them."""
    if not contents:
        return []
    with tempfile.TemporaryDirectory(prefix="blobs-", dir=git.directory) as folder:
        files = [Path(folder) / str(number) for number in range(len(contents))]
        for file, content in zip(files, contents, strict=True):
            file.write_bytes(content)
        names = "".join(f"{Path(folder).name}/{file.name}\n" for file in files).encode("ascii")
        return git.run("hash-object", "-w", "--no-filters", "--stdin-paths", stdin=names).decode("ascii").split()


def _raw(path: str) -> bytes:
    try:
        return path.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        raise GitError(f"{path!r} is no name of a file in a tree") from error


def _written(git: Git) -> str:
    return git.run("write-tree", "--missing-ok").decode("ascii").strip()


def _complaint(answer: Answer) -> str:
    """What git said was wrong; with ``--verbose`` it says other things too."""
    lines = answer.stderr.decode("utf-8", "replace").splitlines()
    wrong = [line.split(": ", 1)[1] for line in lines if line.startswith(("error: ", "fatal: "))]
    return "; ".join(wrong[:3])[:400] or answer.complaint
