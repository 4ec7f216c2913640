"""Jobs that are killed, that race, that GitHub refuses: the next job leaves what should stand."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import msgspec
import pytest

from reviewbot.github.action import main
from reviewbot.github.pulls import FINDING_MARKER, SUMMARY, Snapshot, State, encode_state
from reviewbot.reports.markdown import Page
from reviewbot.verdict.document import Review
from tests.fake_github import GitHub, Pull, Repository, faults
from tests.fake_github.faults import Fault
from tests.fake_github.rules import NO_LINE
from tests.github_job import BASE, FAULTY, Jobs, summary_of

BOT = "github-actions[bot]"
FIXED = {"a.py": "def half(n):\n    return n / 4\n"}


@pytest.fixture
def jobs(github: GitHub, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Jobs:
    return Jobs(github, tmp_path, capsys, variables={"GITHUB_RUN_ATTEMPT": "2"})


@pytest.fixture
def app(github: GitHub) -> Repository:
    repository = github.repository("octo/app")
    repository.commit("main", BASE, "Begin")
    repository.allow("ann", "write")
    return repository


@pytest.fixture
def pull(app: Repository) -> Pull:
    app.commit("topic", FAULTY, "Rename")
    return app.pull("Rename a parameter", "topic", author="ann")


def assert_reviewed_once(pull: Pull, threads: int = 1, state: str = "CHANGES_REQUESTED") -> None:
    assert len([t for t in pull.threads if not t.is_resolved]) == threads
    assert [r.state for r in pull.reviews if not r.minimized] == [state]
    runs = pull.repository.check_runs(pull.head_sha)
    assert {run.conclusion for run in runs} == {"success"}
    assert [c.login for c in pull.comments] == [BOT]
    assert summary_of(pull).startswith("**Changes requested**")


def many(count: int) -> dict[str, str]:
    return {"a.py": "".join(f"def f{n}():\n    return name{n}\n" for n in range(count))}


def test_jobs_that_are_killed_after_each_of_their_writes_are_finished_by_the_next(
    jobs: Jobs, pull: Pull
) -> None:
    started: list[subprocess.Popen[bytes]] = []
    event, command = (
        jobs.github.event("pull_request", pull=pull),
        [sys.executable, "-m", "reviewbot"],
    )
    for _ in range(3):
        kill = Fault("write", after=True, drop=True, then=lambda: started[-1].kill())
        jobs.github.faults.append(kill)
        variables = jobs.prepare("pull_request", event)
        started.append(subprocess.Popen([*command, "github"], env=variables))
        assert started[-1].wait(timeout=30) == -9
    assert jobs.github.writes() == ["pulls/create-review", "checks/create", "issues/create-comment"]
    assert jobs.push(pull).writes == []
    assert_reviewed_once(pull)
    assert len(pull.reviews) == len(pull.repository.check_runs(pull.head_sha)) == 1


def test_jobs_that_end_after_any_of_their_writes_are_finished_by_the_next(
    jobs: Jobs, pull: Pull
) -> None:
    """Where something new is found, where it is gone, and where no thread can be resolved."""
    jobs.config = "github: {labels: true}\n"
    jobs.push(pull, "opened")
    lost = partial(jobs.github.faults.append, faults.error("any", 401, "Bad credentials", times=99))
    last = []
    for number, (count, is_fixed) in enumerate([(1, 1), (1, 0), (2, 1), (2, 0)] * 2):
        jobs.github.resolving_needs_contents = is_folded = number >= 4  # after it was tried
        pull.push(FIXED if is_fixed else {"a.py": f"def half(n):\n    return m{number} / 2\n"})
        skip = count - 1 + is_folded * (2 - is_fixed)
        jobs.github.faults.append(faults.meanwhile("write", lost, after=True, skip=skip))
        last.append(jobs.push(pull).writes[-1])
        jobs.github.faults.clear()
        assert jobs.push(pull).exit_code == 0
        open_ = [t for t in pull.threads if not t.is_resolved and not t.comments[0].minimized]
        verdict = "Reviewed" if is_fixed else "Changes requested"
        assert [len(t.comments) for t in open_] == [1] * (not is_fixed)
        assert all(len(t.comments) <= 2 for t in pull.threads)
        assert [r.state for r in pull.reviews].count("CHANGES_REQUESTED") == len(open_)
        assert len(pull.repository.check_runs(pull.head_sha)) == 1
        assert pull.labels == [f"reviewbot:{verdict.lower().replace(' ', '-')}"]
        assert [c.login for c in pull.comments] == [BOT]
        assert summary_of(pull).startswith(f"**{verdict}**")
    assert jobs.push(pull).writes == []
    assert last == [
        *("graphql:resolveReviewThread", "pulls/create-review"),
        *("pulls/dismiss-review", "checks/create"),
        *("graphql:minimizeComment", "issues/add-labels"),
        *("pulls/create-reply-for-review-comment", "issues/remove-label"),
    ]


@pytest.mark.parametrize("count", [2, 5, 10])
def test_jobs_for_one_head_at_once_end_as_one(
    jobs: Jobs, pull: Pull, monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    # Threads that make msgspec look at a type for the first time can crash together.
    for type_ in (Review, Page, Snapshot, State):
        msgspec.json.Decoder(type_)
    # The command line sets one that sees processes of the main thread only.
    monkeypatch.setattr(asyncio.get_event_loop_policy(), "_watcher", None, raising=False)
    together = threading.Barrier(count)
    meet = faults.meanwhile("pulls/create-review", lambda: together.wait(timeout=20), times=count)
    jobs.github.faults.append(meet)
    event = jobs.github.event("pull_request", pull=pull)
    variables = [jobs.prepare("pull_request", event) for _ in range(count)]
    with ThreadPoolExecutor(count) as pool:
        assert list(pool.map(main, variables)) == [0] * count
    assert len(pull.reviews) == count
    jobs.push(pull)
    assert_reviewed_once(pull)
    assert len(pull.all_threads) == 1
    assert jobs.push(pull).writes == []


@pytest.mark.parametrize("after", [False, True])
def test_a_lost_answer_repeats_nothing(jobs: Jobs, pull: Pull, after: bool) -> None:
    jobs.config = "github: {labels: true}\n"
    first = ("pulls/create-review", "checks/create", "issues/add-labels", "issues/create-comment")
    jobs.github.faults += [faults.server_error(each, after=after) for each in first]
    assert jobs.push(pull, "opened").exit_code == 0
    assert_reviewed_once(pull)
    assert pull.labels == ["reviewbot:changes-requested"]
    assert (len(pull.reviews), len(pull.repository.check_runs(pull.head_sha))) == (1, 1)
    pull.push(FIXED)
    then = ("graphql:resolveReviewThread", "pulls/dismiss-review", "issues/remove-label")
    jobs.github.faults += [faults.dropped(each, after=after) for each in then]
    jobs.github.faults.append(faults.dropped("issues/update-comment", after=after))
    assert jobs.push(pull).exit_code == 0
    assert [thread.is_resolved for thread in pull.threads] == [True]
    assert [(r.state, r.minimized) for r in pull.reviews] == [("DISMISSED", None)]
    assert pull.labels == ["reviewbot:reviewed"]
    assert summary_of(pull).startswith("**Reviewed**")


def test_an_answer_of_another_shape_is_said(jobs: Jobs, pull: Pull) -> None:
    for body in ("[]", "{}", '{"merge_base_commit": null}'):
        jobs.github.faults.append(Fault("repos/compare-commits-with-basehead", 200, body))
        ran = jobs.push(pull)
        assert (ran.exit_code, ran.writes) == (3, [])
        assert "::GitHub's answer has another shape: " in ran.log
    finished = jobs.github.event("workflow_run", run=pull.repository.run("collect", pull=pull))
    for operation, name, payload, mode in (
        ("pulls/list", "workflow_run", finished, "debate"),
        ("issues/list-for-repo", "schedule", {}, "all"),
    ):
        jobs.github.faults.append(Fault(operation, 200, "[5]"))
        ran = jobs.run(name, payload, mode=mode)
        assert (ran.exit_code, ran.writes) == (3, []), operation
        assert "::GitHub's answer has another shape: " in ran.log


def test_a_check_run_is_created_once_where_no_commit_shows_it(jobs: Jobs, app: Repository) -> None:
    app.commit("topic", {"b.py": "b = 1\n"})
    app.bare.git("update-ref", "refs/heads/main", "refs/heads/topic")
    assert jobs.push(app.pull("Nothing", "topic", author="ann"), "opened").exit_code == 0
    assert len(app.all_check_runs) == 1


def test_lines_that_are_refused_stand_in_the_summary_alone(jobs: Jobs, pull: Pull) -> None:
    jobs.config = "checks: [{name: long, run: [grep, -n, LONG, a.py, /dev/null], files: ['*.py']}]"
    long = "".join(f"# LONG {'🙂' * 270} {'x' * n}\n" for n in range(59))
    pull.push({"a.py": f"{many(1)['a.py']}{long}"})
    pull.review(BOT, "a review that was never submitted", event="")
    refusal = faults.error("pulls/create-review", 422, "Unprocessable Entity", [NO_LINE])
    jobs.github.faults += [refusal, faults.server_error("checks/create", after=True)]
    ran = jobs.push(pull, max_comments="90")
    assert (ran.exit_code, pull.threads) == (0, [])
    assert_reviewed_once(pull, threads=0)
    (posted,) = pull.reviews
    assert posted.body.endswith("The summary comment has the details.")
    (summary,) = pull.comments
    assert "### F1 (high): Undefined name `name0`\n\n`a.py:2`\n" in summary.body
    assert len(summary.body.encode()) <= 65_000
    (check,) = pull.repository.check_runs(pull.head_sha)
    lines = [each["start_line"] for each in check.annotations]
    assert len(lines) == len(set(lines)) == 50  # GitHub takes no more in one request
    assert jobs.push(pull, max_comments="90").writes == []


def test_a_verdict_that_is_refused_is_a_comment(jobs: Jobs, app: Repository, pull: Pull) -> None:
    pending = pull.review("ann", "", event="")
    token = jobs.github.token("ann", permissions=jobs.permissions)
    ran = jobs.push(pull, token=token)
    assert (ran.exit_code, "one pending review" in ran.log) == (0, True)
    assert (pull.reviews, len(pull.comments)) == ([pending], 1)
    pull.reviews.remove(pending)
    assert jobs.push(pull, token=token).exit_code == 0
    assert [(r.login, r.state) for r in pull.reviews] == [("ann", "COMMENTED")]
    assert len(pull.threads) == 1
    assert summary_of(pull).startswith("**Changes requested**")
    app.commit("fine", FIXED, "Quarter", parent="main")
    fine = app.pull("Quarter", "fine", author="ann")
    ran = jobs.push(fine, "opened", allow_approve="true")
    assert (ran.exit_code, ran.outputs["verdict"]) == (0, "comment")
    assert (fine.reviews, len(fine.comments)) == ([], 1)
    assert summary_of(fine).startswith("**Reviewed**")
    assert ran.summary.startswith("**Reviewed**")
    assert "**Approved**" not in ran.summary
    jobs.permissions |= {"actions": "write"}
    app.workflows.append("reviewbot-review.yml")
    answer = jobs.ask(fine, "/debate full", allow_approve="true")
    assert "**Reviewed**" in answer


def test_where_no_review_is_permitted_the_summary_has_it_all(jobs: Jobs, pull: Pull) -> None:
    words = "Resource not accessible by integration"
    jobs.github.faults.append(faults.error("pulls/create-review", 403, words, times=9))
    jobs.github.faults.append(faults.error("checks/create", 422, "Unprocessable Entity"))
    ran = jobs.push(pull, "opened")
    assert (ran.exit_code, pull.reviews) == (0, [])
    assert "Unprocessable Entity" in ran.log
    assert "### F1 (high): Undefined name `m`" in summary_of(pull)


STOPPED = f"{SUMMARY}\n{encode_state(State(stopped_by='ann'))}\n"


def test_a_review_is_not_posted_once_it_was_told_to_stop(jobs: Jobs, pull: Pull) -> None:
    jobs.github.faults.append(
        faults.meanwhile("graphql", lambda: pull.comment(BOT, STOPPED), skip=1)
    )
    ran = jobs.push(pull, "opened")
    assert (ran.exit_code, ran.writes) == (0, [])
    assert "told to stop" in ran.log


def test_a_force_push_while_it_is_posted_leaves_it_to_the_next(jobs: Jobs, pull: Pull) -> None:
    jobs.push(pull, "opened")
    pull.push(many(2))
    push = faults.meanwhile("pulls/create-review", lambda: pull.force_push(many(3)))
    jobs.github.faults.append(push)
    ran = jobs.push(pull)
    assert "newer commit was pushed" in ran.log
    assert "checks/create" not in ran.writes
    assert jobs.push(pull).outputs["reviewed_sha"] == pull.head_sha
    assert len([t for t in pull.threads if not t.is_resolved]) == 3
    pull.threads[-1].resolved_by = jobs.github.user("ann")
    pull.push(many(5))
    jobs.push(pull, max_comments="3")
    assert len([t for t in pull.threads if not t.is_resolved]) == 3


def test_what_others_wrote_with_our_markers_is_not_believed(jobs: Jobs, pull: Pull) -> None:
    forged = pull.comment("ann", STOPPED)
    marker = FINDING_MARKER.format(key="k", id="F9", commit=pull.head_sha)
    thread = pull.thread("ann", "a.py", 2, body=f"{marker}\nmine")
    jobs.push(pull, "opened")
    pull.push(FIXED)
    jobs.push(pull)
    assert (forged.editor, forged.body, thread.is_resolved) == (None, STOPPED, False)
    assert [t.is_resolved for t in pull.threads] == [False, True]
    assert len([c for c in pull.comments if c.login == BOT]) == 1


def test_a_rate_limit_is_said_and_a_later_job_goes_on(jobs: Jobs, pull: Pull) -> None:
    jobs.config = "github: {labels: true}\n"
    jobs.github.faults += [
        faults.error("issues/add-labels", 403, "Resource not accessible by integration"),
        faults.secondary_limit("issues/create-comment", retry_after=3_600),
    ]
    ran = jobs.push(pull, "opened")
    assert (ran.exit_code, pull.comments) == (3, [])
    assert "run the job again" in ran.log
    # What went wrong before is not forgotten.
    assert "Resource not accessible by integration (give the job the permission" in ran.log
    assert jobs.push(pull).writes == ["issues/add-labels", "issues/create-comment"]
    assert_reviewed_once(pull)
