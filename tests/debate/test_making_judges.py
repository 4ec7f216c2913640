"""Who judges a candidate, what counts of what they say, and what becomes of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from reviewbot.debate.making import DRAFT, stands
from reviewbot.domain.repair import Edit, RepairOutcome
from reviewbot.ports import Appraisal, Arbitration, Drafting, Refinement, Reply, ReplyStatus, Trialled
from tests.debate.conversation import Answer
from tests.debate.workshop import (
    ACCEPTS,
    CODE,
    CRITIC,
    GREEN,
    MODERATOR,
    OPTIMIZER,
    PROPOSER,
    REFUSES,
    TABLE,
    Panel,
    Said,
    a_task,
    after,
    an_offer,
    arbitrated,
    by_id,
    content,
    drafting,
    green_where,
    held,
    judged,
    kinds,
    one,
    point,
    scored,
    swap,
    verdict,
    wrote,
)

RIGHT = wrote(swap("line 3", "right"), explanation="it was wrong")
WRONG = wrote(swap("line 3", "wrong"))
BETTER = wrote(swap("right", "better"), explanation="shorter")
FOUR = (*TABLE, PROPOSER)


# Judging


def test_a_candidate_that_its_judges_refuse_goes_back_with_their_grounds_and_without_their_names() -> None:
    said: Mapping[tuple[str, type], list[Said]] = {
        ("proposer", Drafting): [WRONG, RIGHT],
        ("critic", Appraisal): [REFUSES, ACCEPTS],
        ("reviewer", Appraisal): [judged(verdict("A", point("no", "E1"), score=1)), ACCEPTS],
    }
    panel = Panel(said)
    repair = one(held(panel, seats=FOUR))
    assert repair.outcome is RepairOutcome.FIXED
    assert repair.edits[0].content == CODE.replace(b"line 3", b"right")
    (told,) = drafting(panel, 1).tried
    assert told.told == "it passed its trial, and its judges do not accept it:\n- it breaks line 1 (a.py:1)\n- no (E1)"
    assert not [name for name in ("critic", "reviewer") if name in told.told]


def test_judges_see_the_candidate_under_a_letter_and_not_whose_it_is() -> None:
    panel = Panel({("proposer", Drafting): [RIGHT]}, lab=lambda _: replace(GREEN, beside=("9 tests pass",)))
    held(panel, seats=FOUR)
    first, second = (ask.question for ask in panel.asked if isinstance(ask.question, Appraisal))
    assert first == second
    (shown,) = first.candidates
    assert shown.letter == "A"
    assert shown.told == "its check failed before and passes with it; 9 tests pass"
    assert "proposer" not in repr(first)
    assert "it was wrong" not in repr(first), "nor how it explains itself"


@pytest.mark.parametrize("cites", [(), ("a.py:99",), ("E9",), ("H2",), ("the whole file",)])
def test_a_critical_point_that_cites_nothing_which_exists_forbids_nothing(cites: tuple[str, ...]) -> None:
    bare = judged(verdict("A", point("trust me", *cites), acceptable=False))
    panel = Panel({("proposer", Drafting): [RIGHT], ("critic", Appraisal): [bare]})
    repair = one(held(panel, seats=FOUR))
    assert repair.outcome is RepairOutcome.FIXED, "the other one accepts it"
    assert repair.dissent == "critic: not acceptable (7 of 10): trust me"
    both = Panel({("proposer", Drafting): [RIGHT], ("critic", Appraisal): [bare], ("reviewer", Appraisal): [bare]})
    assert one(held(both, seats=FOUR)).outcome is RepairOutcome.FAILED, "nobody accepts it"


@pytest.mark.parametrize("cite", ["a.py:10", "E1", "H1", "`a.py:3`", "new.py:1"])
def test_lines_shown_or_written_ledger_items_and_hunks_are_grounds(cite: str) -> None:
    refuses = judged(verdict("A", point("no", cite), acceptable=True))
    written = wrote(swap("line 3", "right"), swap("", "x = 1\n", "new.py"))
    said: Mapping[tuple[str, type], list[Said]] = {
        ("proposer", Drafting): [written], ("critic", Appraisal): [refuses], ("reviewer", Appraisal): [refuses],
    }  # fmt: skip
    repair = one(held(Panel(said), a_task(may_add=True), seats=FOUR))
    assert repair.outcome is RepairOutcome.FAILED, "and a ground outweighs the word acceptable"
    assert repair.why == "it passed its trial, and its judges do not accept it:"


SPLIT: Mapping[tuple[str, type], list[Said]] = {("proposer", Drafting): [RIGHT], ("critic", Appraisal): [REFUSES]}


def test_where_judges_differ_and_no_moderator_sits_it_is_suggested_with_the_dissent() -> None:
    panel = Panel(SPLIT)
    repair = one(held(panel, seats=FOUR))
    assert (repair.outcome, repair.why) == (RepairOutcome.SUGGESTED, "its judges differ")
    assert repair.dissent == "critic: not acceptable (2 of 10): it breaks line 1"
    assert repair.proof is not None
    assert len(panel.trials) == 1
    assert not stands(repair, unproven=True)


@pytest.mark.parametrize(
    ("answer", "outcome", "why"),
    [
        (arbitrated("rejected", "a.py:1"), RepairOutcome.FIXED, ""),
        (arbitrated("upheld", "H1"), RepairOutcome.FAILED, "it passed its trial, and its judges do not accept it:"),
        (arbitrated("undecided", "a.py:1"), RepairOutcome.SUGGESTED, "its judges differ"),
        (arbitrated("upheld"), RepairOutcome.SUGGESTED, "its judges differ"),
        (arbitrated("rejected", "nowhere.py:1"), RepairOutcome.SUGGESTED, "its judges differ"),
        (Reply(ReplyStatus.REFUSED), RepairOutcome.SUGGESTED, "its judges differ"),
    ],
)
def test_the_moderator_settles_what_judges_differ_about(answer: Answer, outcome: RepairOutcome, why: str) -> None:
    panel = Panel({**SPLIT, ("moderator", Arbitration): [answer]})
    repair = one(held(panel, seats=FOUR, moderator=MODERATOR, attempts=1))
    assert (repair.outcome, repair.why) == (outcome, why)
    if repair.is_made:
        assert repair.dissent == "critic: not acceptable (2 of 10): it breaks line 1"
    else:
        assert repair.tries[0].reason.endswith("The moderator found that this forbids it.")
    (ask,) = (ask for ask in panel.asked if isinstance(ask.question, Arbitration))
    assert isinstance(ask.question, Arbitration)
    assert ask.question.points == ("it breaks line 1 (a.py:1)",)


def test_every_ground_is_put_before_the_moderator_first_once_and_all_must_fall() -> None:
    grounds = judged(verdict("A", point("one", "a.py:1"), point("minor", critical=False), point("two", "a.py:2")))

    def settled(*decisions: str) -> tuple[Panel, RepairOutcome]:
        answers = [arbitrated(decision, "a.py:1") for decision in decisions]
        panel = Panel({**SPLIT, ("critic", Appraisal): [grounds], ("moderator", Arbitration): answers})
        return panel, one(held(panel, seats=FOUR, moderator=MODERATOR, attempts=1)).outcome

    panel, outcome = settled("rejected", "rejected")
    assert outcome is RepairOutcome.FIXED
    assert [ask.question.points for ask in panel.asked if isinstance(ask.question, Arbitration)] == [
        ("one (a.py:1)", "two (a.py:2)", "minor"), ("two (a.py:2)", "one (a.py:1)", "minor"),
    ]  # fmt: skip
    assert settled("rejected", "upheld")[1] is RepairOutcome.FAILED
    assert settled("rejected", "undecided")[1] is RepairOutcome.SUGGESTED
    many = judged(verdict("A", *(point(f"ground {number}", "a.py:1") for number in range(5))))
    panel = Panel({**SPLIT, ("critic", Appraisal): [many], ("moderator", Arbitration): [arbitrated("rejected", "a.py:1")]})
    assert one(held(panel, seats=FOUR, moderator=MODERATOR)).outcome is RepairOutcome.SUGGESTED, "not all were asked about"


@pytest.mark.parametrize("status", [ReplyStatus.CAPPED, ReplyStatus.REFUSED, ReplyStatus.TIMEOUT])
def test_judges_who_do_not_answer_have_no_vote(status: ReplyStatus) -> None:
    silent = Reply(status, text=ACCEPTS)
    said: Mapping[tuple[str, type], list[Said]] = {("proposer", Drafting): [RIGHT], ("critic", Appraisal): [silent]}
    assert one(held(Panel(said), seats=FOUR)).outcome is RepairOutcome.FIXED, "the other one accepts it"
    nobody = one(held(Panel({**said, ("reviewer", Appraisal): [silent]}), seats=FOUR))
    assert (nobody.outcome, nobody.why, nobody.dissent) == (RepairOutcome.SUGGESTED, "nobody judged it", None)


def test_what_no_check_shows_is_judged_all_the_same_and_suggested_at_best() -> None:
    unknown = Trialled(unknown=("F1",))
    panel = Panel({("proposer", Drafting): [RIGHT]}, lab=lambda _: unknown)
    repair = one(held(panel, seats=FOUR))
    assert (repair.outcome, repair.why) == (RepairOutcome.SUGGESTED, "no check shows that it works")
    assert ("critic", "Appraisal") in kinds(panel)
    refused = Panel({("proposer", Drafting): [RIGHT], ("critic", Appraisal): [REFUSES], ("reviewer", Appraisal): [REFUSES]})
    refused.lab = lambda _: unknown
    assert one(held(refused, seats=FOUR)).outcome is RepairOutcome.FAILED


def test_a_single_seat_judges_its_own_in_a_context_of_its_own() -> None:
    panel = Panel({("critic", Drafting): [WRONG, RIGHT], ("critic", Appraisal): [REFUSES, ACCEPTS]})
    repair = one(held(panel, seats=(CRITIC,)))
    assert repair.outcome is RepairOutcome.FIXED
    assert kinds(panel) == [("critic", "Drafting"), ("critic", "Appraisal"), ("critic", "Drafting"), ("critic", "Appraisal")]
    assert "tried" not in repr(panel.asked[1].question)


# What was there before


def test_what_the_debate_drafted_is_tried_and_judged_before_anybody_writes() -> None:
    panel = Panel()
    repair = one(held(panel, a_task("F1", 3, an_offer(3, "drafted", author=DRAFT)), seats=FOUR))
    assert repair.outcome is RepairOutcome.FIXED
    assert (repair.author, repair.tries[-1].attempt) == ("reviewer", 0)
    assert content(repair.edits) == CODE.decode().replace("line 3\n", "drafted\n")
    assert kinds(panel)[:2] == [("critic", "Appraisal"), ("optimizer", "Appraisal")], "not by the Reviewer, who wrote it"
    assert len(panel.trials) == 1


def test_a_draft_of_the_debate_that_fails_is_told_to_who_writes_the_next() -> None:
    panel = Panel({("proposer", Drafting): [RIGHT]}, lab=green_where("right"))
    repair = one(held(panel, a_task("F1", 3, an_offer(3, "drafted", author=DRAFT)), seats=FOUR))
    assert repair.outcome is RepairOutcome.FIXED
    assert [tried.author for tried in repair.tries] == ["reviewer", "proposer"]
    assert "drafted" in drafting(panel).tried[0].patch


def test_a_draft_of_lines_that_an_earlier_fix_changed_is_not_laid_over_it() -> None:
    panel = Panel({("proposer", Drafting): [wrote(swap("mended 3", "right"))]})
    tasks = (
        a_task("F1", 3, an_offer(3)),
        a_task("F2", 3, an_offer(3, "lost", author=DRAFT)),
        a_task("F3", 5, an_offer(5, "kept", author=DRAFT)),
    )
    repairs = by_id(held(panel, *tasks, seats=FOUR).end.repairs)
    assert content(repairs["F2"].edits) == CODE.decode().replace("line 3\n", "right\n")
    assert content(repairs["F3"].edits) == CODE.decode().replace("line 3\n", "right\n").replace("line 5\n", "kept\n")


def test_several_candidates_are_judged_in_one_call_in_an_order_that_tells_nothing() -> None:
    first, second = an_offer(3, "alpha", author=DRAFT), an_offer(3, "beta", author=DRAFT)

    judge = scored({"alpha": 5, "beta": 9})
    letters = []
    for offers in ((first, second), (second, first)):
        panel = Panel({("critic", Appraisal): [judge], ("optimizer", Appraisal): [judge]})
        repair = one(held(panel, a_task("F1", 3, *offers), seats=FOUR))
        assert content(repair.edits) == CODE.decode().replace("line 3\n", "beta\n")
        appraisal = next(ask.question for ask in panel.asked if isinstance(ask.question, Appraisal))
        letters.append([(one.letter, "beta" in one.patch) for one in appraisal.candidates])
        assert [tried.reason for tried in repair.tries] == ["another candidate was held to be better", ""]
    assert letters[0] == letters[1], "whoever wrote first"


def test_what_a_tool_offered_and_was_refused_is_told_to_who_writes() -> None:
    panel = Panel({("reviewer", Drafting): [RIGHT]}, lab=green_where("right"))
    repair = one(held(panel, a_task("F1", 3, an_offer(3))))
    assert repair.outcome is RepairOutcome.FIXED
    assert [(tried.author, tried.attempt) for tried in repair.tries] == [("ruff", 0), ("reviewer", 1)]
    (told,) = drafting(panel).tried
    assert "mended 3" in told.patch
    assert told.told == "the check of F1 does not pass with it\nassert 1 == 2"


# Refining


def refined(*points: dict[str, object], was: float = 7, now: float = 9) -> Panel:
    judge = scored({"right": was, "better": now}, *points)
    return Panel({("proposer", Drafting): [RIGHT], ("optimizer", Refinement): [BETTER], ("critic", Appraisal): [judge]})


def test_the_refined_version_takes_the_place_where_a_judge_who_wrote_neither_finds_it_better() -> None:
    panel = refined()
    repair = one(held(panel, seats=FOUR))
    assert repair.outcome is RepairOutcome.FIXED
    assert (repair.author, repair.explanation) == ("optimizer", "shorter")
    assert repair.edits == (Edit("a.py", CODE.replace(b"line 3", b"better")),)
    assert [(tried.author, tried.reason) for tried in repair.tries] == [
        ("proposer", "what optimizer made of it took its place"), ("optimizer", ""),
    ]  # fmt: skip
    assert kinds(panel) == [
        ("proposer", "Drafting"), ("critic", "Appraisal"), ("reviewer", "Appraisal"), ("optimizer", "Refinement"),
        ("critic", "Appraisal"),
    ]  # fmt: skip
    assert [(trial.author, trial.before) for trial in panel.trials] == [("proposer", ()), ("optimizer", ())]
    question = next(ask.question for ask in panel.asked if isinstance(ask.question, Refinement))
    assert question.sheets[0].lines[2] == "right"
    assert question.files == (Edit("a.py", CODE.replace(b"line 3", b"right")),)


def test_a_refined_version_that_is_not_better_is_refused_or_harms_leaves_the_first() -> None:
    for panel, lab, reason in (
        (refined(was=7, now=7), lambda _: GREEN, "it was not held to be better than what it refines"),
        (refined(point("no", "a.py:3")), lambda _: GREEN, "it was not held to be better than what it refines"),
        (refined(), green_where("right"), "the check of F1 does not pass with it\nassert 1 == 2"),
        (refined(), lambda t: GREEN if "right" in after(t) else Trialled(unknown=("F1",)), "no check shows that it works"),
    ):
        panel.lab = lab
        repair = one(held(panel, seats=FOUR))
        assert (repair.outcome, repair.author) == (RepairOutcome.FIXED, "proposer")
        assert repair.edits == (Edit("a.py", CODE.replace(b"line 3", b"right")),)
        assert [(tried.author, tried.reason) for tried in repair.tries] == [("optimizer", reason), ("proposer", "")]
        assert len(panel.trials) == 2


@pytest.mark.parametrize("answer", [wrote(), "no JSON", Reply(ReplyStatus.CAPPED, reason="used up")])
def test_who_keeps_the_candidate_or_does_not_answer_leaves_it(answer: Answer) -> None:
    panel = Panel({("proposer", Drafting): [RIGHT], ("optimizer", Refinement): [answer]})
    repair = one(held(panel, seats=FOUR))
    assert (repair.outcome, repair.author) == (RepairOutcome.FIXED, "proposer")
    assert len(panel.trials) == 1


def test_where_nobody_could_compare_nothing_is_refined() -> None:
    panel = Panel({("critic", Drafting): [RIGHT]})
    held(panel, seats=(CRITIC, OPTIMIZER))
    assert kinds(panel) == [("critic", "Drafting"), ("optimizer", "Appraisal")]


def test_points_of_the_judges_reach_the_refiner_without_names() -> None:
    minor = judged(verdict("A", point("a name would help", critical=False)))
    panel = Panel({("proposer", Drafting): [RIGHT], ("reviewer", Appraisal): [minor]})
    repair = one(held(panel, seats=FOUR))
    question = next(ask.question for ask in panel.asked if isinstance(ask.question, Refinement))
    assert question.points == ("a name would help",)
    assert repair.dissent is None
