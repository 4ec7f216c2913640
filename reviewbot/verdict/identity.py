"""What makes a finding the same in two reviews, and the lines it is about."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable

from msgspec.structs import replace

from reviewbot.checks.project import Project
from reviewbot.debate.case import Case
from reviewbot.git.change import Change, Location
from reviewbot.text.hidden import visible
from reviewbot.text.secrets import redact
from reviewbot.verdict.document import Finding

MAX_LINES = 6


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
    return hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()[:12]


def with_unique_keys(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Number equal keys, in the order of their places."""
    seen: Counter[str] = Counter()
    unique = {}
    for finding in sorted(
        findings, key=lambda finding: (finding.location is None, _place(finding))
    ):
        seen[finding.key] += 1
        if seen[finding.key] > 1:
            finding = replace(finding, key=f"{finding.key}-{seen[finding.key]}")
        unique[finding.id] = finding
    return tuple(unique.values())


def excerpt_of(location: Location | None, change: Change, project: Project) -> str:
    """The lines at a place as a reader may see them: no secrets, hidden characters visible."""
    return visible(redact("\n".join(lines_at(location, change, project)[:MAX_LINES]))[0])


def lines_at(location: Location | None, change: Change, project: Project) -> list[str]:
    if location is None or location.line < 1:
        return []
    text = project.texts(location.side).get(location.path)
    if text is not None:
        return text.split("\n")[location.line - 1 : location.end_line]
    shown = {
        number: line
        for file in change.files
        if location.path == (file.path if location.side == "head" else file.old_path)
        for hunk in file.hunks
        for number, line in hunk.at(location.side)
    }
    wanted = range(location.line, location.end_line + 1)
    return [shown[number] for number in wanted if number in shown]


def _place(finding: Finding) -> tuple[str, int]:
    return (finding.location.path, finding.location.line) if finding.location else ("", 0)
