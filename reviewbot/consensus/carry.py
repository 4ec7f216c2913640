"""What becomes of findings over several reviews of one pull request: each keeps its number, and is carried, fixed or reopened.

Silence means something only where somebody looked: what stands on lines that no review saw yet, and is not raised, is fixed; what
stands on lines that were seen before is carried as long as its line is there. What a tool said goes with the tool's result, and
what was executed is not refuted by a review that executes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from reviewbot.consensus import identity, seen
from reviewbot.consensus.identity import MOST_TEXT, Spot, normalised
from reviewbot.consensus.look import Look, Place, is_unasked, marks, place_of, result_gone, result_stands
from reviewbot.consensus.policy import BLOCKING_PROBABILITY, POSTING_LEVELS, blocks
from reviewbot.domain.debate import Claim, Proof, SettledBy
from reviewbot.domain.dismissal import FILE
from reviewbot.domain.evidence import Evidence, Ledger, Severity
from reviewbot.domain.history import Fate, History, Known
from reviewbot.domain.review import Conclusion, Confidence, Finding, FindingStatus, Lifecycle, Review

GONE = "its line is gone from the change"
NOT_SAID = "what a check said of it is said no more"
NOT_RAISED = "the panel looked at it again and did not raise it"
STANDS = "raised in an earlier review; its line still stands"
AGAIN = "it was gone, and stands there again"
SETTLED = "nothing changed here since it was reviewed, and nothing was executed that shows it"
_IN_FILE = f"dismissed in {FILE}: "
MOST_KNOWN = 200
"""Findings that are remembered; of more, those that were fixed first are forgotten [design]."""


def spots(claims: Iterable[Claim | Finding], lines: Mapping[str, tuple[str, ...]], names: Mapping[str, str]) -> tuple[Spot, ...]:
    """Where claims hang, so that ``identity.names`` knows them again. ``lines`` are normalised, ``names`` base paths, by path."""

    def anchored(claim: Claim | Finding) -> identity.Anchor:
        name = names.get(claim.path, claim.path)
        if claim.path in lines:
            return identity.anchor(name, claim.line, lines[claim.path])
        return identity.Anchor(name, normalised(claim.quote), 0)

    return tuple(Spot(anchored(claim), claim.path, claim.line, claim.rule, claim.title, claim.category) for claim in claims)


def carried(told: Iterable[Finding], look: Look) -> tuple[Finding, ...]:
    """Every finding with what became of it: those of this review, then those of earlier ones that it does not raise. Their ids
    are final already (``identity.names``)."""
    known = {one.id: one for one in look.history.findings}
    raised = [_raised(finding, known.get(finding.id), look) for finding in told]
    said = {finding.id for finding in raised}
    silent = (_unraised(one, look) for one in look.history.findings if one.id not in said)
    every = _told_apart((*raised, *(finding for finding in silent if finding is not None)), known, look)
    nears = (_near(one, known.get(one.id), look) for one in every)
    return tuple(replace(one, near=near, blocks=blocks(one, look.ledger)) for one, near in zip(every, nears, strict=True))


def remarks(told: Iterable[Finding], history: History) -> tuple[str, ...]:
    """What is to be said of what is not told: a grave finding was dismissed, and is proven now."""
    proven_before = {one.id for one in history.findings if one.is_proven}
    grave = (finding for finding in told if finding.status is FindingStatus.DISMISSED and finding.severity >= Severity.HIGH)
    return tuple(
        f"{finding.id} was dismissed, and what was executed proves it: {finding.path}:{finding.line}"
        for finding in grave
        if finding.proof is Proof.PROVEN and finding.id not in proven_before
    )


def history_after(review: Review, history: History) -> History:
    """What is remembered after a review. What was dismissed since it began is in ``history``, and stays dismissed; what the
    repository's file dismisses is read from there each time."""
    history = history.reopened(FILE)
    before = {one.id: one for one in history.findings}
    told = {finding.id: finding for finding in review.findings}
    after = [_remembered(finding, before.get(name)) for name, finding in told.items()]
    kept = [one for one in after if one is not None] + [one for name, one in before.items() if name not in told]
    kept.sort(key=lambda one: identity.number(one.id))
    numbers = (identity.number(name) + 1 for name in told)
    return History(
        head=review.revisions.head,
        base=review.revisions.base,
        course=review.footprint.course,
        seen=_seen_after(review, history),
        conclusion=review.conclusion,
        verdict=review.verdict,
        findings=_bounded(kept),
        next_number=max((identity.next_number(history), *numbers)),
        whole=review.footprint.whole if review.conclusion is Conclusion.COMPLETE else "",
    )


def _seen_after(review: Review, history: History) -> frozenset[str]:
    """Marks of this review, and as many older ones as there is room for: what comes back was seen."""
    now = frozenset(review.footprint.seen)
    if review.conclusion is not Conclusion.COMPLETE:
        return history.seen
    if not now:
        return frozenset()
    older = sorted(history.seen - now)
    return now | frozenset(older[: max(seen.MOST_MARKS - len(now), 0)])


def _bounded(known: list[Known]) -> tuple[Known, ...]:
    """At most so many, those that were fixed first left out first."""
    over = len(known) - MOST_KNOWN
    forgotten = {one.id for one in [one for one in known if one.fate is Fate.FIXED][: max(over, 0)]}
    return tuple(one for one in known if one.id not in forgotten)


def _remembered(finding: Finding, known: Known | None) -> Known | None:
    """A finding as the next review must know it; ``None`` for one that was never told, here or where it was dismissed."""
    in_file = finding.status is FindingStatus.DISMISSED and finding.stop_reason.startswith(_IN_FILE)
    if known is None and not (finding.is_posted or in_file):
        return None
    is_question = finding.status is FindingStatus.CONTESTED
    fate, reason, by = Fate.OPEN, "", ""
    if known is not None and known.fate is Fate.DISMISSED:
        fate, reason, by, is_question = known.fate, known.reason, known.by, known.is_question
    elif in_file:
        fate, reason, by = Fate.DISMISSED, finding.stop_reason.removeprefix(_IN_FILE), FILE
    elif known is not None and not finding.is_posted:
        is_fixed = finding.lifecycle is Lifecycle.FIXED
        fate, reason, is_question = Fate.FIXED, finding.stop_reason if is_fixed else known.reason, known.is_question
    lines = finding.quote.strip("\n").split("\n")
    return Known(
        id=finding.id,
        fingerprint=finding.fingerprint,
        path=finding.path,
        start_line=finding.start_line,
        line=finding.line,
        severity=finding.severity,
        category=finding.category,
        title=finding.title,
        text=normalised(lines[-1])[:MOST_TEXT],
        probability=finding.probability,
        rule=finding.rule,
        fate=fate,
        reason=reason,
        by=by,
        is_question=is_question,
        is_proven=finding.proof is Proof.PROVEN or finding.blocks,
        grounds=finding.grounds,
        near=finding.near,
    )


def _raised(finding: Finding, known: Known | None, look: Look) -> Finding:
    """A finding of this review, in the light of what is known."""
    items = tuple(look.about(finding))
    finding = replace(finding, grounds=_grounds(finding, items, look))
    shown = finding.proof is Proof.PROVEN or any(look.results[item.id] not in look.history.seen for item in items)
    is_old = bool(look.history.seen) and not look.is_fresh(finding.path, finding.start_line, finding.line) and not shown
    if known is None:
        settled = is_old and look.is_known and finding.is_posted
        return replace(finding, status=FindingStatus.BELOW_THRESHOLD, stop_reason=SETTLED) if settled else finding
    finding = replace(finding, fingerprint=known.fingerprint)
    if known.fate is Fate.DISMISSED:
        words = dismissed(known)
        return replace(finding, status=FindingStatus.DISMISSED, lifecycle=Lifecycle.CARRIED, stop_reason=words)
    if finding.status is FindingStatus.DISMISSED:
        return replace(finding, lifecycle=Lifecycle.CARRIED)
    if not finding.is_posted:
        return _rejected(finding, known, look)
    if is_old:
        finding = replace(finding, severity=min(finding.severity, known.severity))
    return replace(finding, lifecycle=Lifecycle.CARRIED if known.fate is Fate.OPEN else Lifecycle.REOPENED)


def _rejected(finding: Finding, known: Known, look: Look) -> Finding:
    """What was told earlier does not stand this time: closed, unless nobody may have judged it, or it was proven and nothing
    changed there."""
    if known.fate is Fate.FIXED:
        return replace(finding, lifecycle=Lifecycle.CARRIED)
    unjudged = not look.is_whole and finding.settled_by is SettledBy.BUDGET
    altered = look.is_altered(finding.path, finding.start_line, finding.line) and not is_unasked(known, look)
    if unjudged or (known.is_proven and not altered):
        return _unraised(known, look) or finding
    return replace(finding, lifecycle=Lifecycle.FIXED)


def _unraised(known: Known, look: Look) -> Finding | None:
    """What became of a known finding that nobody raised; ``None`` where nothing did."""
    place = place_of(known, look)
    stands = place is not None and not result_gone(known, look)
    fresh = place is not None and look.is_altered(place.path, place.start_line, place.line)
    if known.fate is Fate.DISMISSED:
        return _from_history(known, place, look, status=FindingStatus.DISMISSED) if place else None
    if known.fate is Fate.FIXED:
        left = known.reason in (GONE, NOT_SAID) and (not known.grounds or result_stands(known, look))
        back = left and stands and not fresh
        return _from_history(known, place, look, lifecycle=Lifecycle.REOPENED) if place and back else None
    if place is None or not stands:
        return _fixed(known, GONE if place is None else NOT_SAID)
    if fresh and look.is_whole and not is_unasked(known, look) and not result_stands(known, look):
        return _fixed(known, NOT_RAISED)
    return _from_history(known, place, look)


def _near(finding: Finding, known: Known | None, look: Look) -> str:
    """What stands around its line; around one that is gone, or was not read, what stood there."""
    lines = look.lines.get(finding.path)
    is_gone = lines is None or finding.lifecycle is Lifecycle.FIXED
    return (known.near if known else "") if is_gone or lines is None else identity.near(finding.line, lines)


def _grounds(finding: Finding, items: tuple[Evidence, ...], look: Look) -> tuple[str, ...]:
    """Of what a finding cites about its own lines, that which it repeats: the result of a rule, or what settled it."""
    return tuple(
        f"{item.result.tool} {look.results[item.id]}"
        for item in items
        if finding.rule or finding.settled_by is SettledBy.EVIDENCE or item.result.category is finding.category
    )


def _from_history(
    known: Known,
    place: Place,
    look: Look,
    *,
    status: FindingStatus | None = None,
    lifecycle: Lifecycle = Lifecycle.CARRIED,
) -> Finding:
    """A known finding where it stands now. What was argued about it is in the review that raised it."""
    mine = marks(known)
    told = FindingStatus.CONTESTED if known.is_question else FindingStatus.ACCEPTED
    words = {Fate.DISMISSED: dismissed(known), Fate.FIXED: AGAIN}.get(known.fate, STANDS)
    least = BLOCKING_PROBABILITY if known.is_proven else POSTING_LEVELS["balanced"]
    probability = max(known.probability, least) if known.probability else least
    return Finding(
        id=known.id,
        fingerprint=known.fingerprint,
        path=place.path,
        start_line=place.start_line,
        line=place.line,
        severity=known.severity,
        category=known.category,
        title=known.title,
        body="",
        failure_scenario="",
        quote=place.text,
        status=status or told,
        proof=Proof.PROVEN if known.is_proven else Proof.UNTESTED,
        confidence=Confidence.PROVEN if known.is_proven else Confidence.SINGLE,
        probability=probability,
        raised_by=(),
        settled_by=SettledBy.EVIDENCE if known.is_proven else SettledBy.AGREEMENT,
        stop_reason=words,
        evidence=tuple(name for name, mark in look.results.items() if mark in mine),
        rule=known.rule,
        lifecycle=lifecycle,
        grounds=known.grounds,
    )


def _fixed(known: Known, why: str) -> Finding:
    """A finding that is no more, where it stood last. It is not told: its status keeps it out of every count of what is."""
    place = Place(known.path, known.start_line, known.line, known.text)
    nowhere = Look(History(), (), (), {}, Ledger())
    made = _from_history(known, place, nowhere, status=FindingStatus.BELOW_THRESHOLD, lifecycle=Lifecycle.FIXED)
    return replace(made, stop_reason=why)


def dismissed(known: Known) -> str:
    """Who dismissed a known finding, and why."""
    who = f"dismissed by {known.by}" if known.by else "dismissed"
    return f"{who}: {known.reason}" if known.reason else who


def in_file(reason: str) -> str:
    """The same of what the repository's file dismisses."""
    return f"{_IN_FILE}{reason}"


def _told_apart(told: tuple[Finding, ...], known: Mapping[str, Known], look: Look) -> tuple[Finding, ...]:
    """Fingerprints that are given once: what is new on the line of a known finding is counted after it."""
    taken = {one.fingerprint for one in known.values()}
    found = []
    for finding in told:
        if finding.id not in known and finding.fingerprint in taken:
            finding = replace(finding, fingerprint=_free(finding, taken, look))
        taken.add(finding.fingerprint)
        found.append(finding)
    return tuple(found)


def _free(finding: Finding, taken: set[str], look: Look) -> str:
    name = look.names.get(finding.path, finding.path)
    place = identity.Anchor(name, normalised(finding.quote), 0)
    if finding.path in look.lines:
        place = identity.anchor(name, finding.line, look.lines[finding.path])
    every = (identity.fingerprint(place, nth) for nth in range(len(taken) + 1))
    return next(made for made in every if made not in taken)
