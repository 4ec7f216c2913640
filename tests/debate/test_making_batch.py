"""What tools offer: all at once, then only what is at fault left out, in few trials, and without any model."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviewbot.debate.making import batch
from reviewbot.debate.making.tree import Tree
from reviewbot.domain.debate import CheckOutcome
from reviewbot.domain.repair import Edit, Refusal, RepairOutcome
from reviewbot.ports import Proposal, Splice, Task, Trial, Trialled
from tests.debate.workshop import CHECK, CODE, FILES, GREEN, Panel, a_task, after, an_offer, by_id, content, held, one
from tests.rings import examples

SOME = settings(max_examples=examples(150), derandomize=True)
MOST = 40
LONG = b"".join(b"line %03d\n" % number for number in range(MOST))
WIDTH = len(b"line 000\n")


def offers(count: int) -> list[Task]:
    """A task for each line of a long file."""
    return [
        a_task(
            f"F{number}",
            number,
            Proposal("ruff", (Splice("a.py", number * WIDTH, (number + 1) * WIDTH, b"done %03d\n" % number),)),
        )
        for number in range(count)
    ]


def numbers(trial: Trial) -> set[int]:
    """The lines that a candidate changes."""
    lines = (Tree({"a.py": LONG}, trial.edits).content("a.py") or b"").split(b"\n")
    return {number for number, line in enumerate(lines) if line.startswith(b"done")}


def lab(harmful: set[int], red: set[int], unknown: set[int]) -> Callable[[Trial], Trialled]:
    def tried(trial: Trial) -> Trialled:
        here, tasks = numbers(trial), {int(task.id[1:]) for task in trial.tasks}
        assert tasks <= here, "what shall be shown to be done is in it"
        if here & harmful:
            return Trialled(refusals=(Refusal("size", "", "too much"),), red=tuple(task.id for task in trial.tasks))
        return Trialled(red=tuple(f"F{n}" for n in sorted(tasks & red)), unknown=tuple(f"F{n}" for n in sorted(tasks & unknown)))

    return tried


SETS = st.sets(st.integers(0, MOST - 1), max_size=MOST)


@SOME
@given(st.integers(1, MOST), SETS, SETS, SETS)
def test_exactly_those_at_fault_are_left_out(count: int, harmful: set[int], red: set[int], unknown: set[int]) -> None:
    panel = Panel(lab=lab(harmful, red, unknown))
    talk = held(panel, *offers(count), seats=(), files={"a.py": LONG})
    became = {int(repair.id[1:]): repair.outcome for repair in talk.end.repairs}
    for number in range(count):
        expected = RepairOutcome.FIXED
        if number in harmful or number in red:
            expected = RepairOutcome.FAILED
        elif number in unknown:
            expected = RepairOutcome.SUGGESTED
        assert became[number] is expected
    assert sorted(became) == list(range(count))
    assert panel.asked == []
    assert len(panel.trials) <= batch.MOST_TRIALS


@SOME
@given(st.integers(1, MOST), st.sets(st.integers(0, MOST - 1), max_size=6))
def test_few_faults_are_found_in_few_trials(count: int, harmful: set[int]) -> None:
    panel = Panel(lab=lab(harmful, set(), set()))
    held(panel, *offers(count), seats=(), files={"a.py": LONG})
    faults = len([number for number in harmful if number < count])
    assert len(panel.trials) <= 1 + 2 * faults * math.ceil(math.log2(count) if count > 1 else 1)
    tried = [frozenset(numbers(trial)) for trial in panel.trials]
    assert len(tried) == len(set(tried)), "nothing is tried twice"


@SOME
@given(st.integers(1, MOST), SETS, SETS)
def test_every_fix_stands_on_those_before_it_and_together_they_are_what_was_tried(
    count: int, harmful: set[int], unknown: set[int]
) -> None:
    def formatted(trial: Trial) -> Trialled:
        told = lab(harmful, set(), unknown)(trial)
        edits = tuple(Edit(edit.path, edit.content and edit.content.replace(b"done", b"done,")) for edit in trial.edits)
        return replace(told, edits=edits)

    panel = Panel(lab=lambda trial: formatted(trial))
    talk = held(panel, *offers(count), seats=(), files={"a.py": LONG})
    fixed = [repair for repair in talk.end.repairs if repair.outcome is RepairOutcome.FIXED]
    tree = Tree({"a.py": LONG})
    for number, repair in enumerate(fixed, 1):
        tree = tree.having(repair.edits)
        assert content(tree.edits).count("done") == number, "one more"
    if fixed:
        assert content(tree.edits).count("done,") == len(fixed), "the last one leaves the file as it was tried"
    for repair in talk.end.repairs:
        if repair.outcome is RepairOutcome.SUGGESTED:
            assert content(repair.edits).count("done") == len(fixed) + 1, "on what is taken, and on no other suggestion"


def test_where_an_operator_allows_it_what_nothing_shows_is_taken_as_well() -> None:
    panel = Panel(lab=lab(set(), set(), {1, 2}))
    talk = held(panel, *offers(3), seats=(), files={"a.py": LONG}, unproven=True)
    assert len(panel.trials) == 1
    assert [(repair.id, repair.outcome.value) for repair in talk.end.repairs] == [
        ("F0", "fixed"), ("F1", "suggested"), ("F2", "suggested"),
    ]  # fmt: skip
    assert [content(repair.edits).count("done") for repair in talk.end.repairs] == [1, 2, 3]
    assert talk.end.repairs[1].why == "no check shows that it works"
    assert talk.end.repairs[1].proof is None


def test_one_pass_takes_all_and_says_what_shows_each() -> None:
    check = replace(CHECK, outcome=CheckOutcome.PASSES_WITH_FIX)
    green = Trialled(
        checks=(("F1", check),), shown=(("F2", "ruff no longer reports a.py:5"),), beside=("9 tests pass as before",)
    )
    panel = Panel(lab=lambda _: green)
    talk = held(panel, a_task("F1", 3, an_offer(3), check=CHECK), a_task("F2", 5, an_offer(5, author="shellcheck")), seats=())
    (trial,) = panel.trials
    assert (trial.subject, [task.id for task in trial.tasks], trial.author) == ("2 fixes", ["F1", "F2"], "ruff, shellcheck")
    assert trial.before == ()
    assert after(trial) == CODE.decode().replace("line 3\n", "mended 3\n").replace("line 5\n", "mended 5\n")
    first, second = talk.end.repairs
    assert (first.author, first.explanation, first.why, first.patch) == ("ruff", "mends line 3", "", b"")
    assert first.proof is not None
    assert first.proof.told == "pytest -q t.py failed before and passes with it"
    assert first.proof.check == check
    assert second.proof is not None
    assert (second.proof.told, second.proof.check, second.proof.beside) == (
        "ruff no longer reports a.py:5", None, ("9 tests pass as before",),
    )  # fmt: skip
    assert "mended 5" not in content(first.edits)
    assert content(second.edits) == after(trial)
    (turn,) = talk.end.transcript.turns
    assert (turn.phase, turn.panelist, turn.subject, turn.outcome) == ("make", "sandbox", "2 fixes", "ok")
    assert turn.summary.startswith("tried what ruff, shellcheck wrote: ")


def test_an_offer_that_was_refused_says_why_and_makes_room_for_the_next_of_the_same_task() -> None:
    def tried(trial: Trial) -> Trialled:
        return Trialled(worse=("mypy at a.py:3",), output="long output") if "first" in after(trial) else GREEN

    panel = Panel(lab=tried)
    task = a_task("F1", 3, an_offer(3, "first"), an_offer(3, "second", author="mypy"))
    repair = one(held(panel, task, seats=()))
    assert repair.outcome is RepairOutcome.FIXED
    assert content(repair.edits) == CODE.decode().replace("line 3\n", "second\n")
    assert [(attempt.author, attempt.reason) for attempt in repair.tries] == [
        ("ruff", "worse than before: mypy at a.py:3\nlong output"), ("mypy", ""),
    ]  # fmt: skip
    failed = one(held(Panel(lab=tried), a_task("F1", 3, an_offer(3, "first")), seats=()))
    assert failed.outcome is RepairOutcome.FAILED
    assert failed.why == (
        "what ruff offers does not do: worse than before: mypy at a.py:3, and no language model sits here that could write one"
    )
    assert len(failed.tries) == 1


def test_of_a_batch_each_is_told_only_what_concerns_it() -> None:
    panel = Panel(lab=lab(set(), {0, 1}, set()))
    first, second = (by_id(held(panel, *offers(3), seats=(), files={"a.py": LONG}).end.repairs)[name] for name in ("F0", "F1"))
    assert first.tries[0].reason == "the check of F0 does not pass with it"
    assert second.tries[0].reason == "the check of F1 does not pass with it"


def test_a_fault_of_one_is_not_told_of_another_that_was_red_only_beside_it() -> None:
    """A syntax error in one fix makes every check red."""
    panel = Panel(lab=lab({1}, set(), set()))
    repairs = by_id(held(panel, *offers(2), seats=(), files={"a.py": LONG}).end.repairs)
    assert {name: repair.outcome.value for name, repair in repairs.items()} == {"F0": "fixed", "F1": "failed"}


def test_each_trial_stands_on_what_was_taken_before_it() -> None:
    panel = Panel(lab=lab({3}, set(), set()))
    held(panel, *offers(4), seats=(), files={"a.py": LONG})
    assert [(sorted(numbers(trial)), sorted(numbers(replace(trial, edits=trial.before)))) for trial in panel.trials] == [
        ([0, 1, 2, 3], []), ([0, 1], []), ([0, 1, 2], [0, 1]),
    ]  # fmt: skip
    assert [[task.id for task in trial.tasks] for trial in panel.trials[1:]] == [["F0", "F1"], ["F2"]]


def test_offers_in_each_other_s_way_take_turns() -> None:
    panel = Panel()
    talk = held(panel, a_task("F1", 3, an_offer(3)), a_task("F2", 3, an_offer(3, "else")), seats=())
    repairs = by_id(talk.end.repairs)
    assert repairs["F1"].outcome is RepairOutcome.FIXED
    assert repairs["F2"].outcome is RepairOutcome.SKIPPED
    assert "changes the same place as the fix of F1: look again when that is written" in repairs["F2"].why
    harmful = Panel(lab=lambda trial: Trialled(reason="no") if "mended" in after(trial) else GREEN)
    repairs = by_id(held(harmful, a_task("F1", 3, an_offer(3)), a_task("F2", 3, an_offer(3, "else")), seats=()).end.repairs)
    assert {name: repair.outcome.value for name, repair in repairs.items()} == {"F1": "failed", "F2": "fixed"}


def test_one_fix_for_two_findings_is_made_once() -> None:
    panel = Panel()
    talk = held(panel, a_task("F1", 3, an_offer(3)), a_task("F2", 3, an_offer(3)), seats=())
    assert len(panel.trials) == 1
    first, second = talk.end.repairs
    assert content(first.edits) == CODE.decode().replace("line 3\n", "mended 3\n")
    assert (second.outcome, second.edits, second.why) == (RepairOutcome.FIXED, (), "the fix of F1 mends it, too")


@pytest.mark.parametrize(
    ("proposal", "told"),
    [
        (Proposal("ruff", ()), "it changes nothing"),
        (Proposal("ruff", (Splice("a.py", 0, 6, b"line 1"),)), "it changes nothing"),
        (Proposal("ruff", (Splice("b.py", 0, 1, b""),)), "it would change b.py, which may not be changed"),
        (Proposal("ruff", (Splice("a.py", 0, 9_999, b""),)), "bytes 0-9999 are not in a.py"),
        (Proposal("ruff", (Splice("a.py", 0, 5, b""), Splice("a.py", 4, 6, b"x"))), "two changes of a.py overlap at byte 4"),
    ],
)
def test_an_offer_that_does_not_fit_is_never_tried(proposal: Proposal, told: str) -> None:
    panel = Panel()
    repair = one(held(panel, a_task("F1", 3, proposal), seats=()))
    assert panel.trials == []
    assert repair.outcome is RepairOutcome.SKIPPED
    assert repair.why.startswith(f"what ruff offers cannot be used: {told}, and no language model")


def test_after_so_many_trials_the_rest_is_not_tried() -> None:
    count = 400
    code = b"".join(b"line %03d\n" % number for number in range(count))
    tasks = [
        a_task(f"F{number}", number, Proposal("ruff", (Splice("a.py", number * 9, number * 9 + 9, b"bad\n"),)))
        for number in range(count)
    ]
    panel = Panel(lab=lambda _: Trialled(reason="no time was left for it"))
    talk = held(panel, *tasks, seats=(), files={"a.py": code})
    assert len(panel.trials) == batch.MOST_TRIALS
    outcomes = {repair.outcome for repair in talk.end.repairs}
    assert outcomes == {RepairOutcome.FAILED, RepairOutcome.SKIPPED}
    assert any("not tried alone" in repair.why for repair in talk.end.repairs)
    assert len(talk.end.repairs) == count


def test_a_task_for_which_nobody_offers_anything_is_skipped_and_told() -> None:
    repair = one(held(Panel(), seats=()))
    assert (repair.outcome, repair.why) == (
        RepairOutcome.SKIPPED, "no tool offers a fix for it, and no language model sits here that could write one",
    )  # fmt: skip
    assert FILES["a.py"] == CODE
