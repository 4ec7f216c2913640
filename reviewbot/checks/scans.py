"""Checks that read the added lines of every text file for known patterns. They run nothing."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping

from reviewbot.checks.evidence import CheckRun
from reviewbot.checks.report import Diagnostic, Report
from reviewbot.git.change import Change, ChangedFile, Location
from reviewbot.severity import Severity
from reviewbot.text.files import classify
from reviewbot.text.hidden import find_hidden
from reviewbot.text.line_ends import find_line_ends
from reviewbot.text.secrets import find_secrets

Scan = Callable[[ChangedFile], Iterator[Diagnostic]]


def run_scans(change: Change, off: frozenset[str] = frozenset()) -> tuple[CheckRun, ...]:
    """Each scan over the files that have text at head."""
    files = [file for file in change.files if file.mode != "000000"]
    return tuple(
        CheckRun(
            check=name,
            kind="scan",
            side="head",
            outcome="ended",
            files=tuple(file.path for file in files if not file.is_binary),
            report=Report(diagnostics=tuple(found for file in files for found in scan(file))),
        )
        for name, scan in SCANS.items()
        if name not in off
    )


def scan_secrets(file: ChangedFile) -> Iterator[Diagnostic]:
    """Only the kind of a secret is reported, never its text."""
    for start, text in _added_blocks(file):
        for secret in find_secrets(text):
            line = start + text.count("\n", 0, secret.start)
            yield _diagnostic(
                f"secret-{secret.name}",
                f"A secret is committed: {secret.name}",
                Location(file.path, line, line),
                "critical",
                "Whoever reads the repository can use it. Revoke it: history keeps it.",
            )
    for secret in find_secrets(file.path):
        yield _diagnostic(
            f"secret-{secret.name}",
            f"The name of a file contains a secret: {secret.name}",
            None,
            "critical",
        )


def scan_hidden_characters(file: ChangedFile) -> Iterator[Diagnostic]:
    """Text that a reader does not see, or sees in another order (CVE-2021-42574)."""
    for number, text in _added_lines(file):
        kinds: dict[str, list[str]] = {}
        for hidden in find_hidden(text.removesuffix("\r")):
            if hidden.kind != "control" or hidden.codepoint not in WHITE_SPACE:
                kinds.setdefault(hidden.kind, []).append(hidden.name)
        for kind, names in kinds.items():
            more = f" and {len(names) - 1} more" if len(names) > 1 else ""
            yield _diagnostic(
                f"hidden-{kind.replace('_', '-')}",
                f"Hidden text: {names[0]}{more}",
                Location(file.path, number, number),
                "low" if kind in ("control", "filler") and _is_prose(file) else "high",
                "What is executed, or what a model reads, differs from what a reviewer sees.",
            )


def scan_line_ends(file: ChangedFile) -> Iterator[Diagnostic]:
    """Code on what git and a reviewer see as one line of a comment."""
    for start, text in _added_blocks(file):
        before = min(start - 1, 2)  # the first two lines may declare an encoding
        for line, message in find_line_ends(file.path, "\n" * before + text):
            number = start + line - 1 - before
            yield _diagnostic(
                "hidden-line-end",
                message,
                Location(file.path, number, number),
                "high",
                "The language begins a new line there; git and most editors do not.",
            )


def scan_conflict_markers(file: ChangedFile) -> Iterator[Diagnostic]:
    """Whole conflicts: a row of equal signs alone underlines a heading."""
    start = 0
    is_divided = False
    for number, text in _added_lines(file):
        if OURS.match(text):
            start, is_divided = number, False
        elif start and DIVIDER.match(text):
            is_divided = True
        elif start and is_divided and THEIRS.match(text):
            yield _diagnostic(
                "conflict-marker",
                "An unresolved merge conflict is in the file",
                Location(file.path, start, number),
                "critical",
            )
            start = 0


def scan_file_names(file: ChangedFile) -> Iterator[Diagnostic]:
    """A name that looks like another one, or like none."""
    if any(find_hidden(file.path)) or unicodedata.normalize("NFC", file.path) != file.path:
        yield _diagnostic(
            "hidden-file-name",
            "The name of a file contains hidden or decomposed characters",
            None,
            "high",
            "It can pass for another file.",
            file.path,
        )


SCANS: Mapping[str, Scan] = {
    "secrets": scan_secrets,
    "hidden-characters": scan_hidden_characters,
    "line-ends": scan_line_ends,
    "conflict-markers": scan_conflict_markers,
    "file-names": scan_file_names,
}
OURS = re.compile(r"<{7}(?: .*)?\r?$")
DIVIDER = re.compile(r"={7}\r?$")
THEIRS = re.compile(r">{7}(?: .*)?\r?$")
# A form feed separates sections of Lisp, C and Python files; line ends have a scan of their own.
WHITE_SPACE = frozenset({0x0B, 0x0C, 0x0D, 0x85, 0x2028, 0x2029})


def _added_lines(file: ChangedFile) -> Iterator[tuple[int, str]]:
    for hunk in file.hunks:
        for line in hunk.lines:
            if line.base is None and line.head is not None:
                yield line.head, line.text


def _added_blocks(file: ChangedFile) -> Iterator[tuple[int, str]]:
    """Runs of added lines: a private key has several. The number is that of the first line."""
    start, lines = 0, list[str]()
    for number, text in _added_lines(file):
        if start and number == start + len(lines):
            lines.append(text)
            continue
        if lines:
            yield start, "\n".join(lines)
        start, lines = number, [text]
    if lines:
        yield start, "\n".join(lines)


def _is_prose(file: ChangedFile) -> bool:
    return classify(file.path) in ("documentation", "data", "fixture")


def _diagnostic(
    rule: str,
    message: str,
    location: Location | None,
    severity: Severity,
    consequence: str = "",
    path: str = "",
) -> Diagnostic:
    return Diagnostic(
        rule=rule,
        message=message,
        severity=severity,
        location=location or (Location(path, 0, 0) if path else None),
        category="correctness" if rule == "conflict-marker" else "security",
        consequence=consequence,
    )
