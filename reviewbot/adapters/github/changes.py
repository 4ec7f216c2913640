"""The change of a pull request as GitHub tells it: its diff, or where that is too large the list of files with their patches.

GitHub refuses a diff of more than 300 files or 20,000 lines with a 406; the list ends after 3,000 files, and has no patch for
a file that is binary or too large. What is missing is said in words.
"""

from __future__ import annotations

import re

from reviewbot.adapters.github import faults, listed
from reviewbot.adapters.github.exchange import Call
from reviewbot.adapters.github.reading import fields
from reviewbot.adapters.github.session import Session
from reviewbot.ports import ForgeDiff, RawDiff

DIFF = "application/vnd.github.diff"
TOO_LARGE = 406
MOST_FILES = 3000
PAGE = 100

_SECTION = re.compile(rb"^diff --git ", re.MULTILINE)


def diff(session: Session, repository: str, number: int, *, changed_files: int) -> ForgeDiff:
    """What the pull request changes, with what GitHub left out of ``changed_files``. Raises ForgeError."""
    call = Call(
        "GET", f"/repos/{repository}/pulls/{number}", f"give the diff of pull request {number}", accept=DIFF, is_read=True,
        passing=frozenset({TOO_LARGE}),
    )  # fmt: skip
    answer = session.answer(call)
    if answer.status != TOO_LARGE:
        return ForgeDiff(_raw(answer.body), _missing(len(_SECTION.findall(answer.body)), changed_files))
    return _by_files(session, repository, number, why=str(faults.said(answer)), changed_files=changed_files)


def _by_files(session: Session, repository: str, number: int, *, why: str, changed_files: int) -> ForgeDiff:
    call = Call(
        "GET", f"/repos/{repository}/pulls/{number}/files", f"list the files of pull request {number}",
        query=(("per_page", str(PAGE)),), is_read=True,
    )  # fmt: skip
    files = [
        listed.file(fields(entry, "a changed file"))
        for page in session.pages(call, most=MOST_FILES // PAGE)
        for entry in page
    ]  # fmt: skip
    left_out = tuple(words for file in files if (words := file.left_out))
    missing = _missing(len(files), changed_files)
    notes = (f"GitHub gave no whole diff ({why}); patches of single files were read, without modes of files", *missing, *left_out)
    return ForgeDiff(_raw(b"".join(file.section for file in files)), notes)


def _missing(found: int, changed_files: int) -> tuple[str, ...]:
    return (f"{changed_files - found} of {changed_files} changed files: GitHub left them out",) if found < changed_files else ()


def _raw(patch: bytes) -> RawDiff:
    return RawDiff(b"", b"", patch)
