"""A pull request reviewed from its event to its comments: by a real process, over real sockets, of a real repository."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.forge.acting import REVIEWER, Actor
from tests.forge.hub import Fault, Hub, Pull, Repository

pytestmark = pytest.mark.matrix(parts=1)

FAULTY = "def f{0}(x, y=[]):\n    y.append(x)\n    return y\n"
MENDED = "def f{0}(x, y=None):\n    return [x]\n"
PLAIN = "def f{0}(x):\n    return x\n"
CHANGED = "def f{0}(x):\n    # changed\n    return x + 1\n"


@pytest.fixture
def repository(hub: Hub) -> Repository:
    """Forty files."""
    made = hub.repository("octo/app")
    made.allow("octocat", "write")
    made.commit("main", {f"m{n:02}.py": PLAIN.format(n) for n in range(40)}, "Begin")
    return made


@pytest.fixture
def pull(repository: Repository) -> Pull:
    """All forty changed, twelve of them for the worse."""
    files = {f"m{n:02}.py": (FAULTY if n < 12 else CHANGED).format(n) for n in range(40)}
    repository.commit("topic", files, "Change everything")
    return repository.pull("Change everything", "topic")


@pytest.fixture
def actor(hub: Hub, tmp_path: Path) -> Actor:
    return Actor(hub, tmp_path, hub.token(permissions=REVIEWER))


def pushed(hub: Hub, pull: Pull, action: str = "synchronize") -> tuple[str, dict[str, object]]:
    return "pull_request", hub.event("pull_request", action=action, pull=pull)


@pytest.mark.ci
def test_forty_files_with_twelve_findings_take_at_most_eight_calls(hub: Hub, actor: Actor, pull: Pull) -> None:
    ran = actor.run(*pushed(hub, pull, "opened"), max_comments="12")
    assert ran.exit_code == 0, ran.stderr
    assert ran.calls <= 8
    assert [(thread.path, thread.line) for thread in pull.threads] == [(f"m{n:02}.py", 1) for n in range(12)]
    assert len(pull.reviews) == 1
    assert len(pull.comments) == 1
    assert ran.outputs["conclusion"] == "complete"
    assert ran.outputs["range_mode"] == "full"
    assert ran.outputs["reviewed_sha"] == pull.head_sha
    assert ran.outputs["comments_inline"] == ran.outputs["comments_total"] == "12"
    assert [told["id"] for told in json.loads(ran.outputs["findings_json"])] == [f"F{n}" for n in range(1, 13)]
    assert ran.outputs["summary_comment_url"].startswith("http")
    assert "12 findings" in ran.summary


def test_the_same_head_again_writes_nothing(hub: Hub, actor: Actor, pull: Pull) -> None:
    actor.run(*pushed(hub, pull, "opened"))
    again = actor.run(*pushed(hub, pull, "opened"))
    assert again.writes == ()
    assert again.outputs["skip_reason"] == "already_reviewed"
    assert again.exit_code == 0


def test_a_push_that_fixes_three_closes_exactly_those(hub: Hub, actor: Actor, pull: Pull) -> None:
    actor.run(*pushed(hub, pull, "opened"), max_comments="12")
    pull.push({f"m{n:02}.py": MENDED.format(n) for n in (2, 5, 7)})
    ran = actor.run(*pushed(hub, pull), max_comments="12")
    closed = {thread.comments[0].body.split(" id=")[1].split(" ")[0] for thread in pull.threads if thread.is_resolved}
    assert closed == {"F3", "F6", "F8"}
    assert ran.outputs["comments_resolved"] == "3"
    assert ran.outputs["range_mode"] == "incremental"
    assert "pulls/create-review" not in ran.writes
    assert len(pull.threads) == 12
    assert len(pull.comments) == 1
    told = {item["id"]: item["lifecycle"] for item in json.loads(ran.outputs["findings_json"])}
    assert told == {f"F{n}": "carried" for n in range(1, 13) if n not in (3, 6, 8)}


@pytest.mark.ci
def test_where_threads_may_not_be_resolved_they_are_answered_once(hub: Hub, actor: Actor, pull: Pull) -> None:
    hub.resolving_needs_contents = True
    actor.run(*pushed(hub, pull, "opened"), max_comments="12")
    pull.push({"m02.py": MENDED.format(2)})
    ran = actor.run(*pushed(hub, pull), max_comments="12")
    answered = [thread for thread in pull.threads if len(thread.comments) == 2]
    assert [thread.path for thread in answered] == ["m02.py"]
    assert ran.outputs["comments_resolved"] == "1"
    pull.push({"m30.py": CHANGED.format("_30")})
    actor.run(*pushed(hub, pull), max_comments="12")
    assert [len(thread.comments) for thread in pull.threads].count(2) == 1


@pytest.mark.ci
def test_a_thread_that_a_person_answered_is_left_to_people(hub: Hub, actor: Actor, pull: Pull) -> None:
    actor.run(*pushed(hub, pull, "opened"), max_comments="12")
    pull.reply(pull.threads[2], "octocat", "I do not think so")
    pull.push({"m02.py": MENDED.format(2)})
    actor.run(*pushed(hub, pull), max_comments="12")
    assert not pull.threads[2].is_resolved


@pytest.mark.ci
def test_a_rebase_that_changes_nothing_asks_nobody_and_runs_nothing(
    hub: Hub, actor: Actor, repository: Repository, pull: Pull
) -> None:
    actor.run(*pushed(hub, pull, "opened"))
    files = {f"m{n:02}.py": (FAULTY if n < 12 else CHANGED).format(n) for n in range(40)}
    parent = repository.commit("main", {"other.txt": "new on main\n"}, "Meanwhile")
    pull.force_push(files, parent=parent)
    ran = actor.run(*pushed(hub, pull))
    assert ran.outputs["range_mode"] == "unchanged"
    assert ran.outputs["reviewed_sha"] == pull.head_sha
    assert len(pull.threads) == 10
    assert "pulls/create-review" not in ran.writes
    assert repository.check_runs(pull.head_sha)


def test_an_answer_that_is_lost_after_the_review_stands_posts_no_second_one(hub: Hub, actor: Actor, pull: Pull) -> None:
    hub.faults.append(Fault("pulls/create-review", status=502, after=True))
    ran = actor.run(*pushed(hub, pull, "opened"))
    assert ran.exit_code == 0, ran.stderr
    assert len(pull.reviews) == 1
    assert len(pull.threads) == 10
    assert len(pull.comments) == 1


@pytest.mark.ci
def test_a_token_that_may_only_read_leaves_a_summary_and_annotations(hub: Hub, tmp_path: Path, pull: Pull) -> None:
    actor = Actor(hub, tmp_path, hub.token(permissions={"contents": "read", "pull_requests": "read", "metadata": "read"}))
    ran = actor.run(*pushed(hub, pull, "opened"))
    assert ran.exit_code == 0, ran.stderr
    assert "may not comment" in ran.stdout
    assert ran.stdout.count("::warning ") == 10
    assert "12 findings" in ran.summary
    assert ran.writes == ()
    assert (ran.outputs["conclusion"], ran.outputs["comments_total"]) == ("complete", "0")


def test_a_dry_run_posts_nothing_and_says_everything(hub: Hub, actor: Actor, pull: Pull) -> None:
    ran = actor.run(*pushed(hub, pull, "opened"), dry_run="true")
    assert ran.writes == ()
    assert "12 findings" in ran.summary
    assert "dry run" in ran.stdout


@pytest.mark.parametrize(
    ("what", "reason"),
    [("draft", "draft"), ("locked", "locked"), ("label", "opt_out_label"), ("closed", "closed"), ("bot", "bot_author")],
)
def test_what_is_not_reviewed_costs_no_call_and_says_why(
    hub: Hub, actor: Actor, repository: Repository, pull: Pull, what: str, reason: str
) -> None:
    if what == "bot":
        hub.user("renovate[bot]", type="Bot")
        pull = repository.pull("Bump", "topic", author="renovate[bot]")
    pull.draft, pull.locked = what == "draft", what == "locked"
    if what == "label":
        pull.labels.append("reviewbot:skip")
    if what == "closed":
        pull.close()
    ran = actor.run(*pushed(hub, pull, "opened"))
    assert (ran.outputs["skip_reason"], ran.outputs["conclusion"]) == (reason, "")
    assert (ran.calls, ran.writes, ran.exit_code) == (0, (), 0)
    assert reason in ran.summary


@pytest.mark.ci
def test_failing_findings_fail_the_job_and_the_check(hub: Hub, actor: Actor, repository: Repository, pull: Pull) -> None:
    ran = actor.run(*pushed(hub, pull, "opened"), fail_on="medium")
    assert ran.exit_code == 1
    assert [run.conclusion for run in repository.check_runs(pull.head_sha)] == ["failure"]


def test_a_wrong_token_is_one_clear_error_without_the_token(hub: Hub, tmp_path: Path, pull: Pull) -> None:
    ran = Actor(hub, tmp_path, "ghs_notatokenatall0000000000000000000000").run(*pushed(hub, pull, "opened"))
    assert ran.exit_code == 3
    assert "notatokenatall" not in ran.stdout + ran.stderr + ran.summary
    assert "Traceback" not in ran.stderr
    assert "token" in ran.stderr
    assert ran.outputs["conclusion"] == "not_reviewed"


def test_outside_of_actions_the_command_says_what_to_use(tmp_path: Path, hub: Hub) -> None:
    actor = Actor(hub, tmp_path, "", environment={"GITHUB_EVENT_NAME": ""})
    ran = actor.run("", {})
    assert ran.exit_code == 2
    assert "reviewbot review" in ran.stderr


def test_a_sarif_file_that_cannot_be_written_loses_no_review(hub: Hub, actor: Actor, pull: Pull) -> None:
    ran = actor.run(*pushed(hub, pull, "opened"), sarif_file="/proc/nowhere/reviewbot.sarif")
    assert (ran.exit_code, ran.outputs["sarif_file"], len(pull.reviews), len(pull.comments)) == (0, "", 1, 1), ran.stderr
    assert "SARIF file /proc/nowhere/reviewbot.sarif cannot be written" in ran.stdout


@pytest.mark.ci
def test_a_sarif_file_follows_no_link_of_the_checkout(hub: Hub, actor: Actor, pull: Pull) -> None:
    (actor.folder / "workspace").mkdir()
    (actor.folder / "precious").write_text("mine")
    (actor.folder / "workspace" / "out.sarif").symlink_to(actor.folder / "precious")
    ran = actor.run(*pushed(hub, pull, "opened"), sarif_file="out.sarif", dry_run="true")
    assert ran.exit_code == 0, ran.stderr
    assert (actor.folder / "precious").read_text() == "mine"
    assert "runs" in json.loads(Path(ran.outputs["sarif_file"]).read_text())


def test_an_event_that_is_refused_is_said_in_the_summary_too(hub: Hub, actor: Actor, pull: Pull) -> None:
    ran = actor.run("pull_request_target", hub.event("pull_request", action="opened", pull=pull))
    assert (ran.exit_code, ran.outputs["conclusion"]) == (2, "not_reviewed")
    assert "pull_request_target" in ran.summary
