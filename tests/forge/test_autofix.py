"""Fixes that a review commits unasked: proven ones, upon the head that was reviewed, once, and never again after somebody said no."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from reviewbot.domain.repair import RepairOutcome
from reviewbot.publish import fixes
from tests.forge.acting import REVIEWER, Actor
from tests.forge.hub import Hub, Pull, Repository
from tests.forge.hub import faults as weather
from tests.forge.mending import (
    BOT,
    BY_THEM,
    BY_US,
    FIXED,
    MORE,
    PLAIN,
    WORSE,
    a_pull,
    a_repository,
    an_actor,
    commits,
    files,
    log,
    memory,
    reviewed,
    summary,
)

pytestmark = [pytest.mark.ci, pytest.mark.matrix]

COMMIT = "graphql:createCommitOnBranch"


@pytest.fixture
def repository(hub: Hub) -> Repository:
    return a_repository(hub)


@pytest.fixture
def pull(repository: Repository) -> Pull:
    return a_pull(repository)


@pytest.fixture
def actor(hub: Hub, tmp_path: Path) -> Actor:
    return an_actor(hub, tmp_path)


@pytest.mark.smoke
def test_each_proven_fix_is_a_commit_that_names_its_finding_and_its_check(
    hub: Hub, actor: Actor, pull: Pull, repository: Repository
) -> None:
    human = pull.head_sha
    ran = reviewed(hub, actor, pull)
    assert ran.exit_code == 0, ran.stderr
    assert log(repository) == [BY_THEM, *BY_US]
    assert all("F401" in marks["Check"][0] for _, _, marks in commits(repository)[1:])
    assert files(repository) == FIXED
    assert repository.code.git("rev-parse", "topic~2") == human
    assert ran.outputs["autofix_sha"] == pull.head_sha
    assert ran.outputs["reviewed_sha"] == human
    assert [thread.is_resolved for thread in pull.threads] == [True, True]
    assert [(run.name, run.conclusion) for run in repository.check_runs(pull.head_sha)] == [("reviewbot", "success")]
    said = summary(pull)
    assert f"- `F1` fixed by {repository.code.git('rev-parse', 'topic~1')[:10]}" in said
    assert said.count(fixes.STARTS_NOTHING) == 1
    assert "**0 findings**" in said
    kept = memory(pull)
    assert (kept.history.head, kept.mended_head, kept.unfinished) == (pull.head_sha, human, "")


def test_our_own_push_starts_nothing_and_the_same_head_gets_no_second_commit(hub: Hub, actor: Actor, pull: Pull) -> None:
    human = hub.event("pull_request", action="opened", pull=pull)
    reviewed(hub, actor, pull)
    head = pull.head_sha
    ours = reviewed(hub, actor, pull, "synchronize", sender=BOT)
    assert (ours.outputs["skip_reason"], ours.writes) == ("own_commit", ())
    theirs = reviewed(hub, actor, pull, "reopened")
    assert (theirs.outputs["skip_reason"], theirs.writes) == ("already_reviewed", ())
    again = actor.run("pull_request", human, autofix="commit")
    assert (again.outputs["skip_reason"], again.writes) == ("head_moved", ())
    assert pull.head_sha == head


def test_the_next_push_does_not_pay_for_our_commits_and_has_fixes_of_its_own(
    hub: Hub, actor: Actor, pull: Pull, repository: Repository
) -> None:
    reviewed(hub, actor, pull)
    pull.push(MORE)
    ran = reviewed(hub, actor, pull, "synchronize")
    assert ran.outputs["range_mode"] == "incremental"
    assert [found["id"] for found in json.loads(ran.outputs["findings_json"])] == ["F3"]
    assert [headline for _, headline, _ in log(repository)][-2:] == ["More", "Fix F3: `re` imported but unused"]
    assert files(repository) == FIXED | {"c.py": "def h(x):\n    return x\n"}
    assert {made.id for made in memory(pull).mended if made.is_written} == {"F1", "F2", "F3"}


def off(hub: Hub, actor: Actor, pull: Pull, repository: Repository) -> str:
    """The next push brings something that could be mended, and nobody mends it: what the summary says."""
    head = pull.push(MORE)
    ran = reviewed(hub, actor, pull, "synchronize")
    assert ran.exit_code == 0, ran.stderr
    assert pull.head_sha == head
    assert ran.outputs["autofix_sha"] == ""
    kept = memory(pull)
    assert kept.autofix_off
    pull.push({"d.py": "import abc\n\n\ndef i(x):\n    return x\n"})
    reviewed(hub, actor, pull, "synchronize")
    assert [author for author, *_ in log(repository)][-1] == "octocat"
    assert memory(pull).autofix_off
    said = summary(pull)
    assert said.count("**No more fixes are written on this pull request:**") == 1
    assert any("import re" in thread.comments[0].body or "`re`" in thread.comments[0].body for thread in pull.threads)
    return said


def test_a_revert_by_a_person_ends_it_for_good(hub: Hub, actor: Actor, pull: Pull, repository: Repository) -> None:
    reviewed(hub, actor, pull)
    ours = repository.code.git("rev-parse", "topic~1")
    pull.push({"a.py": WORSE["a.py"]}, f'Revert "Fix F1"\n\nThis reverts commit {ours}.')
    reviewed(hub, actor, pull, "synchronize")
    assert f"octocat took {ours[:10]} back, the fix of F1" in summary(pull)
    assert files(repository)["a.py"] == WORSE["a.py"]
    assert "octocat took" in off(hub, actor, pull, repository)


def test_a_revert_without_a_word_ends_it_for_good(hub: Hub, actor: Actor, pull: Pull, repository: Repository) -> None:
    reviewed(hub, actor, pull)
    pull.push({"a.py": WORSE["a.py"]}, "Tidy up")
    reviewed(hub, actor, pull, "synchronize")
    assert files(repository)["a.py"] == WORSE["a.py"]
    said = off(hub, actor, pull, repository)
    assert "the fix of F1" in said or "F1 is back" in said


def test_a_push_over_our_commits_ends_it_for_good(hub: Hub, actor: Actor, pull: Pull, repository: Repository) -> None:
    reviewed(hub, actor, pull)
    pull.force_push({**WORSE, "e.py": "x = 1\n"})
    reviewed(hub, actor, pull, "synchronize")
    assert "was pushed over" in summary(pull)
    assert files(repository) == WORSE | {"e.py": "x = 1\n"}
    assert "was pushed over" in off(hub, actor, pull, repository)


def test_a_rebase_that_keeps_our_commits_ends_nothing(hub: Hub, actor: Actor, pull: Pull, repository: Repository) -> None:
    reviewed(hub, actor, pull)
    messages = [repository.code.git("log", "-1", "--format=%B", f"topic~{n}") for n in (2, 1, 0)]
    base = repository.commit("main", {"other.txt": "new\n"}, "Meanwhile")
    steps = [WORSE, {"a.py": FIXED["a.py"]}, {"b.py": FIXED["b.py"]}]
    repository.commit("rebased", steps[0], messages[0], parent=base)
    for step, message in zip(steps[1:], messages[1:], strict=True):
        repository.commit("rebased", step, message)
    repository.code.git("update-ref", "refs/heads/topic", "refs/heads/rebased")
    hub.follow_heads(repository)
    assert reviewed(hub, actor, pull, "synchronize").outputs["range_mode"] == "unchanged"
    pull.push(MORE)
    assert reviewed(hub, actor, pull, "synchronize").outputs["autofix_sha"]
    assert not memory(pull).autofix_off


def left_alone(hub: Hub, actor: Actor, pull: Pull, repository: Repository, *, autofix: str = "commit") -> str:
    """Nothing is written; fixes are offered all the same, and the patch is there. What the summary says."""
    head, branches = pull.head_sha, repository.code.git("for-each-ref", "refs/heads")
    ran = reviewed(hub, actor, pull, autofix=autofix)
    assert ran.exit_code == 0, ran.stderr
    assert (pull.head_sha, repository.code.git("for-each-ref", "refs/heads")) == (head, branches)
    assert ran.outputs["autofix_sha"] == ""
    assert [("```suggestion" in thread.comments[0].body) for thread in pull.threads] == [True, True]
    patch = (actor.documents / "fixes.patch").read_bytes()
    assert patch.count(b"diff --git ") == 2
    assert memory(pull).unfinished == ""
    assert [made.outcome for made in memory(pull).mended] != []
    return summary(pull)


def test_a_token_that_may_not_write_leaves_suggestions_and_a_patch(
    hub: Hub, tmp_path: Path, pull: Pull, repository: Repository
) -> None:
    said = left_alone(hub, an_actor(hub, tmp_path, REVIEWER), pull, repository)
    assert "- `F1` skipped: this run's token may not write it: the job needs 'contents: write'" in said


@pytest.mark.parametrize("how", ["protect", "rule"])
def test_a_protected_branch_takes_no_commit(hub: Hub, actor: Actor, pull: Pull, repository: Repository, how: str) -> None:
    if how == "protect":
        repository.protect("topic")
    else:
        repository.rule("pull_request", "topic")
    said = left_alone(hub, actor, pull, repository)
    assert "the branch topic is protected" in said
    assert COMMIT not in hub.writes()


def test_the_default_branch_takes_no_commit(hub: Hub, actor: Actor, repository: Repository) -> None:
    repository.commit("release", PLAIN, "Release")
    repository.commit("main", WORSE, "Change")
    pull = repository.pull("Change", "main", base="release")
    assert "the head main is the default branch" in left_alone(hub, actor, pull, repository)


def test_a_fork_gets_suggestions_and_a_patch(hub: Hub, actor: Actor, repository: Repository) -> None:
    fork = repository.fork("ada/app")
    fork.commit("topic", WORSE, "Change", author="ada")
    pull = repository.pull("Change", "topic", author="ada", head_repository=fork)
    actor.environment.pop("ANTHROPIC_API_KEY", None)
    assert "the head is a fork&#x27;s" in left_alone(hub, actor, pull, repository) or "the head is a fork's" in summary(pull)
    assert files(fork) == WORSE


def test_suggest_writes_nothing_and_says_how_to_have_it(hub: Hub, actor: Actor, pull: Pull, repository: Repository) -> None:
    said = left_alone(hub, actor, pull, repository, autofix="suggest")
    assert "- `F1` offered, not written: proven" in said
    assert {made.outcome for made in memory(pull).mended} == {RepairOutcome.SUGGESTED}


def test_off_makes_nothing(hub: Hub, actor: Actor, pull: Pull) -> None:
    reviewed(hub, actor, pull, autofix="off")
    assert json.loads((actor.documents / "review.json").read_text())["repairs"] == []
    assert not (actor.documents / "fixes.patch").exists()
    assert "Fixes" not in summary(pull)


def test_a_dry_run_writes_nothing(hub: Hub, actor: Actor, pull: Pull) -> None:
    event = hub.event("pull_request", action="opened", pull=pull)
    ran = actor.run("pull_request", event, autofix="commit", dry_run="true")
    assert (ran.exit_code, ran.writes) == (0, ())


def test_a_head_that_moved_before_the_commit_gets_none_and_it_is_said(
    hub: Hub, actor: Actor, pull: Pull, repository: Repository
) -> None:
    hub.faults.append(weather.meanwhile(COMMIT, lambda: pull.push({"mine.py": "x = 1\n"})))
    ran = reviewed(hub, actor, pull)
    assert ran.exit_code == 0, ran.stderr
    assert [author for author, *_ in log(repository)] == ["octocat", "octocat"]
    assert files(repository) == WORSE | {"mine.py": "x = 1\n"}
    assert "the head moved" in ran.stdout
    assert memory(pull).unfinished == ""
    assert {(made.outcome, made.why.split(",")[0]) for made in memory(pull).mended} == {
        (RepairOutcome.SKIPPED, "the head moved meanwhile")
    }


def test_a_head_that_moves_between_two_commits_keeps_the_first_and_gets_no_other(
    hub: Hub, actor: Actor, pull: Pull, repository: Repository
) -> None:
    hub.faults.append(weather.meanwhile(COMMIT, lambda: pull.push({"mine.py": "x = 1\n"}), skip=1))
    ran = reviewed(hub, actor, pull)
    assert ran.exit_code == 0, ran.stderr
    assert [headline for _, headline, _ in log(repository)] == ["Change", BY_US[0][1], "More"]
    kept = {made.id: made.outcome for made in memory(pull).mended}
    assert kept == {"F1": RepairOutcome.FIXED, "F2": RepairOutcome.SKIPPED}
    ran = reviewed(hub, actor, pull, "synchronize")
    assert ran.outputs["range_mode"] == "incremental"
    assert [found["id"] for found in json.loads(ran.outputs["findings_json"])] == ["F2"]
    assert files(repository)["a.py"] == FIXED["a.py"]


@pytest.mark.parametrize("after", [True, False], ids=["done", "not done"])
def test_a_lost_answer_makes_no_second_commit(hub: Hub, actor: Actor, pull: Pull, repository: Repository, after: bool) -> None:
    hub.faults.append(weather.dropped(COMMIT, after=after))
    assert reviewed(hub, actor, pull).exit_code == 0
    assert log(repository) == [BY_THEM, *BY_US]


def test_a_pull_request_of_ours_waits_beside_the_branch(hub: Hub, actor: Actor, pull: Pull, repository: Repository) -> None:
    head = pull.head_sha
    repository.actions_may_approve = True
    ran = reviewed(hub, actor, pull, autofix="pull_request")
    assert ran.exit_code == 0, ran.stderr
    assert pull.head_sha == head
    ours = repository.pulls[-1]
    branch = f"reviewbot/fix-{pull.number}-{head[:12]}"
    assert (ours.head_ref, ours.base_ref, ours.user.login) == (branch, "topic", BOT)
    assert log(repository, branch, since="topic") == BY_US
    assert files(repository, branch) == FIXED
    assert f"Fixes for findings of #{pull.number}" in ours.body
    assert "ruff F401 no longer reports a.py:1" in ours.body
    assert f"- `F1` waits in #{ours.number}" in summary(pull)
    assert [thread.is_resolved for thread in pull.threads] == [False, False]
    pull.push(MORE)
    reviewed(hub, actor, pull, "synchronize", autofix="pull_request")
    assert [one.number for one in repository.pulls] == [pull.number, ours.number, ours.number + 1]
    assert [told[1] for told in log(repository, repository.pulls[-1].head_ref, since="topic")] == [
        "Fix F3: `re` imported but unused"
    ]


def test_where_actions_may_open_no_pull_request_fixes_are_suggested(
    hub: Hub, actor: Actor, pull: Pull, repository: Repository
) -> None:
    repository.actions_may_approve = False
    ran = reviewed(hub, actor, pull, autofix="pull_request")
    assert ran.exit_code == 0, ran.stderr
    assert len(repository.pulls) == 1
    assert "- `F1` skipped" in summary(pull)
    assert all("```suggestion" in thread.comments[0].body for thread in pull.threads)
