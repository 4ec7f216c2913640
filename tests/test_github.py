"""Pull requests on a fake GitHub: what stands there after events, pushes and comments."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest
from conftest import Project
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from reviewbot.config.load import load_settings
from reviewbot.github.job import read_job
from tests.fake_github import GitHub, Pull, Repository, faults
from tests.fake_github import rules as fake_rules
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
    (finding,) = json.loads(ran.outputs.pop("findings_json"))
    assert (finding["id"], finding["path"], finding["line"]) == ("F1", "a.py", 2)
    assert ran.outputs == {
        "verdict": "request_changes",
        "complete": "true",
        "reviewed_sha": faulty.head_sha,
        "cost_usd": "0.000000",
        "summary_comment_url": faulty.comments[0].url,
        "comments_inline": "1",
        "comments_resolved": "0",
    }
    assert "Undefined name" in ran.summary


def test_an_app_reviews_in_its_own_name(jobs: Jobs, faulty: Pull) -> None:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    form, pem = serialization.PrivateFormat.PKCS8, serialization.Encoding.PEM
    private = key.private_bytes(pem, form, serialization.NoEncryption()).decode()
    public = key.public_key().public_bytes(pem, serialization.PublicFormat.SubjectPublicKeyInfo)
    jobs.github.app("our-app", key=public.decode())
    jobs.variables |= {"GITHUB_APP_ID": "77", "GITHUB_APP_PRIVATE_KEY": private}
    ran = jobs.push(faulty, "opened")
    assert (ran.exit_code, ran.outputs["verdict"]) == (0, "request_changes"), ran.log
    posted = (*faulty.comments, *faulty.reviews, faulty.threads[0].comments[0])
    assert {each.login for each in posted} == {"our-app[bot]"}
    assert jobs.push(faulty).writes == ["apps/create-installation-access-token"]
    assert "PRIVATE KEY" not in ran.log


def test_no_token_of_github_is_in_a_variable_that_a_review_gets(jobs: Jobs) -> None:
    app = ("GITHUB_APP_ID", "GITHUB_APP_PRIVATE_KEY")
    others = ("GH_TOKEN", "ACTIONS_RUNTIME_TOKEN", "ACTIONS_ID_TOKEN_REQUEST_TOKEN")
    jobs.variables |= dict.fromkeys((*app, *others), "canary") | {"OPENAI_API_KEY": "sk-1"}
    job = read_job(jobs.prepare("pull_request", {}, token="canary"))
    assert (job.token, job.app) == ("canary", ("canary", "canary"))
    assert [name for name, value in job.variables.items() if value == "canary"] == [app[0]]
    assert job.variables["OPENAI_API_KEY"] == "sk-1"


def test_only_where_it_is_allowed_and_complete_a_review_approves(
    jobs: Jobs, app: Repository
) -> None:
    app.actions_may_approve = True
    app.commit("topic", {"a.py": "def half(n):\n    return n / 4\n"}, "Quarter")
    pull = app.pull("Quarter", "topic", author="ann")
    assert jobs.push(pull, "opened").outputs["verdict"] == "comment"
    assert pull.reviews == []
    jobs.variables["GITHUB_RUN_ATTEMPT"] = "2"
    assert jobs.push(pull, allow_approve="true").outputs["verdict"] == "approve"
    pull.push({"page.psd": "Not read.\n"})
    assert jobs.push(pull, allow_approve="true").outputs["verdict"] == "comment"
    assert [review.state for review in pull.reviews] == ["DISMISSED"], "it was about another commit"


def test_a_time_limit_is_given_in_minutes(jobs: Jobs) -> None:
    job = read_job(jobs.prepare("pull_request", {}, timeout_minutes="2"))
    assert load_settings(job.layers()).settings.limits.seconds == 120


def test_a_change_is_fetched_into_the_checkout_of_the_job(
    jobs: Jobs, faulty: Pull, project: Project
) -> None:
    """There is the project's environment."""
    jobs.variables["GITHUB_WORKSPACE"] = str(project.folder)
    jobs.push(faulty, "opened")
    assert project.git("cat-file", "-t", faulty.head_sha) == "commit"


def test_a_second_run_for_a_commit_writes_nothing_and_one_that_is_asked_for_reviews_again(
    jobs: Jobs, faulty: Pull
) -> None:
    jobs.variables["INPUT_FAIL_ON"] = "high"
    first = jobs.push(faulty, "opened")
    ran = jobs.push(faulty)
    again = jobs.run(
        "pull_request", jobs.github.event("pull_request", pull=faulty, action="reopened")
    )
    assert (ran.calls, ran.writes, ran.outputs) == (1, [], {"skip_reason": "already_reviewed"})
    assert (again.calls, again.writes) == (1, [])
    assert (first.exit_code, ran.exit_code, again.exit_code) == (1, 1, 1)  # by fail_on
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
    assert "**No longer found:** F1" in summary_of(faulty)
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


def test_a_finding_whose_thread_is_deleted_stands_in_the_summary(jobs: Jobs, faulty: Pull) -> None:
    jobs.push(faulty, "opened")
    faulty.all_threads.clear()
    jobs.variables["GITHUB_RUN_ATTEMPT"] = "2"
    assert jobs.push(faulty).writes == ["issues/update-comment"]
    assert "### F1 (high): Undefined name `m`" in summary_of(faulty)
    assert "#discussion_r" not in summary_of(faulty)


def test_a_number_outlives_the_summary(jobs: Jobs, faulty: Pull) -> None:
    jobs.push(faulty, "opened")
    faulty.push({"a.py": "def half(n):\n    return p / 2\n"})
    jobs.push(faulty)
    faulty.comments.clear()
    faulty.push({"a.py": "def half(n):\n    return p / 2\n\n\nprint(q)\n"})
    jobs.push(faulty)
    assert "[F2](" in summary_of(faulty)
    assert "(high): Undefined name `p`" in summary_of(faulty)
    assert "[F3](" in summary_of(faulty)


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


def test_an_input_that_is_wrong_is_named_before_anything_is_reviewed(
    jobs: Jobs, faulty: Pull
) -> None:
    for name, text, said in (
        ("dry_run", "maybe", "the input dry_run is 'maybe' (choose one of false, true)"),
        ("max_cost_usd", "x", "the inputs: limits.cost_usd must be a number"),
    ):
        ran = jobs.push(faulty, "opened", **{name: text})
        assert (ran.exit_code, ran.outputs) == (2, {})
        assert said in ran.log


def test_a_review_is_posted_also_where_its_sarif_cannot_be_written(
    jobs: Jobs, faulty: Pull
) -> None:
    ran = jobs.push(faulty, "opened", sarif_file="operator.yml/review.sarif")
    assert "::error title=reviewbot::" in ran.log
    assert "review.sarif cannot be written" in ran.log
    assert summary_of(faulty).startswith("**Changes requested**")


def test_another_base_is_another_change(jobs: Jobs, app: Repository, faulty: Pull) -> None:
    app.commit("release", {"c.py": "c = 1\n"}, "Release", parent="topic")
    faulty.push({"b.py": "b = 1\n"})
    jobs.push(faulty, "opened")
    faulty.base_ref = "release"
    event = jobs.github.event("pull_request", pull=faulty, action="edited")
    retargeted = event | {"changes": {"base": {"ref": {"from": "main"}}}}
    ran = jobs.run("pull_request", event)
    assert (ran.calls, ran.outputs) == (0, {"skip_reason": "unrelated_action"})
    ran = jobs.run("pull_request", retargeted)
    assert (ran.outputs["verdict"], ran.outputs["comments_resolved"]) == ("comment", "1")
    assert "**No longer found:** F1" in summary_of(faulty)
    assert [review.state for review in faulty.reviews] == ["DISMISSED"]
    assert jobs.run("pull_request", retargeted).outputs == {"skip_reason": "already_reviewed"}


def test_drafts_bots_and_labels_are_up_to_the_base(jobs: Jobs, app: Repository) -> None:
    app.commit("topic", FAULTY, "Rename")
    pull = app.pull("Rename", "topic", author="ann", draft=True)
    assert jobs.push(pull, "opened").outputs == {"skip_reason": "draft"}
    pull.labels.append("reviewbot:review")
    about = {"action": "labeled", "label": "reviewbot:review"}
    labeled = jobs.github.event("pull_request", pull=pull, **about)
    assert jobs.run("pull_request", labeled).outputs["verdict"] == "request_changes"
    pull.labels.append("reviewbot:skip")
    pull.push({"b.py": "x = 1\n"})
    assert jobs.push(pull, "ready_for_review").outputs == {"skip_reason": "skip_label"}
    app.commit("main", {".reviewbot.yml": "github: {drafts: true, bots: [renovate]}\n"}, "Set")
    app.commit("update", FAULTY, "Update", parent="main")
    by_bot = app.pull("Update", "update", author="renovate[bot]", draft=True)
    assert jobs.push(by_bot, "opened").outputs["verdict"] == "request_changes"
    by_other = app.pull("Update", "update", author="other[bot]")
    assert jobs.push(by_other, "opened").outputs == {"skip_reason": "bot_author"}


def test_commands_are_answered_once_each(jobs: Jobs, faulty: Pull) -> None:
    jobs.permissions |= {"issues": "write"}
    jobs.push(faulty, "opened")
    for body, expected in [
        ("/debate help", "`/debate dismiss F1 reason`: do not report a finding again"),
        ("/debate status", "Last reviewed: `"),
        ("/debate cost", "1 review of this pull request cost $0.0000."),
        ("/debate statsu", "Did you mean `/debate status`?"),
        ("/debate explain F7", "There is no finding F7 here. There is: F1."),
        ("/debate explain F1", "F1 (high): Undefined name `m`**\n\nA check reports this"),
        ("/debate dismiss F1", "Usage: `/debate dismiss F1 reason`."),
    ]:
        comment = faulty.comment("ann", body)
        event = jobs.github.event("issue_comment", comment=comment)
        first, second = jobs.run("issue_comment", event), jobs.run("issue_comment", event)
        assert first.exit_code == 0, first.log
        assert expected in faulty.comments[-1].body
        assert faulty.comments[-1].body.startswith(
            f"<!-- reviewbot:answer comment={comment.id} -->\n"
        )
        assert second.writes == []
        reactions = [reaction.content for reaction in comment.reactions]
        assert (reactions[0], len(reactions)) == ("eyes", 2)


def test_a_dismissed_finding_is_not_reported_again(jobs: Jobs, faulty: Pull) -> None:
    """Nor are those that it stands for."""
    faulty.push({"a.py": f"{FAULTY['a.py']}\n\ndef third(n):\n    return m / 3\n"})
    jobs.push(faulty, "opened")
    jobs.say(faulty, "ann", "/debate dismiss F1 `m` is a global that the *runner* sets @bob")
    assert faulty.threads[0].is_resolved
    faulty.push({"b.py": "x = 1\n"})
    ran = jobs.push(faulty)
    assert ran.outputs["verdict"] == "comment"
    assert [review.state for review in faulty.reviews] == ["DISMISSED"]
    assert "`@bob`" in summary_of(faulty)
    assert "**Dismissed:** F1: Undefined name `m` (and in line 6) (ann: " in summary_of(faulty)
    assert faulty.threads[0].is_resolved


def test_a_dismissal_takes_a_request_back_also_where_the_summary_was_deleted(
    jobs: Jobs, faulty: Pull
) -> None:
    faulty.push({"page.psd": "No linter reads this.\n"})
    jobs.push(faulty, "opened")
    deleted = faults.meanwhile("graphql", lambda: faulty.comments.pop(0), skip=1)
    jobs.github.faults.append(deleted)
    jobs.say(faulty, "ann", "/debate dismiss F1 On purpose.")
    faulty.push({"a.py": "def half(n):\n    return n / 4\n"})
    assert jobs.push(faulty).outputs["complete"] == "false"
    assert [review.state for review in faulty.reviews] == ["DISMISSED"]


def test_what_nobody_looked_at_stays_open_also_where_the_summary_was_deleted(
    jobs: Jobs, faulty: Pull
) -> None:
    jobs.config = "checks: [{name: long, run: [grep, -n, m, a.py, /dev/null], files: ['*.py']}]"
    jobs.push(faulty, "opened")
    faulty.comments.clear()
    jobs.config = ""
    faulty.push({"a.py": "def half(n):\n    return n / 4\n", "page.psd": "Not read.\n"})
    assert jobs.push(faulty).outputs["complete"] == "false"
    assert "No longer found." not in "".join(c.body for c in faulty.review_comments)
    assert [review.state for review in faulty.reviews] == ["CHANGES_REQUESTED"]
    assert [run.conclusion for run in faulty.repository.check_runs(faulty.head_sha)] == ["neutral"]


def test_a_dismissal_is_reviewed_once_its_job_runs_again(jobs: Jobs, faulty: Pull) -> None:
    jobs.permissions |= {"actions": "write"}
    faulty.repository.workflows.append("reviewbot-review.yml")
    jobs.push(faulty, "opened")
    comment = faulty.comment("ann", "/debate dismiss F1 On purpose.")
    event = jobs.github.event("issue_comment", comment=comment)
    jobs.github.faults.append(faults.server_error("actions/create-workflow-dispatch"))
    assert [jobs.run("issue_comment", event).exit_code for _ in range(3)] == [3, 0, 0]
    assert len(faulty.repository.dispatches) == 1
    (answer,) = [c.body for c in faulty.comments if "reviewbot:answer" in c.body]
    assert "F1 is dismissed" in answer
    for words in ("explain F1", "dispute F1 It is right."):
        assert "On purpose." in jobs.ask(faulty, f"/debate {words}")


def test_pause_stop_and_resume(jobs: Jobs, faulty: Pull) -> None:
    said = partial(jobs.ask, faulty)
    assert "reviewed when you ask" in said("/debate pause")
    assert jobs.push(faulty, "opened").outputs == {"skip_reason": "paused"}
    assert "Paused by `ann`" in said("/debate status")
    said("/debate stop")
    assert jobs.say(faulty, "ann", "/debate pause").outputs == {"skip_reason": "stopped"}
    assert "Stopped by `ann`" in said("/debate status")
    assert "newest commit is not reviewed yet" in said("/debate resume")
    assert jobs.push(faulty, "opened").outputs["verdict"] == "request_changes"
    assert summary_of(faulty).startswith("**Changes requested**")


def test_comments_without_effect(jobs: Jobs, faulty: Pull) -> None:
    """Nor of a run that somebody else ordered for them: nobody is asked, and nothing is written."""
    home, asked = faulty.repository, list[str]()
    home.allow("helper[bot]", "write")
    inputs = {"pull_request": str(faulty.number)}
    order = jobs.github.event("workflow_dispatch", repository=home, inputs=inputs)
    thread = faulty.thread("ann", "a.py", 2)
    with jobs.panel(lambda name, _: asked.append(name) or {"claims": []}):
        for login, body, calls in (
            ("rob", "/debate ask why?", 1),
            ("helper[bot]", "/debate full", 0),
            ("ann", "> /debate full", 0),
            ("ann", "Please\n/debate full", 0),
        ):
            said = faulty.comment(login, body)
            inline = fake_rules.create_reply(thread, jobs.github.user(login), body)
            for name, comment in (("issue_comment", said), ("pull_request_review_comment", inline)):
                ran = jobs.run(name, jobs.github.event(name, comment=comment))
                assert (ran.exit_code, ran.calls, ran.writes) == (0, calls, []), (name, body)
                order["inputs"]["comment"] = str(comment.id)
                assert jobs.run("workflow_dispatch", order).writes == [], (name, body)
        comment = faulty.comment("ann", "Hello")
        faulty.edit(comment, "/debate full")
        for action in ("edited", "deleted"):
            event = jobs.github.event("issue_comment", comment=comment, action=action)
            assert jobs.run("issue_comment", event).calls == 0
        order["inputs"]["comment"] = str(comment.id)
        assert jobs.run("workflow_dispatch", order).writes == []
    assert asked == []


def test_a_review_that_is_asked_for_runs_in_the_review_workflow(jobs: Jobs, faulty: Pull) -> None:
    assert "actions: write" in jobs.ask(faulty, "/debate the division")
    jobs.permissions |= {"actions": "write"}
    assert "reviewbot init --workflow review" in jobs.ask(faulty, "/debate the division")
    faulty.repository.workflows.append("reviewbot-review.yml")
    order, trigger = "actions/create-workflow-dispatch", "Workflow has no trigger"
    jobs.github.faults += [faults.error(order, 422, trigger), faults.server_error(order)]
    said = jobs.ask(faulty, "/debate the division")
    assert f"{trigger}: reviewbot init --workflow review" in said
    assert "give the command again later" in jobs.ask(faulty, "/debate the division")
    ran = jobs.say(faulty, "ann", "/debate the division")
    assert ran.outputs["verdict"] == "request_changes"
    assert len(faulty.threads) == 1
    answer = faulty.comments[-1].body
    assert answer.startswith("<!-- reviewbot:answer comment=")
    assert "**Changes requested**" in answer


def test_an_answer_says_why_the_review_is_not_posted(jobs: Jobs, faulty: Pull) -> None:
    jobs.permissions |= {"actions": "write"}
    faulty.repository.workflows.append("reviewbot-review.yml")
    push = partial(faulty.push, {"b.py": "b = 1\n"})
    moved = faults.meanwhile("repos/compare-commits-with-basehead", push)
    jobs.github.faults.append(moved)
    assert "A newer commit was pushed" in jobs.ask(faulty, "/debate full")
    assert "A dry run: nothing is posted." in jobs.ask(faulty, "/debate full", dry_run="true")


def test_more_commands_than_allowed_in_an_hour_are_not_obeyed(jobs: Jobs, faulty: Pull) -> None:
    jobs.config = "github: {commands_per_hour: 2}\n"
    for _ in range(3):
        jobs.say(faulty, "ann", "/debate help")
    assert len(faulty.comments) == 5
    assert [reaction.content for reaction in faulty.comments[-1].reactions] == ["confused"]
