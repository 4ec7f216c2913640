"""A finding as a comment on its lines: where it may hang, what it says, and when a button may commit its replacement."""

from __future__ import annotations

from dataclasses import dataclass

from reviewbot.domain.action import (
    InlineComment,
)
from reviewbot.domain.change import ChangeSet, Hunk
from reviewbot.domain.debate import CheckOutcome
from reviewbot.domain.review import Finding, Review
from reviewbot.publish import fixes, markers, phrases, plain
from reviewbot.publish.fixes import Offer
from reviewbot.publish.markdown_finding import TITLE, draft, fitting, kind, parts
from reviewbot.publish.protected import is_protected
from reviewbot.publish.sanitise import code_span, inline

RIGHT, LEFT = "RIGHT", "LEFT"
VERIFIED = "**Suggestion** (the check above passes with it):"

MOST_LINES = 40
"""Lines of one comment, so that a fix has its button: more is shown as a diff."""

_BODY_BYTES, _WORDS_BYTES = 12_000, 4_000


@dataclass(frozen=True, slots=True)
class Place:
    """Lines of one hunk, on one side. ``start_line`` is ``None`` for a single line: a forge refuses the same number twice."""

    path: str
    line: int
    start_line: int | None
    side: str


def place(finding: Finding, change: ChangeSet, offer: Offer | None = None) -> Place | None:
    """Where a comment on the finding may hang, on all lines that its fix replaces where that is possible; ``None`` where the
    forge would refuse it, and all others with it."""
    file = change.file(finding.path)
    if file is None or finding.line < 1 or plain.storable(finding.path) != finding.path:
        return None
    first = finding.start_line or finding.line
    if not any(_shows(hunk, first, finding.line, left=finding.side == LEFT) for hunk in file.hunks):
        return None
    side = LEFT if finding.side == LEFT else RIGHT
    run = offer.run if offer else None
    if run is not None and (run.path, side) == (finding.path, RIGHT) and run.line - run.start_line < MOST_LINES:
        covers = run.start_line <= first and finding.line <= run.line
        if covers and any(_shows(hunk, run.start_line, run.line, left=False) for hunk in file.hunks):
            return Place(run.path, run.line, run.start_line if run.start_line < run.line else None, side)
    return Place(finding.path, finding.line, first if first < finding.line else None, side)


def comment(finding: Finding, where: Place, review: Review, *, offer: Offer | None = None) -> InlineComment:
    """The comment. A part of it that is too long is left out: the review document has all."""
    mark = markers.finding(markers.FindingMark(finding.fingerprint, finding.id, review.revisions.head))
    head = f"{mark}\n**{inline(finding.id, limit=40)}** {inline(finding.title, limit=TITLE)}\n\n{kind(finding)}"
    made = fixes.offered(offer, start_line=where.start_line or where.line, line=where.line) if offer else ""
    fix = made or suggestion(finding, where) or draft(finding)
    evidence = {item.id: item for item in review.evidence}
    said = fitting((part for part in parts(finding, review, evidence, fix=fix) if part), _BODY_BYTES, least=0)
    body = plain.defuse("\n\n".join((head, *said)))
    return InlineComment(
        where.path, where.line, body, markers.token(finding.fingerprint), start_line=where.start_line, side=where.side
    )


def words(finding: Finding, review: Review) -> str:
    """What the comment says, for a place without lines: its place, and no record of the debate."""
    at = f"On {code_span(phrases.place(finding), limit=TITLE)}: **{inline(finding.id, limit=40)}**"
    head = f"{at} {inline(finding.title, limit=TITLE)}\n\n{kind(finding)}"
    said = (part for part in parts(finding, review, {}, fix=draft(finding)) if not part.startswith("<details>"))
    return plain.defuse("\n\n".join((head, *fitting((part for part in said if part), _WORDS_BYTES, least=0))))


def suggestion(finding: Finding, where: Place) -> str:
    """A replacement that a button commits: only one that a check has passed with, for exactly the lines of the comment, in a file
    that may be changed so, and exactly as it was checked. Nothing otherwise."""
    offered = phrases.suggestion(finding)
    checked = finding.check is not None and finding.check.outcome is CheckOutcome.PASSES_WITH_FIX
    if offered is None or not checked or where.side != RIGHT or is_protected(where.path):
        return ""
    if (offered.start_line, offered.line) != (where.start_line or where.line, where.line):
        return ""
    written = offered.replacement.removesuffix("\n")
    block = fixes.replacement(written) if written == written.strip("\n") else ""
    return f"{VERIFIED}\n\n{block}" if block else ""


def _shows(hunk: Hunk, first: int, last: int, *, left: bool) -> bool:
    span = range(hunk.old_start, hunk.old_start + hunk.old_count) if left else hunk.new_span
    return first in span and last in span and first <= last
