"""A file of the head with a proposed replacement in it."""

from __future__ import annotations

from reviewbot.domain.repair import Edit
from reviewbot.evidence.view import View
from reviewbot.ports import Draft


def overlay(view: View, fix: Draft | tuple[Edit, ...] | None) -> tuple[tuple[str, bytes], ...]:
    """The mended files; none where there is no fix, or where its lines are not in the head's file. A file that shall go is laid
    over with nothing: no job can tell a file of tests or code apart from an empty one."""
    if isinstance(fix, tuple):
        return tuple((edit.path, edit.content or b"") for edit in fix)
    file = view.change.file(fix.path) if fix else None
    data = view.contents_of(file).head if file else None
    if fix is None or data is None:
        return ()
    lines = data.split(b"\n")
    ends_in_newline = lines[-1] == b""
    count = len(lines) - ends_in_newline
    if not 1 <= fix.start_line <= fix.line <= count:
        return ()
    ending = b"\r\n" if lines[fix.start_line - 1].endswith(b"\r") else b"\n"
    written = fix.replacement.removesuffix("\n").encode("utf-8", "surrogateescape")
    mended = [] if not fix.replacement else [line.removesuffix(b"\r") + ending[:-1] for line in written.split(b"\n")]
    return ((fix.path, b"\n".join((*lines[: fix.start_line - 1], *mended, *lines[fix.line :]))),)
