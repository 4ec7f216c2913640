"""Pull requests on a fake GitHub: what stands there after events, pushes and comments."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fake_github import GitHub, Pull, Repository
from tests.github_job import BASE, FAULTY, Jobs, summary_of


@pytest.fixture
def jobs(github: GitHub, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Jobs:
    return Jobs(github, tmp_path, capsys)


@pytest.fixture
def app(github: GitHub) -> Repository:
    repository = github.repository("octo/app")
    repository.commit("main", BASE, "Begin")
    repository.allow("ann", "write")
    repository.allow("rob", "read")
    return repository


@pytest.fixture
def faulty(app: Repository) -> Pull:
    """A pull request in which `half` uses a name that does not exist."""
    app.commit("topic", FAULTY, "Rename")
    return app.pull("Rename a parameter", "topic", author="ann")


def test_a_pull_request_gets_one_review(jobs: Jobs, faulty: Pull) -> None:
    ran = jobs.push(faulty, "opened")

    assert ran.exit_code == 0
    assert ran.calls <= 8
    assert ran.writes == ["pulls/create-review", "checks/create", "issues/create-comment"]
    (thread,) = faulty.threads
    assert (thread.path, thread.line) == ("a.py", 2)
    assert "**F1 (high): Undefined name `m`**" in thread.comments[0].body
    (review,) = faulty.reviews
    assert review.state == "CHANGES_REQUESTED"
    (check,) = faulty.repository.check_runs(faulty.head_sha)
    assert (check.conclusion, len(check.annotations)) == ("success", 1)
    summary = summary_of(faulty)
    assert summary.startswith("**Changes requested**")
    assert f"[F1]({thread.comments[0].url})" in summary
    assert ran.outputs["verdict"] == "request_changes"
    assert ran.outputs["summary_comment_url"] == faulty.comments[0].url
    assert "Undefined name" in ran.summary


def test_a_second_run_for_a_commit_writes_nothing(jobs: Jobs, faulty: Pull) -> None:
    jobs.push(faulty, "opened")

    ran = jobs.push(faulty)
    again = jobs.run(
        "pull_request", jobs.github.event("pull_request", pull=faulty, action="reopened")
    )

    assert (ran.calls, ran.writes, ran.outputs) == (1, [], {"skip_reason": "already_reviewed"})
    assert (again.calls, again.writes) == (1, [])


def test_a_job_that_is_run_again_reviews_again_and_writes_nothing(
    jobs: Jobs, faulty: Pull
) -> None:
    jobs.push(faulty, "opened")
    jobs.variables["GITHUB_RUN_ATTEMPT"] = "2"

    ran = jobs.push(faulty, "opened")

    assert (ran.outputs["verdict"], ran.writes) == ("request_changes", [])


def test_what_is_fixed_is_closed_and_what_comes_back_is_opened_again(
    jobs: Jobs, faulty: Pull
) -> None:
    jobs.push(faulty, "opened")
    faulty.push({"a.py": "def half(n):\n    return n / 4\n"})

    fixed = jobs.push(faulty)

    (thread,) = faulty.threads
    assert thread.is_resolved
    assert [review.state for review in faulty.reviews] == ["DISMISSED"]
    assert fixed.outputs["comments_resolved"] == "1"
    assert "F1" in summary_of(faulty)
    assert "no longer found" in summary_of(faulty)

    faulty.push(FAULTY)
    jobs.push(faulty)

    (thread,) = faulty.threads
    assert not thread.is_resolved
    assert [review.state for review in faulty.reviews] == ["DISMISSED", "CHANGES_REQUESTED"]
    assert f"[F1]({thread.comments[0].url})" in summary_of(faulty)


def test_what_a_person_resolved_or_answered_stays_theirs(jobs: Jobs, faulty: Pull) -> None:
    jobs.push(faulty, "opened")
    faulty.reply(faulty.threads[0], "ann", "On purpose.")
    faulty.push({"a.py": "def half(n):\n    return n / 4\n"})

    jobs.push(faulty)

    assert not faulty.threads[0].is_resolved


def test_without_the_right_to_resolve_a_thread_is_folded_and_answered_once(
    jobs: Jobs, faulty: Pull
) -> None:
    jobs.github.resolving_needs_contents = True
    jobs.push(faulty, "opened")
    faulty.push({"a.py": "def half(n):\n    return n / 4\n"})
    jobs.push(faulty)
    faulty.push({"README.md": "An app!\n"})

    ran = jobs.push(faulty)

    (thread,) = faulty.threads
    assert [comment.body.split("\n")[1:] for comment in thread.comments[1:]] == [
        ["No longer found."]
    ]
    assert thread.comments[0].minimized
    assert "pulls/create-reply-for-review-comment" not in ran.writes


def test_a_token_that_may_only_read_leaves_a_summary_and_annotations(
    jobs: Jobs, faulty: Pull
) -> None:
    jobs.permissions = {"contents": "read", "pull_requests": "read", "metadata": "read"}

    ran = jobs.push(faulty, "opened")

    assert (ran.exit_code, ran.writes) == (0, [])
    assert "::error file=a.py,line=2" in ran.log
    assert "the review is in the job summary" in ran.log
    assert "Undefined name" in ran.summary


@pytest.mark.parametrize(
    ("action", "label", "skip"),
    [
        ("labeled", "help wanted", "unrelated_action"),
        ("synchronize", "", "closed"),
        ("edited", "", "unrelated_action"),
        ("assigned", "", "unrelated_action"),
    ],
)
def test_events_that_need_no_review_cost_no_call(
    jobs: Jobs, faulty: Pull, action: str, label: str, skip: str
) -> None:
    if skip == "closed":
        faulty.close()
    event = jobs.github.event("pull_request", pull=faulty, action=action, label=label)

    ran = jobs.run("pull_request", event)

    assert (ran.exit_code, ran.calls, ran.outputs) == (0, 0, {"skip_reason": skip})


def test_drafts_bots_and_labels_are_up_to_the_base(jobs: Jobs, app: Repository) -> None:
    app.commit("topic", FAULTY, "Rename")
    pull = app.pull("Rename", "topic", author="ann", draft=True)
    assert jobs.push(pull, "opened").outputs == {"skip_reason": "draft"}
    pull.labels.append("reviewbot:review")
    assert jobs.push(pull, "opened").outputs["verdict"] == "request_changes"
    pull.labels.append("reviewbot:skip")
    pull.push({"b.py": "x = 1\n"})
    assert jobs.push(pull, "ready_for_review").outputs == {"skip_reason": "skip_label"}

    app.commit("main", {".reviewbot.yml": "github: {drafts: true, bots: [renovate]}\n"}, "Set")
    app.commit("update", FAULTY, "Update", parent="main")
    by_bot = app.pull("Update", "update", author="renovate[bot]", draft=True)
    assert jobs.push(by_bot, "opened").outputs["verdict"] == "request_changes"
    by_other = app.pull("Update", "update", author="other[bot]")
    assert jobs.push(by_other, "opened").outputs == {"skip_reason": "bot_author"}


def test_a_push_while_a_review_is_made_has_a_run_of_its_own(jobs: Jobs, faulty: Pull) -> None:
    event = jobs.github.event("pull_request", pull=faulty, action="opened")
    faulty.push({"b.py": "x = 1\n"})

    ran = jobs.run("pull_request", event)

    assert (ran.outputs, ran.writes) == ({"skip_reason": "head_moved"}, [])
