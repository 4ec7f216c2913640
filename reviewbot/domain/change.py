"""A change: which files, which hunks, which lines. Line numbers are 1-based; contents are bytes until they are read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum


class FileStatus(StrEnum):
    """What git says happened to a file."""

    ADDED = "added"
    MODIFIED = "modified"
    DELETED = "deleted"
    RENAMED = "renamed"
    COPIED = "copied"
    TYPE_CHANGED = "type_changed"


class FileKind(StrEnum):
    """What a file is, on its newer side."""

    TEXT = "text"
    BINARY = "binary"
    SYMLINK = "symlink"
    SUBMODULE = "submodule"
    LFS = "lfs"


class LineKind(StrEnum):
    """A line's mark in a unified diff."""

    CONTEXT = " "
    ADDED = "+"
    REMOVED = "-"


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a hunk without its mark and line feed, with its number on either side (``None`` where it is absent)."""

    kind: LineKind
    text: bytes
    old: int | None
    new: int | None


@dataclass(frozen=True, slots=True)
class Hunk:
    """A run of changed lines with context. ``rows`` are the raw lines: the mark as first byte, no line feed."""

    id: str
    old_start: int
    old_count: int
    new_start: int
    new_count: int
    section: bytes
    rows: tuple[bytes, ...]
    old_ends_without_newline: bool = False
    new_ends_without_newline: bool = False

    def lines(self) -> Iterator[Line]:
        """Every line, numbered."""
        old, new = self.old_start, self.new_start
        for row in self.rows:
            mark = row[:1]
            if mark == b"+":
                yield Line(LineKind.ADDED, row[1:], None, new)
                new += 1
            elif mark == b"-":
                yield Line(LineKind.REMOVED, row[1:], old, None)
                old += 1
            else:
                yield Line(LineKind.CONTEXT, row[1:], old, new)
                old, new = old + 1, new + 1

    def added(self) -> Iterator[tuple[int, bytes]]:
        """The added lines as ``(new line number, text)``."""
        new = self.new_start
        for row in self.rows:
            mark = row[:1]
            if mark == b"+":
                yield new, row[1:]
            if mark != b"-":
                new += 1

    def removed(self) -> Iterator[tuple[int, bytes]]:
        """The removed lines as ``(old line number, text)``."""
        old = self.old_start
        for row in self.rows:
            mark = row[:1]
            if mark == b"-":
                yield old, row[1:]
            if mark != b"+":
                old += 1

    @property
    def new_span(self) -> range:
        """The line numbers that the hunk covers on the new side, context included."""
        return range(self.new_start, self.new_start + self.new_count)


@dataclass(frozen=True, slots=True)
class FileChange:
    """One file of a change, named by git and not by the diff's text.

    ``path`` is the newer name (the older one where the file was deleted), decoded as UTF-8 with ``surrogateescape``.
    Modes are octal numbers (0 where the side is absent). ``old_id``/``new_id`` are blob ids, ``None`` where unknown.
    ``added``/``deleted`` count lines (0 for binary files).
    """

    path: str
    old_path: str | None
    status: FileStatus
    kind: FileKind
    old_mode: int
    new_mode: int
    old_id: str | None
    new_id: str | None
    added: int
    deleted: int
    hunks: tuple[Hunk, ...] = ()

    @property
    def base_path(self) -> str | None:
        """The name at base, ``None`` where the file did not exist there."""
        if self.status is FileStatus.ADDED:
            return None
        return self.old_path or self.path

    @property
    def head_path(self) -> str | None:
        """The name at head, ``None`` where the file is gone."""
        return None if self.status is FileStatus.DELETED else self.path

    def added_lines(self) -> Iterator[tuple[int, bytes]]:
        """Every added line as ``(new line number, text)``."""
        for hunk in self.hunks:
            yield from hunk.added()

    def hunk_at(self, line: int) -> Hunk | None:
        """The hunk that shows ``line`` of the new side."""
        return next((hunk for hunk in self.hunks if line in hunk.new_span), None)


class CoverageStatus(StrEnum):
    """How much of a changed file was seen."""

    REVIEWED = "reviewed"
    PARTIAL = "partial"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class Coverage:
    """What became of one changed file. ``ignored`` is out of scope by rule: it does not make a review incomplete."""

    path: str
    status: CoverageStatus
    reason: str | None = None
    ignored: bool = False


@dataclass(frozen=True, slots=True)
class Contents:
    """A changed file's whole contents on either side, ``None`` where there is none or it is not known."""

    base: bytes | None
    head: bytes | None


AUDIT = "all"
"""The kind of ends that an audit has (``domain.target.TargetKind``)."""


@dataclass(frozen=True, slots=True)
class Revisions:
    """The two ends of a change.

    ``base``/``head`` are what to show (a commit id, or ``index``, ``worktree``, ``patch``); ``base_tree``/``head_tree`` are
    tree ids that can be read and exported, ``None`` where there is no repository. ``base_tree`` is the one that is trusted:
    settings and rules come from it. In an audit there is nothing older: both trees are the one that is looked at, every line of
    it counts as added, and ``base`` is the empty tree.
    """

    kind: str
    base: str
    head: str
    base_tree: str | None
    head_tree: str | None
    notes: tuple[str, ...] = ()

    @property
    def is_audit(self) -> bool:
        """A whole tree is looked at for itself, and not what a change did to it."""
        return self.kind == AUDIT


@dataclass(frozen=True, slots=True)
class ChangeSet:
    """A whole change. ``files`` are all of them as git lists them, in its order."""

    revisions: Revisions
    files: tuple[FileChange, ...]

    def file(self, path: str) -> FileChange | None:
        """The file that is called ``path`` at head."""
        return next((file for file in self.files if file.path == path), None)


def is_test_path(path: str) -> bool:
    """The file is test code by its name, in the conventions of pytest, unittest, Go, JavaScript and RSpec."""
    parts = path.lower().split("/")
    folder = any(part in ("test", "tests", "testing", "spec", "specs", "testdata", "__tests__") for part in parts[:-1])
    name = parts[-1]
    named = name.startswith(("test_", "conftest.")) or name.rsplit(".", 1)[0].endswith(("_test", ".test", ".spec", "_spec"))
    return folder or named
