"""``git push`` with the hook in place: what a person sees, and what becomes of the push."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from tests.hooks.lab import BROKEN, CLEAN
from tests.hooks.pushing import Pushes

pytestmark = [pytest.mark.ci, pytest.mark.matrix]

ZERO = "0" * 40
DEBUGGED = "def f(x):\n    breakpoint()\n    return x\n"


@pytest.fixture
def pushes(tmp_path: Path) -> Pushes:
    return Pushes(tmp_path)


def lines_for(pushes: Pushes, name: str = "main") -> bytes:
    """What git would say of a push of HEAD to a branch."""
    old = pushes.run("git", "rev-parse", "--verify", "--quiet", f"refs/remotes/origin/{name}").out.strip() or ZERO
    return f"refs/heads/{name} {pushes.id('HEAD')} refs/heads/{name} {old}\n".encode()


def at_remote(pushes: Pushes, name: str = "main") -> str:
    return pushes.run("git", "rev-parse", "--verify", "--quiet", name, cwd=pushes.remote).out.strip()


def test_a_push_is_reviewed_and_goes_on_and_its_finding_can_be_explained(pushes: Pushes):
    pushes.change("second.py", BROKEN)
    pushes.hook("pre-push", watched=True)
    ran = pushes.git("push", "origin", "main")
    assert "reviewing main (1 commit since origin/main " in ran.err
    assert "static panel: no key of a model provider is here" in ran.err
    assert "  F1  medium  second.py:1  Mutable default argument is shared between calls\n" in ran.err
    assert at_remote(pushes) == pushes.id("HEAD")
    (watched,) = pushes.watched()
    assert (watched.code, watched.out, watched.differ) == (0, "", ()), "nothing of the repository is another one"
    assert "B006" in pushes.reviewbot("explain", "F1").out
    assert not list((pushes.folder / "tmp").iterdir()), "nothing is left behind"


def test_checks_that_could_not_run_are_named_and_such_a_review_is_made_again(pushes: Pushes):
    pushes.change("second.py", CLEAN)
    pushes.hook("pre-push", "--sandbox", "none")
    for _ in range(2):
        said = pushes.git("push", "--dry-run", "origin", "main").err
        assert "reviewing main" in said
        assert "reviewbot: not run, or not to the end:" in said
        assert "pytest (" in said


def test_the_second_push_of_the_same_is_told_what_the_first_one_was(pushes: Pushes):
    pushes.change("second.py", BROKEN)
    pushes.hook("pre-push")
    first = pushes.git("push", "--dry-run", "origin", "main").err
    pushes.reviewbot("review", "HEAD~1")
    second = pushes.git("push", "--dry-run", "origin", "main").err
    assert "reviewing main" in first
    assert "reviewing main" not in second
    assert "was reviewed before, and nothing changed; --fresh" in second
    told = "  F1  medium  second.py:1  Mutable default argument is shared between calls\n"
    assert told in first
    assert told in second
    assert "second.py" in pushes.reviewbot("explain", "F1").out, "and is the last review again"


@pytest.mark.smoke
def test_with_fail_on_a_finding_stops_the_push_until_it_is_mended_or_skipped(pushes: Pushes):
    old = pushes.id("HEAD")
    pushes.change("second.py", BROKEN)
    pushes.hook("pre-push", "--fail-on", "medium")
    stopped = pushes.git("push", "origin", "main", check=False)
    assert stopped.code == 1
    assert "medium  second.py:1 " in stopped.err
    assert "SKIP=reviewbot-push" in stopped.err
    assert at_remote(pushes) == old
    skipped = pushes.git("push", "origin", "main", env={"SKIP": "black, reviewbot-push"})
    assert "as SKIP asks" in skipped.err
    assert at_remote(pushes) == pushes.id("HEAD")


def test_what_stops_a_push_is_looked_at_again_by_the_next_one(pushes: Pushes):
    pushes.change("second.py", BROKEN)
    words = ("hook", "run", "pre-push", "--fail-on", "medium", "origin", "x")
    first = pushes.reviewbot(*words, stdin=lines_for(pushes))
    second = pushes.reviewbot(*words, stdin=lines_for(pushes))
    assert (first.code, second.code) == (1, 1)
    assert "reviewing main" in second.err


def test_what_is_dismissed_at_the_keyboard_is_not_told_by_the_next_push(pushes: Pushes):
    pushes.change("second.py", BROKEN)
    words = ("hook", "run", "pre-push", "origin", "x")
    assert "  F1  medium" in pushes.reviewbot(*words, stdin=lines_for(pushes)).err
    dismissed = pushes.reviewbot("dismiss", "F1", "--reason", "shared on purpose")
    assert dismissed.code == 0, dismissed.err
    again = pushes.reviewbot(*words, stdin=lines_for(pushes)).err
    assert "reviewing main" in again
    assert "nothing found in main" in again


def test_several_refs_of_a_push_are_each_told(pushes: Pushes):
    pushes.git("push", "-q", "origin", "main:gone")
    pushes.git("tag", "known")
    pushes.change("second.py", BROKEN)
    pushes.git("checkout", "-q", "-b", "topic")
    pushes.change("third.py", CLEAN)
    pushes.git("tag", "-a", "-m", "x", "v1")
    pushes.hook("pre-push")
    said = pushes.git("push", "origin", "main", "topic", "v1", "known", ":gone").err
    assert "nothing to review in gone: it is deleted" in said
    assert "nothing to review in tag known: its commits are there already" in said
    assert said.index("reviewing main (1 commit since origin/main") < said.index("1 finding in main")
    assert said.index("1 finding in main") < said.index("reviewing topic, tag v1 (1 commit since ")
    assert "nothing found in topic, tag v1 (1 file)" in said
    assert "second.py" in pushes.reviewbot("explain", "F1").out, "of the review that found something"


@pytest.mark.smoke
def test_a_push_of_nothing_or_of_a_deletion_is_one_line(pushes: Pushes):
    pushes.git("push", "-q", "origin", "main:gone")
    pushes.hook("pre-push")
    assert pushes.git("push", "origin", "main").err.startswith("reviewbot: nothing to review: no ref is pushed\n")
    assert pushes.git("push", "origin", ":gone").err.startswith("reviewbot: nothing to review in gone: it is deleted\n")


@pytest.mark.smoke
def test_what_cannot_be_reviewed_is_said_and_stops_only_where_it_is_to(pushes: Pushes):
    lost = pushes.change("second.py", CLEAN)
    pushes.change("third.py", CLEAN)
    (pushes.git_dir / "objects" / lost[:2] / lost[2:]).unlink()
    stdin = lines_for(pushes, "topic")
    ran = pushes.reviewbot("hook", "run", "pre-push", "origin", "x", stdin=stdin)
    assert ran.code == 0
    assert ran.err.startswith("NOT REVIEWED topic: ")
    assert "git fsck" in ran.err
    assert pushes.reviewbot("hook", "run", "pre-push", "--strict", "origin", "x", stdin=stdin).code == 3


def test_a_configuration_at_the_base_that_cannot_be_read_does_not_keep_its_repair_from_being_pushed(pushes: Pushes):
    pushes.change(".reviewbot.yml", "reviw: {}\n")
    pushes.git("push", "-q", "origin", "main")
    pushes.change(".reviewbot.yml", "version: 1\n")
    pushes.hook("pre-push")
    said = pushes.git("push", "origin", "main").err
    assert "NOT REVIEWED main (1 commit since origin/main " in said
    assert "unknown key 'reviw'" in said
    assert at_remote(pushes) == pushes.id("HEAD")


def test_outside_of_a_work_tree_a_push_is_not_stopped(pushes: Pushes):
    ran = pushes.reviewbot("hook", "run", "pre-push", "origin", "x", stdin=lines_for(pushes, "topic"), cwd=pushes.remote)
    assert ran.code == 0
    assert ran.err.startswith("NOT REVIEWED this push:")


@pytest.mark.smoke
@pytest.mark.parametrize("stdin", [b"refs/heads/main\n", b"a b c d\n", b"\xff\x00"])
def test_words_that_git_would_not_say_are_one_line_of_an_error(pushes: Pushes, stdin: bytes):
    ran = pushes.reviewbot("hook", "run", "pre-push", "origin", "x", stdin=stdin)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert ran.err.startswith("reviewbot: error: what is pushed cannot be read: line 1: ")


def test_as_json_a_push_is_one_document_and_nothing_else_is_on_standard_output(pushes: Pushes):
    base = pushes.id("HEAD")
    pushes.change("second.py", BROKEN)
    stdin = lines_for(pushes) + f"(delete) {ZERO} refs/heads/gone {base}\n".encode()
    ran = pushes.reviewbot("hook", "run", "pre-push", "--format", "json", "origin", "x", stdin=stdin)
    gone, main = ran.document["parts"]
    assert (gone["refs"], gone["reason"], gone["review"]) == (["gone"], "it is deleted", None)
    assert (main["refs"], main["base"], main["head"]) == (["main"], base, pushes.id("HEAD"))
    assert [one["path"] for one in main["review"]["findings"]] == ["second.py"]
    empty = pushes.reviewbot("hook", "run", "pre-push", "--format", "json", "origin", "x")
    assert json.loads(empty.out) == {"schema_version": 1, "parts": []}


def test_at_a_terminal_what_is_checked_out_is_reviewed_and_nothing_is_waited_for(pushes: Pushes):
    pushes.change("second.py", BROKEN)
    ours, theirs = pty.openpty()
    try:
        command = [sys.executable, "-m", "reviewbot.cli", "hook", "run", "pre-push"]
        ran = subprocess.run(
            command, cwd=pushes.path, env=pushes.environment, stdin=theirs, capture_output=True, timeout=60, check=False
        )
    finally:
        os.close(ours)
        os.close(theirs)
    said = ran.stderr.decode()
    assert ran.returncode == 0
    assert "a terminal does not" in said
    assert "reviewing main (1 commit since origin/main " in said
    assert "medium  second.py:1 " in said


def test_pre_commit_tells_a_push_in_variables(pushes: Pushes):
    config = (
        "repos:\n- repo: local\n  hooks:\n"
        "  - {id: reviewbot-push, name: reviewbot, language: system, pass_filenames: false, always_run: true, verbose: true,\n"
        f"     stages: [pre-push], entry: {sys.executable} -m reviewbot.cli hook run pre-push}}\n"
    )
    pushes.change(".pre-commit-config.yaml", config)
    pushes.git("push", "-q", "origin", "main")
    pushes.change("second.py", BROKEN)
    pushes.run("pre-commit", "install", "--hook-type", "pre-push", check=True)
    ran = pushes.git("push", "origin", "main")
    said = ran.out + ran.err
    assert "reviewing main (1 commit since origin/main " in said
    assert "medium  second.py:1 " in said
    assert at_remote(pushes) == pushes.id("HEAD")


@pytest.mark.usefixtures("bubblewrap")
def test_tests_are_run_as_in_a_review(pushes: Pushes):
    pushes.repo.write("test_first.py", "from first import double\n\n\ndef test_double():\n    assert double(2) == 4\n")
    pushes.repo.commit("Test it")
    pushes.git("push", "-q", "origin", "main")
    pushes.change("first.py", CLEAN.replace("2 * n", "3 * n"))
    pushes.hook("pre-push", "--fail-on", "high")
    stopped = pushes.git("push", "origin", "main", check=False)
    assert stopped.code == 1, stopped.err
    assert "test_double" in stopped.err


def test_the_last_dismissal_that_is_taken_back_spares_nothing_at_a_push(pushes: Pushes):
    pushes.change("second.py", BROKEN)
    pushes.hook("pre-push", "--fail-on", "low")
    assert pushes.git("push", "origin", "main", check=False).code == 1
    assert pushes.reviewbot("dismiss", "F1", "--reason", "meant so").code == 0
    pushes.git("rm", "-q", "--cached", "second.py")
    pushes.git("add", ".reviewbot")
    pushes.git("commit", "-q", "--amend", "-m", "Dismiss it")
    pushes.git("push", "-q", "origin", "main")
    pushes.change("second.py", BROKEN)
    assert pushes.git("push", "--dry-run", "origin", "main").code == 0
    assert pushes.reviewbot("dismiss", "--undo", "F1").code == 0
    stopped = pushes.git("push", "origin", "main", check=False)
    assert stopped.code == 1
    assert "medium  second.py:1 " in stopped.err


def test_a_push_that_a_hook_of_pre_commit_makes_is_reviewed_as_git_tells_it(pushes: Pushes):
    pushes.git("checkout", "-q", "-b", "topic")
    pushes.change("second.py", BROKEN)
    pushes.git("checkout", "-q", "main")
    pushes.hook("pre-push")
    ran = pushes.git("push", "origin", "topic", env={"PRE_COMMIT": "1"})
    assert "reviewing topic (1 commit" in ran.err
    assert "medium  second.py:1 " in ran.err


def test_a_finding_in_a_file_whose_name_is_no_utf_8_costs_no_other_and_stops_the_push(pushes: Pushes):
    pushes.repo.write("second.py", DEBUGGED)
    (pushes.path / os.fsdecode(b"caf\xe9.py")).write_text(DEBUGGED)
    pushes.repo.commit("Two files")
    pushes.hook("pre-push", "--fail-on", "low")
    stopped = pushes.git("push", "origin", "main", check=False)
    assert stopped.code == 1
    assert "second.py:2 " in stopped.err
    assert "caf\\xe9.py:2 " in stopped.err


def test_a_branch_whose_name_steers_a_terminal_or_is_no_utf_8_is_told_harmlessly(pushes: Pushes):
    name = os.fsdecode("top\u202e\x9bic".encode() + b"\xe9")
    pushes.git("checkout", "-q", "-b", name)
    pushes.change("second.py", BROKEN)
    pushes.hook("pre-push")
    ran = pushes.git("push", "--dry-run", "origin", name)
    said = "\n".join(line for line in ran.err.splitlines() if "reviewbot: " in line)
    assert "1 finding in top" in said
    assert not {"\u202e", "\x9b", "\udce9"} & set(said)
    line = f"refs/heads/{name} {pushes.id('HEAD')} refs/heads/{name} {ZERO}\n"
    ran = pushes.reviewbot("hook", "run", "pre-push", "--format", "json", "origin", "x", stdin=os.fsencode(line))
    assert ran.document["parts"][0]["refs"] == ["top\u202e\x9bic\\xe9"]


def test_a_configuration_of_the_operator_that_cannot_be_read_stops_a_push_only_where_that_is_strict(pushes: Pushes):
    pushes.change("second.py", BROKEN)
    wrong = {"REVIEWBOT__HOOK__SECONDS": "soon"}
    pushes.hook("pre-push")
    ran = pushes.git("push", "--dry-run", "origin", "main", env=wrong)
    assert "NOT REVIEWED this push: hook.seconds is 'soon'" in ran.err
    pushes.hook("pre-push", "--strict")
    assert pushes.git("push", "--dry-run", "origin", "main", env=wrong, check=False).code == 1
