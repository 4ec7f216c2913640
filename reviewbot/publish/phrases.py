"""What every human format says alike: the verdict, the panel, votes, proof, coverage. Plain words, not yet escaped."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from reviewbot.domain.change import Coverage, CoverageStatus
from reviewbot.domain.debate import STATIC_FAMILY, Attendance, Check, CheckOutcome, Proof, Seat, SeatStatus, SettledBy, Stance
from reviewbot.domain.evidence import Evidence
from reviewbot.domain.review import Conclusion, Finding, FindingStatus, Lifecycle, Review, Suggestion, Verdict
from reviewbot.publish import plain

_SCREENED = re.compile("«secret:|⟨U\\+")


class Tone(StrEnum):
    """How a headline feels."""

    GOOD = "good"
    WARN = "warn"
    BAD = "bad"


@dataclass(frozen=True, slots=True)
class Headline:
    """The verdict in a few words, and its tone."""

    words: str
    tone: Tone


class Mark(StrEnum):
    """A vote as one character."""

    SUPPORT = "●"
    NEUTRAL = "○"
    OPPOSE = "✗"
    SILENT = "–"


LEGEND = "● supports · ○ neutral · ✗ opposes · – did not vote"
_MARKS = {Stance.SUPPORT: Mark.SUPPORT, Stance.NEUTRAL: Mark.NEUTRAL, Stance.OPPOSE: Mark.OPPOSE}


@dataclass(frozen=True, slots=True)
class Vote:
    """Where a panelist stood in the end. ``probability`` is ``None`` for those who raised the claim or did not vote."""

    panelist: str
    mark: Mark
    probability: float | None
    raised: bool


_OUTCOMES = {
    CheckOutcome.FAILS_AT_HEAD: "fails at head, passes at base",
    CheckOutcome.PASSES_AT_HEAD: "passes at head",
    CheckOutcome.FAILS_AT_BOTH: "fails at base too",
    CheckOutcome.PASSES_WITH_FIX: "fails at head, passes with the fix",
    CheckOutcome.NONE_FOUND: "no counter-example found within the bound",
    CheckOutcome.UNRELATED: "does not run what the finding is about",
    CheckOutcome.UNSTABLE: "not stable: two runs differ",
    CheckOutcome.NOT_RUN: "was not run",
}
_PROOFS = {
    Proof.PROVEN: "proven by a check",
    Proof.CONTRADICTED: "contradicted by a check",
    Proof.UNTESTED: "not tested",
}
_STATUSES = {
    FindingStatus.ACCEPTED: "accepted",
    FindingStatus.CONTESTED: "question",
    FindingStatus.BELOW_THRESHOLD: "below the posting threshold",
    FindingStatus.DISMISSED: "dismissed",
}


def headline(review: Review) -> Headline:
    """What the panel says in the end. A failure is never worded as a pass."""
    if review.conclusion in _UNDECIDED:
        return _UNDECIDED[review.conclusion]
    if review.verdict is Verdict.REQUEST_CHANGES:
        return Headline("Grave findings" if review.revisions.is_audit else "Changes requested", Tone.BAD)
    if review.verdict is Verdict.APPROVE and not review.revisions.is_audit:
        return Headline("No objections", Tone.GOOD)
    if review.posted():
        return Headline("Comments", Tone.WARN)
    if any(run.failed for run in review.checks):
        return Headline("Checks failed", Tone.WARN)
    return Headline("Nothing found", Tone.GOOD if review.conclusion is Conclusion.COMPLETE else Tone.WARN)


_UNDECIDED = {
    Conclusion.NOT_REVIEWED: Headline("NOT REVIEWED", Tone.BAD),
    Conclusion.PENDING: Headline("Waiting for checks", Tone.WARN),
}


def counts(review: Review) -> str:
    """How many findings and questions are told."""
    told = review.posted()
    questions = sum(finding.status is FindingStatus.CONTESTED for finding in told)
    parts = [_number(len(told) - questions, "finding")] if len(told) > questions or not questions else []
    parts += [_number(questions, "question")] if questions else []
    return " · ".join(parts)


def wholeness(review: Review) -> str:
    """How much of the change the review is about."""
    if review.conclusion is Conclusion.COMPLETE:
        return "complete"
    return review.conclusion.value.replace("_", " ")


def panel(review: Review) -> str:
    """Who took part, honestly."""
    seated = [entry.seat for entry in review.attendance if entry.status is SeatStatus.OK]
    if not seated:
        return "no panel"
    if is_static(seated):
        return "static panel, no language model"
    return "panel: " + ", ".join(f"{seat.name} ({seat.model})" for seat in seated)


def is_static(seats: Iterable[Seat]) -> bool:
    """Nobody of them is a language model."""
    return all(seat.family == STATIC_FAMILY or seat.model.split(":")[0] == STATIC_FAMILY for seat in seats)


def is_of_models(review: Review) -> bool:
    """A language model was invited: then it matters to a reader who sat where, what was ruled and what it cost."""
    return not is_static(entry.seat for entry in review.attendance)


def fate(entry: Attendance) -> str:
    """How a seat fared, in words: lost and why, or kept, perhaps by another model."""
    return f"{entry.status.value}: {entry.reason}" if entry.reason else entry.status.value


def decisions(review: Review) -> tuple[str, ...]:
    """What the moderator decided, in order."""
    return tuple(f"round {ruling.round}: {ruling.decision}" for ruling in review.rulings)


def target(review: Review) -> str:
    """Both ends of the change, short."""
    if review.revisions.is_audit:
        return f"whole tree of {_short(review.revisions.head)}"
    return f"{_short(review.revisions.base)}..{_short(review.revisions.head)}"


def place(finding: Finding) -> str:
    """``path:line`` or ``path:first-last``; the path alone where the whole file is meant."""
    if finding.line < 1:
        return finding.path
    first = "" if finding.start_line in (0, finding.line) else f"{finding.start_line}-"
    return f"{finding.path}:{first}{finding.line}"


def spot(item: Evidence) -> str:
    """``path:line`` of an evidence item."""
    return f"{item.result.path}:{item.result.line}" if item.result.line else item.result.path


def _is_undecided(finding: Finding) -> bool:
    """Its check was run and says nothing of it either way."""
    ran = finding.check is not None and finding.check.outcome is not CheckOutcome.NOT_RUN
    return ran and finding.proof is Proof.UNTESTED


def status(finding: Finding) -> str:
    """What became of it, for a reader."""
    return _STATUSES[finding.status]


def proof(finding: Finding) -> str:
    """What execution said of it."""
    if _is_undecided(finding):
        return "tested, not decided"
    if _is_tools(finding):
        return "a tool's own result, see the evidence"
    return _PROOFS[finding.proof]


def proof_word(finding: Finding) -> str:
    """The same in a word or two, for a table."""
    if _is_undecided(finding):
        return "undecided"
    return "tool result" if _is_tools(finding) else finding.proof.value


def _is_tools(finding: Finding) -> bool:
    """A tool says it, and no check was made of it: told by what settled it; of one that was carried along, by its rule and the
    result that it lives with."""
    carried = finding.lifecycle in (Lifecycle.CARRIED, Lifecycle.REOPENED) and finding.rule and finding.grounds
    return finding.proof is Proof.UNTESTED and (finding.settled_by is SettledBy.EVIDENCE or bool(carried))


def outcome(check: Check) -> str:
    """What a check showed, in words."""
    return _OUTCOMES[check.outcome]


def check(made: Check) -> str:
    """What a check is: its command as a person would type it, or its kind and what it is about."""
    return command(made.command) if made.command else made.label


def command(argv: tuple[str, ...]) -> str:
    """A command as a person would type it."""
    return shlex.join(argv)


def percent(probability: float) -> str:
    """A probability without false precision."""
    return f"{probability:.0%}"


def votes(finding: Finding, review: Review) -> tuple[Vote, ...]:
    """The last stance of each seat, in the order of the table; raising a claim is supporting it."""
    last = {said.panelist: said for said in sorted(finding.positions, key=lambda said: said.round)}
    seats = dict.fromkeys((*(entry.seat.name for entry in review.attendance), *finding.raised_by, *last))
    found = []
    for name in seats:
        raised, said = name in finding.raised_by, last.get(name)
        mark = _MARKS[said.stance] if said else Mark.SUPPORT if raised else Mark.SILENT
        found.append(Vote(name, mark, said.probability if said else None, raised))
    return tuple(found)


def suggestion(finding: Finding) -> Suggestion | None:
    """The replacement, unless screening changed it: a placeholder or a made-visible character must never be committed."""
    offered = finding.suggestion
    if offered is None or plain.text(offered.replacement) != offered.replacement or _SCREENED.search(offered.replacement):
        return None
    return offered


def recorded(review: Review) -> tuple[Finding, ...]:
    """Findings that stay in the document and are not told."""
    return tuple(finding for finding in review.findings if not finding.is_posted)


def unseen(review: Review) -> tuple[Coverage, ...]:
    """What was in scope and not, or not wholly, seen."""
    return tuple(item for item in review.coverage if item.status is not CoverageStatus.REVIEWED and not item.ignored)


def coverage(review: Review) -> str:
    """How many files were seen, and how many were out of scope by rule."""
    seen = sum(item.status is CoverageStatus.REVIEWED for item in review.coverage)
    ignored = sum(item.ignored for item in review.coverage)
    words = f"{seen} of {_number(len(review.coverage) - ignored, 'file')} reviewed"
    return f"{words}, {ignored} out of scope" if ignored else words


def _number(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _short(revision: str) -> str:
    is_hash = len(revision) in (40, 64) and all(character in "0123456789abcdef" for character in revision)
    return revision[:10] if is_hash else revision
