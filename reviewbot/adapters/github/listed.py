"""A file of GitHub's list of changed files, as a section of a unified diff.

The list does not tell modes: a regular file is written, as ``git diff`` would for one. A file without a patch becomes a binary
one, so that nobody takes it for reviewed, and is said in words; a patch that holds fewer lines than GitHub counts is, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from reviewbot.adapters.github.reading import number, odd, text

_EMPTY_BLOBS = frozenset(
    {"e69de29bb2d1d6434b8b29ae775ad8c2e48c5391", "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813"}
)
_ESCAPES: Mapping[int, str] = {
    0x07: "\\a", 0x08: "\\b", 0x09: "\\t", 0x0A: "\\n", 0x0B: "\\v", 0x0C: "\\f", 0x0D: "\\r", 0x22: '\\"', 0x5C: "\\\\",
}  # fmt: skip

#: Lines between ``diff --git`` and the hunks. A change of type or of mode is a modification without modes.
_HEADERS: Mapping[str, tuple[str, ...]] = {
    "added": ("new file mode 100644",),
    "removed": ("deleted file mode 100644",),
    "modified": (),
    "changed": (),
    "unchanged": (),
    "renamed": ("rename from {old}", "rename to {new}"),
    "copied": ("copy from {old}", "copy to {new}"),
}


@dataclass(frozen=True, slots=True)
class Listed:
    """A section of a diff, and what GitHub left out of the file, in words."""

    section: bytes
    left_out: str = ""


def file(node: dict[str, Any]) -> Listed:
    """One entry of ``/pulls/N/files``. Raises ForgeError for one that cannot be understood."""
    name, status = text(node, "filename"), text(node, "status")
    if status not in _HEADERS:
        raise odd(f"the status of a changed file ({status[:20]!r})")
    old = text(node, "previous_filename") if status in ("renamed", "copied") else name
    lines = [f"diff --git {quoted('a/' + old)} {quoted('b/' + name)}"]
    lines += [line.format(old=quoted(old), new=quoted(name)) for line in _HEADERS[status]]
    before = "/dev/null" if status == "added" else _named("a/" + old)
    after = "/dev/null" if status == "removed" else _named("b/" + name)
    patch = text(node, "patch", optional=True)
    if patch:
        lines += [f"--- {before}", f"+++ {after}", patch.removesuffix("\n")]
        return Listed(_bytes(lines), _cut(node, name, patch))
    left_out = _without_patch(node, name, status)
    if left_out:
        lines.append(f"Binary files {before.rstrip()} and {after.rstrip()} differ")
    return Listed(_bytes(lines), left_out)


def quoted(name: str) -> str:
    """A name as git writes it with ``core.quotePath=false``: in quotes where it holds a control character, a quote or a
    backslash (``quote.c``)."""
    escaped = "".join(_ESCAPES.get(ord(c)) or (f"\\{ord(c):03o}" if ord(c) < 0x20 or ord(c) == 0x7F else c) for c in name)
    return name if escaped == name else f'"{escaped}"'


def _named(name: str) -> str:
    """A name behind ``---`` or ``+++``: git ends one that holds a blank with a tab."""
    written = quoted(name)
    return written + "\t" if " " in written and not written.startswith('"') else written


def _without_patch(node: dict[str, Any], name: str, status: str) -> str:
    """Why a file has no patch, empty where it needs none."""
    if number(node, "additions") or number(node, "deletions"):
        return f"{name}: GitHub gives no patch for it, it is too large"
    if status in ("renamed", "copied", "unchanged") or text(node, "sha", optional=True) in _EMPTY_BLOBS:
        return ""
    return f"{name}: GitHub gives no patch for it, it is binary or only its mode changed"


def _cut(node: dict[str, Any], name: str, patch: str) -> str:
    marks = [line[:1] for line in patch.split("\n")]
    whole = marks.count("+") == number(node, "additions") and marks.count("-") == number(node, "deletions")
    return "" if whole else f"{name}: GitHub gives a part of its patch only"


def _bytes(lines: list[str]) -> bytes:
    return "\n".join((*lines, "")).encode("utf-8")
