"""The review: what is said in the end, to people and machines. Its document form is ``interface.md`` §3."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from reviewbot.domain.change import Coverage, Revisions
from reviewbot.domain.debate import Attendance, Check, Position, Proof, Ruling, SettledBy, Turn, Version
from reviewbot.domain.evidence import Category, CheckRun, Evidence, Severity
from reviewbot.domain.money import Bill
from reviewbot.domain.repair import Repair


class Conclusion(StrEnum):
    """How whole the review is."""

    COMPLETE = "complete"
    PARTIAL = "partial"
    NOT_REVIEWED = "not_reviewed"
    PENDING = "pending"


class Verdict(StrEnum):
    """What the panel recommends."""

    APPROVE = "approve"
    COMMENT = "comment"
    REQUEST_CHANGES = "request_changes"


class FindingStatus(StrEnum):
    """What consensus made of a case."""

    ACCEPTED = "accepted"
    CONTESTED = "contested"
    BELOW_THRESHOLD = "below_threshold"
    DISMISSED = "dismissed"


class Lifecycle(StrEnum):
    """The finding's life over several reviews of one pull request."""

    NEW = "new"
    CARRIED = "carried"
    FIXED = "fixed"
    REOPENED = "reopened"


class RangeMode(StrEnum):
    """How much of a change was looked at: all of it, what no review saw yet, or nothing, for nothing had changed."""

    FULL = "full"
    INCREMENTAL = "incremental"
    UNCHANGED = "unchanged"


class Confidence(StrEnum):
    """What a finding rests on: an executed check, several panelists, or one."""

    PROVEN = "proven"
    AGREED = "agreed"
    SINGLE = "single"


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A replacement for the lines ``start_line``–``line`` of the head."""

    start_line: int
    line: int
    replacement: str


@dataclass(frozen=True, slots=True)
class CodeLine:
    """A line of code to show around a finding, redacted and with hidden characters made visible."""

    number: int
    text: str
    changed: bool


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing to tell. ``line`` is the last line it concerns; ``side`` is ``RIGHT`` (head) or ``LEFT`` (base)."""

    id: str
    fingerprint: str
    path: str
    start_line: int
    line: int
    severity: Severity
    category: Category
    title: str
    body: str
    failure_scenario: str
    quote: str
    status: FindingStatus
    proof: Proof
    confidence: Confidence
    probability: float
    raised_by: tuple[str, ...]
    settled_by: SettledBy
    stop_reason: str
    positions: tuple[Position, ...] = ()
    versions: tuple[Version, ...] = ()
    evidence: tuple[str, ...] = ()
    dissent: str | None = None
    check: Check | None = None
    rule: str | None = None
    lifecycle: Lifecycle = Lifecycle.NEW
    pre_existing: bool = False
    side: str = "RIGHT"
    suggestion: Suggestion | None = None
    code: tuple[CodeLine, ...] = ()
    grounds: tuple[str, ...] = ()
    """The results that it lives and dies with (``domain.history.Known``)."""
    near: str = ""
    """What stands around its line (``consensus.identity.near``)."""
    blocks: bool = False
    """Changes are requested because of it, whatever else there is."""

    @property
    def is_posted(self) -> bool:
        """It is told to the author: accepted, or contested and put as a question."""
        return self.status in (FindingStatus.ACCEPTED, FindingStatus.CONTESTED)


@dataclass(frozen=True, slots=True)
class Timing:
    """Wall seconds of the whole review, and of its longest chain of dependent steps."""

    seconds: float = 0.0
    critical_path_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Footprint:
    """What the next review of the same pull request must know of this one (``domain.history.History``). ``seen`` holds the marks
    of what was looked at, by this review alone; it is empty where not all was."""

    course: str = ""
    whole: str = ""
    seen: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Review:
    """One consensus review. ``verdict`` is ``None`` where there was no review to draw one from."""

    run_id: str
    tool_version: str
    conclusion: Conclusion
    verdict: Verdict | None
    revisions: Revisions
    coverage: tuple[Coverage, ...] = ()
    findings: tuple[Finding, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    attendance: tuple[Attendance, ...] = ()
    turns: tuple[Turn, ...] = ()
    rulings: tuple[Ruling, ...] = ()
    rounds: int = 0
    criteria: tuple[tuple[str, int], ...] = ()
    bill: Bill = Bill()
    timing: Timing = Timing()
    sandbox: str = "none"
    notes: tuple[str, ...] = ()
    repository: str | None = None
    pull_request: int | None = None
    checks: tuple[CheckRun, ...] = ()
    range_mode: RangeMode = RangeMode.FULL
    footprint: Footprint = Footprint()
    repairs: tuple[Repair, ...] = ()
    """What was made for accepted findings, in the order in which it is to be written."""

    def posted(self) -> tuple[Finding, ...]:
        """The findings that are told to the author, worst first."""
        told = (finding for finding in self.findings if finding.is_posted)
        return tuple(sorted(told, key=lambda finding: (-finding.severity, -finding.probability, finding.path, finding.line)))

    def worst(self) -> Severity | None:
        """The highest severity among accepted findings."""
        return max((f.severity for f in self.findings if f.status is FindingStatus.ACCEPTED), default=None)
