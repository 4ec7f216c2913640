"""What the first pass settles by itself, what is argued, and in which order."""

from __future__ import annotations

from dataclasses import replace

import pytest

from reviewbot.debate import numbers, weigh
from reviewbot.debate.triage import cases
from reviewbot.domain.debate import Argument, Case, Claim, Position, Stance, Triage
from reviewbot.domain.evidence import EvidenceKind, Ledger, Precision, Severity
from reviewbot.testing import a_claim, a_passage, a_seat, evidence_item

LOW, MEDIUM, HIGH, CRITICAL = Severity
NAMES = ("critic", "reviewer", "optimizer", "tester")
SEATS = {name: a_seat(name) for name in NAMES[:3]}


def raised(*severities: Severity, line: int = 1, **changes: object) -> tuple[Claim, ...]:
    """One cluster, a claim for each severity, each by another panelist."""
    made = a_claim("a.py", line, "x", **changes)
    return tuple(replace(made, raised_by=name, severity=bad) for name, bad in zip(NAMES, severities, strict=False))


def triaged(*clusters: tuple[Claim, ...], seats: int = 3, ledger: Ledger | None = None, max_disputes: int = 6) -> list[Case]:
    readers = dict.fromkeys(clusters, seats)
    return list(cases(clusters, readers=readers, ledger=ledger or Ledger(), max_disputes=max_disputes))


@pytest.mark.parametrize(
    ("severities", "seats", "expected"),
    [
        ((LOW,), 3, Triage.RECORDED),
        ((MEDIUM,), 3, Triage.DEBATED),
        ((LOW,), 1, Triage.RECORDED),
        ((HIGH,), 1, Triage.DEBATED),
        ((MEDIUM, MEDIUM), 3, Triage.ACCEPTED),
        ((HIGH, HIGH), 3, Triage.DEBATED),
        ((MEDIUM, MEDIUM), 4, Triage.DEBATED),
        ((LOW, HIGH), 3, Triage.DEBATED),
        ((CRITICAL, HIGH, HIGH), 3, Triage.ACCEPTED),
        ((MEDIUM, CRITICAL, HIGH), 3, Triage.DEBATED),
    ],
)
def test_support_and_severity_decide_what_is_argued(severities: tuple[Severity, ...], seats: int, expected: Triage) -> None:
    assert triaged(raised(*severities), seats=seats)[0].triage is expected


def test_the_severity_of_a_case_is_the_lower_median_of_its_raisers() -> None:
    assert triaged(raised(MEDIUM, HIGH))[0].severity is MEDIUM
    assert triaged(raised(CRITICAL, LOW, HIGH))[0].severity is HIGH


@pytest.mark.parametrize(
    ("precision", "expected"),
    [(Precision.CERTAIN, Triage.ACCEPTED), (Precision.LIKELY, Triage.DEBATED), (Precision.HEURISTIC, Triage.DEBATED)],
)
def test_only_a_certain_result_on_the_line_settles_a_singleton(precision: Precision, expected: Triage) -> None:
    ledger = Ledger(items=(evidence_item(1, "a.py", 1, precision=precision),))
    assert triaged(raised(HIGH, evidence=("E1",)), ledger=ledger)[0].triage is expected


def test_the_worst_and_least_certain_are_debated_before_others() -> None:
    mild, grave, agreed = raised(MEDIUM), raised(CRITICAL, line=20), raised(HIGH, HIGH, line=40)
    long = raised(CRITICAL, line=60, consequence="x" * 4000)
    debated = {case.lead.line for case in triaged(mild, grave, agreed, long, max_disputes=2) if case.triage is Triage.DEBATED}
    assert debated == {20, 40}


def weighed(*said: Position, families: tuple[str, str, str] = ("one", "one", "one"), claim: Claim | None = None) -> float:
    claim = claim or a_claim("a.py", 1, "x")
    case = Case("F1", (claim,), claim.severity, Triage.DEBATED, "", positions=said)
    seats = {name: replace(seat, family=family) for (name, seat), family in zip(SEATS.items(), families, strict=True)}
    return weigh.probability(case, seats=seats, ledger=Ledger(), passages=(a_passage("a.py", "x\ny\nz"),))


def odds(stance: Stance, p: float, *cites: str, counted: bool = True) -> Position:
    return Position("reviewer", 1, stance, p, (Argument("so", cites),), counted=counted)


def test_a_vote_adds_its_log_odds_halved_where_one_family_speaks() -> None:
    start, vote = weigh.logit(numbers.prior(1, 3)), weigh.logit(0.8)
    assert weighed(odds(Stance.SUPPORT, 0.8)) == pytest.approx(weigh.expit(start + 0.5 * vote))
    assert weighed(odds(Stance.SUPPORT, 0.8), families=("one", "two", "one")) == pytest.approx(weigh.expit(start + vote))
    assert weighed(odds(Stance.SUPPORT, 0.8, counted=False)) == pytest.approx(numbers.prior(1, 3))


def test_only_a_supporter_who_quotes_two_shown_places_has_quoted_a_path() -> None:
    plain = weighed(odds(Stance.SUPPORT, 0.8))
    path = weigh.expit(weigh.logit(plain) + numbers.LOG_ODDS_CALL_PATH_QUOTED)
    assert weighed(odds(Stance.SUPPORT, 0.8, "a.py:1", "a.py:3")) == pytest.approx(path)
    assert weighed(odds(Stance.SUPPORT, 0.8, "a.py:1", "a.py:9")) == pytest.approx(plain)
    assert weighed(odds(Stance.OPPOSE, 0.2, "a.py:1", "a.py:3")) == pytest.approx(weighed(odds(Stance.OPPOSE, 0.2)))


@pytest.mark.parametrize("kind", [EvidenceKind.COVERAGE, EvidenceKind.COMPLEXITY, EvidenceKind.PERFORMANCE, EvidenceKind.TEST])
def test_only_tools_that_judge_a_line_give_a_floor(kind: EvidenceKind) -> None:
    claim = a_claim("a.py", 1, "x")
    assert weigh.tool_floor(claim, evidence_item(1, "a.py", 1))
    assert not weigh.tool_floor(claim, evidence_item(1, "a.py", 1, kind=kind))
