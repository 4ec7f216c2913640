"""The gate, the priors, the bill, and who hears whom: each rule alone."""

from __future__ import annotations

from dataclasses import replace

import pytest

from reviewbot.debate import cluster, numbers
from reviewbot.debate.claims import Gate
from reviewbot.debate.examine import Hearing
from reviewbot.debate.minutes import Minutes
from reviewbot.debate.papers import Papers
from reviewbot.domain.debate import Argument, Case, Claim, Position, Stance, Triage
from reviewbot.domain.evidence import EvidenceStatus, Ledger
from reviewbot.domain.money import Usage
from reviewbot.ports import Ask, FirstPass, Rebuttal, Reply, ReplyStatus
from reviewbot.testing import a_claim, a_dossier, a_passage, a_seat, evidence_item

SEATS = tuple(a_seat(name) for name in ("critic", "reviewer", "optimizer"))
PASSAGE = a_passage("a.py", "x = 1\ny = 2\nx = 1")


def test_of_equal_lines_a_quote_means_the_one_nearest_to_the_claimed_number() -> None:
    gate = Gate.of((PASSAGE,), {"a.py"}, Ledger())
    for claimed, found in ((1, 1), (3, 3), (9, 3)):
        admitted = gate.admit(a_claim("a.py", claimed, "x = 1"))
        assert isinstance(admitted, Claim)
        assert admitted.line == found


def test_the_beginning_of_a_very_long_line_stands_for_it_and_that_of_a_short_one_does_not() -> None:
    gate = Gate.of((a_passage("a.py", f"x = 1\n  y = '{'y' * 900}'"),), {"a.py"}, Ledger())
    for length, found in ((400, True), (700, True), (399, False), (5, False)):
        admitted = gate.admit(a_claim("a.py", 2, f"y = '{'y' * 900}'"[:length]))
        assert isinstance(admitted, Claim) is found
    assert isinstance(gate.admit(a_claim("a.py", 1, "x =")), str)
    assert isinstance(gate.admit(a_claim("a.py", 1, f"x = 1\ny = '{'y' * 500}")), Claim)


@pytest.mark.parametrize(("line", "status"), [(4, EvidenceStatus.NEW), (0, EvidenceStatus.EXISTING)])
def test_without_a_quote_neither_evidence_elsewhere_nor_old_evidence_helps(line: int, status: EvidenceStatus) -> None:
    gate = Gate.of((), {"a.py"}, Ledger(items=(evidence_item(1, "a.py", line, status=status),)))
    assert gate.admit(a_claim("a.py", 0, "", evidence=("E1",))) == "nothing is quoted"


@pytest.mark.parametrize(
    ("support", "seats", "expected"),
    [
        (1, 1, 0.40),
        (1, 2, 0.30),
        (2, 3, 0.58),
        (3, 3, 0.88),
        (1, 4, 0.20),
        (2, 4, 0.58),
        (4, 4, 0.88),
        (4, 7, 0.64),
        (7, 7, 0.95),
    ],
)
def test_a_prior_is_read_from_the_nearest_smaller_table_by_the_share_of_support(
    support: int, seats: int, expected: float
) -> None:
    assert numbers.prior(support, seats) == expected


def test_one_rule_on_neighbouring_lines_is_two_things() -> None:
    one, other = (a_claim("a.py", line, "x", rule="B006") for line in (1, 3))
    assert not cluster.about_one_thing(one, other)
    assert cluster.about_one_thing(one, replace(other, start_line=1, line=1))


def test_every_answer_is_on_the_bill_also_one_that_did_not_count() -> None:
    minutes = Minutes(SEATS)
    ask = Ask(SEATS[0], FirstPass(a_dossier()))
    minutes.answered(ask, Reply(ReplyStatus.OK, usage=Usage(calls=1, cost_usd=0.25)))
    minutes.answered(ask, Reply(ReplyStatus.REFUSED, usage=Usage(calls=1, cost_usd=0.5)))
    bill = minutes.transcript((), ()).bill
    assert bill.total == bill.by_panelist["critic"] == Usage(calls=2, cost_usd=0.75)


@pytest.mark.parametrize(("number", "asked"), [(1, False), (2, True), (3, False)])
def test_a_raiser_answers_once_in_the_second_round_and_nobody_hears_their_own_words(number: int, asked: bool) -> None:
    claim = a_claim("a.py", 1, "x = 1")
    said = tuple(
        Position(name, 1, stance, 0.5, (Argument(f"the {name} says"),))
        for name, stance in (("critic", Stance.SUPPORT), ("reviewer", Stance.OPPOSE), ("optimizer", Stance.NEUTRAL))
    )
    case = Case("F1", (claim,), claim.severity, Triage.DEBATED, "", positions=said)
    hearing = Hearing((PASSAGE,), Papers((a_dossier(PASSAGE),)), Ledger(), {seat.name: seat for seat in SEATS}, rounds=3)
    asks = hearing.asks([case], SEATS, number=number, seconds=1.0)
    assert [ask.seat.name for ask in asks if isinstance(ask.question, Rebuttal)] == (["critic"] if asked else [])
    assert not any(f"the {ask.seat.name} says" in repr(ask.question) for ask in asks)


def test_a_file_whose_name_is_no_utf_8_is_meant_by_the_name_that_can_be_written() -> None:
    gate = Gate.of((a_passage("caf\udce9.py", "x = 1"),), {"caf\udce9.py"}, Ledger())
    admitted = gate.admit(a_claim("caf\\xe9.py", 1, "x = 1"))
    assert isinstance(admitted, Claim)
    assert admitted.path == "caf\udce9.py"
