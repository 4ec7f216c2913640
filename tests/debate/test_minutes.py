"""The record of a debate: who answered, who really answered, what it cost, what was missed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from reviewbot.debate.minutes import Minutes, quorum
from reviewbot.domain.debate import Attendance, Case, SeatStatus, Transcript, Triage, Unread
from reviewbot.domain.evidence import Severity
from reviewbot.domain.money import Usage
from reviewbot.ports import Ask, FirstPass, Judgement, Reply, ReplyStatus, ToolUse
from reviewbot.testing import a_claim, a_seat
from tests.debate.conversation import portions

CRITIC, REVIEWER, JUDGE = (a_seat(name) for name in ("critic", "reviewer", "moderator"))
(DOSSIER,) = portions("P1")
ASK = Ask(CRITIC, FirstPass(DOSSIER), subject="P1")
CLAIM = a_claim("a.py", 1, "x")
CASE = Case("F1", (CLAIM,), Severity.LOW, Triage.DEBATED, "", probability=0.12345)


def minutes() -> Minutes:
    return Minutes((CRITIC, REVIEWER))


def ended(written: Minutes) -> Transcript:
    return written.transcript((), ())


def reasons(transcript: Transcript) -> dict[str, str | None]:
    return {entry.seat.name: entry.reason for entry in transcript.attendance}


@pytest.mark.parametrize(("seats", "needed"), [(1, 1), (2, 2), (3, 2), (4, 3), (5, 3)])
def test_a_quorum_is_more_than_half(seats: int, needed: int) -> None:
    assert quorum(seats) == needed
    written = Minutes(tuple(a_seat(f"seat{number}") for number in range(seats)))
    for number in range(seats - needed):
        written.lost(a_seat(f"seat{number}"))
    assert ended(written).quorum
    written.lost(a_seat(f"seat{seats - 1}"))
    assert not ended(written).quorum


def test_a_fallback_that_answers_is_named_once() -> None:
    written = minutes()
    for _ in range(2):
        written.answered(ASK, Reply(ReplyStatus.OK, model="other:model"))
    written.answered(replace(ASK, seat=REVIEWER), Reply(ReplyStatus.OK, model="reviewer:model"))
    told = ended(written)
    assert reasons(told) == {"critic": "other:model answered in its place", "reviewer": None}
    assert told.notes == ("critic: other:model answered in place of critic:model",)
    assert told.quorum


def test_of_two_fallbacks_both_are_noted_and_the_first_stands_beside_the_seat() -> None:
    written = minutes()
    for model in ("other:model", "other:model", "third:model"):
        written.answered(ASK, Reply(ReplyStatus.OK, model=model))
    assert reasons(ended(written))["critic"] == "other:model answered in its place"
    assert [note.split()[1] for note in ended(written).notes] == ["other:model", "third:model"]


def test_a_fallback_that_fails_too_answered_nothing() -> None:
    written = minutes()
    written.answered(ASK, Reply(ReplyStatus.FAILED, reason="both are down", model="other:model"))
    assert reasons(ended(written))["critic"] is None
    assert ended(written).notes == ("critic gave no valid answer to 1 of 1 questions: both are down",)


def test_a_fallback_of_the_moderator_is_named_too() -> None:
    written = minutes()
    ask = Ask(JUDGE, Judgement(packet=None, dossier=DOSSIER, first=(), second=()), subject="F1")  # type: ignore[arg-type]  # nobody reads the packet here
    for _ in range(2):
        written.answered(ask, Reply(ReplyStatus.OK, model="other:model"))
    told = ended(written)
    assert told.notes == ("moderator: other:model answered in place of moderator:model",)
    assert set(reasons(told)) == {"critic", "reviewer"}


def test_who_keeps_the_seat_and_misses_questions_is_told_with_the_last_reason() -> None:
    written = minutes()
    written.answered(ASK, Reply(ReplyStatus.OK, "x"), problem="not valid JSON")
    written.answered(ASK, Reply(ReplyStatus.TIMEOUT, reason="too slow"))
    written.answered(ASK, Reply(ReplyStatus.OK, "{}"))
    told = ended(written)
    assert told.notes == ("critic gave no valid answer to 2 of 3 questions: too slow",)
    assert [(turn.number, turn.phase, turn.outcome, turn.summary) for turn in told.turns] == [
        (1, "S1", "invalid", "not valid JSON"),
        (2, "S1", "timeout", "too slow"),
    ]


def test_who_lost_the_seat_is_not_told_of_twice() -> None:
    written = minutes()
    written.answered(ASK, Reply(ReplyStatus.REFUSED))
    written.lost(CRITIC)
    told = ended(written)
    assert told.notes == ("critic took no part: refused",)
    assert told.attendance[0] == Attendance(CRITIC, SeatStatus.LOST, "refused")
    assert written.seated == (REVIEWER,)


def test_what_a_panelist_looked_up_stands_before_what_came_of_it() -> None:
    written = minutes()
    uses = (ToolUse("read_file", '{"path": "a.py"}', "1 def f():"), ToolUse("search", "{}", "say what to search for"))
    written.answered(ASK, Reply(ReplyStatus.TRUNCATED, reason="cut off", tools=uses))
    assert [(turn.phase, turn.panelist, turn.subject, turn.summary) for turn in ended(written).turns] == [
        ("tool", "critic", "P1", 'read_file {"path": "a.py"}: 1 def f():'),
        ("tool", "critic", "P1", "search {}: say what to search for"),
        ("S1", "critic", "P1", "cut off"),
    ]


def test_every_reply_is_on_the_bill_also_one_that_failed_and_the_moderators() -> None:
    written = minutes()
    written.answered(ASK, Reply(ReplyStatus.OK, usage=Usage(calls=1, cost_usd=0.25)))
    written.answered(ASK, Reply(ReplyStatus.TRUNCATED, usage=Usage(calls=1, cost_usd=0.5)))
    written.answered(replace(ASK, seat=JUDGE), Reply(ReplyStatus.OK, usage=Usage(calls=2, cost_usd=1.0)))
    bill = ended(written).bill
    assert bill.by_panelist == {
        "critic": Usage(calls=2, cost_usd=0.75),
        "reviewer": Usage(),
        "moderator": Usage(calls=2, cost_usd=1.0),
    }
    assert bill.total == Usage(calls=4, cost_usd=1.75)


def test_the_first_cap_is_the_one_that_is_told() -> None:
    written = minutes()
    for reason in ("money", "tokens"):
        written.answered(ASK, Reply(ReplyStatus.CAPPED, reason=reason))
    assert ended(written).capped == "money"


def test_a_ruling_shows_the_scores_and_what_stays_open() -> None:
    written = minutes()
    written.rounds = 2
    written.rule((CASE,), "1 of 1 cases stay open", still_open=("F1",))
    (ruling,) = ended(written).rulings
    assert (ruling.round, ruling.scores, ruling.open) == (2, (("F1", 0.123),), ("F1",))
    assert [(turn.phase, turn.panelist, turn.round) for turn in ended(written).turns] == [("S6", "moderator", 2)]


def test_minutes_that_go_on_lose_nothing() -> None:
    written = minutes()
    written.rounds, written.unread = 3, (Unread("a.py", 1, whole=False, reason="too few"),)
    written.note("remember")
    written.drop("critic", "a title", "not in the change")
    written.answered(ASK, Reply(ReplyStatus.CAPPED, reason="money", usage=Usage(calls=1)))
    written.answered(replace(ASK, seat=REVIEWER), Reply(ReplyStatus.OK, model="other:model"))
    written.rule((CASE,), "so it is", still_open=())
    written.lost(CRITIC)
    before = written.transcript((CASE,), (("tests", 1),))
    again = Minutes.of(before)
    assert again.transcript((CASE,), (("tests", 1),)) == before
    again.say("S8", "a replacement", who="reviewer")
    assert again.transcript((), ()).turns[-1].number == len(before.turns) + 1
    again.answered(replace(ASK, seat=REVIEWER), Reply(ReplyStatus.OK, model="other:model"))
    assert again.transcript((), ()).notes == before.notes
