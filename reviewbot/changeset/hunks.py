"""Hunks of a unified diff, read by counting lines against the hunk's header, so that no content can end one."""

from __future__ import annotations

import re
from typing import NoReturn

from reviewbot.domain.change import Hunk
from reviewbot.errors import PatchError

_HEADER = re.compile(rb"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@(.*)", re.DOTALL)


class HunkReader:
    """Reads hunks from ``lines``, a patch split at its line feeds, and numbers them H1, H2, … in the order of reading."""

    def __init__(self, lines: list[bytes]) -> None:
        self.lines = lines
        self._read = 0

    def hunks(self, at: int) -> tuple[tuple[Hunk, ...], int]:
        """The hunks that follow each other from line index ``at``, and the index of the first line after them."""
        found: list[Hunk] = []
        lines, end = self.lines, len(self.lines)
        while at < end and lines[at].startswith(b"@@ -"):
            hunk, at = self._hunk(at)
            found.append(hunk)
        return tuple(found), at

    def _hunk(self, at: int) -> tuple[Hunk, int]:
        header = _HEADER.fullmatch(self.lines[at])
        if header is None:
            malformed(at, "is not a hunk header")
        old_start, old_count, new_start, new_count = (int(part or 1) for part in header.groups()[:4])
        start = at + 1
        end, markers = self._end(start, old_count, new_count)
        rows = self.lines[start:end]
        for index in reversed(markers):
            del rows[index - start]
        without_newline = b"".join(self.lines[index - 1][:1] or b" " for index in markers)
        if b"" in rows:
            rows = [row or b" " for row in rows]
        self._read += 1
        return (
            Hunk(
                id=f"H{self._read}",
                old_start=old_start,
                old_count=old_count,
                new_start=new_start,
                new_count=new_count,
                section=header[5].strip(),
                rows=tuple(rows),
                old_ends_without_newline=b"-" in without_newline or b" " in without_newline,
                new_ends_without_newline=b"+" in without_newline or b" " in without_newline,
            ),
            end,
        )

    def _end(self, at: int, old: int, new: int) -> tuple[int, list[int]]:
        """The index after a hunk of ``old`` and ``new`` lines that starts at ``at``, and where git's own remarks stand in it."""
        lines, total = self.lines, len(self.lines)
        markers: list[int] = []
        start = at
        while old > 0 or new > 0:
            if at >= total:
                malformed(total - 1, "ends in the middle of a hunk")
            mark = lines[at][:1]
            if mark == b"+":
                new -= 1
            elif mark == b"-":
                old -= 1
            elif mark == b"\\" and at > start:
                markers.append(at)
            elif mark in _CONTEXT and at < total - 1:
                old -= 1
                new -= 1
            else:
                malformed(at, "is no line of a hunk")
            at += 1
        if old < 0 or new < 0:
            malformed(at - 1, "makes its hunk longer than its header says")
        if start < at < total and lines[at][:1] == b"\\":
            markers.append(at)
            at += 1
        return at, markers


_CONTEXT = (b" ", b"", b"\r", b"\t")
"""A mail program strips the blank of an empty context line; GNU diff -T writes a tab."""


def malformed(index: int, complaint: str) -> NoReturn:
    """Raise the PatchError for the line with this index."""
    raise PatchError(f"line {index + 1} of the patch {complaint}", hint="make it again with `git diff` or `diff -u`")
