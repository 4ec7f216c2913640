"""The sections of a unified diff where git cannot be asked: names are read from the text, and must agree with each other.

Understands ``git diff``, ``git format-patch`` (several mails), ``diff -u`` and ``diff -ru``. What stands between sections
is skipped only before a file's header: a stray ``+`` line after a hunk is an error, because some tools would apply it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from reviewbot.changeset.hunks import HunkReader, malformed
from reviewbot.changeset.listing import name
from reviewbot.domain.change import FileStatus, Hunk
from reviewbot.errors import PatchError

_INDEX = re.compile(rb"([0-9a-f]{4,64})\.\.([0-9a-f]{4,64})(?: ([0-7]{6}))?")
_ESCAPE = re.compile(rb'\\([abtnvfr"\\]|[0-7]{3})')
_ESCAPED = {b"a": b"\a", b"b": b"\b", b"t": b"\t", b"n": b"\n", b"v": b"\v", b"f": b"\f", b"r": b"\r"}
_QUOTED = rb'"(?:[^"\\]|\\.)*"'
_QUOTED_PAIR = re.compile(rb"(" + _QUOTED + rb"|\S.*?) (" + _QUOTED + rb")|(" + _QUOTED + rb") (.+)")
_HEADER_WORDS = (
    b"old mode ",
    b"new mode ",
    b"deleted file mode ",
    b"new file mode ",
    b"copy from ",
    b"copy to ",
    b"rename from ",
    b"rename to ",
    b"similarity index ",
    b"dissimilarity index ",
    b"index ",
)
_NOWHERE = b"/dev/null"
_REGULAR = 0o100644


@dataclass(frozen=True, slots=True)
class Section:
    """One file of a patch. Blob ids are set only where the text has them in full."""

    path: str
    old_path: str | None
    status: FileStatus
    old_mode: int
    new_mode: int
    old_id: str | None
    new_id: str | None
    binary: bool
    hunks: tuple[Hunk, ...]


def sections(text: bytes) -> Iterator[Section]:
    """Every file of the patch ``text`` in its order. Raises PatchError naming the line where it is malformed."""
    if text.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise PatchError("the patch is encoded as UTF-16", hint="write it as bytes, for example with `git diff --output=FILE`")
    return _Walk(text.removeprefix(b"\xef\xbb\xbf").split(b"\n")).sections()


class _Walk:
    """One pass over the lines. ``at`` only grows, so the work is linear."""

    def __init__(self, lines: list[bytes]) -> None:
        self._lines = lines
        self._reader = HunkReader(lines)
        self._at = 0

    def sections(self) -> Iterator[Section]:
        after_hunk = False
        while self._at < len(self._lines):
            line = self._line()
            if line.startswith(b"diff --git "):
                yield self._git_section()
                after_hunk = True
            elif self._is_plain_header():
                yield self._plain_section()
                after_hunk = True
            else:
                after_hunk = self._skip(line, after_hunk=after_hunk)

    def _skip(self, line: bytes, *, after_hunk: bool) -> bool:
        """Step over a line outside of sections; whether the next one still follows a hunk."""
        if line.startswith((b"diff --cc ", b"diff --combined ")):
            raise PatchError(
                f"line {self._at + 1} of the patch begins the combined diff of a merge",
                hint="compare the merge with one parent: `git diff COMMIT^1 COMMIT`",
            )
        if line.startswith(b"@@ -"):
            malformed(self._at, "is a hunk without a file name before it")
        ends_patch = line.rstrip() == b"--" or line.startswith((b"From ", b"diff "))
        if after_hunk and not ends_patch and line[:1] in (b"+", b"-", b" "):
            malformed(self._at, "follows a hunk that its header says is over")
        self._at += 1
        return after_hunk and not ends_patch

    def _line(self, ahead: int = 0) -> bytes:
        """The line at hand without a carriage return, empty behind the end."""
        index = self._at + ahead
        return self._lines[index].removesuffix(b"\r") if index < len(self._lines) else b""

    def _is_plain_header(self) -> bool:
        return self._line().startswith(b"--- ") and self._line(1).startswith(b"+++ ") and self._line(2).startswith(b"@@ -")

    def _git_section(self) -> Section:
        start, title = self._at, self._line()[len(b"diff --git ") :]
        self._at += 1
        words = self._extended_header()
        binary = self._binary()
        old = new = None
        hunks: tuple[Hunk, ...] = ()
        if self._line().startswith(b"--- ") and self._line(1).startswith(b"+++ "):
            old, new = _file_name(self._line()[4:]), _file_name(self._line(1)[4:])
            hunks, self._at = self._reader.hunks(self._at + 2)
        elif self._line().startswith(b"@@ -"):
            malformed(self._at, "is a hunk without `---` and `+++` before it")
        return _named(start, _GitNames(title, words, old, new), binary=binary, hunks=hunks)

    def _extended_header(self) -> dict[bytes, bytes]:
        words: dict[bytes, bytes] = {}
        while word := next((word for word in _HEADER_WORDS if self._line().startswith(word)), None):
            if word in words:
                malformed(self._at, "says something of its file for the second time")
            words[word] = self._line()[len(word) :]
            self._at += 1
        return words

    def _binary(self) -> bool:
        line = self._line()
        if line.startswith(b"Binary files ") and line.endswith(b" differ"):
            self._at += 1
            return True
        if line != b"GIT binary patch":
            return False
        while self._at < len(self._lines) and not self._line().startswith((b"diff --git ", b"-- ", b"From ")):
            self._at += 1
        return True

    def _plain_section(self) -> Section:
        start = self._at
        old, new = _file_name(self._line()[4:]), _file_name(self._line(1)[4:])
        hunks, self._at = self._reader.hunks(start + 2)
        if old == new == _NOWHERE:
            malformed(start, "names no file")
        if old == _NOWHERE or hunks[0].old_start == hunks[0].old_count == 0:
            status, path = FileStatus.ADDED, _without_prefix(new)
        elif new == _NOWHERE or hunks[-1].new_start == hunks[-1].new_count == 0:
            status, path = FileStatus.DELETED, _without_prefix(old)
        else:
            status, path = FileStatus.MODIFIED, _common_name(old, new)
        old_mode = 0 if status is FileStatus.ADDED else _REGULAR
        new_mode = 0 if status is FileStatus.DELETED else _REGULAR
        return Section(name(path), None, status, old_mode, new_mode, None, None, binary=False, hunks=hunks)


@dataclass(frozen=True, slots=True)
class _GitNames:
    """Every place of a ``diff --git`` section that names its file."""

    title: bytes
    words: dict[bytes, bytes]
    old: bytes | None
    new: bytes | None


def _named(start: int, names: _GitNames, *, binary: bool, hunks: tuple[Hunk, ...]) -> Section:
    """Bring the names of a section together. ``start`` is the index of its first line."""
    words = names.words
    status = _status(words)
    old, new = _paths(start, names, status)
    if hunks and _contradicts(status, hunks):
        malformed(start, "begins a file whose hunks do not fit what its header says")
    index = _INDEX.fullmatch(words.get(b"index ", b""))
    old_id, new_id = (_full_id(index[1]), _full_id(index[2])) if index else (None, None)
    mode = index[3] if index and index[3] else None
    old_mode = words.get(b"old mode ") or words.get(b"deleted file mode ") or mode
    new_mode = words.get(b"new mode ") or words.get(b"new file mode ") or mode
    moved = status in (FileStatus.RENAMED, FileStatus.COPIED)
    return Section(
        path=name(old if status is FileStatus.DELETED else new),
        old_path=name(old) if moved else None,
        status=status,
        old_mode=0 if status is FileStatus.ADDED else _mode(start, old_mode),
        new_mode=0 if status is FileStatus.DELETED else _mode(start, new_mode),
        old_id=None if status is FileStatus.ADDED else old_id,
        new_id=None if status is FileStatus.DELETED else new_id,
        binary=binary,
        hunks=hunks,
    )


def _status(words: dict[bytes, bytes]) -> FileStatus:
    if b"rename to " in words:
        return FileStatus.RENAMED
    if b"copy to " in words:
        return FileStatus.COPIED
    if b"new file mode " in words:
        return FileStatus.ADDED
    return FileStatus.DELETED if b"deleted file mode " in words else FileStatus.MODIFIED


def _paths(start: int, names: _GitNames, status: FileStatus) -> tuple[bytes, bytes]:
    """The older and the newer name; every part of the section that says one must say the same."""
    words = names.words
    old = words.get(b"rename from ") or words.get(b"copy from ")
    new = words.get(b"rename to ") or words.get(b"copy to ")
    if (old is None) != (new is None):
        malformed(start, "begins a rename or a copy that names one side only")
    if old is not None and new is not None:
        old, new = _unquoted(old), _unquoted(new)
    elif names.old is not None and names.new is not None:
        old, new = _stripped_pair(start, names.old, names.new)
    else:
        old = new = _title_name(start, names.title)
    for said, resolved, absent in ((names.old, old, FileStatus.ADDED), (names.new, new, FileStatus.DELETED)):
        if said is not None and (said == _NOWHERE) != (status is absent):
            malformed(start, "begins a file whose `---` and `+++` do not fit what its header says")
        if said not in (None, _NOWHERE) and not _ends_with(said, resolved):
            malformed(start, "begins a file whose names disagree")
    if old == new and not _title_names(names.title, old):
        malformed(start, "names another file than the lines that follow it")
    return old, new


def _title_names(title: bytes, path: bytes) -> bool:
    """Whether both names of ``diff --git`` are ``path`` behind whatever prefixes."""
    if pair := _QUOTED_PAIR.fullmatch(title):
        return all(_ends_with(_unquoted(part), path) for part in pair.groups() if part is not None)
    before = title.removesuffix(path)
    return before != title and _ends_with(before[: before.rfind(b" ")], path)


def _ends_with(name_in_text: bytes, path: bytes) -> bool:
    return name_in_text == path or name_in_text.endswith(b"/" + path)


def _stripped_pair(start: int, old: bytes, new: bytes) -> tuple[bytes, bytes]:
    if old == new == _NOWHERE:
        malformed(start, "names no file")
    if old == _NOWHERE:
        return (_without_prefix(new),) * 2
    if new == _NOWHERE:
        return (_without_prefix(old),) * 2
    common = _common_name(old, new)
    return common, common


def _common_name(old: bytes, new: bytes) -> bytes:
    """The path behind both names: without the folder in which they differ, or the newer one as it stands."""
    old_root, _, old_rest = old.partition(b"/")
    new_root, _, new_rest = new.partition(b"/")
    return new_rest if new_rest and old_rest == new_rest and old_root != new_root else new


def _without_prefix(path: bytes) -> bytes:
    """Without the one-letter folder that git puts before a path."""
    return path[2:] if path[:2] in (b"a/", b"b/", b"c/", b"i/", b"o/", b"w/") and path[2:] else path


def _title_name(start: int, title: bytes) -> bytes:
    """The one path of ``a/PATH b/PATH``. It may itself contain `` b/``: both halves are equally long."""
    if pair := _QUOTED_PAIR.fullmatch(title):
        one, other = (_unquoted(part) for part in pair.groups() if part is not None)
    else:
        half = len(title) // 2
        one, other = title[:half], title[half + 1 :]
        if title[half : half + 1] != b" ":
            malformed(start, "names two files without saying which becomes which")
    path = _common_name(one, other) if one != other else one
    if _without_prefix(one) != path and one != path:
        malformed(start, "names two files without saying which becomes which")
    return path


def _file_name(text: bytes) -> bytes:
    """The name in a ``---`` or ``+++`` line: unquoted, without the time that follows a tab."""
    return _unquoted(text if text.startswith(b'"') else text.split(b"\t", 1)[0])


def _unquoted(text: bytes) -> bytes:
    """git's C-style quoting undone (``quote.c``)."""
    if len(text) < 2 or not (text.startswith(b'"') and text.rstrip(b"\t ").endswith(b'"')):
        return text
    return _ESCAPE.sub(lambda found: _character(found[1]), text.rstrip(b"\t ")[1:-1])


def _character(escape: bytes) -> bytes:
    return bytes((int(escape, 8) & 0xFF,)) if escape.isdigit() else _ESCAPED.get(escape, escape)


def _contradicts(status: FileStatus, hunks: tuple[Hunk, ...]) -> bool:
    """An added file has no older lines, a deleted one no newer lines."""
    if status is FileStatus.ADDED:
        return any(hunk.old_count for hunk in hunks)
    return status is FileStatus.DELETED and any(hunk.new_count for hunk in hunks)


def _mode(start: int, text: bytes | None) -> int:
    if text is None:
        return _REGULAR
    if not re.fullmatch(rb"[0-7]{6}", text):
        malformed(start, "begins a file with an impossible mode")
    return int(text, 8)


def _full_id(text: bytes) -> str | None:
    return text.decode("ascii") if len(text) in (40, 64) and text.strip(b"0") else None
