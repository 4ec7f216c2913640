"""Blobs and trees, read from the private repository; a tree written out to a folder."""

from __future__ import annotations

import os
import re
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

from reviewbot.adapters.git.command import Dialogue, Git
from reviewbot.errors import GitError
from reviewbot.ports import TreeEntry

_OBJECT_ID = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_SYMLINK = 0o120000
_SUBMODULE = 0o160000


class ObjectStore:
    """Reads objects through one long-lived ``git cat-file --batch``; safe to use from several threads."""

    def __init__(self, git: Git) -> None:
        self._git = git
        self._lock = threading.Lock()
        self._reader: Dialogue | None = None

    def close(self) -> None:
        """End the long-lived process."""
        with self._lock:
            self._end()

    def blob(self, object_id: str) -> bytes:
        """A blob's bytes. Raises GitError where there is none of this id."""
        if not _OBJECT_ID.fullmatch(object_id):
            raise GitError(f"{object_id!r} is no object id")
        with self._lock:
            try:
                self._reader = self._reader or self._git.dialogue("cat-file", "--batch")
                with self._reader.in_time():
                    kind, data = _object(self._reader, object_id)
            except BaseException:
                # Whatever is left of this answer must not be taken for the next.
                self._end()
                raise
        if kind is None:
            raise GitError(f"the object {object_id} is not in this repository", hint="fetch it, or unshallow")
        if kind != "blob":
            raise GitError(f"the object {object_id} is not a blob but a {kind}")
        return data

    def _end(self) -> None:
        if self._reader is not None:
            self._reader.close()
            self._reader = None

    def entries(self, tree: str) -> tuple[TreeEntry, ...]:
        """Every file below ``tree``."""
        return tuple(self._listed(tree))

    def _listed(self, tree: str) -> Iterator[TreeEntry]:
        if not _OBJECT_ID.fullmatch(tree):
            raise GitError(f"{tree!r} is no object id")
        for record in self._git.run("ls-tree", "-r", "-z", "-l", "--full-tree", "--end-of-options", tree).split(b"\0"):
            if record:
                about, _, path = record.partition(b"\t")
                mode, _, object_id, size = about.split()
                length = int(size) if size.isdigit() else -1
                yield TreeEntry(path.decode("utf-8", "surrogateescape"), int(mode, 8), object_id.decode(), length)

    def blobs(self, object_ids: list[str]) -> Iterator[bytes]:
        """Many blobs in order, from a process of its own. Raises GitError where one is missing."""
        with tempfile.TemporaryFile() as wanted:
            wanted.write("".join(f"{object_id}\n" for object_id in object_ids).encode("ascii"))
            wanted.seek(0)
            with self._git.stream("cat-file", "--batch", "--buffer", stdin=wanted) as output:
                for object_id in object_ids:
                    about = output.readline().split()
                    if len(about) != 3:
                        raise GitError(f"the object {object_id} is not in this repository", hint="fetch it, or unshallow")
                    yield output.read(int(about[2]) + 1)[:-1]

    def export(self, tree: str, into: Path) -> tuple[str, ...]:
        """Write ``tree`` below ``into``, byte for byte. Returns notes of what was left out."""
        notes: list[str] = []
        links: list[tuple[str, bytes]] = []
        files: list[TreeEntry] = []
        for entry in self._listed(tree):
            if entry.mode == _SUBMODULE:
                notes.append(f"{entry.path} is a submodule: its files are not here")
            elif _is_safe(entry.path):
                files.append(entry)
            else:
                notes.append(f"{entry.path} has a name that could reach outside of the tree: left out")
        into.mkdir(parents=True, exist_ok=True)
        for entry, data in zip(files, self.blobs([entry.object_id for entry in files]), strict=True):
            if entry.mode == _SYMLINK:
                links.append((entry.path, data))
            elif not _write(into / entry.path, data, executable=bool(entry.mode & 0o111)):
                notes.append(f"{entry.path} cannot be written: left out")
        return (*notes, *_link(into, links))


def _object(reader: Dialogue, object_id: str) -> tuple[str | None, bytes]:
    """What kind of object this is (``None``: there is none), and its bytes. Raises GitError."""
    about = reader.ask(object_id).split()
    if len(about) != 3:
        return None, b""
    data = reader.read(int(about[2]))
    reader.read(len("\n"))
    return about[1].decode("ascii", "replace"), data


def _is_safe(path: str) -> bool:
    parts = path.split("/")
    return not any(part in ("", ".", "..") or part.lower() == ".git" or "\0" in part for part in parts)


def _write(target: Path, data: bytes, *, executable: bool) -> bool:
    """A new regular file; false where something stands in its way, as in a tree that git itself would not make."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o777 if executable else 0o666)
    except OSError:
        return False
    with os.fdopen(handle, "wb") as file:
        file.write(data)
    return True


def _link(into: Path, links: list[tuple[str, bytes]]) -> Iterator[str]:
    """Make the symbolic links, after all files so that none is written through one; then remove those that lead out.

    A removed link can change where another leads, so this goes on until all that are left stay inside.
    """
    root = os.path.realpath(into)
    made: list[str] = []
    for path, target in links:
        try:
            (into / path).parent.mkdir(parents=True, exist_ok=True)
            (into / path).symlink_to(os.fsdecode(target))
            made.append(path)
        except (OSError, ValueError):
            yield f"{path} is a symbolic link that cannot be made: left out"
    while escaped := [path for path in made if _leads_out(into / path, root)]:
        for path in escaped:
            (into / path).unlink()
            made.remove(path)
            yield f"{path} is a symbolic link that leads out of the tree: left out"


def _leads_out(link: Path, root: str) -> bool:
    if link.readlink().is_absolute():
        return True
    reached = os.path.realpath(link)
    return reached != root and not reached.startswith(root + os.sep)
