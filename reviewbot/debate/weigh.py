"""S5: positions and evidence become one probability. Pure arithmetic in log-odds; floors that words cannot lower."""

from __future__ import annotations

import math
from collections.abc import Mapping

from reviewbot.debate import numbers
from reviewbot.domain.debate import Case, CheckOutcome, Claim, Position, Proof, Seat, Stance
from reviewbot.domain.evidence import Evidence, EvidenceKind, EvidenceStatus, Ledger, Precision
from reviewbot.ports import Passage

_FLOORS = {Precision.CERTAIN: numbers.FLOOR_CERTAIN_RESULT, Precision.LIKELY: numbers.FLOOR_TOOL_RESULT}
_TOOL_KINDS = frozenset({EvidenceKind.LINT, EvidenceKind.API, EvidenceKind.SECRET, EvidenceKind.UNICODE, EvidenceKind.MARKER})


def probability(case: Case, *, seats: Mapping[str, Seat], ledger: Ledger, passages: tuple[Passage, ...] = ()) -> float:
    """P(the claim is real): ``logit(prior) + ρ Σ logit(clip(pᵢ)) + Σ LR``, over those who did not raise it, above its floor."""
    odds = logit(numbers.prior(len(case.raised_by), case.readers or len(seats)))
    voices = {name: said for name, said in case.last_words().items() if name not in case.raised_by}
    odds += correlation(case, voices, seats) * sum(_voice(position) for position in voices.values())
    odds += facts(case, ledger, passages)
    return max(expit(odds), floor(case, ledger))


def correlation(case: Case, voices: Mapping[str, Position], seats: Mapping[str, Seat]) -> float:
    """ρ: how much independent votes are worth; less where everyone who speaks is of one model family."""
    speakers = {*case.raised_by, *voices}
    families = {seats[name].family for name in speakers if name in seats}
    return 1.0 if len(families) > 1 else numbers.CORRELATION_ONE_FAMILY


def facts(case: Case, ledger: Ledger, passages: tuple[Passage, ...]) -> float:
    """What is known apart from anyone's opinion, in log-odds."""
    total = 0.0
    if case.proof is Proof.CONTRADICTED:
        total += numbers.LOG_ODDS_CONTRADICTED
    if case.check is not None and case.check.outcome == CheckOutcome.NONE_FOUND:
        total += numbers.LOG_ODDS_NONE_FOUND
    if not any(claim.trigger.strip() for claim in case.claims):
        total += numbers.LOG_ODDS_NO_TRIGGER
    if ledger.tests.green and _executed(case.lead, ledger):
        total += numbers.LOG_ODDS_GREEN_SUITE
    if any(_quotes_a_path(position, passages) for position in case.last_words().values()):
        total += numbers.LOG_ODDS_CALL_PATH_QUOTED
    return total


def floor(case: Case, ledger: Ledger) -> float:
    """The probability that executed evidence guarantees."""
    if case.proof is Proof.PROVEN:
        return numbers.FLOOR_PROVEN
    items = (item for name in case.evidence if (item := ledger.item(name)))
    floors = (_FLOORS[item.result.precision] for item in items if tool_floor(case.lead, item))
    return max(floors, default=0.0)


def tool_floor(claim: Claim, item: Evidence) -> bool:
    """A new result of a deterministic tool, on that very place, of a rule that can be believed without an argument.

    The author's suppression, or a heuristic rule, earns no floor: then it is for the panel to argue.
    """
    result = item.result
    there = claim.start_line <= result.line <= claim.line or claim.line in range(
        result.line, max(result.end_line, result.line) + 1
    )
    return (
        item.status is EvidenceStatus.NEW
        and not item.suppressed
        and result.kind in _TOOL_KINDS
        and result.precision is not Precision.HEURISTIC
        and result.path == claim.path
        and there
    )


def logit(p: float) -> float:
    """ln(p / (1 - p))."""
    return math.log(p / (1 - p))


def expit(odds: float) -> float:
    """The inverse of logit, safe for large arguments."""
    if odds >= 0:
        return 1 / (1 + math.exp(-odds))
    grown = math.exp(odds)
    return grown / (1 + grown)


def _voice(position: Position) -> float:
    """One vote in log-odds: nothing for a neutral stand or one that does not count, never against its own stance."""
    if not position.counted or position.stance is Stance.NEUTRAL:
        return 0.0
    low, high = numbers.CLIP
    believed = min(max(position.probability, low), high)
    if position.stance is Stance.SUPPORT:
        return max(logit(believed), 0.0)
    return min(logit(believed), 0.0)


def _executed(claim: Claim, ledger: Ledger) -> bool:
    return any((claim.path, line) in ledger.tests.executed for line in range(claim.start_line, claim.line + 1))


def _quotes_a_path(position: Position, passages: tuple[Passage, ...]) -> bool:
    """A supporter who counts cites at least two places, each of which was shown: where it enters and where it fails."""
    if position.stance is not Stance.SUPPORT or not position.counted:
        return False
    shown = {f"{passage.path}:{passage.start + index}" for passage in passages for index in range(len(passage.lines))}
    return len(position.citations() & shown) >= 2
