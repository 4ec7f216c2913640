"""A pull request to publish to: the change of the samples, what stands under it, and what is known of it."""

from __future__ import annotations

import hashlib
from dataclasses import replace

from reviewbot.domain.change import ChangeSet, FileChange, FileKind, FileStatus, Hunk
from reviewbot.domain.evidence import Severity
from reviewbot.domain.forge import (
    Author,
    Comment,
    PostedReview,
    Standing,
    Thread,
)
from reviewbot.domain.history import Fate, History, Known
from reviewbot.domain.review import Finding, FindingStatus, Review, Verdict
from reviewbot.publish import markers
from reviewbot.publish.plan import plan
from reviewbot.publish.wanted import Matter, PublishOptions, Wanted, wanted
from reviewbot.testing import MemoryForge, a_standing
from tests.publish import samples

HEAD, OLD = samples.HEAD, "0dd0ba11" * 5
ALICE = Author("alice", 7)
EMPTY = a_standing(HEAD)
COVERED = tuple(replace(item, ignored=False) for item in samples.CLEAN.coverage[:1])
CLEAN = replace(samples.CLEAN, coverage=COVERED)


def a_hunk(old: int, new: int, rows: int, number: int = 1) -> Hunk:
    """``rows`` changed lines: each old one is gone, each new one has come."""
    lines = (*(b"-old" for _ in range(rows)), *(b"+new" for _ in range(rows)))
    return Hunk(f"H{number}", old, rows, new, rows, b"", lines)


def a_file(path: str, *hunks: Hunk, status: FileStatus = FileStatus.MODIFIED) -> FileChange:
    return FileChange(path, None, status, FileKind.TEXT, 0o100644, 0o100644, "1" * 40, "2" * 40, 1, 1, hunks)


CHANGE = ChangeSet(
    samples.REVISIONS,
    (
        a_file("shop/cart.py", a_hunk(8, 8, 9), a_hunk(30, 38, 8, 2)),
        a_file("shop/api/orders.py", a_hunk(100, 115, 8)),
        a_file(".github/workflows/ci.yml", a_hunk(1, 1, 60)),
        a_file("shop/gone.py", Hunk("H9", 1, 3, 0, 0, b"", (b"-a", b"-b", b"-c")), status=FileStatus.DELETED),
    ),
)


def a_finding(number: int, **changes: object) -> Finding:
    """F<number>, proven, on a line of its own, of the file ``shop/cart.py``."""
    line = 38 + number % 8
    fields: dict[str, object] = {
        "id": f"F{number}",
        "fingerprint": "sha256:" + hashlib.sha256(str(number).encode()).hexdigest(),
        "title": f"Thing {number} is wrong",
        "start_line": line,
        "line": line,
        "suggestion": None,
    }
    fields.update(changes)
    return replace(samples.OFF_BY_ONE, **fields)  # type: ignore[arg-type]


def known(finding: Finding, fate: Fate = Fate.OPEN, **changes: object) -> Known:
    """The finding as it is remembered."""
    made = Known(
        finding.id,
        finding.fingerprint,
        finding.path,
        finding.start_line,
        finding.line,
        finding.severity,
        finding.category,
        finding.title,
        fate=fate,
    )
    return replace(made, **changes)  # type: ignore[arg-type]


def a_review(*findings: Finding, **changes: object) -> Review:
    """A whole review with these findings."""
    worst = max((finding.severity for finding in findings if finding.status is FindingStatus.ACCEPTED), default=Severity.LOW)
    verdict = Verdict.REQUEST_CHANGES if worst >= Severity.HIGH else Verdict.COMMENT
    fields: dict[str, object] = {"findings": findings, "verdict": verdict if findings else Verdict.APPROVE}
    fields.update(changes)
    return replace(CLEAN, **fields)  # type: ignore[arg-type]


def history_of(review: Review, *more: Known) -> History:
    """What is known after the review, with more findings of earlier ones."""
    told = tuple(known(finding) for finding in review.posted())
    return History(
        head=review.revisions.head,
        seen=frozenset({"a1", "b2"}),
        conclusion=review.conclusion,
        verdict=review.verdict,
        findings=(*told, *more),
        next_number=len(told) + len(more) + 1,
    )


def a_matter(review: Review, *more: Known, **options: object) -> Matter:
    return Matter(review, CHANGE, history_of(review, *more), PublishOptions(**options))  # type: ignore[arg-type]


def want(matter: Matter, standing: Standing) -> Wanted:
    return wanted(matter, standing)


def body_of(finding: Finding, sha: str = HEAD) -> str:
    return f"{markers.finding(markers.FindingMark(finding.fingerprint, finding.id, sha))}\nwords"


def said(number: int, body: str, *, own: bool = True, author: Author | None = ALICE) -> Comment:
    return Comment(number, f"N{number}", author, own, body)


def a_thread(
    number: int, finding: Finding, *, sha: str = OLD, own: bool = True, resolved: bool = False, answer: str = ""
) -> Thread:
    """A thread about a finding; ``answer``: a person said something in it."""
    first = said(number, body_of(finding, sha), own=own)
    later = (said(number + 1, answer, own=False),) if answer else ()
    return Thread(f"T{number}", finding.path, finding.line, None, "RIGHT", resolved, is_outdated=False, comments=(first, *later))


def a_posted(number: int, state: str, body: str, *, own: bool = True) -> PostedReview:
    return PostedReview(number, f"R{number}", own, state, body)


def applied(matter: Matter, forge: MemoryForge, most: int | None = None) -> int:
    """Plan once and do the first ``most`` actions, or all; how many there were."""

    actions = plan(wanted(matter, forge.now), forge.now)
    for action in actions[: len(actions) if most is None else most]:
        forge.do(action)
    return len(actions)
