"""What is to be changed, and what trying a candidate for it showed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Literal

from msgspec import Struct

from reviewbot.checks.evidence import Evidence
from reviewbot.git.change import Change, ChangedFile
from reviewbot.llm.client import Totals
from reviewbot.verdict.document import Finding

Kind = Literal["fix", "bug", "refactor", "performance", "tests", "repair", "feature"]


class Candidate(Struct, frozen=True, kw_only=True):
    """New content of files, by path. The explanation is untrusted text."""

    author: str
    is_tool: bool = False
    files: Mapping[str, bytes]
    explanation: str = ""


class Judgement(Struct, frozen=True, kw_only=True):
    """Whether a candidate does what its task asks for; `unproven` is what could not be executed."""

    unmet: tuple[str, ...] = ()
    unproven: tuple[str, ...] = ()
    facts: tuple[str, ...] = ()


# Of a candidate that was executed: what it changes, and what all checks say with it.
Judge = Callable[[Change, Evidence], Awaitable[Judgement]]


class Attempt(Struct, frozen=True):
    """A draft that was not accepted: its diff, and why.

    A reason is a sentence; lines after it are the output of a test.
    """

    diff: str
    reasons: tuple[str, ...]


class Task(Struct, frozen=True, kw_only=True):
    """One thing that is to be changed.

    Attributes:
        paths: files that are shown to models.
        given: files that every candidate has, such as the test that it must pass.
        details: what the prompt of its kind shows beside files and attempts.
        purpose: what judges read beside the title.
        judge: what the kind asks for beyond what all tasks do.
        instead: what is tried if no candidate is accepted, for these reasons: another test.
    """

    id: str
    kind: Kind
    title: str
    paths: tuple[str, ...]
    given: Mapping[str, bytes] = {}
    details: Mapping[str, object] = {}
    purpose: str = ""
    judge: Judge
    instead: Callable[[tuple[str, ...]], Awaitable[Task | None]] | None = None
    findings: tuple[Finding, ...] = ()


class Trial(Struct, frozen=True, kw_only=True):
    """What became of a candidate. The lists hold reasons as an Attempt does.

    Attributes:
        tree, changed: empty if it could not be made.
        refusals: what no candidate may do, or what checks report because of it.
    """

    candidate: Candidate
    tree: str = ""
    changed: tuple[ChangedFile, ...] = ()
    refusals: tuple[str, ...] = ()
    judgement: Judgement = Judgement()
    evidence: Evidence = Evidence()

    @property
    def outcome(self) -> Literal["fixed", "suggested", "refused"]:
        if self.refusals or self.judgement.unmet:
            return "refused"
        return "suggested" if self.judgement.unproven else "fixed"

    @property
    def reasons(self) -> tuple[str, ...]:
        return (*self.refusals, *self.judgement.unmet, *self.judgement.unproven)


class TaskResult(Struct, frozen=True, kw_only=True):
    """What became of a task. It failed if it is needed, and no candidate may be shown.

    Attributes:
        tree, evidence: the tree with the change, and with those before it; what checks say there.
        diff: unified, of this change alone.
        dissent: objections of panelists that were not met, a sentence each.
        usage: of all calls, where no review has it.
    """

    kind: Kind
    title: str
    findings: tuple[str, ...] = ()
    outcome: Literal["fixed", "suggested", "failed", "not_needed"]
    author: str = ""
    tree: str = ""
    evidence: Evidence = Evidence()
    files: Mapping[str, bytes] = {}
    diff: str = ""
    explanation: str = ""
    facts: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    dissent: tuple[str, ...] = ()
    attempts: tuple[Attempt, ...] = ()
    usage: Totals = Totals()
