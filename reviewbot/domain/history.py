"""What earlier reviews of one pull request left behind: findings with their numbers, what was dismissed, seen and mended."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from reviewbot.domain.evidence import Category, Severity
from reviewbot.domain.repair import RepairOutcome
from reviewbot.domain.review import Conclusion, Verdict


class Fate(StrEnum):
    """What became of a finding so far."""

    OPEN = "open"
    FIXED = "fixed"
    DISMISSED = "dismissed"


@dataclass(frozen=True, slots=True)
class Known:
    """A finding of an earlier review. ``text`` is its normalised anchored line, shortened; ``rule`` a tool's rule where it has
    one; ``reason`` why somebody dismissed it, and ``by`` who."""

    id: str
    fingerprint: str
    path: str
    start_line: int
    line: int
    severity: Severity
    category: Category
    title: str
    text: str = ""
    rule: str | None = None
    fate: Fate = Fate.OPEN
    reason: str = ""
    by: str = ""
    is_question: bool = False
    is_proven: bool = False
    grounds: tuple[str, ...] = ()
    """The results that it lives and dies with: of each its tool, a blank and its mark (``consensus.seen``)."""
    near: str = ""
    """What stood around its line, so that it is told from equal ones (``consensus.identity.near``)."""
    probability: float = 0.0
    """How likely it was when it was told last; 0 where that is not known."""


@dataclass(frozen=True, slots=True)
class History:
    """What is known when a pull request is reviewed again.

    ``head`` is the commit that was reviewed last, empty where none was. ``seen`` are the marks of the hunks that were reviewed
    (``consensus.seen``); it is empty where the next review must look at everything. ``course`` is a hash of all that decides
    what a review says besides the change; where it differs, everything is looked at again. ``next_number`` is the first ``F``
    number that was never given.
    """

    head: str = ""
    base: str = ""
    course: str = ""
    seen: frozenset[str] = frozenset()
    conclusion: Conclusion | None = None
    verdict: Verdict | None = None
    findings: tuple[Known, ...] = ()
    next_number: int = 1
    whole: str = ""
    """The mark of all that the last complete review was about, empty where there is none."""

    def unseen(self) -> History:
        """The same numbers, findings and dismissals, and nothing that counts as looked at."""
        return replace(self, seen=frozenset(), course="", whole="")

    def reopened(self, by: str) -> History:
        """The same, with what was dismissed ``by`` that open again."""

        def one(known: Known) -> Known:
            is_meant = known.fate is Fate.DISMISSED and known.by == by
            return replace(known, fate=Fate.OPEN, reason="", by="") if is_meant else known

        return replace(self, findings=tuple(map(one, self.findings)))


@dataclass(frozen=True, slots=True)
class Handled:
    """A command that was answered: the number of its comment, and when (seconds since 1970)."""

    comment_id: int
    at: int


UNDONE = "undone"
"""How the reason of a fix begins that somebody had taken back by a command."""


@dataclass(frozen=True, slots=True)
class Mended:
    """What became of the fix of one finding (``id``), and ``why`` it is no more than that, in words of ours. It was made for the
    commit ``head``. ``commit`` is ours, where it was written; ``pull`` the number of the pull request of ours that it waits in,
    0 where it stands on the branch itself."""

    id: str
    outcome: RepairOutcome
    why: str = ""
    head: str = ""
    commit: str = ""
    pull: int = 0

    @property
    def is_written(self) -> bool:
        """A commit of ours is on the branch of the pull request."""
        return self.outcome is RepairOutcome.FIXED and bool(self.commit) and not self.pull

    @property
    def is_spent(self) -> bool:
        """No run writes one for this finding again by itself: it was written, waits somewhere, or somebody took it back."""
        return self.outcome is RepairOutcome.FIXED or self.why.startswith(UNDONE)


@dataclass(frozen=True, slots=True)
class PullMemory:
    """All that is remembered of one pull request, between runs.

    ``paused_by`` is empty where reviews go on; ``paused_at`` is a time in the forge's words. ``handled`` are the last commands,
    in order. ``run_id`` is the run that wrote this, ``runs`` how many reviews there were and ``cost_usd`` what all of them paid.
    ``status_comment`` is the comment in which commands are answered. ``said`` is a hash of what the summary says.
    ``base_ref`` is the branch that the change was reviewed for. ``workflow_runs`` are the forge's numbers of the last runs that
    reviewed: their artifacts hold what was argued.

    ``mended`` says what became of fixes, one for each finding, the last written last. ``mended_head`` is the last commit of
    somebody else for which fixes were written unasked, ``unfinished`` the one for which that was begun and is not done.
    ``autofix_off``: nothing is written ever again; ``autofix_why`` says what somebody did to our commits.
    """

    history: History = History()
    paused_by: str = ""
    paused_at: str = ""
    stopped: bool = False
    autofix_off: bool = False
    handled: tuple[Handled, ...] = ()
    run_id: str = ""
    runs: int = 0
    cost_usd: float = 0.0
    status_comment: int | None = None
    said: str = ""
    base_ref: str = ""
    workflow_runs: tuple[int, ...] = ()
    mended: tuple[Mended, ...] = ()
    mended_head: str = ""
    unfinished: str = ""
    autofix_why: str = ""

    def has_handled(self, comment_id: int) -> bool:
        """That command was answered before: a second delivery of it does nothing."""
        return any(command.comment_id == comment_id for command in self.handled)

    def with_known(self, known: Known) -> PullMemory:
        """The same, with other words about one finding."""
        findings = tuple(known if one.id == known.id else one for one in self.history.findings)
        return replace(self, history=replace(self.history, findings=findings))

    def with_mended(self, *made: Mended) -> PullMemory:
        """The same, with other words about the fixes of some findings."""
        ids = {one.id for one in made}
        return replace(self, mended=(*(one for one in self.mended if one.id not in ids), *made))

    def mended_of(self, finding: str) -> Mended | None:
        """What became of the fix of a finding, where one was tried."""
        return next((one for one in self.mended if one.id == finding), None)

    def handled_since(self, moment: int) -> int:
        """How many commands were answered since ``moment`` (seconds since 1970)."""
        return sum(command.at >= moment for command in self.handled)
