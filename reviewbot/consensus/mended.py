"""What a review says once our own commits stand upon the head that it was about.

They were tried before they were written: nobody is asked again, and nothing of them counts as new. What they mended is no longer
told, what else was found stands where its lines went.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from reviewbot.consensus import seen
from reviewbot.domain.change import ChangeSet, Hunk
from reviewbot.domain.evidence import CheckRun
from reviewbot.domain.review import Conclusion, Finding, FindingStatus, Footprint, Lifecycle, RangeMode, Review, Verdict

NOTE = "what reviewbot itself committed was tried before it was written: nobody was asked again, no check was run again"

AGAIN = "not again, since what it found is mended"


def after(review: Review, change: ChangeSet, *, mended: Mapping[str, str], moved: ChangeSet) -> Review:
    """The review as one of ``change``, whose head is ours. ``mended`` says by id what became of findings that are no more, in
    words; ``moved`` is what differs between the head of the review and this one."""
    findings = tuple(_now(finding, mended, moved) for finding in review.findings)
    return replace(
        review,
        revisions=change.revisions,
        findings=findings,
        verdict=_verdict(review, findings),
        range_mode=RangeMode.UNCHANGED,
        checks=tuple(_checks(review, findings, mended)),
        footprint=_footprint(review, change),
        notes=tuple(dict.fromkeys((*review.notes, NOTE))),
        repairs=(),
    )


def line_now(line: int, hunks: Iterable[Hunk]) -> int:
    """Where a line went. One that was replaced is where what replaced it begins."""
    shift = 0
    for hunk in hunks:
        for old, new, gone, come in _edits(hunk):
            if line < old:
                return line + shift
            if line < old + gone:
                return max(new, 1)
            shift += come - gone
    return line + shift


def _edits(hunk: Hunk) -> Iterator[tuple[int, int, int, int]]:
    """Each run of rows that differ: the first line before and after (that before which lines came, where none went), and how many
    lines went and came."""
    old, new = hunk.old_start, hunk.new_start
    old += hunk.old_count == 0
    new += hunk.new_count == 0
    gone = come = 0
    for row in (*hunk.rows, b" "):
        if row[:1] == b"-":
            gone += 1
        elif row[:1] == b"+":
            come += 1
        else:
            if gone or come:
                yield old, new, gone, come
            old, new = old + gone + 1, new + come + 1
            gone = come = 0


def _now(finding: Finding, mended: Mapping[str, str], moved: ChangeSet) -> Finding:
    if finding.id in mended:
        words = mended[finding.id]
        return replace(finding, status=FindingStatus.BELOW_THRESHOLD, lifecycle=Lifecycle.FIXED, stop_reason=words, blocks=False)
    file = moved.file(finding.path)
    life = Lifecycle.CARRIED if finding.is_posted else finding.lifecycle
    if file is None or not finding.line or finding.side != "RIGHT":
        return replace(finding, lifecycle=life)
    last = line_now(finding.line, file.hunks)
    first = min(line_now(finding.start_line, file.hunks), last) if finding.start_line else finding.start_line
    code = tuple(replace(line, number=line_now(line.number, file.hunks)) for line in finding.code)
    return replace(finding, start_line=first, line=last, code=code, lifecycle=life, suggestion=None)


def _checks(review: Review, findings: tuple[Finding, ...], mended: Mapping[str, str]) -> Iterator[CheckRun]:
    """The checks as they ran. One that failed for nothing but what is mended is not known to fail any more."""
    tools = {item.id: item.result.tool for item in review.evidence}

    def blamed(told: Iterable[Finding]) -> set[str]:
        return {tools[name] for finding in told for name in finding.evidence if name in tools}

    left = blamed(finding for finding in findings if finding.is_posted)
    done = blamed(finding for finding in findings if finding.id in mended) - left
    for run in review.checks:
        yield replace(run, ran=False, failed=False, reason=AGAIN) if run.failed and run.name in done else run


def _verdict(review: Review, findings: tuple[Finding, ...]) -> Verdict | None:
    """No better than it was: only that nothing blocks any more can be said without asking anybody."""
    if review.verdict is not Verdict.REQUEST_CHANGES:
        return review.verdict
    return Verdict.REQUEST_CHANGES if any(one.is_posted and one.blocks for one in findings) else Verdict.COMMENT


def _footprint(review: Review, change: ChangeSet) -> Footprint:
    """What was looked at, with our commits in it. Where not all was, they are no part of what was."""
    before = review.footprint
    if review.conclusion is not Conclusion.COMPLETE or not before.seen:
        return before
    marks = sorted(seen.marks(change.files))
    every = tuple(dict.fromkeys((*marks, *before.seen)))[: seen.MOST_MARKS] if marks else ()
    return Footprint(before.course, seen.whole(change.files), every)
