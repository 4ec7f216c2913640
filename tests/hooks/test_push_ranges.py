"""What of a push is reviewed against what: real pushes to real remotes, as git tells a hook of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from reviewbot.adapters.git.place import EMPTY_TREES
from reviewbot.errors import RevisionError
from reviewbot.events.pushed import Push, read
from reviewbot.wiring.outgoing import Nothing, Part, Range, Unreadable, outgoing
from tests.hooks.pushing import Pushes

pytestmark = pytest.mark.matrix(parts=1)


@pytest.fixture
def pushes(tmp_path: Path) -> Pushes:
    return Pushes(tmp_path)


def only(parts: tuple[Part, ...]) -> Range:
    (part,) = parts
    assert isinstance(part, Range), part
    return part


def ends(part: Part) -> tuple[tuple[str, ...], str, str, int]:
    assert isinstance(part, Range), part
    return part.names, part.base, part.head, part.commits


def test_a_branch_is_reviewed_from_where_the_remote_has_it(pushes: Pushes):
    old, head = pushes.id("HEAD"), pushes.change("a.py")
    part = only(pushes.parts("origin", "main"))
    assert ends(part) == (("main",), old, head, 1)
    assert part.subject == f"main (1 commit since origin/main {old[:10]})"


def test_a_new_branch_is_reviewed_from_where_it_left_what_the_remote_has(pushes: Pushes):
    pushes.git("checkout", "-q", "-b", "first")
    left = pushes.change("a.py")
    pushes.git("push", "-q", "origin", "first")
    pushes.git("checkout", "-q", "-b", "second")
    pushes.change("b.py")
    head = pushes.change("c.py")
    part = only(pushes.parts("origin", "second"))
    assert ends(part) == (("second",), left, head, 2)
    assert "since origin/first" in part.words


def test_a_new_branch_that_left_in_the_middle_of_another_says_of_which(pushes: Pushes):
    left = pushes.id("HEAD")
    pushes.change("a.py")
    pushes.git("push", "-q", "origin", "main")
    pushes.git("checkout", "-q", "-b", "topic", left)
    head = pushes.change("b.py")
    part = only(pushes.parts("origin", "topic"))
    assert ends(part) == (("topic",), left, head, 1)
    assert part.words == f"since {left[:10]} of origin/main"


def test_the_first_push_of_all_is_reviewed_from_the_first_commit_on(pushes: Pushes):
    pushes.git("remote", "remove", "origin")
    pushes.bare("empty")
    head = pushes.change("a.py")
    part = only(pushes.parts("empty", "main"))
    assert ends(part) == (("main",), EMPTY_TREES["sha1"], head, 2)
    assert "from the first one on" in part.words
    assert not part.has_base


def test_a_remote_of_which_nothing_is_known_has_what_others_have(pushes: Pushes):
    old, head = pushes.id("HEAD"), pushes.change("a.py")
    pushes.bare("fork")
    pushes.git("remote", "set-head", "origin", "main")
    part = only(pushes.parts("fork", "main"))
    assert ends(part) == (("main",), old, head, 1)
    assert part.words == f"since origin/main {old[:10]}", "and not origin/HEAD"


def test_a_remote_without_a_name_is_known_by_its_address(pushes: Pushes):
    pushes.bare("other")
    pushes.change("a.py")
    pushes.git("push", "-q", "other", "main")
    old, head = pushes.id("origin/main"), pushes.change("b.py")
    told = pushes.told(str(pushes.remote), "main:topic")
    assert told.remote == told.url == str(pushes.remote)
    assert ends(only(outgoing(pushes.order(), told))) == (("topic",), old, head, 2)


def test_a_remote_that_nothing_tracks_has_what_git_says_of_it_in_the_push(pushes: Pushes):
    old, head = pushes.id("HEAD"), pushes.change("a.py")
    pushes.git("remote", "remove", "origin")
    part = only(pushes.parts(str(pushes.remote), "main"))
    assert ends(part) == (("main",), old, head, 1)
    assert part.words == f"since {old[:10]}"


def test_a_deleted_branch_and_notes_bring_nothing(pushes: Pushes):
    pushes.git("push", "-q", "origin", "main:gone")
    pushes.git("notes", "add", "-m", "a note")
    deleted, notes = pushes.parts("origin", ":gone", "refs/notes/commits")
    assert deleted == Nothing("gone", "it is deleted")
    assert isinstance(notes, Nothing)


def test_what_is_rewritten_is_reviewed_from_where_both_begin(pushes: Pushes):
    fork = pushes.id("HEAD")
    old = pushes.change("a.py")
    pushes.git("push", "-q", "origin", "main")
    pushes.git("reset", "-q", "--hard", fork)
    head = pushes.change("b.py")
    part = only(pushes.parts("--force", "origin", "main"))
    assert ends(part) == (("main",), fork, head, 1)
    assert part.notes == (f"main is rewritten: {old[:10]} is no longer in it",)


def test_a_branch_that_goes_back_brings_nothing(pushes: Pushes):
    fork = pushes.id("HEAD")
    pushes.change("a.py")
    pushes.git("push", "-q", "origin", "main")
    (part,) = pushes.parts("--force", "origin", f"{fork}:main")
    assert isinstance(part, Nothing)


def test_a_rebased_branch_is_reviewed_without_what_others_pushed(pushes: Pushes):
    pushes.git("checkout", "-q", "-b", "topic")
    pushes.change("a.py")
    pushes.git("push", "-q", "origin", "topic")
    theirs = pushes.elsewhere()
    pushes.git("fetch", "-q", "origin")
    pushes.git("rebase", "-q", "origin/main")
    part = only(pushes.parts("--force", "origin", "topic"))
    assert ends(part) == (("topic",), theirs, pushes.id("HEAD"), 1)


def test_a_merge_of_what_others_pushed_is_reviewed_without_that(pushes: Pushes):
    pushes.git("checkout", "-q", "-b", "topic")
    old = pushes.change("a.py")
    pushes.git("push", "-q", "origin", "topic")
    for number in range(3):
        pushes.elsewhere(f"theirs{number}.py")
    pushes.git("fetch", "-q", "origin")
    pushes.git("merge", "-q", "-m", "Merge", "origin/main")
    part = only(pushes.parts("origin", "topic"))
    assert (part.base, part.commits) == (pushes.id("origin/main"), 2), "1 of before, and the merge; not 4"
    assert old not in part.base


def test_an_old_end_that_was_never_fetched_is_said_and_what_is_known_counts(pushes: Pushes):
    known = pushes.id("HEAD")
    theirs = pushes.elsewhere()
    head = pushes.change("a.py")
    part = only(pushes.parts("--force", "origin", "main"))
    assert ends(part) == (("main",), known, head, 1)
    (note,) = part.notes
    assert theirs[:10] in note
    assert "git fetch" in note


def test_tags_of_what_the_remote_has_bring_nothing_and_others_are_reviewed(pushes: Pushes):
    old = pushes.id("HEAD")
    pushes.git("tag", "known")
    pushes.git("tag", "-a", "-m", "x", "known-too")
    head = pushes.change("a.py")
    pushes.git("tag", "-a", "-m", "x", "v1")
    *nothing, part = pushes.parts("origin", "--tags")
    assert {one.name for one in nothing if isinstance(one, Nothing)} == {"tag known", "tag known-too"}
    assert ends(part) == (("tag v1",), old, head, 1)


def test_a_tag_of_no_commit_brings_nothing(pushes: Pushes):
    pushes.git("tag", "blob", pushes.git("rev-parse", "HEAD:first.py").out.strip())
    assert pushes.parts("origin", "blob") == (Nothing("tag blob", "it names no commit"),)


def test_the_same_commits_by_several_refs_are_reviewed_once(pushes: Pushes):
    old, head = pushes.id("HEAD"), pushes.change("a.py")
    pushes.git("tag", "v1")
    pushes.git("tag", "-a", "-m", "x", "v2")
    part = only(pushes.parts("origin", "main", "main:topic", "v1", "v2"))
    assert ends(part) == (("main", "topic", "tag v1", "tag v2"), old, head, 1)


def test_of_branches_upon_each_other_every_commit_is_reviewed_once(pushes: Pushes):
    names = ("one", "two", "three", "four", "five", "six")
    heads = [pushes.id("HEAD")]
    for name in names:
        pushes.git("checkout", "-q", "-b", name)
        heads.append(pushes.change(f"{name}.py"))
    found = [ends(part) for part in pushes.parts("origin", "three", "six", "one", "five", "two", "four")]
    assert found == [((name,), heads[place], heads[place + 1], 1) for place, name in enumerate(names)]


def test_a_branch_that_catches_up_with_another_one_is_reviewed_from_where_it_was(pushes: Pushes):
    old = pushes.id("HEAD")
    pushes.git("checkout", "-q", "-b", "topic")
    head = pushes.change("a.py")
    pushes.git("push", "-q", "origin", "topic")
    assert ends(only(pushes.parts("origin", "topic:main"))) == (("main",), old, head, 1)
    (new,) = pushes.parts("origin", "topic:other")
    assert new == Nothing("other", "its commits are there already, in origin/topic")


def test_a_ref_that_gerrit_makes_a_change_of_is_reviewed(pushes: Pushes):
    old, head = pushes.id("HEAD"), pushes.change("a.py")
    pushes.git("checkout", "-q", "--detach")
    told = pushes.told("origin", "HEAD:refs/for/main")
    assert ends(only(outgoing(pushes.order(), told))) == (("refs/for/main",), old, head, 1)


def test_what_was_typed_in_place_of_a_ref_is_reviewed(pushes: Pushes):
    old = pushes.id("HEAD")
    middle = pushes.change("a.py")
    pushes.change("b.py")
    assert ends(only(pushes.parts("origin", ":/Write a.py:refs/heads/middle"))) == (("middle",), old, middle, 1)


def shallow(pushes: Pushes) -> Pushes:
    """The same remote, cloned with the last commit alone."""
    pushes.change("a.py")
    pushes.git("push", "-q", "origin", "main")
    clone = pushes.folder / "shallow"
    pushes.run("git", "clone", "-q", "--depth=1", f"file://{pushes.remote}", str(clone), cwd=pushes.folder, check=True)
    pushes.repo.path = pushes.path = clone
    pushes.__dict__.pop("git_dir", None)
    return pushes


def test_in_a_shallow_clone_what_is_new_is_reviewed(pushes: Pushes):
    pushes = shallow(pushes)
    old, head = pushes.id("HEAD"), pushes.change("b.py")
    assert ends(only(pushes.parts("origin", "main"))) == (("main",), old, head, 1)


def test_a_commit_whose_parents_are_missing_is_told_with_the_next_step(pushes: Pushes):
    pushes = shallow(pushes)
    pushes.git("remote", "remove", "origin")
    pushes.bare("other")
    pushes.change("b.py")
    (part,) = pushes.parts("other", "main")
    assert isinstance(part, Unreadable)
    assert "git fetch --unshallow" in part.why


def test_history_that_is_damaged_is_told_for_the_ref_that_has_it(pushes: Pushes):
    pushes.git("checkout", "-q", "-b", "bad")
    lost = pushes.change("a.py")
    bad = pushes.change("b.py")
    pushes.git("checkout", "-q", "main")
    good = pushes.change("c.py")
    zero = "0" * 40
    lines = "".join(f"refs/heads/{name} {head} refs/heads/{name} {zero}\n" for name, head in (("bad", bad), ("good", good)))
    (pushes.git_dir / "objects" / lost[:2] / lost[2:]).unlink()
    found = outgoing(pushes.order(), Push(read(lines.encode()), "origin", ""))
    assert [part.names for part in found if isinstance(part, Unreadable)] == [("bad",)]
    assert [part.names for part in found if isinstance(part, Range)] == [("good",)]


def test_by_hand_it_is_what_is_checked_out_to_where_it_goes(pushes: Pushes):
    old, head = pushes.id("HEAD"), pushes.change("a.py")
    push = pushes.here()
    assert (push.remote, push.refs[0].remote_ref, push.refs[0].old) == ("origin", "refs/heads/main", old)
    assert ends(only(outgoing(pushes.order(), push))) == (("main",), old, head, 1)


def test_by_hand_without_an_upstream_or_a_branch_it_is_new_to_the_remote(pushes: Pushes):
    old = pushes.id("HEAD")
    pushes.git("checkout", "-q", "-b", "topic")
    head = pushes.change("a.py")
    assert ends(only(outgoing(pushes.order(), pushes.here()))) == (("topic",), old, head, 1)
    pushes.git("checkout", "-q", "--detach")
    assert ends(only(outgoing(pushes.order(), pushes.here()))) == (("HEAD",), old, head, 1)
    fork = pushes.bare("fork")
    assert pushes.here(Push((), "fork", str(fork))).remote == "fork"


def test_by_hand_before_the_first_commit_there_is_nothing_to_push(pushes: Pushes):
    pushes.git("checkout", "-q", "--orphan", "empty")
    with pytest.raises(RevisionError, match="commit something first"):
        pushes.here()


def test_of_hundreds_of_tags_each_is_told(pushes: Pushes):
    pushes.git("update-ref", "--stdin", stdin=b"".join(b"create refs/tags/t%d HEAD\n" % n for n in range(300)))
    parts = pushes.parts("origin", "--tags")
    assert len(parts) == 300
    assert all(isinstance(part, Nothing) for part in parts)
