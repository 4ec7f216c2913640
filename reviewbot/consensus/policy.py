"""What is told to the author, and the verdict. Written rules: executed evidence outranks votes, errors never approve."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from reviewbot.consensus import identity
from reviewbot.domain.change import Coverage, CoverageStatus
from reviewbot.domain.debate import STATIC_FAMILY, Case, Proof, SeatStatus, SettledBy, Stance, Transcript, Triage
from reviewbot.domain.evidence import Category, Evidence, EvidenceKind, EvidenceStatus, Ledger, Precision, Severity
from reviewbot.domain.review import CodeLine, Conclusion, Confidence, Finding, FindingStatus, Review, Verdict
from reviewbot.ports import Passage

POSTING_LEVELS: Mapping[str, float] = MappingProxyType({"precise": 0.80, "balanced": 0.65, "exhaustive": 0.45})
"""From which probability on a finding is told [design]."""

BLOCKING_PROBABILITY = 0.85
"""Changes are requested from this probability on, and only on executed evidence [design]."""

SHOWN_AROUND = 3
"""Lines of code shown before and after a finding."""

NO_QUORUM = (
    "too few panelists answered for a verdict; `reviewbot models list` says who can be reached, and `--panel static` asks nobody"
)


@dataclass(frozen=True, slots=True)
class PolicyOptions:
    """``posting``: a name of POSTING_LEVELS; ``min_severity``: what is less severe stays in the record."""

    posting: str = "balanced"
    min_severity: Severity = Severity.LOW


@dataclass(frozen=True, slots=True)
class Shown:
    """What was shown of the change: passages, the whole shown text of files with findings (for anchors), and paths at base."""

    passages: tuple[Passage, ...]
    lines: Mapping[str, tuple[str, ...]]
    base_paths: Mapping[str, str]


def findings(transcript: Transcript, shown: Shown, options: PolicyOptions) -> tuple[Finding, ...]:
    """Every case as a finding, in case order; those that are not told stay in the document with their reason."""
    texts = {path: tuple(identity.normalised(line) for line in lines) for path, lines in shown.lines.items()}
    anchors = {case.id: _anchor(case, texts, shown.base_paths) for case in transcript.cases}
    prints = identity.fingerprints(anchors)
    told = (_finding(case, prints[case.id], shown=shown, options=options) for case in transcript.cases)
    return tuple(replace(one, near=identity.near(one.line, texts.get(one.path, ()))) for one in told)


def conclusion(coverage: Iterable[Coverage], ledger: Ledger, transcript: Transcript) -> tuple[Conclusion, tuple[str, ...]]:
    """How whole the review is, with the reasons where it is not."""
    if not transcript.quorum:
        return Conclusion.NOT_REVIEWED, (NO_QUORUM,)
    reasons = [
        f"{item.path}: {item.status.value}: {item.reason}"
        for item in coverage
        if item.status is not CoverageStatus.REVIEWED and not item.ignored
    ]
    reasons += [
        f"required check {check.name} did not run: {check.reason}" for check in ledger.checks if check.required and not check.ran
    ]
    reasons += [
        f"{case.id}: nobody answered in time"
        for case in transcript.cases
        if case.settled_by is SettledBy.BUDGET and case.triage is Triage.DEBATED
    ]
    reasons += [transcript.capped] if transcript.capped else []
    reasons += [
        f"{one.seat.name} of the static panel was lost: {one.reason}"
        for one in transcript.attendance
        if one.status is SeatStatus.LOST and one.seat.family == STATIC_FAMILY
    ]
    return (Conclusion.PARTIAL if reasons else Conclusion.COMPLETE), tuple(reasons)


def verdict(whole: Conclusion, told: Iterable[Finding], ledger: Ledger, *, coverage: Iterable[Coverage]) -> Verdict | None:
    """The recommendation; ``None`` where nothing was reviewed.

    Prose alone never blocks. Approval wants a whole review in which every file was seen, also those that are out of scope by
    their name, tests or linters that ran to their end, no test that turned red, and nothing to tell.
    """
    if whole in (Conclusion.NOT_REVIEWED, Conclusion.PENDING):
        return None
    posted = [finding for finding in told if finding.is_posted]
    if any(blocks(finding, ledger) for finding in posted):
        return Verdict.REQUEST_CHANGES
    every_file_seen = all(item.status is CoverageStatus.REVIEWED for item in coverage)
    clean = every_file_seen and ledger.executed and not ledger.turned_red and not posted
    return Verdict.APPROVE if whole is Conclusion.COMPLETE and clean else Verdict.COMMENT


def limited(review: Review, left_out: Iterable[str]) -> Review:
    """A review of a change that its source did not tell whole. What was ``left_out``, in words, makes it partial, and it approves
    nothing."""
    missing = tuple(dict.fromkeys(left_out))
    if not missing:
        return review
    whole = Conclusion.PARTIAL if review.conclusion is Conclusion.COMPLETE else review.conclusion
    word = Verdict.COMMENT if review.verdict is Verdict.APPROVE else review.verdict
    return replace(review, conclusion=whole, verdict=word, notes=tuple(dict.fromkeys((*review.notes, *missing))))


def blocks(finding: Finding, ledger: Ledger) -> bool:
    """Grave, very likely, and resting on what was executed: a proof, or a tool whose word can be believed and that itself calls
    it grave (an unused import on the line does not carry what a panel says of that line). A failed test is no proof before it
    failed again."""
    items = (item for name in finding.evidence if (item := ledger.item(name)))
    believed = any(
        item.status is EvidenceStatus.NEW
        and _is_about(item, finding)
        and item.result.severity >= Severity.HIGH
        and item.result.kind is not EvidenceKind.TEST
        and item.result.precision is not Precision.HEURISTIC
        for item in items
    )
    executed = finding.proof is Proof.PROVEN or (finding.proof is Proof.UNTESTED and believed)
    grave = finding.severity >= Severity.HIGH and finding.probability >= BLOCKING_PROBABILITY
    return finding.status is FindingStatus.ACCEPTED and executed and grave


def _is_about(item: Evidence, finding: Finding) -> bool:
    """A result on the finding's own lines. Whoever raises a claim may cite anything; only this can carry a block."""
    last = max(item.result.end_line, item.result.line)
    return item.result.path == finding.path and item.result.line <= finding.line and last >= finding.start_line


def _finding(case: Case, fingerprint: str, *, shown: Shown, options: PolicyOptions) -> Finding:
    claim = case.lead
    return Finding(
        id=case.id,
        fingerprint=fingerprint,
        path=claim.path,
        start_line=claim.start_line,
        line=claim.line,
        severity=case.severity,
        category=claim.category,
        title=claim.title,
        body=claim.consequence,
        failure_scenario=claim.trigger,
        quote=claim.quote,
        status=_status(case, options),
        proof=case.proof,
        confidence=_confidence(case),
        probability=round(case.probability, 3),
        raised_by=case.raised_by,
        settled_by=case.settled_by,
        stop_reason=case.stop_reason,
        positions=case.positions,
        versions=case.versions,
        evidence=case.evidence,
        dissent=_dissent(case),
        check=case.check,
        rule=claim.rule,
        code=_code(case, shown.passages),
    )


def _status(case: Case, options: PolicyOptions) -> FindingStatus:
    grave = case.severity >= Severity.HIGH
    protected = grave or case.lead.category is Category.SECURITY
    told = case.triage is Triage.ACCEPTED or case.probability >= POSTING_LEVELS[options.posting]
    if case.withdrawn or case.severity < options.min_severity:
        return FindingStatus.BELOW_THRESHOLD
    if told:
        return FindingStatus.ACCEPTED
    if (grave and case.deadlocked) or (protected and case.proof is Proof.CONTRADICTED):
        return FindingStatus.CONTESTED
    return FindingStatus.BELOW_THRESHOLD


def _confidence(case: Case) -> Confidence:
    if case.proof is Proof.PROVEN:
        return Confidence.PROVEN
    supporters = sum(said.stance is Stance.SUPPORT for said in case.last_words().values())
    return Confidence.AGREED if supporters > 1 else Confidence.SINGLE


def _dissent(case: Case) -> str | None:
    """Who does not agree, each with the strongest reason, in one line."""
    voices = [
        f"{name.capitalize()}: {said.arguments[0].claim if said.arguments else 'no reason given'}"
        for name, said in case.last_words().items()
        if said.stance is Stance.OPPOSE
    ]
    return "; ".join(voices) or None


def _anchor(case: Case, texts: Mapping[str, tuple[str, ...]], base_paths: Mapping[str, str]) -> identity.Anchor:
    path = case.lead.path
    name = base_paths.get(path, path)
    if path not in texts:
        return identity.Anchor(name, identity.normalised(case.lead.quote), 0)
    return identity.anchor(name, case.lead.line, texts[path])


def _code(case: Case, passages: tuple[Passage, ...]) -> tuple[CodeLine, ...]:
    claim = case.lead
    for passage in passages:
        if passage.path == claim.path and claim.line and passage.text(claim.line) is not None:
            span = range(claim.start_line - SHOWN_AROUND, claim.line + SHOWN_AROUND + 1)
            return tuple(
                CodeLine(number, text, number in passage.changed) for number in span if (text := passage.text(number)) is not None
            )
    return ()
