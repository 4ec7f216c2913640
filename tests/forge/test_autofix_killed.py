"""The machine goes away between any two writes of fixes, or before the answer to one arrives. The next run goes on: each commit
once, and in the end everything stands as if nothing had happened."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.forge.acting import REVIEWER, Actor, kill
from tests.forge.hub import Fault, Hub, Pull, Repository
from tests.forge.mending import (
    BOT,
    BY_THEM,
    BY_US,
    FIXED,
    a_pull,
    a_repository,
    an_actor,
    answer,
    argued,
    files,
    log,
    memory,
    reviewed,
    summary,
)

pytestmark = [pytest.mark.ci, pytest.mark.matrix]

ENDS = pytest.mark.parametrize("done", [False, True], ids=["before", "after"])


@pytest.fixture
def repository(hub: Hub) -> Repository:
    return a_repository(hub)


@pytest.fixture
def pull(repository: Repository) -> Pull:
    return a_pull(repository)


@pytest.fixture
def actor(hub: Hub, tmp_path: Path) -> Actor:
    return an_actor(hub, tmp_path)


def cut_off(hub: Hub, start: Callable[[], subprocess.Popen[bytes]], *, writes: int, done: bool) -> None:
    """A run that is killed at its write number ``writes``, with that write ``done`` or not."""
    running: list[subprocess.Popen[bytes]] = []
    hub.faults.append(Fault("write", skip=writes, after=done, drop=True, then=lambda: kill(running[0])))
    running.append(start())
    running[0].wait(timeout=60)
    assert running[0].returncode == -9
    hub.faults.clear()


def stands(pull: Pull, repository: Repository) -> dict[str, Any]:
    """What people see, and what is remembered."""
    kept = memory(pull)
    return {
        "log": log(repository),
        "files": files(repository),
        "open": [thread.path for thread in pull.threads if not thread.is_resolved],
        "threads": len(pull.threads),
        "summaries": sum(one.body.startswith("<!-- reviewbot:summary") for one in pull.comments),
        "checks": [(run.name, run.conclusion) for run in repository.check_runs(pull.head_sha)],
        "fixed": sorted(made.id for made in kept.mended if made.is_written),
        "head": kept.history.head == pull.head_sha,
        "unfinished": kept.unfinished,
        "told": "**0 findings**" in summary(pull),
    }


MENDED = {
    "log": [BY_THEM, *BY_US],
    "files": FIXED,
    "open": [],
    "threads": 2,
    "summaries": 1,
    "checks": [("reviewbot", "success")],
    "fixed": ["F1", "F2"],
    "head": True,
    "unfinished": "",
    "told": True,
}


@pytest.mark.matrix
@ENDS
@pytest.mark.parametrize("writes", range(9))
def test_a_review_that_was_cut_off_while_it_wrote_fixes_is_finished(
    hub: Hub, actor: Actor, pull: Pull, repository: Repository, writes: int, done: bool
) -> None:
    """Writes 0 to 2 are the review's, 3 and 4 the commits, then two threads, the check run and the summary. Whatever event comes
    next: the job run again with the same payload, or the one that an app's own push started."""
    event = hub.event("pull_request", action="opened", pull=pull)
    cut_off(hub, lambda: actor.start("pull_request", event, autofix="commit"), writes=writes, done=done)
    ran = actor.run("pull_request", event, autofix="commit")
    assert ran.exit_code == 0, ran.stderr
    assert stands(pull, repository) == MENDED
    before = len(hub.writes())
    assert actor.run("pull_request", event, autofix="commit").exit_code == 0
    reviewed(hub, actor, pull, "synchronize", sender=BOT)
    assert len(hub.writes()) == before


@ENDS
def test_the_run_that_an_app_s_own_push_started_goes_on_with_it(
    hub: Hub, actor: Actor, pull: Pull, repository: Repository, done: bool
) -> None:
    event = hub.event("pull_request", action="opened", pull=pull)
    cut_off(hub, lambda: actor.start("pull_request", event, autofix="commit"), writes=4, done=done)
    ran = reviewed(hub, actor, pull, "synchronize", sender=BOT)
    assert ran.exit_code == 0, ran.stderr
    assert stands(pull, repository) == MENDED


def test_where_the_review_is_lost_too_the_head_is_reviewed_and_nothing_more_is_written(
    hub: Hub, actor: Actor, pull: Pull, repository: Repository, tmp_path: Path
) -> None:
    event = hub.event("pull_request", action="opened", pull=pull)
    cut_off(hub, lambda: actor.start("pull_request", event, autofix="commit"), writes=4, done=False)
    blank = an_actor(hub, tmp_path / "another")
    ran = reviewed(hub, blank, pull, "synchronize", sender=BOT)
    assert ran.exit_code == 0, ran.stderr
    assert log(repository) == [BY_THEM, BY_US[0]]
    assert memory(pull).unfinished == ""
    assert memory(pull).history.head == pull.head_sha


def test_a_push_of_somebody_ends_what_was_cut_off(hub: Hub, actor: Actor, pull: Pull, repository: Repository) -> None:
    event = hub.event("pull_request", action="opened", pull=pull)
    cut_off(hub, lambda: actor.start("pull_request", event, autofix="commit"), writes=4, done=False)
    head = pull.push({"mine.py": "x = 1\n"})
    again = actor.run("pull_request", event, autofix="commit")
    assert again.outputs["skip_reason"] == "head_moved"
    assert pull.head_sha == head
    ran = reviewed(hub, actor, pull, "synchronize")
    assert ran.exit_code == 0, ran.stderr
    assert memory(pull).unfinished == ""


@pytest.mark.matrix
@ENDS
@pytest.mark.parametrize("writes", range(3, 8))
def test_a_pull_request_of_ours_is_opened_once(
    hub: Hub, actor: Actor, pull: Pull, repository: Repository, writes: int, done: bool
) -> None:
    """Write 3 is the branch, 4 and 5 are the commits, then the pull request and the summary."""
    repository.actions_may_approve = True
    event = hub.event("pull_request", action="opened", pull=pull)
    cut_off(hub, lambda: actor.start("pull_request", event, autofix="pull_request"), writes=writes, done=done)
    ran = actor.run("pull_request", event, autofix="pull_request")
    assert ran.exit_code == 0, ran.stderr
    assert len(repository.pulls) == 2
    ours = repository.pulls[-1]
    assert log(repository, ours.head_ref, since="topic") == BY_US
    assert files(repository, ours.head_ref) == FIXED
    assert f"- `F1` waits in #{ours.number}" in summary(pull)
    assert memory(pull).unfinished == ""


@pytest.mark.matrix
@ENDS
@pytest.mark.parametrize("writes", range(9))
def test_a_command_that_was_cut_off_is_finished_when_its_run_is_run_again(
    hub: Hub, tmp_path: Path, pull: Pull, repository: Repository, writes: int, done: bool
) -> None:
    """Write 0 is the eye, 1 and 2 the commits, then threads, check run, summary, the memory, the answer and the rocket."""
    argued(hub, an_actor(hub, tmp_path / "reviewer", REVIEWER), pull)
    actor = an_actor(hub, tmp_path / "writer")
    comment = pull.comment("octocat", "/debate fix")
    event = hub.event("issue_comment", action="created", comment=comment)
    cut_off(hub, lambda: actor.start("issue_comment", event, autofix="commit"), writes=writes, done=done)
    ran = actor.run("issue_comment", event, autofix="commit")
    assert ran.exit_code == 0, ran.stderr
    assert stands(pull, repository) == MENDED
    assert "- `F1` fixed by" in answer(pull) or ran.outputs["skip_reason"] == "duplicate_delivery"


@pytest.mark.matrix
@ENDS
@pytest.mark.parametrize("writes", range(6))
def test_an_undo_that_was_cut_off_takes_one_commit_back(
    hub: Hub, tmp_path: Path, pull: Pull, repository: Repository, writes: int, done: bool
) -> None:
    """Write 0 is the eye, 1 the commit, then check run, summary, the memory, the answer and the rocket."""
    actor = an_actor(hub, tmp_path)
    argued(hub, actor, pull, autofix="commit")
    comment = pull.comment("octocat", "/debate undo")
    event = hub.event("issue_comment", action="created", comment=comment)
    cut_off(hub, lambda: actor.start("issue_comment", event, autofix="commit"), writes=writes, done=done)
    ran = actor.run("issue_comment", event, autofix="commit")
    assert ran.exit_code == 0, ran.stderr
    assert [headline for _, headline, _ in log(repository)] == ["Change", BY_US[0][1], BY_US[1][1], "Take the fix of F2 back"]
    kept = memory(pull)
    assert [made.id for made in kept.mended if made.is_written] == ["F1"]
    assert kept.history.head == pull.head_sha
    assert "F2 carried" in summary(pull)
