"""Commits of fixes where things go wrong: lost answers, a head that moves, a branch that is guarded. Each commit once, or none."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviewbot import pushing
from reviewbot.domain.action import Action, DeleteBranch, MakeBranch, MakeCommit, OpenPull
from reviewbot.domain.repair import Edit
from reviewbot.errors import (
    DeferredError,
    ForgeError,
    InvalidError,
    NotAuthorizedError,
    NotPermittedError,
    StaleError,
    UnsureError,
)
from reviewbot.events import mended
from reviewbot.pushing import Halt, Pushed, Series, Step
from reviewbot.testing import MemoryForge, a_standing
from tests.rings import examples

HEAD = "a" * 40
FILES = {"a.py": b"a = 1\n", "b.py": b"b = 1\n", "old.py": b"gone\n"}
LOST = UnsureError("no answer")
BRANCH = "reviewbot/fix-12-aaaaaaaaaaaa"

Trouble = tuple[type[Action], ForgeError, bool]


def a_step(number: int, *edits: Edit) -> Step:
    marks = (f"Reviewbot-Finding: F{number}", "Reviewbot-Check: pytest")
    return Step(f"Fix F{number}", "It was wrong.\n\n" + "\n".join(marks), edits, marks)


ONE = a_step(1, Edit("a.py", b"a = 2\n"))
TWO = a_step(2, Edit("b.py", b"b = 2\n"), Edit("old.py", None))
STEPS = (ONE, TWO)


def a_forge(*troubles: Trouble, **changes: object) -> MemoryForge:
    return MemoryForge(a_standing(HEAD, **changes), troubles=troubles, files=FILES)


def pushed(forge: MemoryForge, series: Series | None = None, *, is_open_to_us: bool = True) -> Pushed:
    return pushing.push(series or Series("topic", HEAD, STEPS), forge, me=forge.now.me, is_open_to_us=is_open_to_us)


def opened(commits: object) -> tuple[str, str]:
    return "Fix F1, F2", f"{commits}"


def stacked(forge: MemoryForge) -> Pushed:
    return pushing.stack(Series(BRANCH, HEAD, STEPS), forge, forge.now.pull, me=forge.now.me, opened=opened)


def commits(forge: MemoryForge) -> list[MakeCommit]:
    return [action for action in forge.done if isinstance(action, MakeCommit)]


def files(forge: MemoryForge, branch: str = "topic") -> dict[str, bytes]:
    return forge.code.trees[forge.code.branches[branch]]


def test_each_fix_is_a_commit_upon_the_one_before() -> None:
    forge = a_forge()
    made = pushed(forge)
    assert (made.halt, made.why, len(made.commits)) == (None, "", 2)
    first, second = (forge.code.commits[sha] for sha in made.commits)
    assert (first.parents, second.parents) == ((HEAD,), (first.sha,))
    assert [mended.findings(commit) for commit in (first, second)] == [("F1",), ("F2",)]
    assert files(forge) == {"a.py": b"a = 2\n", "b.py": b"b = 2\n"}
    assert first.message.startswith("Fix F1\n\nIt was wrong.\n\nReviewbot-Finding: F1\n")


@pytest.mark.parametrize("is_open_to_us", [True, False])
def test_a_branch_that_is_guarded_takes_nothing(is_open_to_us: bool) -> None:
    forge = a_forge()
    forge.code.protected.add("topic")
    made = pushed(forge, is_open_to_us=is_open_to_us)
    assert (made.halt, made.commits, forge.done) == (Halt.GUARDED, (), [])
    assert "the branch topic is protected" in made.why


@pytest.mark.parametrize(("is_open_to_us", "halt"), [(True, None), (False, Halt.GUARDED)])
def test_what_nobody_can_say_counts_as_guarded_but_for_a_topic_branch(is_open_to_us: bool, halt: Halt | None) -> None:
    class Reticent(MemoryForge):
        def is_protected(self, branch: str) -> bool | None:
            del branch
            return None

    forge = Reticent(a_standing(HEAD), files=FILES)
    made = pushed(forge, is_open_to_us=is_open_to_us)
    assert (made.halt, len(made.commits)) == (halt, 0 if halt else 2)
    assert not halt or "nobody can say" in made.why


def test_a_head_that_moved_gets_no_commit() -> None:
    forge = a_forge()
    human = forge.push("topic", (Edit("a.py", b"a = 3\n"),), message="Mine", author="alice")
    made = pushed(forge)
    assert (made.halt, made.commits, commits(forge)) == (Halt.MOVED, (), [])
    assert forge.now.pull.head_sha == human.sha


def test_a_head_that_moves_between_two_commits_ends_it_after_the_first() -> None:
    class Busy(MemoryForge):
        def do(self, action: Action):  # type: ignore[no-untyped-def]
            done = super().do(action)
            if isinstance(action, MakeCommit) and len(commits(self)) == 1:
                self.push("topic", (Edit("c.py", b"c\n"),), message="Mine", author="alice")
            return done

    forge = Busy(a_standing(HEAD), files=FILES)
    made = pushed(forge)
    assert (made.halt, len(made.commits), len(commits(forge))) == (Halt.MOVED, 1, 1)


@pytest.mark.parametrize("done", [False, True], ids=["not done", "done"])
@pytest.mark.parametrize("nth", [0, 1])
def test_an_answer_that_was_lost_makes_no_second_commit(nth: int, done: bool) -> None:
    forge = a_forge()

    class Once(MemoryForge):
        lost = 0

        def do(self, action: Action):  # type: ignore[no-untyped-def]
            if isinstance(action, MakeCommit) and len(commits(self)) == nth and not self.lost:
                self.lost = 1
                if done:
                    super().do(action)
                raise LOST
            return super().do(action)

    forge = Once(a_standing(HEAD), files=FILES)
    made = pushed(forge)
    assert (made.halt, len(made.commits), len(commits(forge))) == (None, 2, 2)
    assert made.commits[-1] == forge.now.pull.head_sha


def test_a_commit_that_lands_after_its_lost_answer_is_found() -> None:
    """The look comes too early: the branch still is where it was, and a second try finds it moved, by the first."""

    class Late(MemoryForge):
        waiting: MakeCommit | None = None
        tried = 0

        def do(self, action: Action):  # type: ignore[no-untyped-def]
            if isinstance(action, MakeCommit):
                self.tried += 1
                if self.tried == 1:
                    self.waiting = action
                    raise LOST
                if self.waiting is not None:
                    landed, self.waiting = self.waiting, None
                    super().do(landed)
            return super().do(action)

    forge = Late(a_standing(HEAD), files=FILES)
    made = pushed(forge)
    assert (made.halt, len(made.commits), len(commits(forge))) == (None, 2, 2)


@pytest.mark.parametrize(
    ("trouble", "halt"),
    [
        (NotPermittedError("Resource not accessible by integration"), Halt.REFUSED),
        (InvalidError("refused"), Halt.INVALID),
        (DeferredError("later"), Halt.UNSURE),
        (StaleError("moved"), Halt.MOVED),
    ],
)
def test_what_the_forge_refuses_ends_it_with_its_words(trouble: ForgeError, halt: Halt) -> None:
    made = pushed(a_forge((MakeCommit, trouble, False)))
    assert (made.halt, made.commits) == (halt, ())
    assert str(trouble) in made.why


def test_answers_that_are_lost_again_and_again_end_it() -> None:
    forge = a_forge(*[(MakeCommit, LOST, False)] * 9)
    made = pushed(forge)
    assert (made.halt, made.commits) == (Halt.UNSURE, ())


def test_a_token_that_is_none_is_no_ending() -> None:
    with pytest.raises(NotAuthorizedError):
        pushed(a_forge((MakeCommit, NotAuthorizedError("no"), False)))


def test_a_commit_with_something_else_in_it_is_noticed_and_nothing_follows() -> None:
    class Helpful(MemoryForge):
        def do(self, action: Action):  # type: ignore[no-untyped-def]
            if isinstance(action, MakeCommit):
                action = replace(action, edits=(*action.edits, Edit("z.py", b"more\n")))
            return super().do(action)

    forge = Helpful(a_standing(HEAD), files=FILES)
    made = pushed(forge)
    assert (made.halt, len(made.commits)) == (Halt.ALTERED, 1)
    assert "is not what was proven" in made.why


def test_a_stacked_pull_request_has_the_commits_on_a_branch_of_its_own() -> None:
    forge = a_forge()
    made = stacked(forge)
    assert (made.halt, made.number, len(made.commits)) == (None, 13, 2)
    assert forge.opened[13] == OpenPull("Fix F1, F2", f"{list(made.commits)}", BRANCH, "topic")
    assert forge.now.pull.head_sha == HEAD
    assert files(forge, BRANCH) == {"a.py": b"a = 2\n", "b.py": b"b = 2\n"}


class Bound(MemoryForge):
    """Knows pull requests that were opened here by their heads."""

    def pull_of(self, head_repository: str, head_ref: str, head_sha: str) -> int | None:
        found = (number for number, one in self.opened.items() if one.head == head_ref)
        there = self.code.branches.get(head_ref) == head_sha
        return next(found, None) if there else super().pull_of(head_repository, head_ref, head_sha)


KINDS: tuple[type[Action], ...] = (MakeBranch, MakeCommit, OpenPull)


@settings(max_examples=examples(60))
@given(st.lists(st.tuples(st.sampled_from(KINDS), st.just(LOST), st.booleans()), max_size=6))
def test_however_many_answers_are_lost_there_is_one_pull_request_with_each_commit_once(troubles: list[Trouble]) -> None:
    forge = Bound(a_standing(HEAD), troubles=troubles, files=FILES)
    for _ in range(8):
        made = stacked(forge)
        if made.halt is None:
            break
    assert made.halt is None
    assert list(forge.opened) == [made.number]
    tip = forge.code.branches[BRANCH]
    chain = []
    while tip != HEAD:
        chain.append(mended.findings(forge.code.commits[tip]))
        (tip,) = forge.code.commits[tip].parents
    assert chain == [("F2",), ("F1",)]


@settings(max_examples=examples(60))
@given(st.lists(st.booleans(), max_size=5))
def test_however_many_answers_are_lost_the_branch_has_each_commit_once(lost: list[bool]) -> None:
    forge = a_forge(*((MakeCommit, LOST, done) for done in lost))
    for _ in range(5):
        upon = mended.upon(forge.now, HEAD)
        assert upon is not None
        left = STEPS[len(upon) :]
        made = pushed(forge, Series("topic", forge.now.pull.head_sha, left))
        if made.halt is None:
            break
    assert made.halt is None
    assert [mended.findings(commit) for commit in mended.upon(forge.now, HEAD) or ()] == [("F1",), ("F2",)]


def test_a_half_done_branch_of_ours_is_begun_anew_and_one_of_others_is_left() -> None:
    forge = Bound(a_standing(HEAD), files=FILES)
    forge.do(MakeBranch(BRANCH, HEAD))
    forge.do(MakeCommit(BRANCH, HEAD, ONE.headline, ONE.body, ONE.edits))
    assert stacked(forge).halt is None
    assert any(isinstance(action, DeleteBranch) for action in forge.done)
    other = Bound(a_standing(HEAD), files=FILES)
    other.do(MakeBranch(BRANCH, HEAD))
    theirs = other.push(BRANCH, ONE.edits, message=f"{ONE.headline}\n\n{ONE.body}", author="reviewbot[bot]")
    made = stacked(other)
    assert (made.halt, made.number) == (Halt.MOVED, 0)
    assert other.code.branches[BRANCH] == theirs.sha


def test_only_what_the_forge_vouches_for_is_ours() -> None:
    forge = a_forge()
    made = pushed(forge)
    assert len(mended.upon(forge.now, HEAD) or ()) == 2
    unsigned = replace(forge.now, commits=tuple(replace(one, is_vouched=False) for one in forge.now.commits))
    assert mended.upon(unsigned, HEAD) is None
    assert mended.last_of_others(forge.now) == HEAD
    assert mended.last_of_others(unsigned) == made.commits[-1]


def test_the_same_fix_upon_what_somebody_pushed_meanwhile_is_not_this_one() -> None:
    """Another run of ours wrote it upon the newer head: nothing of this one goes on top of that."""
    forge = a_forge()
    human = forge.push("topic", (Edit("c.py", b"c\n"),), message="Mine", author="alice")
    forge.do(MakeCommit("topic", human.sha, ONE.headline, ONE.body, ONE.edits))
    made = pushed(forge)
    assert (made.halt, made.commits, len(commits(forge))) == (Halt.MOVED, (), 1)
