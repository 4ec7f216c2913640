"""A finding as it was told becomes a case that is open again: at its lines of now, on the evidence of now, with what was executed
when it was told."""

from __future__ import annotations

from dataclasses import dataclass, replace

from reviewbot.debate import numbers, weigh
from reviewbot.debate.cites import Length, nowhere
from reviewbot.debate.papers import Papers
from reviewbot.domain.debate import Argument, Case, CheckOutcome, Claim, Position, Proof, SettledBy, Stance, Triage
from reviewbot.domain.evidence import Ledger
from reviewbot.domain.history import Known
from reviewbot.domain.review import Confidence, Finding, FindingStatus
from reviewbot.ports import Passage

LONG_ENOUGH = 40
"""Characters of a remembered line that stand for the whole of it: what is remembered is shortened."""


@dataclass(frozen=True, slots=True)
class Charge:
    """A finding as it was told, a person's ``argument`` against it, and what lies before those who weigh it. ``length``: see
    ``cites.Length``."""

    finding: Finding
    argument: str
    passages: tuple[Passage, ...]
    papers: Papers
    ledger: Ledger
    length: Length = nowhere


def remembered(known: Known) -> Finding:
    """A finding of which only the state of the pull request tells: who raised it and what was said is not known, and of its lines
    only the last, which anchors it."""
    probability = numbers.ASKED_BEFORE if known.is_question else numbers.TOLD_BEFORE
    return Finding(
        id=known.id,
        fingerprint=known.fingerprint,
        path=known.path,
        start_line=known.line,
        line=known.line,
        severity=known.severity,
        category=known.category,
        title=known.title,
        body="",
        failure_scenario="",
        quote=known.text,
        status=FindingStatus.CONTESTED if known.is_question else FindingStatus.ACCEPTED,
        proof=Proof.PROVEN if known.is_proven else Proof.UNTESTED,
        confidence=Confidence.PROVEN if known.is_proven else Confidence.SINGLE,
        probability=numbers.FLOOR_PROVEN if known.is_proven else probability,
        raised_by=(),
        settled_by=SettledBy.EVIDENCE if known.is_proven else SettledBy.VOTE,
        stop_reason="",
        rule=known.rule,
    )


def placed(finding: Finding, passages: tuple[Passage, ...]) -> Finding | None:
    """The finding where its lines stand now, nearest to where they stood; ``None`` where they are nowhere in the change."""
    here = [passage for passage in passages if passage.path == finding.path]
    wanted = _folded(finding.quote.strip("\n").split("\n")[0])
    if not wanted:
        shown = not finding.line or any(passage.text(finding.line) is not None for passage in here)
        return finding if here and shown else None
    spots = [
        passage.start + index for passage in here for index, text in enumerate(passage.lines) if _stands(wanted, _folded(text))
    ]
    if not spots:
        return None
    start = min(spots, key=lambda spot: (abs(spot - finding.start_line), spot))
    whole = finding.quote if "\n" in finding.quote else next(p.text(start) or "" for p in here if p.text(start) is not None)
    return replace(finding, start_line=start, line=start + finding.line - finding.start_line, quote=whole)


def _stands(wanted: str, text: str) -> bool:
    return wanted == text or (len(wanted) >= LONG_ENOUGH and text.startswith(wanted))


def _folded(text: str) -> str:
    return " ".join(text.split())


def reopened(charge: Charge, raisers: tuple[str, ...]) -> Case:
    """The finding as a case that is open again. Ids of evidence are those of the ledger as it is now."""
    finding = charge.finding
    claims = tuple(_claim(finding, name) for name in raisers)
    evidence = tuple(
        item.id
        for item in charge.ledger.items
        if (item.result.rule == finding.rule or finding.rule is None) and weigh.tool_floor(claims[0], item)
    )
    earlier = [_earlier(said) for said in finding.positions]
    known = {said.panelist for said in earlier}
    opening = [Position(name, 1, Stance.SUPPORT, finding.probability) for name in raisers if name not in known]
    return Case(
        finding.id,
        tuple(replace(claim, evidence=evidence) for claim in claims),
        finding.severity,
        Triage.DEBATED,
        "a person disputes it",
        positions=(*earlier, *opening),
        versions=finding.versions,
        proof=finding.proof,
        check=finding.check if finding.check and finding.check.outcome is not CheckOutcome.NOT_RUN else None,
    )


def held_before(finding: Finding) -> tuple[float, str]:
    """What was executed when the finding was told, and what it guarantees."""
    if finding.proof is Proof.PROVEN:
        return numbers.FLOOR_PROVEN, "a check of it failed at head and passed without the change"
    tested = finding.check is not None and finding.check.outcome is not CheckOutcome.NOT_RUN
    if finding.proof is Proof.UNTESTED and finding.settled_by is SettledBy.EVIDENCE and not tested:
        return min(numbers.FLOOR_TOOL_RESULT, finding.probability), "a tool that was run reported it"
    return 0.0, ""


def _earlier(said: Position) -> Position:
    """A position of the review, without the ids of that review's ledger: they name something else by now."""
    return replace(said, arguments=tuple(_without_ids(argument) for argument in said.arguments))


def _without_ids(argument: Argument) -> Argument:
    return replace(argument, evidence=tuple(cite for cite in argument.evidence if ":" in cite))


def _claim(finding: Finding, raiser: str) -> Claim:
    return Claim(
        path=finding.path,
        start_line=finding.start_line,
        line=finding.line,
        quote=finding.quote,
        category=finding.category,
        severity=finding.severity,
        title=finding.title,
        trigger=finding.failure_scenario,
        consequence=finding.body,
        confidence=finding.probability,
        falsifier="",
        raised_by=raiser,
        rule=finding.rule,
    )
