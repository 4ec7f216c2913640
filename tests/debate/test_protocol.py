"""The phases, told as conversations: what is asked, what is answered, what comes of it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from reviewbot.debate.protocol import DebateOptions
from reviewbot.domain.debate import Check, SettledBy, Stance, Triage
from reviewbot.domain.evidence import EvidenceKind, Ledger, Precision, Severity, TestRun
from reviewbot.ports import Ask, CrossExamination, Experiment, FirstPass, Rebuttal, Reply, ReplyStatus, Verification
from reviewbot.testing import (
    a_claim,
    claims_reply,
    evidence_item,
    position_reply,
    rebuttal_reply,
)
from tests.debate.table import CODE, DEFAULT, HIGH, NOTHING, SEATS, Answer, Script, hold, only, scripted


def test_when_nobody_raises_anything_the_debate_ends_after_the_first_pass() -> None:
    seen: list[Ask | Experiment] = []
    transcript = hold(scripted({}, seen=seen))
    assert not transcript.cases
    assert len(seen) == 3
    assert transcript.quorum


def test_documentation_without_new_evidence_is_not_debated() -> None:
    seen: list[Ask | Experiment] = []
    transcript = hold(scripted({}, seen=seen), documentation_only=True)
    assert not seen
    assert "documentation only" in transcript.notes[0]


def test_documentation_with_a_new_result_is_debated_all_the_same() -> None:
    seen: list[Ask | Experiment] = []
    hold(scripted({}, seen=seen), documentation_only=True, ledger=Ledger(items=(evidence_item(1, "a.py", 1),)))
    assert seen


def test_the_first_pass_is_blind_and_the_same_for_everyone() -> None:
    seen: list[Ask | Experiment] = []
    hold(scripted({}, seen=seen))
    questions = {repr(asked.question) for asked in seen if isinstance(asked, Ask)}
    assert len(questions) == 1


def test_a_claim_that_everyone_raises_is_accepted_without_an_argument() -> None:
    seen: list[Ask | Experiment] = []
    everyone = {seat.name: claims_reply(replace(DEFAULT, raised_by=seat.name)) for seat in SEATS}
    case = only(hold(scripted(everyone, seen=seen)))
    assert case.triage is Triage.ACCEPTED
    assert case.raised_by == ("critic", "optimizer", "reviewer")
    assert case.settled_by is SettledBy.AGREEMENT
    assert len(seen) == 3


def test_a_singleton_is_examined_by_those_who_did_not_raise_it_and_by_nobody_else() -> None:
    seen: list[Ask | Experiment] = []
    script = scripted(
        {"critic": claims_reply(DEFAULT)}, {n: position_reply("support", 0.9, "a.py:3") for n in ("reviewer", "optimizer")}, seen
    )
    case = only(hold(script))
    examined = [asked.seat.name for asked in seen if isinstance(asked, Ask) and isinstance(asked.question, CrossExamination)]
    assert examined == ["reviewer", "optimizer"]
    assert case.stop_reason == "all stances are equal"
    assert case.probability > 0.9


def test_the_packet_of_a_cross_examination_tells_nobody_who_raised_it_or_how_sure_they_were() -> None:
    seen: list[Ask | Experiment] = []
    claim = replace(DEFAULT, confidence=0.8642)
    script = scripted(
        {"critic": claims_reply(claim)}, {n: position_reply("oppose", 0.1, "a.py:3") for n in ("reviewer", "optimizer")}, seen
    )
    hold(script, options=DebateOptions(rounds=1))
    packets = [repr(asked.question) for asked in seen if isinstance(asked, Ask) and isinstance(asked.question, CrossExamination)]
    assert packets
    assert not any("critic" in packet or "0.8642" in packet or "raised_by" in packet for packet in packets)


def test_two_opponents_bring_a_singleton_below_any_threshold() -> None:
    answers = {n: position_reply("oppose", 0.05, "a.py:3") for n in ("reviewer", "optimizer")}
    case = only(hold(scripted({"critic": claims_reply(DEFAULT)}, {**answers, "critic": rebuttal_reply("defend", "a.py:1")})))
    assert case.probability < 0.05


def test_support_that_cites_nothing_counts_as_neutral() -> None:
    answers = {n: position_reply("support", 0.95) for n in ("reviewer", "optimizer")}
    case = only(hold(scripted({"critic": claims_reply(DEFAULT)}, answers)))
    others = [said for said in case.positions if said.panelist != "critic"]
    assert {said.stance for said in others} == {Stance.NEUTRAL}
    assert case.probability == pytest.approx(0.20)


def test_a_split_with_something_new_gets_a_second_round_and_the_raiser_one_answer() -> None:
    seen: list[Ask | Experiment] = []
    script = scripted(
        {"critic": claims_reply(DEFAULT)},
        {
            "reviewer": [position_reply("support", 0.7, "a.py:3"), position_reply("support", 0.7, "a.py:3")],
            "optimizer": [position_reply("oppose", 0.3, "a.py:4"), position_reply("oppose", 0.3, "a.py:4")],
            "critic": [rebuttal_reply("defend", "a.py:2")],
        },
        seen,
    )
    case = only(hold(script))
    rebuttals = [asked for asked in seen if isinstance(asked, Ask) and isinstance(asked.question, Rebuttal)]
    assert [asked.seat.name for asked in rebuttals] == ["critic"]
    assert {said.round for said in case.positions} == {1, 2}


def test_a_raiser_whom_nobody_contradicts_is_asked_nothing() -> None:
    seen: list[Ask | Experiment] = []
    other = a_claim("a.py", 4, "    return len(seen)", title="counts", trigger="duplicates", consequence="wrong number")
    first = {
        seat.name: claims_reply(replace(DEFAULT, raised_by=seat.name, severity=severity), *more)
        for seat, severity, more in zip(
            SEATS, (Severity.CRITICAL, Severity.MEDIUM, Severity.HIGH), ((other,), (), ()), strict=True
        )
    }
    later = {
        "reviewer": [position_reply("support", 0.7, "a.py:3")] * 2,
        "optimizer": [position_reply("oppose", 0.3, "a.py:2")] * 2,
        "critic": [rebuttal_reply("defend", "a.py:4")],
    }
    transcript = hold(scripted(first, later, seen))
    rebuttals = [asked for asked in seen if isinstance(asked, Ask) and isinstance(asked.question, Rebuttal)]
    assert [(asked.seat.name, asked.subject) for asked in rebuttals] == [("critic", "F2")]
    assert [word.stance for word in rebuttals[0].question.words] == [Stance.OPPOSE]  # type: ignore[union-attr]
    unanimous = transcript.cases[0]
    assert unanimous.triage is Triage.DEBATED
    assert unanimous.stop_reason == "nobody was left to ask"


def test_a_case_of_two_raisers_goes_on_when_one_of_them_withdraws() -> None:
    both = {name: claims_reply(replace(HIGH, raised_by=name)) for name in ("critic", "reviewer")}
    later = {
        "optimizer": [position_reply("oppose", 0.4, "a.py:3")] * 2,
        "critic": [rebuttal_reply("withdraw", "a.py:2")],
        "reviewer": [rebuttal_reply("defend", "a.py:4")],
    }
    case = only(hold(scripted(both, later)))
    assert not case.withdrawn
    assert [version.change for version in case.versions] == ["raised", "merged", "withdrawn"]


def test_a_broken_test_that_could_not_be_run_again_stays_accepted() -> None:
    item = evidence_item(1, "a.py", 1, kind=EvidenceKind.TEST, precision=Precision.CERTAIN, subject="t.py::test_total")
    claim = replace(HIGH, evidence=("E1",), check=Check(("pytest", "t.py::test_total"), subject="t.py::test_total"))

    def script(asked: Ask | Experiment) -> Answer:
        if isinstance(asked, Experiment):
            return Verification(asked.check)
        return claims_reply(claim) if asked.seat.name == "critic" else NOTHING

    assert only(hold(script, ledger=Ledger(items=(item,)))).triage is Triage.ACCEPTED


def test_a_split_without_anything_new_ends_after_one_round() -> None:
    ledger = Ledger(items=(evidence_item(1, "a.py", 1, precision=Precision.HEURISTIC),))
    claim = replace(DEFAULT, evidence=("E1",))
    answers = {"reviewer": position_reply("support", 0.6, "E1"), "optimizer": position_reply("oppose", 0.4, "E1")}
    transcript = hold(scripted({"critic": claims_reply(claim)}, answers), ledger=ledger)
    assert transcript.rounds == 1
    assert only(transcript).stop_reason == "the last turn cites nothing new"


def test_a_flip_that_cites_nothing_new_weighs_nothing() -> None:
    script = scripted(
        {"critic": claims_reply(DEFAULT)},
        {
            "reviewer": [position_reply("oppose", 0.35, "a.py:3"), position_reply("support", 0.95, "a.py:3")],
            "optimizer": [position_reply("support", 0.6, "a.py:4"), position_reply("support", 0.6, "a.py:4")],
            "critic": [rebuttal_reply("defend", "a.py:2")],
        },
    )
    case = only(hold(script))
    flip = next(said for said in case.positions if said.panelist == "reviewer" and said.round == 2)
    assert not flip.counted


def test_a_raiser_who_withdraws_ends_the_case_and_both_versions_stay() -> None:
    script = scripted(
        {"critic": claims_reply(DEFAULT)},
        {
            "reviewer": [position_reply("oppose", 0.3, "a.py:3")] * 2,
            "optimizer": [position_reply("support", 0.6, "a.py:4")] * 2,
            "critic": [rebuttal_reply("withdraw", "a.py:2")],
        },
    )
    case = only(hold(script))
    assert case.withdrawn
    assert [version.change for version in case.versions] == ["raised", "withdrawn"]


def test_an_amendment_may_lower_the_severity_and_never_raise_it() -> None:
    for asked_for, expected in (("low", Severity.LOW), ("critical", Severity.MEDIUM)):
        script = scripted(
            {"critic": claims_reply(DEFAULT)},
            {
                "reviewer": [position_reply("oppose", 0.3, "a.py:3")] * 2,
                "optimizer": [position_reply("support", 0.6, "a.py:4")] * 2,
                "critic": [rebuttal_reply("amend", "a.py:2", severity=asked_for)],
            },
        )
        assert only(hold(script)).severity is expected


def test_an_invalid_answer_is_asked_for_once_more_quoting_what_was_wrong() -> None:
    seen: list[Ask | Experiment] = []
    broken = {"critic": ["{}", NOTHING]}

    def script(asked: Ask | Experiment) -> Answer:
        seen.append(asked)
        assert isinstance(asked, Ask)
        return broken[asked.seat.name].pop(0) if asked.seat.name in broken else NOTHING

    transcript = hold(script)
    again = [asked for asked in seen if isinstance(asked, Ask) and asked.attempt == 2]
    assert [asked.seat.name for asked in again] == ["critic"]
    assert "claims" in again[0].complaint
    assert all(entry.status.value == "ok" for entry in transcript.attendance)


def test_a_panelist_that_never_answers_loses_its_seat_visibly() -> None:
    def script(asked: Ask | Experiment) -> Answer:
        assert isinstance(asked, Ask)
        return Reply(ReplyStatus.TIMEOUT, reason="no answer within 120 s") if asked.seat.name == "optimizer" else NOTHING

    transcript = hold(script)
    assert transcript.quorum
    lost = next(entry for entry in transcript.attendance if entry.seat.name == "optimizer")
    assert lost.status.value == "lost"
    assert any("optimizer" in note for note in transcript.notes)


def test_who_did_not_answer_is_no_voice_against_what_the_others_raised() -> None:
    def script(asked: Ask | Experiment) -> Answer:
        assert isinstance(asked, Ask)
        if asked.seat.name == "optimizer":
            return Reply(ReplyStatus.TIMEOUT)
        return claims_reply(replace(HIGH, raised_by=asked.seat.name))

    case = only(hold(script))
    assert case.triage is Triage.ACCEPTED
    assert case.triage_reason == "raised by 2 of 2, at high severity"
    assert case.probability == pytest.approx(0.75)


def test_below_the_quorum_there_is_no_verdict() -> None:
    def script(asked: Ask | Experiment) -> Answer:
        assert isinstance(asked, Ask)
        return NOTHING if asked.seat.name == "critic" else Reply(ReplyStatus.REFUSED)

    assert not hold(script).quorum


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"path": "b.py"}, "not in the change"),
        ({"quote": "def tidy(rows):"}, "not in what was shown"),
        ({"quote": " "}, "nothing is quoted"),
    ],
)
def test_what_cannot_be_anchored_is_dropped_with_a_note(change: dict[str, str], reason: str) -> None:
    transcript = hold(scripted({"critic": claims_reply(replace(DEFAULT, **change))}))  # type: ignore[arg-type]
    assert not transcript.cases
    assert reason in transcript.dropped[0]


def test_the_quote_anchors_the_line_not_the_number_that_was_claimed() -> None:
    claim = replace(DEFAULT, quote="seen.append(row)", start_line=40, line=40)
    answers = {n: position_reply("support", 0.9, "a.py:3") for n in ("reviewer", "optimizer")}
    case = only(hold(scripted({"critic": claims_reply(claim)}, answers)))
    assert case.lead.line == 3


def test_words_cannot_bring_a_new_result_of_a_tool_below_its_floor() -> None:
    ledger = Ledger(items=(evidence_item(1, "a.py", 1),))
    claim = replace(DEFAULT, evidence=("E1",))
    answers = {n: position_reply("oppose", 0.05, "a.py:3") for n in ("reviewer", "optimizer")}
    case = only(
        hold(scripted({"critic": claims_reply(claim)}, {**answers, "critic": rebuttal_reply("defend", "E1")}), ledger=ledger)
    )
    assert case.probability == pytest.approx(0.80)
    assert case.settled_by is SettledBy.EVIDENCE


def test_a_green_suite_that_runs_the_line_counts_against_the_claim() -> None:
    tests = TestRun(passed=4, measured=True, executed=frozenset({("a.py", 1)}))
    answers = {n: position_reply("neutral", 0.5, "a.py:1") for n in ("reviewer", "optimizer")}
    once = DebateOptions(rounds=1)
    doubted = only(hold(scripted({"critic": claims_reply(DEFAULT)}, answers), ledger=Ledger(tests=tests), options=once))
    plain = only(hold(scripted({"critic": claims_reply(DEFAULT)}, answers), options=once))
    assert doubted.probability < plain.probability


def test_no_more_than_the_configured_number_of_claims_is_debated_and_the_rest_is_kept() -> None:
    lines = CODE.split("\n")
    many = [a_claim("a.py", index + 1, text, title=word, trigger=word, consequence=word)
            for index, (text, word) in enumerate(zip(lines, ("alpha", "beta", "gamma", "delta"), strict=True))]  # fmt: skip
    answers = {n: position_reply("support", 0.9, "a.py:3") for n in ("reviewer", "optimizer")}
    transcript = hold(scripted({"critic": claims_reply(*many)}, answers), options=DebateOptions(max_disputes=2))
    triages = [case.triage for case in transcript.cases]
    assert len(transcript.cases) == 4
    assert triages.count(Triage.DEBATED) == 2
    assert triages.count(Triage.RECORDED) == 2


def test_a_case_in_which_nobody_answers_in_time_is_settled_by_the_budget() -> None:
    def script(asked: Ask | Experiment) -> Answer:
        assert isinstance(asked, Ask)
        if isinstance(asked.question, FirstPass):
            return claims_reply(DEFAULT) if asked.seat.name == "critic" else NOTHING
        return Reply(ReplyStatus.TIMEOUT)

    case = only(hold(script))
    assert case.settled_by is SettledBy.BUDGET
    assert case.stop_reason == "nobody answered"


def test_the_same_replies_give_the_same_transcript() -> None:
    def script() -> Script:
        answers = {"reviewer": position_reply("support", 0.6, "a.py:3"), "optimizer": position_reply("oppose", 0.3, "a.py:4")}
        return scripted({"critic": claims_reply(DEFAULT)}, {**answers, "critic": rebuttal_reply("defend", "a.py:2")})

    assert hold(script()) == hold(script())
