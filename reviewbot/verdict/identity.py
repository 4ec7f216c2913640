"""What makes a finding the same in two reviews, and the lines it is about."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache

from reviewbot.checks.project import Project
from reviewbot.context.passages import shown
from reviewbot.debate.case import Case
from reviewbot.git.change import Change, Location

MAX_LINES = 6
# An author can prepare two findings with one key, and have the harmless one dismissed, in
# 2^(2 * KEY_DIGITS) attempts.
KEY_DIGITS = 32


def key_of(case: Case, change: Change, project: Project) -> str:
    """Equal as long as the faulty line has the same text, wherever it moves in its file.

    A broken test is what it is whatever line broke it. Wording of models differs each time, so a
    claim is known by what kind of defect it is and where.
    """
    result = case.result
    if result and result.kind != "diagnostic":
        parts = ["test", result.check, result.name]
    else:
        location = case.location
        path = location.path if location else ""
        text = " ".join(lines_at(location, change, project)[:1]).strip()
        kind = f"{result.check} {result.name}" if result else case.claims[0].category
        parts = [kind, change.old_paths.get(path, path), text]
    return hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()[:KEY_DIGITS]


def unique_keys(cases: Sequence[Case], change: Change, project: Project) -> list[str]:
    """The key of each case; equal keys are numbered in the order of their places."""
    keys = [key_of(case, change, project) for case in cases]
    seen: Counter[str] = Counter()
    for index in sorted(range(len(cases)), key=lambda n: cases[n].location or Location("", 0, 0)):
        key = keys[index]
        seen[key] += 1
        if seen[key] > 1:
            keys[index] = f"{key}-{seen[key]}"
    return keys


def excerpt_of(location: Location | None, change: Change, project: Project) -> str:
    """The lines at a place as a reader may see them: no secrets, hidden characters visible."""
    return "\n".join(lines_at(location, change, project, shown)[:MAX_LINES])


def lines_at(
    location: Location | None, change: Change, project: Project, show: Callable[[str], str] = str
) -> list[str]:
    """Args: show: makes of a whole text what is shown: a line alone may be part of a secret."""
    if location is None or location.line < 1:
        return []
    text = project.texts(location.side).get(location.path)
    if text is not None:
        return _lines(text, show)[location.line - 1 : location.end_line]
    rows = [
        row
        for file in change.files
        if location.path == file.path_at(location.side)
        for hunk in file.hunks
        for row in hunk.at(location.side)
    ]
    lines = _lines("\n".join(text for _, text in rows), show)
    wanted = range(location.line, location.end_line + 1)
    return [line for (n, _), line in zip(rows, lines, strict=False) if n in wanted]


@lru_cache
def _lines(text: str, show: Callable[[str], str]) -> list[str]:
    """A file may have thousands of findings."""
    return show(text).split("\n")
