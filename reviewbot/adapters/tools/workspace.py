"""A scratch tree: the pinned head, and over it what was written. It lives in memory, and every write can be taken back.

Who writes sees files as everybody does, by their shown names and lines, and may change what its task names: nothing else of the
repository, no link, nothing of git's own. What may become of it is the gate's to say.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Mapping

from reviewbot.adapters.tools.declined import Declined, Why
from reviewbot.adapters.tools.page import short
from reviewbot.adapters.tools.trees import LARGEST_FILE, SUBMODULE, SYMLINK, Trees, normal
from reviewbot.domain.change import Revisions
from reviewbot.domain.repair import CodeVersion, Edit
from reviewbot.ports import Hit, Objects, Search, Task, TreeEntry
from reviewbot.screen import shown
from reviewbot.screen.legible import MARKS, NEW, Legible, Misplaced

MOST_VERSIONS, MOST_FILES = 100, 30
"""Writes of one ask, and files that they are about [design]."""
MOST_BYTES, LARGEST_WRITTEN = 8_000_000, 1_000_000
"""Of all writes of one ask together, each with its whole file; and of one file [design]."""
LONGEST_NAME = 200
"""Bytes of the path of a new file."""
NAMES_TOLD = 20
_REGULAR = 0o100644
_OF_GIT = frozenset({".git", "git~1"})
"""git's own folder, also under the name that Windows gives it (CVE-2014-9390)."""


class Scratch(Trees):
    """The files as they stand now, whatever side is asked for: what reads a tree reads this one, too."""

    def __init__(self, objects: Objects, revisions: Revisions, edits: Iterable[Edit]) -> None:
        super().__init__(objects, revisions)
        self._blobs = objects
        self._over: dict[str, bytes | None] = {edit.path: edit.content for edit in edits}

    def tree(self, _side: str) -> str:
        """Of the head. Raises Declined."""
        return super().tree("head")

    def files(self, _side: str) -> Mapping[str, TreeEntry]:
        """Every file by its name as shown. Raises Declined, GitError."""
        head = super().files("head")
        kept = {name: entry for name, entry in head.items() if entry.path not in self._over}
        modes = {entry.path: entry.mode for entry in head.values()}
        for path, content in self._over.items():
            if content is not None:
                kept[shown.text(path)] = TreeEntry(path, modes.get(path, _REGULAR), "", len(content))
        return kept

    def lines(self, entry: TreeEntry) -> tuple[str, ...] | None:
        """A file's lines as shown, ``None`` where it is binary. Raises GitError."""
        written = self._over.get(entry.path)
        if written is None:
            return super().lines(entry)
        return None if b"\0" in written else shown.whole(written)

    def at_head(self, path: str) -> TreeEntry | None:
        """The file of the head under its real name. Raises Declined, GitError."""
        return next((entry for entry in super().files("head").values() if entry.path == path), None)

    def content(self, path: str) -> bytes | None:
        """A file as it is now; ``None`` where there is none. Raises Declined, GitError."""
        if path in self._over:
            return self._over[path]
        entry = self.at_head(path)
        return None if entry is None else self._blobs.blob(entry.object_id)

    def put(self, path: str, content: bytes | None) -> None:
        """A file as it shall be."""
        self._over[path] = content

    @property
    def over(self) -> Mapping[str, bytes | None]:
        """What lies over the head, by real names."""
        return self._over


class ScratchSearch:
    """The port ``Search`` over a scratch tree: the head's hits but for files that lie over it, and theirs."""

    def __init__(self, search: Search, scratch: Scratch) -> None:
        self._search = search
        self._scratch = scratch

    def find(self, tree: str, words: tuple[str, ...], *, whole: bool, most: int) -> tuple[Hit, ...]:
        """See the port."""
        over = self._scratch.over
        found = [hit for hit in self._search.find(tree, words, whole=whole, most=most) if hit.path not in over]
        found += [hit for path, content in over.items() for hit in _hits(path, content or b"", words)]
        return tuple(sorted(found, key=lambda hit: (hit.path, hit.line))[:most])


def _hits(path: str, content: bytes, words: tuple[str, ...]) -> Iterator[Hit]:
    wanted = [word.encode("utf-8", "surrogateescape") for word in words]
    for number, line in enumerate(content.split(b"\n"), start=1):
        if b"\0" not in content and any(word in line for word in wanted):
            yield Hit(path, number, line)


class Workspace:
    """What one seat writes for one task. ``versions`` are its writes, in order."""

    def __init__(self, scratch: Scratch, task: Task, by: str) -> None:
        self._scratch = scratch
        self._task = task
        self._by = by
        self._first: dict[str, bytes | None] = {}
        self.versions: list[CodeVersion] = []

    def create(self, name: str, text: str) -> CodeVersion:
        """A new file. Raises Declined, GitError."""
        path = normal(name)
        if path in self._scratch.files(""):
            raise Declined(Why.REFUSED, f"there is a file {short(path)} already: update it")
        if path not in self._task.paths and not (self._task.may_add and self._scratch.at_head(path) is None):
            raise self._forbidden(f"{short(path)} may not be created")
        self._check_name(path)
        return self._write(path, _made(NEW, text))

    def replace(self, name: str, find: str, text: str) -> tuple[CodeVersion, int]:
        """``text`` where ``find`` stood in the file as shown, and the line where that begins. Raises Declined, GitError."""
        path, file = self._open(name)
        _check_text(text)
        try:
            changed = file.replaced(find, text)
        except Misplaced as wrong:
            raise Declined(Why.INVALID, f"{short(path)}: {wrong}") from wrong
        return self._write(path, changed), file.line(find)

    def rewrite(self, name: str, text: str) -> CodeVersion:
        """``text`` instead of all that the file held. Raises Declined, GitError."""
        path, file = self._open(name)
        return self._write(path, _made(file, text))

    def delete(self, name: str) -> CodeVersion:
        """No such file any more. Raises Declined, GitError."""
        return self._write(self._changeable(name), None)

    def restore(self, number: int, name: str) -> CodeVersion:
        """A file as a version left it; 0: as it was at the beginning. Raises Declined, GitError."""
        if number > len(self.versions):
            raise Declined(Why.MISSING, f"there is no version {number}: {len(self.versions)} were written")
        if number:
            chosen = self.versions[number - 1]
            return self._write(chosen.path, chosen.content)
        path = normal(name)
        if path not in self._first:
            raise Declined(Why.MISSING, f"{short(path)} is as it was" if path else "say which file", self._named())
        return self._write(path, self._first[path])

    def _open(self, name: str) -> tuple[str, Legible]:
        """A file that may be changed, as text."""
        path = self._changeable(name)
        content = self._scratch.content(path)
        file = None if content is None else Legible.of(content)
        if file is None:
            raise Declined(Why.REFUSED, f"{short(path)} is no text in UTF-8")
        return path, file

    def _changeable(self, name: str) -> str:
        """A file that is there and may be changed. A name that is not shown as it is names nothing that can be meant."""
        path = normal(name)
        entry = self._scratch.files("").get(path)
        if entry is None:
            raise Declined(Why.MISSING, f"there is no file {short(path)}", self._named())
        own = self._task.may_add and self._scratch.at_head(path) is None
        if entry.path != path or not (path in self._task.paths or own):
            raise self._forbidden(f"{short(path)} may be read and not changed")
        if entry.mode in (SYMLINK, SUBMODULE):
            raise Declined(Why.REFUSED, f"{short(path)} is no file of its own: a link or a submodule")
        if entry.size > LARGEST_FILE:
            raise Declined(Why.REFUSED, f"{short(path)} is too large to be edited")
        return path

    def _check_name(self, path: str) -> None:
        """Raises Declined for a new name that is no plain one, that is git's own, or that lies below a file."""
        parts = path.split("/")
        plain = path.isprintable() and shown.text(path) == path and unicodedata.normalize("NFC", path) == path
        if not plain or not path or len(path.encode()) > LONGEST_NAME or set("\\:") & set(path):
            raise Declined(Why.REFUSED, "a new file has a plain name, from the top of the repository")
        if any(part.casefold().rstrip(". ") in _OF_GIT for part in parts):
            raise Declined(Why.REFUSED, "nothing of git's own may be written")
        files = self._scratch.files("")
        above = ["/".join(parts[:depth]) for depth in range(1, len(parts))]
        if taken := next((name for name in above if name in files), None):
            raise Declined(Why.REFUSED, f"{short(taken)} is a file: nothing lies below it")
        if next(self._scratch.below("", path), None):
            raise Declined(Why.REFUSED, f"{short(path)} is a directory")

    def _write(self, path: str, content: bytes | None) -> CodeVersion:
        """The next version, as soon as it is one and there is room for it."""
        now = self._scratch.content(path)
        if now == content:
            raise Declined(Why.INVALID, f"nothing of {short(path)} would change")
        size = len(content or b"")
        if size > LARGEST_WRITTEN or sum(len(one.content or b"") for one in self.versions) + size > MOST_BYTES:
            raise Declined(Why.REFUSED, "it is too much: write less, or smaller files")
        if len(self.versions) >= MOST_VERSIONS or len({one.path for one in self.versions} | {path}) > MOST_FILES:
            raise Declined(Why.REFUSED, "there were too many writes: answer now with what is written")
        self._first.setdefault(path, now)
        self._scratch.put(path, content)
        version = CodeVersion(len(self.versions) + 1, path, content, self._by)
        self.versions.append(version)
        return version

    def _forbidden(self, message: str) -> Declined:
        return Declined(Why.REFUSED, f"{message} for this task", self._named())

    def _named(self) -> list[str]:
        """The files that the task is about."""
        return [short(shown.text(path)) for path in sorted(self._task.paths)[:NAMES_TOLD]]


def _check_text(text: str) -> None:
    """Raises Declined for new text that nobody would see as it is: the gate would refuse it, and later."""
    if not MARKS.search(text) and shown.text(text) != text:
        raise Declined(Why.REFUSED, "there is a secret or a hidden character in the new text")


def _made(file: Legible, text: str) -> bytes:
    _check_text(text)
    try:
        return file.rewritten(text)
    except Misplaced as wrong:
        raise Declined(Why.INVALID, str(wrong)) from wrong
