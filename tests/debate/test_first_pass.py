"""Who reads what before anyone argues, in how many turns, and who is left at the table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import pytest

from reviewbot.debate.first_pass import LocalWork, Opening, hold_first_pass
from reviewbot.debate.minutes import Minutes
from reviewbot.debate.papers import Papers
from reviewbot.debate.protocol import Brief, DebateOptions, debate
from reviewbot.domain.debate import Seat, SeatStatus, Table, Transcript
from reviewbot.domain.evidence import Ledger
from reviewbot.ports import Ask, Assignment, Experiment, FirstPass, Pace, Reply, ReplyStatus
from reviewbot.testing import a_claim, a_dossier, a_passage, a_seat, claims_reply
from tests.debate.conversation import Answer, Talk, assignment_reply, local_seat, portions, rest, talked

NOTHING = claims_reply()
CRITIC, REVIEWER, OPTIMIZER = a_seat("critic"), a_seat("reviewer"), a_seat("optimizer")
SLOW, SLOWER = local_seat("slow"), local_seat("slower")
PACES = (Pace("slow", "m", 100.0, 10.0, 0.0, 2_000), Pace("slower", "m", 50.0, 5.0, 0.0, 1_000))
SMALL = portions("L1", "L2", "L3", "L4")
WHOLE = portions("P1")
Said = Mapping[tuple[str, str], Answer | list[Answer]]


def passes(
    papers: Papers, *seats: Seat, said: Said | None = None, local: LocalWork | None = None
) -> tuple[Talk[Opening], Minutes]:
    """A first pass in which ``said`` answers by (seat, subject), and everybody else finds nothing."""
    minutes = Minutes(seats)
    queues = {key: list(answers) if isinstance(answers, list) else [answers] * 9 for key, answers in (said or {}).items()}

    def answer(asked: Ask | Experiment) -> Answer:
        assert isinstance(asked, Ask)
        queue = queues.get((asked.seat.name, asked.subject), [])
        return queue.pop(0) if queue else NOTHING

    work = hold_first_pass(papers, minutes, seconds=30.0, local=local or LocalWork(PACES))
    return talked(work, answer), minutes


def attendance(minutes: Minutes) -> dict[str, tuple[SeatStatus, str | None]]:
    return {entry.seat.name: (entry.status, entry.reason) for entry in minutes.transcript((), ()).attendance}


def test_strong_panelists_read_every_portion_in_one_round() -> None:
    talk, _ = passes(Papers(portions("P1", "P2")), CRITIC, REVIEWER)
    assert talk.told() == [[("critic", "P1"), ("reviewer", "P1"), ("critic", "P2"), ("reviewer", "P2")]]
    assert {asked.timeout_seconds for asked in talk.asks} == {30.0}


def test_an_undivided_change_needs_no_name() -> None:
    talk, _ = passes(Papers(WHOLE), CRITIC)
    assert talk.told() == [[("critic", "")]]


def test_claims_of_all_portions_come_together_with_their_authors() -> None:
    one, other = a_claim("P1.py", 1, "line 1"), a_claim("P2.py", 2, "line 2")
    said = {("critic", "P1"): claims_reply(one), ("reviewer", "P2"): claims_reply(other)}
    talk, _ = passes(Papers(portions("P1", "P2")), CRITIC, REVIEWER, said=said)
    assert talk.end.claims == (one, replace(other, raised_by="reviewer"))


def test_only_the_invalid_answer_is_asked_for_again_with_its_fault() -> None:
    claim = a_claim("P2.py", 1, "line 1")
    said = {("reviewer", "P2"): ["no JSON", claims_reply(claim)]}
    talk, minutes = passes(Papers(portions("P1", "P2")), CRITIC, REVIEWER, said=said)
    (again,) = talk.rounds[1]
    assert isinstance(again, Ask)
    assert (again.seat.name, again.subject, again.attempt) == ("reviewer", "P2", 2)
    assert "not valid JSON" in again.complaint
    assert [found.raised_by for found in talk.end.claims] == ["reviewer"]
    assert attendance(minutes)["reviewer"] == (SeatStatus.OK, None)


def test_who_is_invalid_twice_loses_the_seat_and_everybody_can_see_why() -> None:
    talk, minutes = passes(Papers(WHOLE), CRITIC, REVIEWER, OPTIMIZER, said={("critic", ""): "no JSON"})
    assert talk.told()[1:] == [[("critic", "")]]
    status, reason = attendance(minutes)["critic"]
    assert status is SeatStatus.LOST
    assert "not valid JSON" in str(reason)
    (note,) = minutes.transcript((), ()).notes
    assert note.startswith("critic took no part: not valid JSON")
    assert minutes.seated == (REVIEWER, OPTIMIZER)


@pytest.mark.parametrize("status", [status for status in ReplyStatus if status is not ReplyStatus.OK])
def test_no_failure_is_asked_again_or_counted_as_having_read(status: ReplyStatus) -> None:
    failed = Reply(status, text=claims_reply(a_claim("P1.py", 1, "line 1")), reason="out of order")
    talk, minutes = passes(Papers(WHOLE), CRITIC, REVIEWER, said={("critic", ""): failed})
    assert len(talk.rounds) == 1
    assert not talk.end.claims
    assert talk.end.reading.readers["P1.py"][1] == 1
    assert attendance(minutes)["critic"] == (SeatStatus.LOST, "out of order")


def test_one_portion_that_failed_costs_no_seat_and_is_told() -> None:
    talk, minutes = passes(
        Papers(portions("P1", "P2")), CRITIC, REVIEWER, said={("critic", "P2"): Reply(ReplyStatus.TIMEOUT, reason="too slow")}
    )
    assert attendance(minutes)["critic"] == (SeatStatus.OK, None)
    assert minutes.transcript((), ()).notes == ("critic gave no valid answer to 1 of 2 questions: too slow",)
    readers = talk.end.reading.readers
    assert (readers["P1.py"][1], readers["P2.py"][1]) == (2, 1)


def test_what_was_not_shown_to_a_panelist_was_not_read_by_it() -> None:
    (dossier,) = portions("P1", lines=4)
    partly = Reply(ReplyStatus.OK, NOTHING, unread=rest(dossier, 3))
    talk, _ = passes(Papers((dossier,)), CRITIC, REVIEWER, said={("critic", ""): partly})
    assert [talk.end.reading.readers["P1.py"][line] for line in (1, 2, 3, 4)] == [2, 2, 1, 1]


# Local panelists


def test_a_local_panelist_reads_one_portion_a_turn_and_no_more_turns_than_it_has() -> None:
    talk, _ = passes(Papers(WHOLE, SMALL), SLOW, local=LocalWork(asks=3))
    assert talk.told() == [[("slow", "L1")], [("slow", "L2")], [("slow", "L3")]]


def test_local_panelists_begin_beside_the_strong_ones_where_nobody_deals() -> None:
    talk, _ = passes(Papers(WHOLE, SMALL), CRITIC, SLOW, local=LocalWork(asks=2))
    assert talk.told() == [[("critic", ""), ("slow", "L1")], [("slow", "L2")]]


def test_beside_strong_panelists_nothing_is_divided_unless_it_is_dealt() -> None:
    talk, _ = passes(Papers(WHOLE, SMALL), CRITIC, SLOW, SLOWER, local=LocalWork(asks=2))
    assert talk.told() == [[("critic", ""), ("slow", "L1"), ("slower", "L1")], [("slow", "L2"), ("slower", "L2")]]


def test_what_did_not_fit_is_the_beginning_of_the_next_turn() -> None:
    first, second = portions("L1", "L2", lines=4)
    partly = Reply(ReplyStatus.OK, NOTHING, unread=rest(first, 3))
    talk, _ = passes(Papers((first,), (first, second)), SLOW, said={("slow", "L1"): partly})
    assert talk.told() == [[("slow", "L1")], [("slow", "L1+")], [("slow", "L2")]]
    carried = talk.asks[1].question.dossier
    assert carried.passages == rest(first, 3)
    assert carried.related == ()
    assert [talk.end.reading.readers["L1.py"][line] for line in (1, 2, 3, 4)] == [1, 1, 1, 1]


def test_what_never_fits_does_not_go_round_for_ever() -> None:
    (dossier,) = portions("L1")

    def partly(asked: Ask | Experiment) -> Answer:
        assert isinstance(asked, Ask)
        return Reply(ReplyStatus.OK, NOTHING, unread=asked.question.dossier.passages)

    minutes = Minutes((SLOW,))
    talk = talked(hold_first_pass(Papers((dossier,)), minutes, seconds=30.0, local=LocalWork(asks=4)), partly)
    assert len(talk.rounds) == 4
    assert not any(+of_file for of_file in talk.end.reading.readers.values())


def test_the_first_strong_panelist_deals_out_the_work_while_it_reads() -> None:
    errors = (("slow", 10.0, 20.0),)
    said = {("critic", "assignment"): assignment_reply(("slow", "L3"), ("slower", "L1"), ("slow", "L2"))}
    talk, _ = passes(Papers(WHOLE, SMALL), CRITIC, REVIEWER, SLOW, SLOWER, said=said, local=LocalWork(PACES, 5, 60.0, errors))
    assert talk.told() == [
        [("critic", ""), ("reviewer", ""), ("critic", "assignment")],
        [("slow", "L3"), ("slower", "L1")],
        [("slow", "L2")],
    ]
    question = talk.asks[2].question
    assert isinstance(question, Assignment)
    assert [portion.name for portion in question.portions] == ["L1", "L2", "L3", "L4"]
    assert question.portions[0].paths == ("L1.py",)
    assert all(portion.tokens > 0 for portion in question.portions)
    assert (question.paces, question.seconds, question.errors) == (PACES, 60.0, errors)


def test_a_local_panelist_whom_nobody_asked_keeps_its_seat() -> None:
    said = {("critic", "assignment"): assignment_reply(("slow", "L1"))}
    talk, minutes = passes(Papers(WHOLE, SMALL), CRITIC, SLOW, SLOWER, said=said)
    assert talk.told()[1:] == [[("slow", "L1")]]
    assert attendance(minutes)["slower"] == (SeatStatus.OK, None)


@pytest.mark.parametrize(
    "answer", ["no JSON", assignment_reply(("slow", "L9")), assignment_reply(("critic", "L1")), Reply(ReplyStatus.TIMEOUT)]
)
def test_without_a_valid_assignment_everyone_begins_with_the_riskiest(answer: Answer) -> None:
    talk, minutes = passes(
        Papers(WHOLE, SMALL), CRITIC, SLOW, SLOWER, said={("critic", "assignment"): answer}, local=LocalWork(PACES, asks=2)
    )
    locals_turns = [put for put in talk.told() if put[0][0] != "critic"]
    assert locals_turns == [[("slow", "L1"), ("slower", "L1")], [("slow", "L2"), ("slower", "L2")]]
    assert attendance(minutes)["critic"] == (SeatStatus.OK, None)


def test_an_assignment_is_cut_to_the_turns_that_there_are() -> None:
    said = {("critic", "assignment"): assignment_reply(*(("slow", f"L{number}") for number in (4, 3, 2, 1)))}
    talk, _ = passes(Papers(WHOLE, SMALL), CRITIC, SLOW, said=said, local=LocalWork(PACES, asks=2))
    assert talk.told()[1:] == [[("slow", "L4")], [("slow", "L3")]]


@pytest.mark.parametrize(
    ("papers", "seats", "local"),
    [
        (Papers(WHOLE, portions("L1")), (CRITIC, SLOW), LocalWork(PACES)),
        (Papers(WHOLE, SMALL), (CRITIC, REVIEWER), LocalWork(PACES)),
        (Papers(SMALL), (SLOW, SLOWER), LocalWork(PACES)),
        (Papers(WHOLE, SMALL), (CRITIC, SLOW), LocalWork()),
    ],
    ids=["one portion", "nobody local", "nobody strong", "no paces"],
)
def test_nothing_is_dealt_out_where_there_is_nothing_to_deal_or_nobody_to_deal_with(
    papers: Papers, seats: tuple[Seat, ...], local: LocalWork
) -> None:
    talk, _ = passes(papers, *seats, local=local)
    assert all(isinstance(asked.question, FirstPass) for asked in talk.asks)


def test_local_panelists_alone_read_everything_where_each_can() -> None:
    talk, _ = passes(Papers(SMALL), SLOW, SLOWER, local=LocalWork(PACES, asks=4))
    assert talk.told() == [[("slow", name), ("slower", name)] for name in ("L1", "L2", "L3", "L4")]


def test_local_panelists_alone_divide_what_none_of_them_can_read_whole() -> None:
    talk, _ = passes(Papers(SMALL), SLOW, SLOWER, local=LocalWork(PACES, asks=3))
    assert talk.told() == [[("slow", "L1"), ("slower", "L2")], [("slow", "L3"), ("slower", "L4")]]


def test_a_local_panelist_that_gave_one_answer_of_several_keeps_its_seat() -> None:
    failed = Reply(ReplyStatus.TIMEOUT, reason="too slow")
    _, kept = passes(Papers(SMALL), SLOW, said={("slow", "L1"): failed})
    assert attendance(kept)["slow"] == (SeatStatus.OK, None)
    _, lost = passes(Papers(SMALL), SLOW, said={("slow", dossier.portion): failed for dossier in SMALL})
    assert attendance(lost)["slow"] == (SeatStatus.LOST, "too slow")


# What the debate makes of it


def held(papers: Papers, *seats: Seat, answer: Callable[[Ask], Answer], local: LocalWork | None = None) -> Transcript:
    """A whole debate in which ``answer`` gives the first passes and nobody argues."""

    def script(asked: Ask | Experiment) -> Answer:
        assert isinstance(asked, Ask)
        return answer(asked) if asked.phase == "S1" else Reply(ReplyStatus.TIMEOUT, reason="silent")

    passages = tuple(passage for dossier in papers.dossiers for passage in dossier.passages)
    brief = Brief(passages, papers, frozenset(passage.path for passage in passages), Ledger())
    return talked(debate(brief, Table(seats), DebateOptions(local=local or LocalWork(PACES))), script).end


def test_agreement_is_counted_among_those_who_read_the_place() -> None:
    claim = a_claim("P2.py", 1, "line 1")

    def answer(asked: Ask) -> Answer:
        if asked.subject == "P1":
            return NOTHING
        return Reply(ReplyStatus.FAILED) if asked.seat is OPTIMIZER else claims_reply(claim)

    (case,) = held(Papers(portions("P1", "P2")), CRITIC, REVIEWER, OPTIMIZER, answer=answer).cases
    assert case.readers == 2
    assert case.triage_reason == "raised by 2 of 2, at medium severity"
    assert case.triage.value == "accepted"


def test_lines_that_too_few_read_are_listed_by_file() -> None:
    def answer(asked: Ask) -> Answer:
        return NOTHING if asked.subject == "P1" or asked.seat is CRITIC else Reply(ReplyStatus.FAILED)

    transcript = held(Papers(portions("P1", "P2")), CRITIC, REVIEWER, OPTIMIZER, answer=answer)
    (unread,) = transcript.unread
    assert (unread.path, unread.lines, unread.whole) == ("P2.py", 2, True)
    assert unread.reason == "it was read by 1 of 3 panelists"
    assert transcript.quorum


def test_one_local_reader_makes_a_line_read_where_only_local_panelists_sit_and_none_beside_strong_ones() -> None:
    def answer(asked: Ask) -> Answer:
        return NOTHING if asked.seat.local else Reply(ReplyStatus.FAILED)

    alone = held(Papers(SMALL), SLOW, SLOWER, answer=answer, local=LocalWork(PACES, asks=2))
    assert not alone.unread
    beside = held(Papers(WHOLE), CRITIC, REVIEWER, SLOW, answer=answer)
    assert [unread.path for unread in beside.unread] == ["P1.py"]
    assert not beside.quorum


def test_a_capped_reply_makes_the_debate_partial_and_says_why_once() -> None:
    def answer(asked: Ask) -> Answer:
        return NOTHING if asked.seat is not CRITIC else Reply(ReplyStatus.CAPPED, reason="$0.00 of $0.50 are left")

    transcript = held(Papers(portions("P1", "P2")), CRITIC, REVIEWER, OPTIMIZER, answer=answer)
    assert transcript.capped == "$0.00 of $0.50 are left"
    assert [turn.outcome for turn in transcript.turns if turn.panelist == "critic"] == ["capped", "capped"]
    assert not held(Papers(WHOLE), CRITIC, answer=lambda _: NOTHING).capped


def test_where_lines_were_only_removed_the_passage_itself_must_be_read() -> None:
    cut = Papers((a_dossier(a_passage("a.py", "x", changed=())),))
    assert not held(cut, CRITIC, answer=lambda _: NOTHING).unread
    (unread,) = held(cut, CRITIC, answer=lambda _: Reply(ReplyStatus.FAILED)).unread
    assert (unread.path, unread.lines) == ("a.py", 1)
