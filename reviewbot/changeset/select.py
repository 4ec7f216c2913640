"""What of a change is reviewed, and why the rest is not. Every changed file is accounted for."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from reviewbot.changeset.globs import Globs
from reviewbot.changeset.kinds import is_documentation, is_lock_file, is_source, out_of_scope
from reviewbot.domain.change import (
    ChangeSet,
    Contents,
    Coverage,
    CoverageStatus,
    FileChange,
    FileKind,
    FileStatus,
)
from reviewbot.domain.debate import Unread

__all__ = ["Scope", "SelectOptions", "coverage", "is_documentation", "is_lock_file", "refine", "scope"]

_EXECUTABLE = 0o111
_GENERATED_MARK = re.compile(rb"@generated\b|Code generated .{1,200} DO NOT EDIT")
_HEAD_LINES = 40
_MINIFIED_ENDINGS = (".js", ".mjs", ".cjs", ".css", ".svg", ".json", ".geojson")
_MINIFIED_LINE_BYTES = 1_000
"""A mean line of this length is nobody's handwriting; prettier's and eslint's defaults are 80."""
_KIND_REASONS = {
    FileKind.BINARY: "binary",
    FileKind.SUBMODULE: "submodule",
    FileKind.SYMLINK: "symbolic link",
    FileKind.LFS: "git-lfs pointer",
}


@dataclass(frozen=True, slots=True)
class SelectOptions:
    """``ignore``: patterns as in ``.gitignore``. Of files above ``max_file_bytes`` only the hunks are read. ``is_trusted``: the
    head is nobody's proposal, so that a file may say of itself that it was generated."""

    ignore: tuple[str, ...] = ()
    max_file_bytes: int = 1_000_000
    is_trusted: bool = False


@dataclass(frozen=True, slots=True)
class Scope:
    """The files to review in git's order, the coverage of those that are left out or seen in part, and what to say."""

    files: tuple[FileChange, ...]
    coverage: tuple[Coverage, ...] = ()
    notes: tuple[str, ...] = ()


def scope(change: ChangeSet, options: SelectOptions) -> Scope:
    """By name, status and mode. What is left out here is out by rule: the review is still complete."""
    ignored = Globs(options.ignore)

    def reason(file: FileChange) -> str | None:
        if ignored.match(file.path) and (file.old_path is None or ignored.match(file.old_path)):
            return "ignored by configuration"
        return _KIND_REASONS.get(file.kind) or out_of_scope(file.path)

    kept, left_out = _parted(change.files, reason)
    notes = () if change.revisions.is_audit else tuple(note for file in change.files for note in _notes(file))
    return Scope(kept, left_out, notes)


def refine(scope: Scope, contents: Mapping[str, Contents], options: SelectOptions) -> Scope:
    """By content: generated and minified files go too. ``contents`` has the files' whole text where it is known."""

    def reason(file: FileChange) -> str | None:
        found = contents.get(file.path)
        if found is None or file.head_path is None:
            return None
        return _content_reason(file, found, is_trusted=options.is_trusted)

    kept, left_out = _parted(scope.files, reason)
    large = tuple(
        f"{file.path} is larger than {options.max_file_bytes} bytes: only its changed parts were read"
        for file in kept
        if (found := contents.get(file.path)) and len(found.head or b"") > options.max_file_bytes
    )
    return Scope(kept, scope.coverage + left_out, scope.notes + large)


def coverage(change: ChangeSet, scope: Scope, unread: Iterable[Unread] = ()) -> tuple[Coverage, ...]:
    """What became of every changed file, once each, in git's order. ``unread`` is what too few panelists read."""
    said = {item.path: _missed(item) for item in unread} | {item.path: item for item in scope.coverage}
    seen = {file.path for file in scope.files}
    return tuple(said.get(file.path) or _unsaid(file.path, seen) for file in change.files)


def _missed(item: Unread) -> Coverage:
    return Coverage(item.path, CoverageStatus.SKIPPED if item.whole else CoverageStatus.PARTIAL, item.reason)


def _unsaid(path: str, seen: set[str]) -> Coverage:
    if path in seen:
        return Coverage(path, CoverageStatus.REVIEWED)
    return Coverage(path, CoverageStatus.SKIPPED, "not looked at")


def _parted(
    files: tuple[FileChange, ...], reason: Callable[[FileChange], str | None]
) -> tuple[tuple[FileChange, ...], tuple[Coverage, ...]]:
    reasons = [(file, reason(file)) for file in files]
    kept = tuple(file for file, why in reasons if why is None)
    return kept, tuple(_skipped(file, why) for file, why in reasons if why is not None)


def _skipped(file: FileChange, why: str) -> Coverage:
    if file.kind is FileKind.BINARY and is_source(file.path) and file.head_path:
        return Coverage(file.path, CoverageStatus.SKIPPED, "has the name of a program, but git says it is binary")
    return Coverage(file.path, CoverageStatus.SKIPPED, why, ignored=True)


def _content_reason(file: FileChange, contents: Contents, *, is_trusted: bool) -> str | None:
    head = contents.head or b""
    base = head if is_trusted else contents.base or b""
    # The mark in the change alone is the author's word, which would be a way to hide code from the reviewer.
    if _is_marked_generated(head) and _is_marked_generated(base):
        return "generated"
    return "minified" if file.path.endswith(_MINIFIED_ENDINGS) and _is_minified(head) else None


def _is_marked_generated(content: bytes) -> bool:
    start = b"\n".join(content[:20_000].split(b"\n", _HEAD_LINES)[:_HEAD_LINES])
    return _GENERATED_MARK.search(start) is not None


def _is_minified(content: bytes) -> bool:
    return len(content) > 10 * _MINIFIED_LINE_BYTES and len(content) > _MINIFIED_LINE_BYTES * (content.count(b"\n") + 1)


def _notes(file: FileChange) -> Iterator[str]:
    """What no line shows."""
    if file.status is FileStatus.TYPE_CHANGED:
        yield f"{file.path} changes its type: {_type(file.old_mode)} becomes {_type(file.new_mode)}"
    elif file.kind is FileKind.SYMLINK and file.head_path:
        target = next((text for _, text in file.added_lines()), b"").decode("utf-8", "replace")
        yield f"{file.path} is a symbolic link to {target}" if target else f"{file.path} is a symbolic link"
    elif file.kind is FileKind.SUBMODULE and file.head_path:
        yield f"{file.path} is a submodule: what changes inside of it is not part of this review"
    elif file.kind is not FileKind.SUBMODULE and _becomes_executable(file):
        yield f"{file.path} becomes executable"


def _becomes_executable(file: FileChange) -> bool:
    return bool(file.new_mode & _EXECUTABLE) and not file.old_mode & _EXECUTABLE


def _type(mode: int) -> str:
    return {0o120: "a symbolic link", 0o160: "a submodule"}.get(mode >> 9, "a file")
