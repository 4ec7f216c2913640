"""The making cycle as conversations: who writes, what is tried, who judges, and what becomes of a task."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from reviewbot.debate.making import MakeOptions, Shop, make, stands
from reviewbot.debate.papers import Papers
from reviewbot.domain.debate import Attendance, CheckOutcome, Seat, SeatStatus
from reviewbot.domain.money import Usage
from reviewbot.domain.repair import Edit, Refusal, RepairOutcome
from reviewbot.ports import Appraisal, Arbitration, Drafting, Refinement, Reply, ReplyStatus, Trial, Trialled
from reviewbot.testing import a_seat
from tests.debate.conversation import Answer, talked
from tests.debate.workshop import (
    ACCEPTS,
    CHECK,
    CODE,
    CRITIC,
    DOSSIER,
    FILES,
    GREEN,
    MODERATOR,
    OPTIMIZER,
    PROPOSER,
    REFUSES,
    REVIEWER,
    TABLE,
    Panel,
    Said,
    a_task,
    a_transcript,
    after,
    an_offer,
    arbitrated,
    by_id,
    content,
    drafting,
    green_where,
    held,
    kinds,
    one,
    swap,
    with_tool,
    wrote,
)

RIGHT = wrote(swap("line 3", "right"), explanation="it was wrong")
WRONG = wrote(swap("line 3", "wrong"))
BETTER = wrote(swap("right", "better"), explanation="shorter")
FOUR = (*TABLE, PROPOSER)


# Writing


def test_a_wrong_patch_comes_back_with_what_the_sandbox_said_and_the_right_one_is_taken() -> None:
    panel = Panel({("proposer", Drafting): [WRONG, RIGHT]}, lab=green_where("right"))
    talk = held(panel, seats=FOUR)
    repair = one(talk)
    assert repair.outcome is RepairOutcome.FIXED
    assert (repair.author, repair.explanation, repair.why, repair.dissent) == ("proposer", "it was wrong", "", None)
    assert repair.edits == (Edit("a.py", CODE.replace(b"line 3\n", b"right\n")),)
    assert repair.patch == b"the patch"
    assert [(tried.author, tried.attempt, tried.reason) for tried in repair.tries] == [
        ("proposer", 1, "the check of F1 does not pass with it\nassert 1 == 2"), ("proposer", 2, ""),
    ]  # fmt: skip
    assert kinds(panel) == [
        ("proposer", "Drafting"), ("proposer", "Drafting"), ("critic", "Appraisal"), ("reviewer", "Appraisal"),
        ("optimizer", "Refinement"),
    ]  # fmt: skip
    first, second = drafting(panel), drafting(panel, 1)
    assert first.tried == ()
    (told,) = second.tried
    assert told.told == "the check of F1 does not pass with it\nassert 1 == 2"
    assert told.patch.split("\n")[2:5] == ["2 |line 2", " -|line 3", "3+|wrong"]
    assert first.workspace != second.workspace
    assert first.sheets[0].lines[2] == "line 3"
    (trial, _) = panel.trials
    assert (trial.subject, trial.author, trial.before, [task.id for task in trial.tasks]) == ("F1", "proposer", (), ["F1"])


def test_every_ask_is_about_the_task_and_no_two_are_alike() -> None:
    said: Mapping[tuple[str, type], list[Said]] = {("proposer", Drafting): [WRONG, RIGHT], ("optimizer", Refinement): [BETTER]}
    panel = Panel(said, lab=green_where("t"))
    held(panel, seats=FOUR, seconds=77.0)
    assert {(ask.subject, ask.phase, ask.timeout_seconds, ask.attempt) for ask in panel.asked} == {("F1", "make", 77.0, 1)}
    assert len({(ask.seat.name, ask.round, type(ask.question)) for ask in panel.asked}) == len(panel.asked)


def test_after_the_last_attempt_a_task_has_failed_with_the_last_reason() -> None:
    panel = Panel({("reviewer", Drafting): [WRONG]}, lab=lambda _: Trialled(worse=("tests/t.py::test fails",), output="E"))
    repair = one(held(panel, attempts=3))
    assert (repair.outcome, repair.why) == (RepairOutcome.FAILED, "worse than before: tests/t.py::test fails")
    assert [tried.attempt for tried in repair.tries] == [1, 2, 3]
    assert len(drafting(panel, 2).tried) == 2
    assert repair.edits == ()


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (wrote(explanation="the schema forbids it"), "reviewer wrote nothing: the schema forbids it"),
        (wrote(explanation=""), "reviewer wrote nothing: it gave no reason"),
        (Reply(ReplyStatus.REFUSED, reason="I cannot help"), "reviewer wrote nothing: I cannot help"),
        (Reply(ReplyStatus.TRUNCATED, text=RIGHT), "reviewer wrote nothing: truncated"),
        (Reply(ReplyStatus.CAPPED, reason="the budget is used up"), "reviewer wrote nothing: the budget is used up"),
        ("no JSON", "reviewer wrote nothing: not valid JSON"),
    ],
)
def test_where_nobody_writes_nothing_is_tried_and_nobody_is_asked_again(answer: Answer, why: str) -> None:
    panel = Panel({("reviewer", Drafting): [answer]})
    repair = one(held(panel))
    assert repair.outcome is RepairOutcome.SKIPPED
    assert repair.why.startswith(why)
    assert panel.trials == []
    assert {name for name, _ in kinds(panel)} == {"reviewer"}
    assert repair.tries == ()


def test_who_has_nothing_better_after_a_failure_leaves_it_failed() -> None:
    panel = Panel({("reviewer", Drafting): [WRONG, wrote()]}, lab=green_where("right"))
    repair = one(held(panel, attempts=5))
    assert (repair.outcome, repair.why) == (RepairOutcome.FAILED, "the check of F1 does not pass with it")
    assert len(panel.trials) == 1


def test_an_edit_that_does_not_fit_is_quoted_and_asked_for_once_more() -> None:
    misfit = wrote(swap("line 33", "right"))
    panel = Panel({("reviewer", Drafting): [misfit, RIGHT]})
    repair = one(held(panel))
    assert repair.outcome is RepairOutcome.FIXED
    first, again = panel.asked[:2]
    assert (first.attempt, again.attempt) == (1, 2)
    assert "edits[0] (a.py): the text to find does not stand in the file" in again.complaint
    assert again.question == first.question
    panel = Panel({("reviewer", Drafting): [misfit]})
    repair = one(held(panel))
    assert repair.outcome is RepairOutcome.SKIPPED
    assert "the text to find does not stand in the file" in repair.why
    assert len(panel.asked) == 2


def test_what_the_tool_wrote_is_tried_with_the_edits_on_top_and_every_version_is_kept() -> None:
    writes = (("a.py", b"draft\n"), ("a.py", CODE.replace(b"line 3", b"third")), ("new.py", b"x = 1\n"))
    reply = with_tool(*writes, text=wrote(swap("third", "right")))
    panel = Panel({("reviewer", Drafting): [reply]})
    repair = one(held(panel, a_task(may_add=True)))
    assert repair.edits == (Edit("a.py", CODE.replace(b"line 3", b"right")), Edit("new.py", b"x = 1\n"))
    assert [version.number for version in repair.tries[-1].versions] == [1, 2, 3]
    assert panel.trials[0].edits == repair.edits


def test_only_what_was_written_before_the_answer_that_counts_is_taken() -> None:
    """Every ask begins in the scratch tree anew."""
    first = with_tool(("a.py", b"lost\n"), text="no JSON")
    panel = Panel({("reviewer", Drafting): [first, with_tool(("a.py", b"kept\n"))]})
    repair = one(held(panel))
    assert repair.edits == (Edit("a.py", b"kept\n"),)
    assert [version.content for version in repair.tries[-1].versions] == [b"kept\n"]


def test_what_was_really_tried_is_taken_where_a_formatter_went_over_it() -> None:
    formatted = Edit("a.py", CODE.replace(b"line 3", b"Right."))
    panel = Panel({("reviewer", Drafting): [RIGHT]}, lab=lambda _: replace(GREEN, edits=(formatted,)))
    repair = one(held(panel))
    assert repair.edits == (formatted,)
    appraisal = next(ask.question for ask in panel.asked if isinstance(ask.question, Appraisal))
    assert "Right." in appraisal.candidates[0].patch


@pytest.mark.parametrize(
    ("seats", "expected"),
    [
        ((CRITIC, REVIEWER, OPTIMIZER, PROPOSER), ["proposer", "critic", "reviewer", "optimizer"]),
        ((CRITIC, REVIEWER, OPTIMIZER), ["reviewer", "critic", "optimizer", "optimizer"]),
        ((CRITIC, OPTIMIZER), ["critic", "optimizer"]),
        ((CRITIC,), ["critic", "critic"]),
        ((a_seat("bank"), OPTIMIZER), ["bank", "optimizer"]),
    ],
)
def test_roles_decide_who_writes_judges_and_refines(seats: tuple[Seat, ...], expected: list[str]) -> None:
    panel = Panel({(seat.name, Drafting): [RIGHT] for seat in seats})
    assert one(held(panel, seats=seats)).outcome is RepairOutcome.FIXED
    assert [name for name, _ in kinds(panel)] == expected


def test_a_task_may_name_the_role_that_writes() -> None:
    panel = Panel({(name, Drafting): [RIGHT] for name in ("optimizer", "proposer")})
    assert one(held(panel, a_task(writer="optimizer"), seats=FOUR)).author == "optimizer"
    assert [name for name, _ in kinds(panel)] == ["optimizer", "critic", "reviewer"], "nobody refines its own"
    assert one(held(panel, a_task(writer="tester"), seats=FOUR)).author == "proposer", "nobody has that role"


def test_who_lost_the_seat_and_who_is_no_model_is_not_asked() -> None:
    static = tuple(replace(seat, family="static") for seat in TABLE)
    panel = Panel({("reviewer", Drafting): [RIGHT]})
    assert one(held(panel, seats=static)).outcome is RepairOutcome.SKIPPED
    assert panel.asked == []


def test_models_write_for_so_many_findings_and_those_of_tools_are_not_counted() -> None:
    panel = Panel({("reviewer", Drafting): [wrote(swap(f"line {n}", f"mended {n}")) for n in (5, 7)]})
    tasks = (a_task("F1", 3, an_offer(3)), a_task("F2", 5), a_task("F3", 7), a_task("F4", 9))
    repairs = by_id(held(panel, *tasks, most=2).end.repairs)
    assert {name: repair.outcome.value for name, repair in repairs.items()} == {
        "F1": "fixed", "F2": "fixed", "F3": "fixed", "F4": "skipped",
    }  # fmt: skip
    assert repairs["F4"].why == "no tool offers a fix for it, and models write for 2 findings at most"
    assert {one.outcome.value for one in held(Panel(), *tasks[1:], most=0).end.repairs} == {"skipped"}


# On top of each other


def test_the_next_is_drafted_on_the_tree_with_the_accepted_ones_in_it() -> None:
    panel = Panel({("reviewer", Drafting): [wrote(swap("line 5", "five")), wrote(swap("five", "5"))]})
    talk = held(panel, a_task("F1", 3, an_offer(3)), a_task("F2", 5), a_task("F3", 5))
    first, second, third = talk.end.repairs
    assert content(first.edits) == CODE.decode().replace("line 3\n", "mended 3\n")
    assert content(second.edits) == CODE.decode().replace("line 3\n", "mended 3\n").replace("line 5\n", "five\n")
    assert content(third.edits) == CODE.decode().replace("line 3\n", "mended 3\n").replace("line 5\n", "5\n")
    later = drafting(panel, 1)
    assert later.files == second.edits
    assert later.sheets[0].lines[4] == "five"
    assert panel.trials[1].before == first.edits
    assert panel.trials[2].before == second.edits


def test_a_suggestion_is_not_in_the_tree_of_the_next_unless_it_will_be_written() -> None:
    unknown = Trialled(unknown=("F1",))
    said: Mapping[tuple[str, type], list[Said]] = {
        ("reviewer", Drafting): [wrote(swap("line 3", "three")), wrote(swap("line 5", "five"))]
    }
    panel = Panel(said, lab=lambda trial: unknown)
    talk = held(panel, a_task("F1", 3), a_task("F2", 5))
    first, second = talk.end.repairs
    assert (first.outcome, first.why, first.proof) == (RepairOutcome.SUGGESTED, "no check shows that it works", None)
    assert "three" not in content(second.edits)
    assert drafting(panel, 1).files == ()
    allowed = held(Panel(said, lab=lambda trial: unknown), a_task("F1", 3), a_task("F2", 5), unproven=True)
    first, second = allowed.end.repairs
    assert first.outcome is RepairOutcome.SUGGESTED
    assert "three" in content(second.edits)
    assert stands(first, unproven=True)
    assert not stands(first, unproven=False)
    assert not stands(replace(first, dissent="critic: no"), unproven=True)


def test_a_task_whose_check_passes_with_an_earlier_fix_is_not_written_for() -> None:
    panel = Panel({("reviewer", Drafting): [RIGHT]})
    first, second = held(panel, a_task("F1", check=CHECK), a_task("F2", 5, check=CHECK)).end.repairs
    assert (second.outcome, second.why) == (RepairOutcome.SKIPPED, "mended by the fix of F1")
    assert len([ask for ask in panel.asked if isinstance(ask.question, Drafting)]) == 1
    early = panel.trials[1]
    assert (early.subject, early.edits, early.before) == ("F2", first.edits, first.edits)


def test_a_fix_that_undoes_an_earlier_one_is_taken_back() -> None:
    def lab(trial: Trial) -> Trialled:
        if trial.edits == trial.before:
            return Trialled(red=("F2",))
        return Trialled(red=("F1",)) if len(trial.tasks) > 1 and "five" in after(trial) else GREEN

    said: Mapping[tuple[str, type], list[Said]] = {("reviewer", Drafting): [RIGHT, wrote(swap("line 5", "five"))]}
    panel = Panel(said, lab=lab)
    first, second = held(panel, a_task("F1", check=CHECK), a_task("F2", 5, check=CHECK)).end.repairs
    assert (first.id, first.outcome) == ("F1", RepairOutcome.FIXED)
    assert (second.id, second.outcome) == ("F2", RepairOutcome.FAILED)
    assert second.why == "taken back: with everything together, the check of F1 does not pass any more"
    assert second.edits == ()
    assert second.tries[-1].reason == second.why
    together = panel.trials[-1]
    assert [task.id for task in together.tasks] == ["F1", "F2"]
    assert (together.before, together.author) == ((), "")


def test_fixes_without_a_check_of_their_own_are_not_tried_again_together() -> None:
    panel = Panel({("reviewer", Drafting): [RIGHT, wrote(swap("line 5", "five"))]})
    held(panel, a_task("F1"), a_task("F2", 5))
    assert len(panel.trials) == 2


def test_what_comes_along_is_in_the_scratch_tree_and_is_nobody_s_writing() -> None:
    brought = Edit("tests/test_new.py", b"def test_it(): ...\n")
    lab = Panel({("reviewer", Drafting): [RIGHT]}, lab=lambda trial: replace(GREEN, edits=(*trial.edits, brought)))
    repair = one(held(lab, a_task(brings=(brought,), check=replace(CHECK, subject="tests/test_new.py"))))
    question = drafting(lab)
    assert question.files == (brought,)
    assert [sheet.path for sheet in question.sheets] == ["a.py", "tests/test_new.py"]
    assert lab.trials[0].edits == (Edit("a.py", CODE.replace(b"line 3", b"right")),)
    assert repair.edits == (Edit("a.py", CODE.replace(b"line 3", b"right")), brought)


# The record


def test_the_transcript_goes_on_where_it_ended_and_holds_all_that_was_said() -> None:
    costly = Reply(ReplyStatus.OK, WRONG, usage=Usage(calls=1, cost_usd=0.5))
    said: Mapping[tuple[str, type], list[Said]] = {
        ("proposer", Drafting): [costly, RIGHT],
        ("critic", Appraisal): [REFUSES],
        ("moderator", Arbitration): [arbitrated("rejected", "a.py:1")],
    }
    talk = held(Panel(said, lab=green_where("right")), seats=FOUR, moderator=MODERATOR)
    transcript = talk.end.transcript
    assert (transcript.rounds, transcript.notes) == (2, ("said before",))
    assert transcript.bill.by_panelist["proposer"] == Usage(calls=2, cost_usd=0.5)
    assert [(turn.phase, turn.panelist, turn.subject, turn.outcome, turn.summary) for turn in transcript.turns] == [
        ("make", "proposer", "F1", "ok", "wrote a.py: because"),
        ("make", "sandbox", "F1", "dropped", "tried what proposer wrote: the check of F1 does not pass with it"),
        ("make", "proposer", "F1", "ok", "wrote a.py: it was wrong"),
        ("make", "sandbox", "F1", "ok", "tried what proposer wrote: its check failed before and passes with it"),
        ("make", "critic", "F1", "ok", "A: not acceptable (2 of 10): it breaks line 1"),
        ("make", "reviewer", "F1", "ok", "A: acceptable (7 of 10)"),
        ("make", "moderator", "F1", "ok", "it may be used, by what the judges differ about"),
    ]


def test_a_budget_that_ends_leaves_everything_else_skipped_and_says_so() -> None:
    capped = Reply(ReplyStatus.CAPPED, reason="the budget is used up")
    panel = Panel(
        {("reviewer", Drafting): [RIGHT, capped], ("critic", Appraisal): [ACCEPTS], ("optimizer", Appraisal): [ACCEPTS]}
    )
    talk = held(panel, a_task("F1"), a_task("F2", 5), a_task("F3", 7))
    assert [(repair.id, repair.outcome.value) for repair in talk.end.repairs] == [
        ("F1", "fixed"), ("F2", "skipped"), ("F3", "skipped"),
    ]  # fmt: skip
    assert talk.end.transcript.capped == "the budget is used up"


def test_where_no_time_is_left_to_try_nothing_is_used() -> None:
    panel = Panel({("reviewer", Drafting): [RIGHT]}, lab=lambda _: Trialled(reason="no time was left for it"))
    repair = one(held(panel))
    assert (repair.outcome, repair.why) == (RepairOutcome.FAILED, "no time was left for it")
    assert not [kind for kind in kinds(panel) if kind[1] == "Appraisal"]


def test_a_gate_s_refusal_is_told_with_its_rule() -> None:
    refused = Trialled(refusals=(Refusal("protected", "ci.yml", "it is protected"),))
    repair = one(held(Panel({("reviewer", Drafting): [RIGHT]}, lab=lambda _: refused), attempts=1))
    assert repair.why == "refused by the gate (protected): ci.yml: it is protected"


def test_every_task_ends_once_whatever_is_said() -> None:
    tasks = [a_task(f"F{n}", n, *([an_offer(n)] if n % 2 else [])) for n in range(1, 8)]
    for answer in (RIGHT, WRONG, "no JSON", wrote(), Reply(ReplyStatus.FAILED)):
        for lab in (lambda _: GREEN, lambda _: Trialled(reason="no"), lambda t: Trialled(unknown=tuple(x.id for x in t.tasks))):
            repairs = held(Panel({("reviewer", Drafting): [answer]}, lab=lab), *tasks).end.repairs
            assert sorted(repair.id for repair in repairs) == [task.id for task in tasks]
            assert all(repair.why for repair in repairs if repair.outcome is not RepairOutcome.FIXED)
            made = [repair.is_made for repair in repairs]
            assert made == sorted(made, reverse=True), "those that are made come first"


def test_a_seat_that_was_lost_neither_writes_nor_judges() -> None:
    transcript = a_transcript(*FOUR)
    gone = tuple(
        Attendance(entry.seat, SeatStatus.LOST if entry.seat is PROPOSER else SeatStatus.OK) for entry in transcript.attendance
    )
    panel = Panel({("reviewer", Drafting): [RIGHT]})
    work = make((a_task(),), Shop(FILES, Papers((DOSSIER,))), replace(transcript, attendance=gone), options=MakeOptions())
    assert one(talked(work, panel)).author == "reviewer"


def test_what_shows_it_is_told() -> None:
    check = replace(CHECK, outcome=CheckOutcome.PASSES_WITH_FIX)
    panel = Panel({("reviewer", Drafting): [RIGHT]}, lab=lambda _: Trialled(checks=(("F1", check),), beside=("all green",)))
    proof = one(held(panel, a_task(check=CHECK))).proof
    assert proof is not None
    assert (proof.told, proof.check, proof.beside) == ("pytest -q t.py failed before and passes with it", check, ("all green",))
