"""What should stand there instead: who writes it, who may better it, and what is never shown."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import pytest

from reviewbot.debate.improve import MOST_LINES, Improved, ImproveOptions, fault, improve
from reviewbot.debate.papers import Papers
from reviewbot.domain.debate import Attendance, Case, Seat, SeatStatus, Transcript, Triage
from reviewbot.domain.evidence import Severity
from reviewbot.domain.money import Bill, Usage
from reviewbot.domain.review import Suggestion
from reviewbot.ports import Ask, Dossier, Draft, Experiment, Improvement, Reply, ReplyStatus
from reviewbot.testing import a_claim, a_dossier, a_passage, a_seat
from tests.debate.conversation import Answer, Talk, draft_reply, talked

CODE = "\n".join(f"line {number}" for number in range(1, 11))
DOSSIER = a_dossier(a_passage("a.py", CODE))
CRITIC, REVIEWER, OPTIMIZER = (a_seat(name) for name in ("critic", "reviewer", "optimizer"))
KEY = "ghp_" + "a1B2" * 9
"""Of the form of a key, and none."""


def a_case(case_id: str = "F1", line: int = 3, **changes: object) -> Case:
    claim = a_claim("a.py", line, f"line {line}")
    case = Case(case_id, (claim,), Severity.MEDIUM, Triage.ACCEPTED, "raised by all", probability=0.9)
    return replace(case, **changes)  # type: ignore[arg-type]


def a_transcript(*cases: Case, seats: tuple[Seat, ...] = (CRITIC, REVIEWER, OPTIMIZER), lost: str = "") -> Transcript:
    return Transcript(
        cases=cases or (a_case(),),
        attendance=tuple(Attendance(seat, SeatStatus.LOST if seat.name == lost else SeatStatus.OK) for seat in seats),
        rounds=2,
        bill=Bill(Usage(calls=3), {seat.name: Usage(calls=1) for seat in seats}),
        notes=("said before",),
        criteria=(("tests", 2),),
    )


def improved(
    said: Mapping[tuple[str, str], Answer],
    *,
    transcript: Transcript | None = None,
    chosen: tuple[str, ...] = ("F1",),
    most: int = 5,
    dossier: Dossier = DOSSIER,
) -> Talk[Improved]:
    """``said`` answers by (seat, case); everybody else finds nothing better."""

    def answer(asked: Ask | Experiment) -> Answer:
        assert isinstance(asked, Ask)
        return said.get((asked.seat.name, asked.subject), draft_reply("none"))

    work = improve(transcript or a_transcript(), chosen, Papers((dossier,)), options=ImproveOptions(most, 50.0))
    return talked(work, answer)


def test_the_reviewer_writes_and_the_optimizer_is_shown_what_it_wrote() -> None:
    talk = improved({("reviewer", "F1"): draft_reply("replace", 3, 3, "better"), ("optimizer", "F1"): draft_reply("keep")})
    assert talk.told() == [[("reviewer", "F1")], [("optimizer", "F1")]]
    first, second = (asked.question for asked in talk.asks)
    assert isinstance(first, Improvement)
    assert isinstance(second, Improvement)
    assert first.draft is None
    assert second.draft == Draft("a.py", 3, 3, "better", "better")
    assert first.packet.quote == "line 3"
    assert [(asked.round, asked.timeout_seconds, asked.phase) for asked in talk.asks] == [(1, 50.0, "S8"), (2, 50.0, "S8")]
    assert talk.end.suggestions == (("F1", Suggestion(3, 3, "better")),)
    assert [turn.panelist for turn in talk.end.transcript.turns] == ["reviewer", "optimizer"]


def test_a_refined_draft_takes_the_place_of_the_first() -> None:
    better = draft_reply("replace", 3, 4, "best\n")
    talk = improved({("reviewer", "F1"): draft_reply("replace", 3, 3, "good"), ("optimizer", "F1"): better})
    assert talk.end.suggestions == (("F1", Suggestion(3, 4, "best")),)


@pytest.mark.parametrize(
    "answer",
    [draft_reply("none"), draft_reply("replace", 3, 3, "line 3"), "no JSON", Reply(ReplyStatus.REFUSED)],
    ids=["none", "a faulty one", "invalid", "refused"],
)
def test_a_refiner_without_a_better_one_leaves_the_draft(answer: Answer) -> None:
    talk = improved({("reviewer", "F1"): draft_reply("replace", 3, 3, "good"), ("optimizer", "F1"): answer})
    assert talk.end.suggestions == (("F1", Suggestion(3, 3, "good")),)


@pytest.mark.parametrize(
    "answer",
    [draft_reply("none"), draft_reply("keep"), draft_reply("replace", 3, 3, "line 3"), Reply(ReplyStatus.TRUNCATED)],
    ids=["none", "keeps what is not there", "a faulty one", "truncated"],
)
def test_without_a_draft_there_is_nothing_to_refine_and_nothing_to_suggest(answer: Answer) -> None:
    talk = improved({("reviewer", "F1"): answer, ("optimizer", "F1"): draft_reply("replace", 3, 3, "mine")})
    assert talk.told() == [[("reviewer", "F1")]]
    assert talk.end.suggestions == ()


def test_only_chosen_cases_get_a_draft_and_no_more_than_configured() -> None:
    transcript = a_transcript(a_case("F1"), a_case("F2", 5), a_case("F3", 7))
    said = {("reviewer", name): draft_reply("replace", line, line, "x") for name, line in (("F1", 3), ("F2", 5), ("F3", 7))}
    talk = improved(said, transcript=transcript, chosen=("F3", "F2"))
    assert [name for name, _ in talk.end.suggestions] == ["F2", "F3"]
    assert talk.told()[0] == [("reviewer", "F2"), ("reviewer", "F3")]
    capped = improved(said, transcript=transcript, chosen=("F3", "F2", "F1"), most=2)
    assert capped.told()[0] == [("reviewer", "F1"), ("reviewer", "F2")]


@pytest.mark.parametrize("way", [{"chosen": ()}, {"most": 0}, {"transcript": a_transcript(seats=())}])
def test_where_nothing_is_wanted_or_nobody_sits_nobody_is_asked(way: Mapping[str, object]) -> None:
    talk = improved({}, **way)  # type: ignore[arg-type]
    assert talk.rounds == []
    assert talk.end.suggestions == ()


@pytest.mark.parametrize(
    ("seats", "lost", "expected"),
    [
        ((CRITIC, REVIEWER, OPTIMIZER), "reviewer", ["critic", "optimizer"]),
        ((CRITIC, REVIEWER, OPTIMIZER), "optimizer", ["reviewer"]),
        ((CRITIC, OPTIMIZER), "critic", ["optimizer"]),
        ((CRITIC,), "", ["critic"]),
    ],
)
def test_who_lost_the_seat_neither_writes_nor_refines(seats: tuple[Seat, ...], lost: str, expected: list[str]) -> None:
    said = {(seat.name, "F1"): draft_reply("replace", 3, 3, "x") for seat in seats}
    talk = improved(said, transcript=a_transcript(seats=seats, lost=lost))
    assert [asked.seat.name for asked in talk.asks] == expected


def test_a_draft_proves_nothing_and_changes_no_case() -> None:
    talk = improved({("reviewer", "F1"): draft_reply("replace", 3, 3, "good")})
    assert talk.end.transcript.cases == (a_case(),)


def test_the_transcript_goes_on_where_it_ended() -> None:
    reply = Reply(ReplyStatus.OK, draft_reply("replace", 3, 3, "good"), usage=Usage(calls=1, cost_usd=0.5))
    after = improved({("reviewer", "F1"): reply, ("optimizer", "F1"): Reply(ReplyStatus.TIMEOUT, reason="slow")}).end.transcript
    assert after.notes == ("said before", "optimizer gave no valid answer to 1 of 1 questions: slow")
    assert (after.rounds, after.criteria, after.quorum) == (2, (("tests", 2),), True)
    assert after.bill.by_panelist["reviewer"] == Usage(calls=2, cost_usd=0.5)
    assert after.bill.total.calls == 4
    assert [(turn.panelist, turn.outcome, turn.summary) for turn in after.turns] == [
        ("reviewer", "ok", "better"),
        ("optimizer", "timeout", "slow"),
    ]


def test_a_dropped_draft_is_told_with_its_reason() -> None:
    after = improved({("reviewer", "F1"): draft_reply("replace", 3, 3, "line 3")}).end.transcript
    (turn,) = after.turns
    assert (turn.outcome, turn.summary) == ("dropped", "draft dropped: it changes nothing")


def test_lines_that_did_not_fit_before_the_writer_are_not_replaced() -> None:
    """A seat with little room sees a part of the dossier only; what it writes for the rest is a guess."""
    (passage,) = DOSSIER.passages
    unread = (replace(passage, start=6, lines=passage.lines[5:], changed=frozenset(range(6, 11))),)
    guess = Reply(ReplyStatus.OK, draft_reply("replace", 5, 6, "guessed"), unread=unread)
    talk = improved({("reviewer", "F1"): guess})
    assert talk.end.suggestions == ()
    assert "not shown" in talk.end.transcript.turns[0].summary
    seen = Reply(ReplyStatus.OK, draft_reply("replace", 4, 5, "seen"), unread=unread)
    assert improved({("reviewer", "F1"): seen}).end.suggestions == (("F1", Suggestion(4, 5, "seen")),)


# The gate

LONG = a_dossier(a_passage("a.py", "\n".join(f"line {number}" for number in range(1, 301))))
SCREENED = a_dossier(a_passage("a.py", "key = «secret:github-token»\nname = 'ab⟨U+202E⟩cd'\nplain"))


def at(line: int, dossier: Dossier) -> Callable[[int, int, str], str]:
    case = a_case(line=line)
    return lambda start, end, text: fault(Draft("a.py", start, end, text), case, dossier)


@pytest.mark.parametrize(
    ("start", "end", "text", "why"),
    [
        (3, 3, "line 3", "it changes nothing"),
        (3, 4, "line 3\nline 4\n", "it changes nothing"),
        (10, 11, "x", "it replaces lines that were not shown"),
        (0, 3, "x", "it replaces lines that were not shown"),
        (3, 3, f"key = '{KEY}'", "there is a secret or a hidden character in it"),
        (3, 3, "name = 'ab\u202ecd'", "there is a secret or a hidden character in it"),
        (3, 3, "key = '«secret:github-token»'", "there is a secret or a hidden character in it"),
        (3, 3, "'⟨U+202E⟩'", "there is a secret or a hidden character in it"),
        (3, 3, "\n" * (MOST_LINES + 1), f"it is longer than {MOST_LINES} lines"),
        (3, 3, "line three", ""),
        (3, 3, "", ""),
        (2, 4, "\tone\n\ttwo\n", ""),
    ],
)
def test_a_draft_may_be_shown_or_there_is_a_reason(start: int, end: int, text: str, why: str) -> None:
    assert at(3, DOSSIER)(start, end, text) == why


def test_a_draft_is_at_most_so_long_and_so_far_away() -> None:
    look = at(100, LONG)
    assert look(100, 100 + MOST_LINES, "x") == f"it is longer than {MOST_LINES} lines"
    assert look(100, 99 + MOST_LINES, "x") == ""
    assert look(101 + MOST_LINES, 101 + MOST_LINES, "x") == "it is about another place"
    assert look(100 + MOST_LINES, 100 + MOST_LINES, "x") == ""
    assert look(99 - MOST_LINES, 99 - MOST_LINES, "x") == "it is about another place"
    assert look(100 - MOST_LINES, 100 - MOST_LINES, "x") == ""
    assert look(1, 10**12, "x") == f"it is longer than {MOST_LINES} lines"


def test_lines_that_were_shown_redacted_or_made_visible_are_not_replaced() -> None:
    look = at(3, SCREENED)
    assert "secret or a hidden" in look(1, 1, "key = environ['KEY']")
    assert "secret or a hidden" in look(2, 3, "name = 'abcd'")
    assert look(3, 3, "plainer") == ""


def test_another_file_of_the_dossier_is_not_the_place() -> None:
    other = a_dossier(a_passage("b.py", CODE))
    assert at(3, other)(3, 3, "x") == "it replaces lines that were not shown"
