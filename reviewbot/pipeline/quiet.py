"""Which changed files nothing new can be said of, each by its content at both ends, with few modules and no review.

What is asked here is more than a review asks: every file counts as one in scope, and a result at head is known only where the
very same was there at base. So a file that is quiet here is quiet in a review, whatever else changes beside it and whatever is
configured; of the others a review has to say. ``silent`` files have no result at head at all: they are quiet even where git
says that they were renamed or copied, and are held against other files then.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from reviewbot.domain.change import ChangeSet, Contents, FileChange, FileKind, FileStatus, Revisions
from reviewbot.domain.evidence import Result
from reviewbot.evidence import lint, sources
from reviewbot.evidence.view import CheckOptions, View
from reviewbot.ports import Job, Outcome

MOST_BYTES = 200_000
"""Of a file at one end: larger ones are for the review."""

_OPTIONS = CheckOptions(presets=(lint.OWN,), staged=True)
_REGULAR = 0o100644
_POINTER = b"version https://git-lfs.github.com/spec/v1"


@dataclass(frozen=True, slots=True)
class Blob:
    """A regular file at both ends, ``None`` where it is not there."""

    path: str
    base: bytes | None
    head: bytes | None


def is_plain(blob: Blob) -> bool:
    """Text of a usual size at both ends; anything else is for the review."""
    return all(_is_text(data) for data in (blob.base, blob.head) if data is not None)


def jobs(blobs: Sequence[Blob]) -> tuple[Job, ...]:
    """What is to be run for them."""
    return lint.jobs(_view(blobs), _OPTIONS, executes=False)


def quiet(blobs: Sequence[Blob], outcomes: Mapping[str, Outcome]) -> Mapping[str, bool]:
    """The paths of quiet files, each with whether it is silent. ``outcomes`` are those of ``jobs``, by name."""
    view = _view(blobs)
    linted, read = lint.hear(view, outcomes), sources.hear(sources.ends(view))
    runs = (*linted.runs, *read.runs)
    answered = linted.sides.base_known and linted.sides.head_known and all(job.name in outcomes for job in jobs(blobs))
    unheard = not answered or any(not run.ran or run.cut_short for run in runs)
    loud = {mark.result.path for heard in (linted, read) for mark in heard.marks}
    base = _by_path((*linted.sides.base, *read.sides.base))
    head = _by_path((*linted.sides.head, *read.sides.head))
    return {
        blob.path: not head.get(blob.path)
        for blob in blobs
        if blob.path not in loud
        and not (unheard and blob.path.endswith((".py", ".pyi")))
        and not head.get(blob.path, Counter()) - base.get(blob.path, Counter())
    }


def _is_text(data: bytes) -> bool:
    if len(data) > MOST_BYTES or b"\0" in data or data.startswith(_POINTER):
        return False
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _by_path(results: Iterable[Result]) -> Mapping[str, Counter[tuple[object, ...]]]:
    """Results as they are matched between both ends (``evidence.match``), and a little closer: to the letter."""
    found: dict[str, Counter[tuple[object, ...]]] = {}
    for one in results:
        said = (one.kind, one.tool, one.rule, one.message, one.anchor, one.subject)
        found.setdefault(one.path, Counter())[said] += 1
    return found


def _view(blobs: Sequence[Blob]) -> View:
    """The files as a change in which all are in scope."""
    files = tuple(_file(blob) for blob in blobs)
    change = ChangeSet(Revisions("staged", "base", "index", None, None), files)
    return View(change, files, {blob.path: Contents(blob.base, blob.head) for blob in blobs})


def _file(blob: Blob) -> FileChange:
    changed = FileStatus.DELETED if blob.head is None else FileStatus.MODIFIED
    return FileChange(
        path=blob.path,
        old_path=None,
        status=FileStatus.ADDED if blob.base is None else changed,
        kind=FileKind.TEXT,
        old_mode=0 if blob.base is None else _REGULAR,
        new_mode=0 if blob.head is None else _REGULAR,
        old_id=None,
        new_id=None,
        added=0,
        deleted=0,
    )
