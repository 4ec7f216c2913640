"""Fakes at the ports, for tests of this project and of those who extend it.

``ScriptedPanel`` answers from a list, ``FakeSandbox`` returns outcomes by job name, ``FakeClock`` stands still until it is told,
``Watching`` keeps what an observer saw. The builders make values with everything filled in but what a test is about.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from reviewbot.domain.debate import Check, Claim, Seat, Table
from reviewbot.domain.evidence import (
    Category,
    Evidence,
    EvidenceKind,
    EvidenceStatus,
    Ledger,
    Precision,
    Result,
    Severity,
    Side,
)
from reviewbot.domain.review import Review
from reviewbot.ports import Ask, Dossier, Ended, Job, Outcome, Passage, Progress, Reply, ReplyStatus, SessionState


class ScriptedPanel:
    """Answers each ask with what ``script`` says for its seat: text (an ``ok`` reply), a Reply, or a function of the ask.

    A seat's answers are used up in order. Every ask is kept in ``asked``. A seat without an answer left replies FAILED."""

    def __init__(
        self,
        script: Mapping[str, Sequence[str | Reply | Callable[[Ask], str]]],
        seats: Iterable[Seat] | None = None,
        moderator: Seat | None = None,
    ) -> None:
        self.table = Table(tuple(seats) if seats is not None else tuple(a_seat(name) for name in script), moderator)
        self.closed = False
        self.asked: list[Ask] = []
        self._script = {name: list(answers) for name, answers in script.items()}

    async def ask(self, ask: Ask) -> Reply:
        """The next answer of the seat."""
        self.asked.append(ask)
        left = self._script.get(ask.seat.name, [])
        if not left:
            return Reply(ReplyStatus.FAILED, reason="the script has no answer left")
        answer = left.pop(0)
        if isinstance(answer, Reply):
            return answer
        return Reply(ReplyStatus.OK, answer if isinstance(answer, str) else answer(ask))

    async def close(self) -> None:
        """Remembered in ``closed``."""
        self.closed = True


class FakeSandbox:
    """Returns the outcome that is laid out for a job's name; every other job is missing. Jobs are kept in ``ran``."""

    def __init__(self, outcomes: Mapping[str, Outcome] | None = None, *, level: str = "bubblewrap") -> None:
        self.level = level
        self.notes: tuple[str, ...] = ()
        self.ran: list[Job] = []
        self._outcomes = dict(outcomes or {})

    def run(self, job: Job) -> Outcome:
        """The outcome laid out for ``job.name``."""
        self.ran.append(job)
        return self._outcomes.get(job.name, Outcome(Ended.MISSING, reason="nothing laid out"))


class FakeClock:
    """A clock that a test moves."""

    def __init__(self, now: float = 0.0) -> None:
        self.now = now

    def seconds(self) -> float:
        """The moment that was set."""
        return self.now


class Watching:
    """An observer that remembers."""

    def __init__(self) -> None:
        self.seen: list[Progress] = []

    def saw(self, progress: Progress) -> None:
        """Remember it."""
        self.seen.append(progress)


def a_seat(name: str, *, family: str | None = None) -> Seat:
    """A chair named by its role; a family of its own unless told."""
    return Seat(name, name, f"{family or name}:model", family or name)


class MemorySession:
    """A session of the ledger that lives in ``kept``; ``review`` is what it was closed with."""

    def __init__(self, kept: Mapping[str, Mapping[str, Any]] | None = None) -> None:
        self.kept = dict(kept or {})
        self.states: list[SessionState] = []
        self.review: Review | None = None

    def recall(self, name: str) -> Mapping[str, Any] | None:
        """What was kept under ``name``."""
        return self.kept.get(name)

    def keep(self, name: str, document: Mapping[str, Any], state: SessionState | None = None) -> None:
        """Keep it."""
        self.kept[name] = document
        self.states += [state] if state else []

    def close(self, review: Review, state: SessionState) -> None:
        """The end."""
        self.review = review
        self.states.append(state)


def a_dossier(*passages: Passage, ledger: Ledger | None = None, portion: str = "P1", of: int = 1) -> Dossier:
    """What lies before a panel."""
    return Dossier(passages, ledger or Ledger(), portion, of)


def a_passage(path: str, text: str, *, start: int = 1, changed: Iterable[int] | None = None) -> Passage:
    """Lines of ``text`` as shown, all of them changed unless told."""
    lines = tuple(text.split("\n"))
    numbers = range(start, start + len(lines)) if changed is None else changed
    return Passage(path, start, lines, frozenset(numbers))


def evidence_item(
    number: int,
    path: str,
    line: int,
    *,
    kind: EvidenceKind = EvidenceKind.LINT,
    precision: Precision = Precision.LIKELY,
    status: EvidenceStatus = EvidenceStatus.NEW,
    **result: object,
) -> Evidence:
    """Item ``E<number>``: a new result of a rule that seldom errs. Further words override fields of the Result."""
    fields: dict[str, object] = {
        "tool": "ruff",
        "rule": "B006",
        "message": "mutable default",
        "category": Category.CORRECTNESS,
        "severity": Severity.MEDIUM,
        "trigger": "the function is called twice",
        "consequence": "calls share state",
    }
    fields.update(result)
    made = Result(kind=kind, path=path, line=line, precision=precision, **fields)  # type: ignore[arg-type]
    return Evidence(f"E{number}", status, Side.HEAD, made)


def a_claim(path: str, line: int, quote: str, *, end: int | None = None, **changes: object) -> Claim:
    """A medium claim about correctness on ``line`` to ``end``, raised by the critic. Further words override its fields."""
    fields: dict[str, object] = {
        "path": path,
        "start_line": line,
        "line": line if end is None else end,
        "quote": quote,
        "category": Category.CORRECTNESS,
        "severity": Severity.MEDIUM,
        "title": "something is wrong",
        "trigger": "a certain input",
        "consequence": "it fails",
        "confidence": 0.6,
        "falsifier": "it does not fail",
        "raised_by": "critic",
    }
    fields.update(changes)
    return Claim(**fields)  # type: ignore[arg-type]


def claims_reply(*claims: Claim) -> str:
    """The JSON of a first pass with these claims."""
    return json.dumps({"claims": [_claim_document(claim) for claim in claims]})


def position_reply(stance: str, probability: float, *cites: str, claim: str = "because", check: Check | None = None) -> str:
    """The JSON of a cross-examination with one argument that cites ``cites``."""
    argument = {"claim": claim, "evidence": list(cites), "reasoning": "", "counter_arguments": []}
    document = {"stance": stance, "probability": probability, "arguments": [argument], "check": _check_document(check)}
    return json.dumps(document)


def design_reply(check: Check | None, reason: str = "it would fail") -> str:
    """The JSON of a check that was written for a claim."""
    return json.dumps({"reason": reason, "check": _check_document(check)})


def rebuttal_reply(decision: str, *cites: str, severity: str | None = None, title: str | None = None) -> str:
    """The JSON of a raiser's answer with one argument that cites ``cites``."""
    argument = {"claim": "because", "evidence": list(cites), "reasoning": "", "counter_arguments": []}
    return json.dumps({"decision": decision, "severity": severity, "title": title, "arguments": [argument]})


def _claim_document(claim: Claim) -> dict[str, object]:
    return {
        "path": claim.path,
        "start_line": claim.start_line,
        "line": claim.line,
        "quote": claim.quote,
        "category": claim.category.value,
        "severity": claim.severity.label,
        "title": claim.title,
        "trigger": claim.trigger,
        "consequence": claim.consequence,
        "confidence": claim.confidence,
        "falsifier": claim.falsifier,
        "evidence_ids": list(claim.evidence),
        "rule": claim.rule,
        "check": _check_document(claim.check),
    }


def _check_document(check: Check | None) -> dict[str, object] | None:
    if check is None:
        return None
    return {"kind": check.kind.value, "command": list(check.command), "source": check.source, "subject": check.subject}
