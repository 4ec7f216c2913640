"""Values with everything filled in but what a test is about, and the replies of panelists as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable

from reviewbot.domain.debate import Check, Claim, Seat
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
from reviewbot.ports import Dossier, Passage


def a_seat(name: str, *, family: str | None = None) -> Seat:
    """A chair named by its role; a family of its own unless told."""
    return Seat(name, name, f"{family or name}:model", family or name)


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
