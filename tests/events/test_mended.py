"""Commits of ours among those of people: known by what the forge vouches for, and whether somebody took them back."""

from __future__ import annotations

from dataclasses import replace

import pytest

from reviewbot.domain.forge import Author, AuthorKind, Commit, Standing
from reviewbot.domain.history import Mended, PullMemory
from reviewbot.domain.repair import RepairOutcome
from reviewbot.events import mended
from reviewbot.testing import a_standing

ME = Author("reviewbot[bot]", 99, AuthorKind.BOT)
BASE, HUMAN, ONE, TWO, THEN = (letter * 40 for letter in "bacde")


def ours(sha: str, parent: str, finding: str = "F1", *, undo: str = "", **changes: object) -> Commit:
    marks = [f"Reviewbot-Finding: {finding}", f"Reviewbot-Undo: {undo}" if undo else "Reviewbot-Check: pytest"]
    made = Commit(sha, "Fix it\n\nIt was wrong.\n\n" + "\n".join(marks), "reviewbot[bot]", (parent,), is_vouched=True)
    return replace(made, **changes)  # type: ignore[arg-type]


def theirs(sha: str, *parents: str, message: str = "Mine") -> Commit:
    return Commit(sha, message, "alice", parents)


FIRST = theirs(HUMAN, BASE)


def standing(*commits: Commit, unread: tuple[str, ...] = ()) -> Standing:
    return replace(a_standing(commits[-1].sha), commits=commits, me=ME, unread=unread)


def memory(*made: Mended) -> PullMemory:
    return PullMemory(mended=made)


FIXED = Mended("F1", RepairOutcome.FIXED, head=HUMAN, commit=ONE)


@pytest.mark.parametrize(
    "commit",
    [
        ours(ONE, HUMAN, is_vouched=False),
        ours(ONE, HUMAN, author="alice"),
        ours(ONE, HUMAN, message="Fix it\n\nReviewbot-Finding: F1 is the reason\n\nThis is prose."),
        ours(ONE, HUMAN, message="Fix it\n\nreviewbot-finding: F1"),
    ],
    ids=["not signed", "by somebody else", "in the prose", "in small letters"],
)
def test_what_is_not_vouched_for_or_has_no_trailer_is_not_ours(commit: Commit) -> None:
    assert not mended.is_ours(commit, ME)
    assert mended.upon(standing(FIRST, commit), HUMAN) is None
    assert mended.last_of_others(standing(FIRST, commit)) == ONE


def test_an_account_is_the_same_with_and_without_the_word_bot() -> None:
    assert mended.is_ours(ours(ONE, HUMAN, author="Reviewbot"), ME)


def test_commits_upon_a_head_are_in_order_and_all_ours() -> None:
    chain = (FIRST, ours(ONE, HUMAN), ours(TWO, ONE, "F2"))
    assert mended.upon(standing(*chain), HUMAN) == chain[1:]
    assert mended.upon(standing(*chain), TWO) == ()
    assert mended.upon(standing(*chain), "f" * 40) is None
    assert mended.last_of_others(standing(*chain)) == HUMAN
    mixed = (*chain, theirs(THEN, TWO))
    assert mended.upon(standing(*mixed), HUMAN) is None
    assert mended.last_of_others(standing(*mixed)) == THEN
    merge = replace(chain[2], parents=(ONE, BASE))
    assert mended.upon(standing(FIRST, chain[1], merge), HUMAN) is None


def test_commits_that_name_each_other_as_parents_are_no_endless_walk() -> None:
    loop = (ours(ONE, TWO), ours(TWO, ONE))
    assert mended.upon(standing(*loop), HUMAN) is None
    assert mended.last_of_others(standing(*loop)) in (ONE, TWO)


def test_what_stands_is_not_taken_back() -> None:
    assert mended.against(memory(FIXED), standing(FIRST, ours(ONE, HUMAN))) == ""
    assert mended.against(memory(FIXED), standing(FIRST, ours(ONE, HUMAN), theirs(THEN, ONE))) == ""


@pytest.mark.parametrize("said", [ONE, ONE[:7], ONE[:12]])
def test_a_revert_says_whose_commit_it_takes_back(said: str) -> None:
    revert = theirs(THEN, ONE, message=f'Revert "Fix it"\n\nThis reverts commit {said}.')
    assert (
        mended.against(memory(FIXED), standing(FIRST, ours(ONE, HUMAN), revert)) == f"alice took {ONE[:10]} back, the fix of F1"
    )


def test_a_revert_of_another_commit_and_our_own_undo_are_none_of_ours() -> None:
    other = theirs(THEN, ONE, message=f"This reverts commit {BASE}.")
    assert mended.against(memory(FIXED), standing(FIRST, ours(ONE, HUMAN), other)) == ""
    undo = ours(TWO, ONE, undo=ONE, message=f"Back\n\nThis reverts commit {ONE}.\n\nReviewbot-Finding: F1\nReviewbot-Undo: {ONE}")
    assert mended.against(memory(FIXED), standing(FIRST, ours(ONE, HUMAN), undo)) == ""


def test_a_push_over_it_takes_it_away_and_a_rebase_does_not() -> None:
    assert mended.against(memory(FIXED), standing(FIRST)) == f"{ONE[:10]}, the fix of F1, was pushed over"
    rebased = ours("9" * 40, HUMAN, is_vouched=False)
    assert mended.against(memory(FIXED), standing(FIRST, rebased)) == ""
    revert = theirs(THEN, "9" * 40, message=f"This reverts commit {'9' * 40}.")
    assert "took" in mended.against(memory(FIXED), standing(FIRST, rebased, revert))


def test_a_revert_is_seen_where_nothing_is_remembered() -> None:
    revert = theirs(THEN, ONE, message=f'Revert "Fix it"\n\nThis reverts commit {ONE}.')
    told = f"alice took {ONE[:10]} back, the fix of F1"
    assert mended.against(memory(), standing(FIRST, ours(ONE, HUMAN), revert)) == told
    assert mended.against(memory(replace(FIXED, pull=13)), standing(FIRST, ours(ONE, HUMAN), revert)) == told
    undo = ours(ONE, HUMAN, undo=TWO)
    assert mended.against(memory(), standing(FIRST, undo, revert)) == "", "who takes an undoing back wants the fix"
    assert mended.against(memory(), standing(FIRST, ours(ONE, HUMAN, is_vouched=False), revert)) == "", "a trailer is anybody's"


def test_where_not_all_commits_are_told_none_is_missed() -> None:
    assert mended.against(memory(FIXED), standing(FIRST, unread=("some commits",))) == ""
    many = tuple(theirs(f"{n:040x}", f"{n - 1:040x}") for n in range(1, mended.MOST_COMMITS + 1))
    assert mended.against(memory(FIXED), standing(*many)) == ""


@pytest.mark.parametrize(
    "made",
    [
        replace(FIXED, outcome=RepairOutcome.SKIPPED, commit="", why="undone by alice"),
        replace(FIXED, pull=13),
        replace(FIXED, outcome=RepairOutcome.FAILED, commit=""),
    ],
    ids=["undone", "in a pull request of its own", "failed"],
)
def test_what_is_not_on_the_branch_cannot_be_taken_back(made: Mended) -> None:
    assert mended.against(memory(made), standing(FIRST)) == ""
