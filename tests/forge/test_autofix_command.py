"""Fixes on request: those that the review of this very head made and proved, and no others; and the last one taken back."""

from __future__ import annotations

import base64
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reviewbot.domain.history import Fate
from reviewbot.domain.repair import RepairOutcome
from reviewbot.publish import fixes
from tests.forge.acting import REVIEWER, Actor, Ran, zipped
from tests.forge.hub import Hub, Pull, Repository
from tests.forge.hub import faults as weather
from tests.forge.hub.state import Comment
from tests.forge.mending import (
    BOT,
    BY_THEM,
    BY_US,
    FIXED,
    MORE,
    WORSE,
    a_pull,
    a_repository,
    an_actor,
    argued,
    commits,
    files,
    log,
    memory,
    reviewed,
    said,
    summary,
)

pytestmark = [pytest.mark.ci, pytest.mark.matrix]

COMMIT = "graphql:createCommitOnBranch"
DONE, REFUSED = ["eyes", "rocket"], ["eyes", "confused"]


@pytest.fixture
def repository(hub: Hub) -> Repository:
    return a_repository(hub)


@pytest.fixture
def pull(repository: Repository) -> Pull:
    return a_pull(repository)


@pytest.fixture
def reviewer(hub: Hub, tmp_path: Path) -> Actor:
    """What reviews, and may not write to branches."""
    return an_actor(hub, tmp_path / "reviewer", REVIEWER)


@pytest.fixture
def actor(hub: Hub, tmp_path: Path) -> Actor:
    """What obeys commands: another machine, with nothing of the other one's."""
    return an_actor(hub, tmp_path / "writer")


def edited(change: Callable[[dict[str, Any]], None]) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Another document of a review: each of its repairs changed."""

    def made(document: dict[str, Any]) -> dict[str, Any]:
        for repair in document["repairs"]:
            change(repair)
        return document

    return made


def unmoved(hub: Hub, repository: Repository) -> None:
    assert [author for author, *_ in log(repository) if author == BOT] == []
    assert COMMIT not in hub.writes()


@pytest.mark.smoke
def test_what_was_proven_is_committed_and_every_outcome_is_told(
    hub: Hub, reviewer: Actor, actor: Actor, pull: Pull, repository: Repository
) -> None:
    argued(hub, reviewer, pull)
    human = pull.head_sha
    ran, reactions, text = said(hub, actor, pull, "/debate fix all")
    assert ran.exit_code == 0, ran.stderr
    assert reactions == DONE, text
    assert log(repository) == [BY_THEM, *BY_US]
    assert files(repository) == FIXED
    assert repository.code.git("rev-parse", "topic~2") == human
    assert "2 of 2 are fixed" in text
    assert f"- `F2` fixed by {pull.head_sha[:10]}" in text
    assert fixes.STARTS_NOTHING in text
    assert ran.outputs["autofix_sha"] == pull.head_sha
    assert memory(pull).history.head == pull.head_sha
    assert [thread.is_resolved for thread in pull.threads] == [True, True]
    assert [(run.name, run.conclusion) for run in repository.check_runs(pull.head_sha)] == [("reviewbot", "success")]
    ran, reactions, text = said(hub, actor, pull, "/debate fix F1")
    assert reactions == DONE
    assert text.count("already") == 1
    assert len(log(repository)) == 3


def test_one_finding_is_fixed_alone_and_the_other_later(
    hub: Hub, reviewer: Actor, actor: Actor, pull: Pull, repository: Repository
) -> None:
    argued(hub, reviewer, pull)
    _, reactions, text = said(hub, actor, pull, f"/debate fix F2 {pull.head_sha[:8]}")
    assert reactions == DONE, text
    assert log(repository) == [BY_THEM, BY_US[1]]
    assert "proven together with F1" in text
    assert "together with the fix of F1" in " ".join(repository.code.git("log", "-1", "--format=%B", "topic").split())
    assert "1 finding" in summary(pull)
    _, reactions, text = said(hub, actor, pull, "/debate fix")
    assert log(repository) == [BY_THEM, BY_US[1], BY_US[0]]
    assert "- `F2` fixed by" in text
    assert files(repository) == FIXED


def test_a_commit_that_was_named_is_the_only_one_that_is_fixed(
    hub: Hub, reviewer: Actor, actor: Actor, pull: Pull, repository: Repository
) -> None:
    argued(hub, reviewer, pull)
    _, reactions, text = said(hub, actor, pull, f"/debate fix all {'1234567' * 5}")
    assert reactions == REFUSED
    assert f"the head is `{pull.head_sha[:10]}`, not `{'1234567' * 5}`" in text
    unmoved(hub, repository)


def test_what_was_pushed_since_the_review_is_not_written_upon(
    hub: Hub, reviewer: Actor, actor: Actor, pull: Pull, repository: Repository
) -> None:
    argued(hub, reviewer, pull)
    reviewed_head, head = pull.head_sha, pull.push({"mine.py": "x = 1\n"})
    _, reactions, text = said(hub, actor, pull, "/debate fix")
    assert reactions == REFUSED
    assert f"the head is `{head[:10]}` now, and the last review was of `{reviewed_head[:10]}`" in text
    unmoved(hub, repository)


def test_a_head_that_moves_between_the_command_and_the_commit_gets_none(
    hub: Hub, reviewer: Actor, actor: Actor, pull: Pull, repository: Repository
) -> None:
    argued(hub, reviewer, pull)
    hub.faults.append(weather.meanwhile(COMMIT, lambda: pull.push({"mine.py": "x = 1\n"})))
    _, reactions, text = said(hub, actor, pull, "/debate fix")
    assert reactions == REFUSED
    assert text.count("the head moved meanwhile, and nothing is written over that") == 2
    assert [author for author, *_ in log(repository)] == ["octocat", "octocat"]
    assert files(repository) == WORSE | {"mine.py": "x = 1\n"}


def test_a_review_without_fixes_says_what_to_set(
    hub: Hub, reviewer: Actor, actor: Actor, pull: Pull, repository: Repository
) -> None:
    argued(hub, reviewer, pull, autofix="off")
    _, reactions, text = said(hub, actor, pull, "/debate fix")
    assert reactions == REFUSED
    assert "made no fixes. Set `autofix: suggest`" in text
    unmoved(hub, repository)


@pytest.mark.parametrize(
    ("autofix", "told"), [("", "`autofix` is `off` in this job"), ("suggest", "'autofix' is 'suggest'")], ids=["off", "suggest"]
)
def test_a_job_that_may_not_write_says_so(
    hub: Hub, reviewer: Actor, actor: Actor, pull: Pull, repository: Repository, autofix: str, told: str
) -> None:
    argued(hub, reviewer, pull)
    _, reactions, text = said(hub, actor, pull, "/debate fix", autofix=autofix)
    assert reactions == REFUSED
    assert told in text
    unmoved(hub, repository)


def test_before_any_review_and_without_its_document_there_is_nothing_to_write(
    hub: Hub, reviewer: Actor, actor: Actor, pull: Pull, repository: Repository
) -> None:
    _, reactions, text = said(hub, actor, pull, "/debate fix")
    assert (reactions, "no review of this pull request is remembered" in text) == (REFUSED, True)
    reviewed(hub, reviewer, pull, autofix="suggest")
    _, reactions, text = said(hub, actor, pull, "/debate fix")
    assert (reactions, "the document of the review did not travel" in text) == (REFUSED, True)
    unmoved(hub, repository)


def test_what_is_unknown_dismissed_or_failed_is_told_with_its_reason(
    hub: Hub, reviewer: Actor, actor: Actor, pull: Pull, repository: Repository
) -> None:
    def failed(document: dict[str, Any]) -> dict[str, Any]:
        document["repairs"][0] |= {
            "outcome": "failed",
            "why": "the check of F1 does not pass with it",
            "patch": "",
            "proof": None,
        }
        return document

    argued(hub, reviewer, pull, forge=failed)
    said(hub, actor, pull, "/debate dismiss F2 on purpose")
    _, reactions, text = said(hub, actor, pull, "/debate fix F1 F2 F9")
    assert reactions == REFUSED
    assert "- `F1` failed: the check of F1 does not pass with it" in text
    assert "- `F2` skipped: it is dismissed already" in text
    assert "- `F9` skipped: no such finding is known here" in text
    unmoved(hub, repository)


WORKFLOW = """\
diff --git a/.github/workflows/evil.yml b/.github/workflows/evil.yml
new file mode 100644
index 0000000000000000000000000000000000000000..257cc5642cb1a054f08cc83f2d943e56fd3ebe99
--- /dev/null
+++ b/.github/workflows/evil.yml
@@ -0,0 +1 @@
+foo
"""
RENAMED = (
    "diff --git a/a.py b/.github/workflows/x.yml\nsimilarity index 100%\nrename from a.py\nrename to .github/workflows/x.yml\n"
)


@pytest.mark.parametrize("patch", [WORKFLOW, RENAMED, "no patch", "\0" * 40], ids=["added", "renamed", "none", "zeros"])
def test_a_document_that_was_tampered_with_writes_nothing(
    hub: Hub, reviewer: Actor, actor: Actor, pull: Pull, repository: Repository, patch: str
) -> None:
    """Whoever may write can have a run of theirs leave any artifact: each patch passes the gate again."""

    def put(repair: dict[str, Any]) -> None:
        is_64 = repair.get("encoding") == "base64"
        repair["patch"] = base64.b64encode(patch.encode()).decode() if is_64 else patch

    argued(hub, reviewer, pull, forge=edited(put))
    head = pull.head_sha
    _, reactions, text = said(hub, actor, pull, "/debate fix")
    assert reactions == REFUSED
    assert (pull.head_sha, files(repository)) == (head, WORSE)
    assert "fixed by" not in text
    unmoved(hub, repository)


def test_an_artifact_of_a_run_that_is_not_ours_is_not_looked_at(
    hub: Hub, reviewer: Actor, actor: Actor, pull: Pull, repository: Repository
) -> None:
    reviewed(hub, reviewer, pull, autofix="suggest")
    other = repository.run("other", pull=pull)
    repository.artifact(other, "reviewbot-review", zipped(review=(reviewer.documents / "review.json").read_bytes()))
    _, reactions, text = said(hub, actor, pull, "/debate fix")
    assert (reactions, "did not travel" in text) == (REFUSED, True)
    unmoved(hub, repository)


@pytest.mark.parametrize("how", ["token", "protected"])
def test_where_it_may_not_be_written_the_answer_has_the_diffs(
    hub: Hub, reviewer: Actor, tmp_path: Path, pull: Pull, repository: Repository, how: str
) -> None:
    argued(hub, reviewer, pull)
    actor = an_actor(hub, tmp_path / "weak", REVIEWER | {"actions": "read"} if how == "token" else None)
    if how == "protected":
        repository.protect("topic")
    head = pull.head_sha
    ran, reactions, text = said(hub, actor, pull, "/debate fix")
    assert reactions == REFUSED
    assert pull.head_sha == head
    assert ("contents: write" if how == "token" else "the branch topic is protected") in text
    assert text.count("```diff") == 2
    assert (actor.documents / "fixes.patch").read_bytes().count(b"diff --git ") == 2
    assert ran.outputs["autofix_sha"] == ""


def test_a_fork_s_fixes_are_shown(hub: Hub, tmp_path: Path, actor: Actor, repository: Repository) -> None:
    fork = repository.fork("ada/app")
    fork.commit("topic", WORSE, "Change", author="ada")
    pull = repository.pull("Change", "topic", author="ada", head_repository=fork)
    argued(hub, an_actor(hub, tmp_path / "reviewer"), pull)
    _, reactions, text = said(hub, actor, pull, "/debate fix")
    assert reactions == REFUSED
    assert text.count("the head is a fork's") == 2
    assert text.count("```diff") == 2
    assert files(fork) == WORSE


def test_a_command_may_ask_for_a_pull_request(
    hub: Hub, reviewer: Actor, actor: Actor, pull: Pull, repository: Repository
) -> None:
    repository.actions_may_approve = True
    argued(hub, reviewer, pull)
    _, reactions, text = said(hub, actor, pull, "/debate fix", autofix="pull_request")
    assert reactions == DONE, text
    assert f"- `F1` waits in #{repository.pulls[-1].number}" in text
    assert files(repository, repository.pulls[-1].head_ref) == FIXED
    assert files(repository) == WORSE
    _, reactions, text = said(hub, actor, pull, "/debate fix", autofix="commit")
    assert f"- `F1` waits in #{repository.pulls[-1].number}" in text
    assert files(repository) == WORSE
    _, reactions, text = said(hub, actor, pull, "/debate undo")
    assert (reactions, "close that pull request" in text) == (REFUSED, True)


def test_after_a_revert_nobody_has_fixes_written(
    hub: Hub, reviewer: Actor, actor: Actor, pull: Pull, repository: Repository
) -> None:
    argued(hub, reviewer, pull)
    said(hub, actor, pull, "/debate fix F1")
    ours = pull.head_sha
    pull.push({"a.py": WORSE["a.py"]}, f"This reverts commit {ours}.")
    argued(hub, reviewer, pull)
    _, reactions, text = said(hub, actor, pull, "/debate fix F2")
    assert reactions == REFUSED
    assert f"octocat took {ours[:10]} back" in text
    assert memory(pull).autofix_off
    assert files(repository) == WORSE


# Taken back


def test_undo_puts_the_files_back_byte_for_byte_and_does_not_fix_that_again(
    hub: Hub, reviewer: Actor, actor: Actor, pull: Pull, repository: Repository
) -> None:
    argued(hub, reviewer, pull)
    said(hub, actor, pull, "/debate fix all")
    ours = pull.head_sha
    ran, reactions, text = said(hub, actor, pull, "/debate undo")
    assert ran.exit_code == 0, ran.stderr
    assert reactions == DONE, text
    assert repository.code.git("rev-parse", "topic^{tree}") == repository.code.git("rev-parse", "topic~2^{tree}")
    author, headline, marks = commits(repository)[-1]
    assert (author, headline, marks["Finding"], marks["Undo"]) == (BOT, "Take the fix of F2 back", ["F2"], [ours])
    assert f"This reverts commit {ours}." in repository.code.git("log", "-1", "--format=%B", "topic")
    kept = memory(pull)
    assert [(made.id, made.outcome, made.why) for made in kept.mended if made.id == "F2"] == [
        ("F2", RepairOutcome.SKIPPED, "undone by octocat")
    ]
    assert {known.id: known.fate for known in kept.history.findings} == {"F1": Fate.FIXED, "F2": Fate.OPEN}
    assert kept.history.head == pull.head_sha
    assert not kept.autofix_off
    assert "F2 carried" in summary(pull)
    assert [(run.name, run.conclusion) for run in repository.check_runs(pull.head_sha)] == [("reviewbot", "neutral")]
    ran, reactions, text = said(hub, actor, pull, "/debate undo")
    assert (reactions, commits(repository)[-1][1]) == (DONE, "Take the fix of F1 back")
    assert files(repository) == WORSE
    ran, reactions, text = said(hub, actor, pull, "/debate undo")
    assert (reactions, "there is no commit of mine" in text) == (REFUSED, True)
    pull.push(MORE)
    reviewed(hub, an_actor(hub, reviewer.folder), pull, "synchronize")
    assert [headline for _, headline, _ in log(repository)][-1] == "Fix F3: `re` imported but unused"
    assert {path: text for path, text in files(repository).items() if path in WORSE} == WORSE


def test_undo_keeps_what_others_pushed_beside_it_and_refuses_where_they_changed_the_same_file(
    hub: Hub, reviewer: Actor, actor: Actor, pull: Pull, repository: Repository
) -> None:
    argued(hub, reviewer, pull)
    said(hub, actor, pull, "/debate fix all")
    pull.push({"b.py": "def g(x):\n    return x + 2\n", "mine.py": "x = 1\n"})
    head = pull.head_sha
    _, reactions, text = said(hub, actor, pull, "/debate undo")
    assert reactions == REFUSED
    assert "somebody changed `b.py` since" in text
    assert pull.head_sha == head
    pull.push({"b.py": FIXED["b.py"]})
    _, reactions, text = said(hub, actor, pull, "/debate undo")
    assert reactions == DONE, text
    assert files(repository) == {"a.py": FIXED["a.py"], "b.py": WORSE["b.py"], "mine.py": "x = 1\n"}


def test_undo_after_a_person_did_it_says_so(hub: Hub, reviewer: Actor, actor: Actor, pull: Pull, repository: Repository) -> None:
    argued(hub, reviewer, pull)
    said(hub, actor, pull, "/debate fix F1")
    pull.push({"a.py": WORSE["a.py"]}, "Back")
    head = pull.head_sha
    _, reactions, text = said(hub, actor, pull, "/debate undo")
    assert reactions == REFUSED
    assert "somebody took" in text
    assert pull.head_sha == head


def test_undo_of_a_head_that_moves_writes_nothing(
    hub: Hub, reviewer: Actor, actor: Actor, pull: Pull, repository: Repository
) -> None:
    argued(hub, reviewer, pull)
    said(hub, actor, pull, "/debate fix F1")
    hub.faults.append(weather.meanwhile(COMMIT, lambda: pull.push({"mine.py": "x = 1\n"})))
    _, reactions, text = said(hub, actor, pull, "/debate undo")
    assert reactions == REFUSED
    assert "the head moved meanwhile" in text
    assert files(repository)["a.py"] == FIXED["a.py"]


def test_an_undo_can_be_done_again_by_a_command(
    hub: Hub, reviewer: Actor, actor: Actor, pull: Pull, repository: Repository
) -> None:
    argued(hub, reviewer, pull)
    said(hub, actor, pull, "/debate fix F1")
    said(hub, actor, pull, "/debate undo")
    _, reactions, text = said(hub, actor, pull, "/debate fix F1")
    assert reactions == DONE, text
    assert [headline for _, headline, _ in log(repository)][1:] == [BY_US[0][1], "Take the fix of F1 back", BY_US[0][1]]
    assert files(repository)["a.py"] == FIXED["a.py"]


# Elsewhere


@pytest.mark.smoke
def test_an_issue_is_told_where_its_fix_comes_from(hub: Hub, actor: Actor, repository: Repository) -> None:
    issue = repository.issue("It breaks", "A traceback")

    def asked(login: str, words: str) -> Ran:
        comment = Comment(hub.next_id(), hub.user(login), words, issue, hub.now(), hub.now())
        issue.comments.append(comment)
        return actor.run("issue_comment", hub.event("issue_comment", action="created", comment=comment), autofix="commit")

    ran = asked("octocat", "/debate fix")
    assert ran.exit_code == 0, ran.stderr
    assert ran.writes == ("issues/create-comment",)
    assert "reviewbot fix --report FILE" in issue.comments[-1].body
    ran = asked("passerby", "/debate fix")
    assert (ran.outputs["skip_reason"], ran.writes) == ("missing_permission", ())
    ran = asked("octocat", "/debate full")
    assert (ran.outputs["skip_reason"], ran.calls) == ("not_a_pull_request", 0)
