"""A person disputes a finding: its raiser answers, the others vote again, and the written rule says what becomes of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviewbot.debate import numbers
from reviewbot.debate.papers import Papers
from reviewbot.debate.patterns.charge import Charge, remembered
from reviewbot.debate.patterns.dispute import GONE, dispute
from reviewbot.domain.answer import DisputeEnd, Settlement
from reviewbot.domain.debate import Argument, Check, CheckOutcome, Position, Proof, Seat, SeatStatus, SettledBy, Stance, Table
from reviewbot.domain.evidence import Category, Ledger, Precision, Severity
from reviewbot.domain.history import Known
from reviewbot.domain.review import Confidence, Finding, FindingStatus
from reviewbot.ports import Ask, CrossExamination, Dispute, Experiment, FirstPass, Reply, ReplyStatus
from reviewbot.testing import a_dossier, a_passage, a_seat, evidence_item, position_reply, rebuttal_reply
from tests.debate.conversation import Answer, Talk, talked
from tests.debate.prompts import AGAINST, DOSSIER, LATE, PACKET
from tests.debate.prompts.reading import put
from tests.rings import examples

CODE = "def total(rows, seen=[]):\n    for row in rows:\n        seen.append(row)\n    return len(seen)"
NO_LEDGER = Ledger()
TRIO = tuple(a_seat(name) for name in ("critic", "reviewer", "optimizer"))
FAMILY = tuple(a_seat(name, family="one") for name in ("critic", "reviewer", "optimizer"))
ARGUMENT = "Every caller passes a list of its own, see a.py:4 and b.py:9."
FINDING = Finding(
    id="F3", fingerprint="sha256:0", path="a.py", start_line=1, line=1, severity=Severity.HIGH, category=Category.CORRECTNESS,
    title="The default list outlives the call", body="rows are counted twice", failure_scenario="total is called twice",
    quote="def total(rows, seen=[]):", status=FindingStatus.ACCEPTED, proof=Proof.UNTESTED, confidence=Confidence.AGREED,
    probability=0.8, raised_by=("critic",), settled_by=SettledBy.VOTE, stop_reason="all stances are equal",
)  # fmt: skip
PROVEN = replace(FINDING, proof=Proof.PROVEN, settled_by=SettledBy.EVIDENCE, probability=0.97)

DEFEND, AMEND = rebuttal_reply("defend", "a.py:1"), rebuttal_reply("amend", "a.py:1", severity="low", title="A smaller thing")
WITHDRAW, YIELD = rebuttal_reply("withdraw", "a.py:4"), rebuttal_reply("withdraw")
FOR, AGAINST_IT = position_reply("support", 0.9, "a.py:3"), position_reply("oppose", 0.1, "a.py:4")
UNSURE, BARE = position_reply("neutral", 0.5), position_reply("support", 0.9)


def held(
    critic: Answer = DEFEND,
    reviewer: Answer = UNSURE,
    optimizer: Answer = UNSURE,
    *,
    finding: Finding = FINDING,
    argument: str = ARGUMENT,
    seats: tuple[Seat, ...] = TRIO,
    ledger: Ledger = NO_LEDGER,
    code: str = CODE,
    path: str = "a.py",
) -> Talk[Settlement]:
    """A dispute, its answers by the seats' names."""
    answers: Mapping[str, Answer] = {"critic": critic, "reviewer": reviewer, "optimizer": optimizer}

    def answer(asked: Ask | Experiment) -> Answer:
        assert isinstance(asked, Ask)
        return answers[asked.seat.name]

    passages = (a_passage(path, code),)
    charge = Charge(finding, argument, passages, Papers((a_dossier(*passages, ledger=ledger),)), ledger)
    return talked(dispute(charge, Table(seats)), answer)


# The course


def test_who_raised_it_answers_and_the_others_vote_all_at_once():
    talk = held()
    assert len(talk.rounds) == 1
    kinds = {ask.seat.name: type(ask.question) for ask in talk.asks}
    assert kinds == {"critic": Dispute, "reviewer": CrossExamination, "optimizer": CrossExamination}
    assert {ask.subject for ask in talk.asks} == {"F3"}


def test_the_argument_is_one_anonymous_word_with_the_citations_that_exist():
    for ask in held().asks:
        assert isinstance(ask.question, Dispute | CrossExamination)
        (word,) = ask.question.words
        assert (word.stance, word.claim, word.evidence) == (Stance.OPPOSE, ARGUMENT, ("a.py:4",))


def test_where_its_raiser_does_not_sit_another_answers_and_that_is_said():
    talk = held(finding=replace(FINDING, raised_by=("security",)))
    assert [ask.seat.name for ask in talk.asks if isinstance(ask.question, Dispute)] == ["critic"]
    assert "critic answers in place of security, who does not sit here" in talk.end.notes
    unknown = held(DEFEND, DEFEND, finding=replace(FINDING, raised_by=()), seats=TRIO[1:2])
    assert "reviewer answers in place of whoever raised it, who does not sit here" in unknown.end.notes


def test_a_finding_whose_lines_moved_is_argued_where_they_stand_now():
    talk = held(code=f"import os\n\n{CODE}")
    assert isinstance(talk.asks[0].question, Dispute)
    assert (talk.asks[0].question.packet.start_line, talk.asks[0].question.packet.line) == (3, 3)


@pytest.mark.parametrize(("code", "path"), [("x = 1", "a.py"), (CODE, "b.py")])
def test_a_finding_whose_lines_are_gone_is_not_heard_and_nobody_is_asked(code: str, path: str):
    talk = held(code=code, path=path)
    assert not talk.asks
    assert (talk.end.end, talk.end.reason, talk.end.probability) == (DisputeEnd.UNHEARD, GONE, 0.8)


def test_a_long_argument_is_shown_as_far_as_any_argument_is_and_the_rest_is_said():
    (word,) = held(argument="because " * 400).asks[0].question.words  # type: ignore[union-attr]
    assert f"{word.claim} {word.reasoning}".split() == ["because"] * 400
    assert "more characters" not in put(held(argument="because " * 400).asks[0].question).suffix
    assert "the argument was cut after 4,000 characters" in held(argument="no " * 2_000).end.notes


# What becomes of it


@pytest.mark.parametrize(
    ("critic", "reviewer", "optimizer", "end"),
    [
        (DEFEND, UNSURE, UNSURE, DisputeEnd.MAINTAINED),
        (DEFEND, FOR, AGAINST_IT, DisputeEnd.MAINTAINED),
        (DEFEND, AGAINST_IT, AGAINST_IT, DisputeEnd.WITHDRAWN),
        (WITHDRAW, UNSURE, UNSURE, DisputeEnd.WITHDRAWN),
        (WITHDRAW, AGAINST_IT, UNSURE, DisputeEnd.WITHDRAWN),
        (WITHDRAW, BARE, UNSURE, DisputeEnd.WITHDRAWN),
        (WITHDRAW, FOR, FOR, DisputeEnd.MAINTAINED),
        (YIELD, UNSURE, UNSURE, DisputeEnd.MAINTAINED),
        (rebuttal_reply("withdraw", "b.py:9"), UNSURE, UNSURE, DisputeEnd.MAINTAINED),
        (AMEND, UNSURE, UNSURE, DisputeEnd.AMENDED),
        (AMEND, AGAINST_IT, AGAINST_IT, DisputeEnd.WITHDRAWN),
        (rebuttal_reply("amend", severity="low"), UNSURE, UNSURE, DisputeEnd.MAINTAINED),
        (rebuttal_reply("amend", "a.py:1", severity="critical"), UNSURE, UNSURE, DisputeEnd.MAINTAINED),
    ],
)  # fmt: skip
def test_the_written_rule(critic: str, reviewer: str, optimizer: str, end: DisputeEnd):
    assert held(critic, reviewer, optimizer).end.end is end


def test_an_amended_finding_has_its_new_words_and_a_lower_severity():
    made = held(AMEND).end
    assert (made.severity, made.title, made.finding.severity) == (Severity.LOW, "A smaller thing", Severity.HIGH)
    assert made.probability == pytest.approx(0.8), "nobody said that it is not true"


def test_a_finding_that_is_not_amended_keeps_its_words():
    made = held(DEFEND, FOR).end
    assert (made.severity, made.title) == (FINDING.severity, FINDING.title)


def test_votes_move_the_probability_and_support_raises_it():
    assert held(DEFEND, FOR, FOR).end.probability > 0.9
    assert held(DEFEND, AGAINST_IT, UNSURE).end.probability < 0.5
    assert held().end.probability == pytest.approx(0.8)


def test_votes_of_one_family_move_it_half_as_far():
    apart, alike = (held(DEFEND, AGAINST_IT, UNSURE, seats=seats).end.probability for seats in (TRIO, FAMILY))
    assert apart < alike < 0.8


def test_giving_way_without_a_reason_changes_nothing_and_is_seen():
    made = held(YIELD).end
    assert (made.probability, made.reason) == (0.8, "who raised it would give way, but cites nothing that exists for it")
    assert [voice.counted for voice in made.voices if voice.raised] == [False]


def test_who_takes_it_back_is_a_voice_against_it_also_where_others_keep_it():
    defended, given_up = (held(said, FOR, UNSURE).end for said in (DEFEND, WITHDRAW))
    assert given_up.end is DisputeEnd.MAINTAINED
    assert numbers.WITHDRAWN_BELOW < given_up.probability < defended.probability


def test_support_that_cites_what_does_not_exist_is_none():
    made = held(WITHDRAW, position_reply("support", 0.9, "b.py:9", "E5")).end
    assert made.end is DisputeEnd.WITHDRAWN
    assert [voice.said for voice in made.voices] == ["withdraw", "neutral", "neutral"]


def test_ids_of_the_ledger_of_then_say_nothing_about_the_ledger_of_now():
    earlier = Position("reviewer", 2, Stance.SUPPORT, 0.9, (Argument("yes", ("E1",)),))
    ledger = Ledger(items=(evidence_item(1, "a.py", 4, rule="F401"),))
    made = held(DEFEND, position_reply("oppose", 0.1, "E1"), finding=replace(FINDING, positions=(earlier,)), ledger=ledger).end
    assert made.voices[1].counted, "today's E1 is new"


def test_all_who_raised_it_must_take_it_back():
    both = replace(FINDING, raised_by=("critic", "reviewer"))
    assert held(WITHDRAW, DEFEND, finding=both).end.end is DisputeEnd.MAINTAINED
    assert held(WITHDRAW, WITHDRAW, finding=both).end.end is DisputeEnd.WITHDRAWN


def test_a_vote_that_turns_round_needs_something_new():
    earlier = Position("reviewer", 2, Stance.SUPPORT, 0.9, (Argument("yes", ("a.py:4", "E1")),))
    finding = replace(FINDING, positions=(earlier,))
    stubborn, moved = (
        held(DEFEND, AGAINST_IT, finding=finding).end,
        held(DEFEND, position_reply("oppose", 0.1, "a.py:2"), finding=finding).end,
    )
    assert [voice.counted for voice in stubborn.voices] == [True, False, True]
    assert [voice.counted for voice in moved.voices] == [True, True, True]
    assert moved.probability < stubborn.probability


def test_a_vote_that_says_what_it_said_before_moves_nothing():
    earlier = Position("reviewer", 2, Stance.SUPPORT, 0.9, (Argument("yes", ("a.py:3",)),))
    made = held(DEFEND, FOR, finding=replace(FINDING, positions=(earlier,))).end
    assert made.probability == pytest.approx(0.8, abs=0.02)


# What was executed


@pytest.mark.parametrize("critic", [DEFEND, WITHDRAW, AMEND, YIELD])
def test_a_proven_finding_cannot_be_talked_away(critic: str):
    made = held(critic, AGAINST_IT, AGAINST_IT, finding=PROVEN).end
    assert (made.end, made.severity, made.title) == (DisputeEnd.MAINTAINED, PROVEN.severity, PROVEN.title)
    assert made.probability >= numbers.FLOOR_PROVEN
    assert made.held_by


def test_neither_can_the_result_of_a_tool_on_that_very_line():
    ledger = Ledger(items=(evidence_item(7, "a.py", 1),))
    made = held(WITHDRAW, AGAINST_IT, AGAINST_IT, finding=replace(FINDING, rule="B006"), ledger=ledger).end
    assert (made.end, made.probability) == (DisputeEnd.MAINTAINED, numbers.FLOOR_TOOL_RESULT)
    assert "E7" in made.held_by


def test_a_tools_result_of_the_review_holds_where_its_check_is_not_run_again():
    told = replace(FINDING, settled_by=SettledBy.EVIDENCE, probability=0.9)
    made = held(WITHDRAW, AGAINST_IT, AGAINST_IT, finding=told).end
    assert (made.end, made.held_by) == (DisputeEnd.MAINTAINED, "a tool that was run reported it")


@pytest.mark.parametrize(
    "item",
    [
        evidence_item(7, "a.py", 2), evidence_item(7, "b.py", 1), evidence_item(7, "a.py", 1, rule="F401"),
        evidence_item(7, "a.py", 1, precision=Precision.HEURISTIC),
    ],
)  # fmt: skip
def test_a_result_about_something_else_holds_nothing(item: object):
    ledger = Ledger(items=(item,))  # type: ignore[arg-type]
    assert held(WITHDRAW, finding=replace(FINDING, rule="B006"), ledger=ledger).end.end is DisputeEnd.WITHDRAWN


@pytest.mark.parametrize("outcome", [CheckOutcome.NONE_FOUND, CheckOutcome.PASSES_AT_HEAD])
def test_a_check_that_spoke_against_it_holds_nothing(outcome: CheckOutcome):
    proof = Proof.CONTRADICTED if outcome is CheckOutcome.PASSES_AT_HEAD else Proof.UNTESTED
    check = Check(("pytest",), outcome=outcome)
    told = replace(FINDING, settled_by=SettledBy.EVIDENCE, proof=proof, check=check)
    assert held(WITHDRAW, finding=told).end.end is DisputeEnd.WITHDRAWN


def test_what_was_executed_lies_before_everyone():
    check = Check(("pytest", "test_a.py"), outcome=CheckOutcome.FAILS_AT_HEAD, output="1 failed")
    for ask in held(finding=replace(PROVEN, check=check)).asks:
        assert isinstance(ask.question, Dispute | CrossExamination)
        assert ask.question.late == ("pytest test_a.py: fails at head\n1 failed",)


@given(
    answers=st.tuples(
        st.sampled_from([DEFEND, AMEND, WITHDRAW, YIELD]),
        st.sampled_from([FOR, AGAINST_IT, UNSURE, BARE]),
        st.sampled_from([FOR, AGAINST_IT, UNSURE, BARE]),
    ),
    proven=st.booleans(),
    probability=st.floats(0.0, 1.0),
    family=st.booleans(),
)
@settings(max_examples=examples(150), derandomize=True)
def test_whatever_is_said_the_rule_holds(answers: tuple[str, str, str], proven: bool, probability: float, family: bool):
    finding = replace(PROVEN if proven else FINDING, probability=probability)
    made = held(*answers, finding=finding, seats=FAMILY if family else TRIO).end
    assert 0 <= made.probability <= 1
    assert made.severity <= finding.severity
    if proven:
        assert made.end is DisputeEnd.MAINTAINED
    if made.end is DisputeEnd.WITHDRAWN:
        assert answers[0] == WITHDRAW or made.probability < numbers.WITHDRAWN_BELOW
    if made.end is not DisputeEnd.AMENDED:
        assert (made.severity, made.title) == (finding.severity, finding.title)


# What fails


def refused() -> Reply:
    return Reply(ReplyStatus.REFUSED, reason="it would rather not")


def test_below_a_quorum_nothing_changes():
    made = held(WITHDRAW, refused(), refused()).end
    assert (made.end, made.probability, made.severity) == (DisputeEnd.UNHEARD, 0.8, Severity.HIGH)
    assert "1 of 3 panelists answered, and 2 are needed" in made.reason
    assert [entry.seat.name for entry in made.attendance if entry.status is SeatStatus.LOST] == ["reviewer", "optimizer"]


def test_where_who_raised_it_is_silent_the_others_decide():
    assert held(refused(), AGAINST_IT, AGAINST_IT).end.end is DisputeEnd.WITHDRAWN
    made = held(refused(), FOR, UNSURE).end
    assert made.end is DisputeEnd.MAINTAINED
    assert made.reason != "who raised it stands by it", "it said nothing"


def test_an_invalid_answer_is_asked_for_once_more():
    talk = held("{}")
    assert [ask.attempt for ask in talk.asks if ask.seat.name == "critic"] == [1, 2]


# What is remembered of an earlier review

KNOWN = Known(
    "F3", "sha256:0", "a.py", 1, 1, Severity.HIGH, Category.CORRECTNESS, "The default list outlives the call",
    text="def total(rows, seen=[]):",
)  # fmt: skip


@pytest.mark.parametrize(
    ("known", "probability", "proof"),
    [
        (KNOWN, numbers.TOLD_BEFORE, Proof.UNTESTED),
        (replace(KNOWN, is_question=True), numbers.ASKED_BEFORE, Proof.UNTESTED),
        (replace(KNOWN, is_proven=True), numbers.FLOOR_PROVEN, Proof.PROVEN),
    ],
)
def test_a_remembered_finding_can_be_disputed(known: Known, probability: float, proof: Proof):
    finding = remembered(known)
    assert (finding.probability, finding.proof) == (probability, proof)
    made = held(WITHDRAW, finding=finding).end
    assert made.end is (DisputeEnd.MAINTAINED if proof is Proof.PROVEN else DisputeEnd.WITHDRAWN)


def test_a_line_that_is_remembered_folded_and_shortened_is_found_again():
    long = "    result = compute(first_argument,   second_argument, third_argument)  # and so on"
    finding = remembered(replace(KNOWN, text=" ".join(long.split())[:50], start_line=5, line=7))
    talk = held(finding=finding, code=f"x = 1\n{long}\ny = 2")
    assert isinstance(talk.asks[0].question, Dispute)
    packet = talk.asks[0].question.packet
    assert (packet.start_line, packet.line, packet.quote) == (2, 2, long)


def test_of_equal_lines_the_nearest_is_meant():
    code = "pass\nx = f()\npass\nx = f()\npass"
    finding = replace(FINDING, quote="x = f()", start_line=5, line=5)
    talk = held(finding=finding, code=code)
    assert isinstance(talk.asks[0].question, Dispute)
    assert talk.asks[0].question.packet.line == 4


# The prompt


def test_the_question_tells_its_rule_and_shares_the_prefix_of_reviews():
    prompt = put(Dispute(PACKET, DOSSIER, (AGAINST,), LATE))
    assert prompt.prefix == put(FirstPass(DOSSIER)).prefix
    told = prompt.suffix.split("# The answer")[0]
    assert not [field for field in prompt.schema["properties"] if f"`{field}`" not in told]
    assert "cites nothing which exists does not count" in told
    assert "(E5)" in told
