"""git's bytes in, a ``ChangeSet`` out.

Which files changed, and their names, come from git's list; a patch's text only supplies hunks, matched to that list by
git's order. Where there is no list (``--patch``), ``patch.sections`` reads the names out of the text with suspicion.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from reviewbot.changeset import listing, patch
from reviewbot.changeset.hunks import HunkReader
from reviewbot.domain.change import ChangeSet, FileChange, FileKind, FileStatus, Hunk, Revisions
from reviewbot.errors import PatchError
from reviewbot.ports import RawDiff

_TYPE_MASK = 0o170000
_KINDS = {0o120000: FileKind.SYMLINK, 0o160000: FileKind.SUBMODULE}
_LFS_VERSION = b"version https://git-lfs.github.com/spec/v1"
_LFS_LINE = re.compile(rb"version https://git-lfs\.github\.com/spec/v1|oid sha256:[0-9a-f]{64}|size \d{1,20}")


def read(raw: RawDiff, revisions: Revisions) -> ChangeSet:
    """The whole change, hunks numbered H1… through all files. Raises PatchError, naming the line, where it is malformed."""
    if raw.raw:
        return ChangeSet(revisions, tuple(_listed(raw)))
    if raw.patch or revisions.head_tree is None:
        return _patched(raw.patch, revisions)
    return ChangeSet(revisions, ())


def _listed(raw: RawDiff) -> Iterator[FileChange]:
    numbers = listing.counts(raw.numstat)
    reader = HunkReader(raw.patch.split(b"\n"))
    at = 0
    for entry in listing.entries(raw.raw):
        hunks: tuple[Hunk, ...] = ()
        for _ in range(2 if entry.status is FileStatus.TYPE_CHANGED else 1):
            more, at = _section(reader, at)
            hunks += more
        count = numbers.get(entry.path)
        kind = _kind(entry.new_mode or entry.old_mode, hunks, binary=count is None)
        added, deleted = count or (0, 0)
        yield FileChange(
            path=entry.path,
            old_path=entry.old_path,
            status=entry.status,
            kind=kind,
            old_mode=entry.old_mode,
            new_mode=entry.new_mode,
            old_id=entry.old_id,
            new_id=entry.new_id,
            added=added,
            deleted=deleted,
            hunks=hunks,
        )
    if any(reader.lines[at:]):
        raise PatchError("git's patch has more files than git's list", hint="report this as a bug, with the versions of git")


def _section(reader: HunkReader, at: int) -> tuple[tuple[Hunk, ...], int]:
    """One ``diff --git`` section from line index ``at``: its hunks, and the index after it."""
    lines, end = reader.lines, len(reader.lines)
    if at >= end or not lines[at].startswith(b"diff --git "):
        raise PatchError("git's patch has fewer files than git's list", hint="report this as a bug, with the versions of git")
    at += 1
    while at < end and not lines[at].startswith((b"@@ -", b"diff --git ")):
        at += 1
    return reader.hunks(at)


def _patched(text: bytes, revisions: Revisions) -> ChangeSet:
    """A change without repository. A path that several sections change becomes one file."""
    files: dict[str, FileChange] = {}
    notes: dict[str, None] = {}
    for section in patch.sections(text):
        file = _from_section(section)
        earlier = files.get(file.path)
        if earlier is not None:
            file, note = _joined(earlier, file)
            notes |= {note: None} if note else {}
        files[file.path] = file
    if not files:
        raise PatchError("the patch holds no change", hint="give a unified diff, such as `git diff` writes")
    return ChangeSet(replace(revisions, notes=(*revisions.notes, *notes)), tuple(files.values()))


def _from_section(section: patch.Section) -> FileChange:
    marks = [row[:1] for hunk in section.hunks for row in hunk.rows]
    return FileChange(
        path=section.path,
        old_path=section.old_path,
        status=section.status,
        kind=_kind(section.new_mode or section.old_mode, section.hunks, binary=section.binary),
        old_mode=section.old_mode,
        new_mode=section.new_mode,
        old_id=section.old_id,
        new_id=section.new_id,
        added=marks.count(b"+"),
        deleted=marks.count(b"-"),
        hunks=section.hunks,
    )


def _joined(first: FileChange, second: FileChange) -> tuple[FileChange, str]:
    """Two sections of one path: a change of type as git writes it, or two patches of a series; with what to say of it."""
    gone_and_back = first.status is FileStatus.DELETED and second.status is FileStatus.ADDED
    changes_type = gone_and_back and first.old_mode & _TYPE_MASK != second.new_mode & _TYPE_MASK
    if changes_type:
        status = FileStatus.TYPE_CHANGED
    elif gone_and_back:
        status = FileStatus.MODIFIED
    else:
        status = FileStatus.DELETED if second.status is FileStatus.DELETED else first.status
    joined = replace(
        second,
        status=status,
        old_path=first.old_path,
        old_mode=first.old_mode,
        old_id=first.old_id,
        added=first.added + second.added,
        deleted=first.deleted + second.deleted,
        hunks=first.hunks + second.hunks,
    )
    note = f"{first.path} is changed several times in the patch: lines are numbered as each part of it numbers them"
    return joined, "" if changes_type else note


def _kind(mode: int, hunks: tuple[Hunk, ...], *, binary: bool) -> FileKind:
    if special := _KINDS.get(mode & _TYPE_MASK):
        return special
    if binary:
        return FileKind.BINARY
    return FileKind.LFS if _is_lfs_pointer(hunks) else FileKind.TEXT


def _is_lfs_pointer(hunks: tuple[Hunk, ...]) -> bool:
    """All that is shown of the newer side is a pointer of git-lfs (https://github.com/git-lfs/git-lfs, docs/spec.md)."""
    if len(hunks) != 1 or hunks[0].new_start != 1 or hunks[0].new_count != 3:
        return False
    newer = [row[1:] for row in hunks[0].rows if row[:1] != b"-"]
    return newer[0] == _LFS_VERSION and all(_LFS_LINE.fullmatch(line) for line in newer)
