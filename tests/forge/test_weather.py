"""Bad weather on the way to GitHub, row by row of the documented faults: whole runs, and the run after them. Whatever happens
ends in an exit code and a sentence; nothing is lost, and nothing is said twice."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.forge.acting import REVIEWER, Actor, Ran
from tests.forge.hub import Fault, Hub, Pull, Repository, faults
from tests.forge.hub.rules import begun_review

pytestmark = [pytest.mark.ci, pytest.mark.matrix]

US = "github-actions[bot]"
FAULTY = "def f{0}(x, y=[]):\n    y.append(x)\n    return y\n"
PLAIN = "def f{0}(x):\n    return x\n"
CLEAN = "def f{0}(x):\n    return [x]\n"
REVIEW, CHECK, SUMMARY, EDIT = "pulls/create-review", "checks/create", "issues/create-comment", "issues/update-comment"
WRITES = (REVIEW, CHECK, SUMMARY)
COMPARE = "repos/compare-commits-with-basehead"
MAY_NOT = "Resource not accessible by integration"


@pytest.fixture
def repository(hub: Hub) -> Repository:
    made = hub.repository("octo/app")
    made.allow("octocat", "write")
    made.commit("main", {f"m{n}.py": PLAIN.format(n) for n in range(4)}, "Begin")
    return made


@pytest.fixture
def pull(repository: Repository) -> Pull:
    """Three files, each made worse."""
    repository.commit("topic", {f"m{n}.py": FAULTY.format(n) for n in range(3)}, "Change")
    return repository.pull("Change", "topic")


@pytest.fixture
def actor(hub: Hub, tmp_path: Path) -> Actor:
    return Actor(hub, tmp_path, hub.token(permissions=REVIEWER))


def run(actor: Actor, pull: Pull, action: str = "opened", **inputs: str) -> Ran:
    """A run that ends in order, whatever the weather."""
    ran = actor.run("pull_request", actor.hub.event("pull_request", action=action, pull=pull), **inputs)
    said = ran.stdout + ran.stderr + ran.summary
    assert "Traceback" not in said
    assert "bug in reviewbot" not in said
    assert actor.token not in said
    assert ran.exit_code in (0, 3), ran.stderr
    return ran


def fair(actor: Actor, pull: Pull) -> None:
    """The next run, in fair weather, leaves exactly what a first one would have left; the one after it has nothing to do."""
    actor.hub.faults.clear()
    ran = run(actor, pull)
    assert ran.exit_code == 0, ran.stderr
    expect_whole(pull)
    assert run(actor, pull).writes == ()


def expect_whole(pull: Pull) -> None:
    """Three findings, each told once on its line; one review, one check run, one summary."""
    assert sorted((thread.path, thread.line) for thread in pull.threads) == [(f"m{n}.py", 1) for n in range(3)]
    assert not any(thread.is_resolved for thread in pull.threads)
    assert [review.state for review in ours(pull)] == ["COMMENTED"]
    assert [said.body.split("\n")[0] for said in pull.comments] == ["<!-- reviewbot:summary v1 -->"]
    assert [(check.name, check.conclusion) for check in pull.repository.check_runs(pull.head_sha)] == [("reviewbot", "neutral")]


def ours(pull: Pull) -> list[object]:
    return [review for review in pull.reviews if review.login == US]


def expect_nothing(pull: Pull, ran: Ran, reason: str, words: str) -> None:
    """Nothing is posted, and the run says why and does not fail."""
    assert (ran.outputs["skip_reason"], ran.exit_code) == (reason, 0), ran.stderr
    assert words in ran.stdout
    assert ours(pull) == []
    assert [said for said in pull.comments if said.login == US] == []


PASSING: dict[str, Callable[[str], Fault]] = {
    "502 before": lambda on: faults.server_error(on),
    "502 after": lambda on: faults.server_error(on, after=True),
    "503 page": lambda on: faults.server_error(on, status=503, html=True, after=True),
    "dropped before": lambda on: faults.dropped(on),
    "dropped after": lambda on: faults.dropped(on, after=True),
    "secondary limit": lambda on: faults.secondary_limit(on, status=429, retry_after=0),
    "primary limit": lambda on: faults.primary_limit(on, reset_in=-5),
    "garbled": lambda on: Fault(on, 201, '{"id": ', after=True),
}


@pytest.mark.parametrize(
    ("weather", "on"),
    [(weather, REVIEW) for weather in PASSING]
    + [(weather, on) for weather in ("502 after", "dropped before", "secondary limit") for on in (CHECK, SUMMARY)],
)
def test_a_passing_trouble_of_a_write_is_over_within_the_run(hub: Hub, actor: Actor, pull: Pull, weather: str, on: str) -> None:
    """G12, G13, G18: done once and said once, whether or not the write took place."""
    hub.faults.append(PASSING[weather](on))
    ran = run(actor, pull)
    hub.violations.clear()
    assert ran.exit_code == 0, ran.stderr
    assert not hub.faults
    expect_whole(pull)
    assert ran.outputs["comments_inline"] == "3"
    assert run(actor, pull).writes == ()


@pytest.mark.parametrize(
    "weather", [faults.server_error, faults.dropped, faults.graphql_nothing], ids=["502", "dropped", "nothing"]
)
def test_a_passing_trouble_of_a_read_is_not_noticed(hub: Hub, actor: Actor, pull: Pull, weather: Callable[..., Fault]) -> None:
    hub.faults.append(weather() if weather is faults.graphql_nothing else weather("graphql"))
    assert run(actor, pull).exit_code == 0
    hub.violations.clear()
    expect_whole(pull)


@pytest.mark.parametrize("on", WRITES)
def test_a_limit_that_outlasts_the_run_keeps_the_review_for_the_next(hub: Hub, actor: Actor, pull: Pull, on: str) -> None:
    """G12: an hour is not waited for; the finished review is in the job's own page and log."""
    hub.faults.append(faults.secondary_limit(on, retry_after=3_600, times=9))
    ran = run(actor, pull)
    assert ran.exit_code == 3
    assert "run this job again to post it" in ran.stdout
    assert ran.stdout.count("::warning ") == 3
    assert "3 findings" in ran.summary
    fair(actor, pull)


@pytest.mark.parametrize("on", WRITES)
def test_a_lasting_trouble_of_a_write_is_said_and_finished_by_the_next_run(hub: Hub, actor: Actor, pull: Pull, on: str) -> None:
    hub.faults.append(faults.server_error(on, times=99))
    ran = run(actor, pull)
    assert ran.exit_code == 3
    assert "GitHub does not answer" in ran.stdout
    assert ran.stdout.count("::warning ") == 3
    fair(actor, pull)


def test_where_nothing_can_be_read_nothing_is_reviewed(hub: Hub, actor: Actor, pull: Pull) -> None:
    hub.faults.append(faults.server_error("graphql", status=503, times=99))
    ran = run(actor, pull)
    assert (ran.exit_code, ran.outputs["conclusion"], ran.writes) == (3, "not_reviewed", ())
    assert "NOT REVIEWED" in ran.summary
    fair(actor, pull)


@pytest.mark.parametrize("on", ["graphql", REVIEW, SUMMARY])
def test_a_token_that_ran_out_is_one_clear_error(hub: Hub, actor: Actor, pull: Pull, on: str) -> None:
    """G17."""
    hub.faults.append(faults.refusal(on, 401, "Bad credentials", times=99))
    ran = run(actor, pull)
    assert ran.exit_code == 3
    assert "token" in ran.stderr
    fair(actor, pull)


Then = Callable[[Pull], object]
MEANWHILE: dict[str, tuple[Then, str, str]] = {
    "pushed": (lambda pull: pull.push({"m3.py": FAULTY.format(3)}), "head_moved", "the head moved"),
    "force-pushed": (lambda pull: pull.force_push({"m3.py": FAULTY.format(3)}), "head_moved", "the head moved"),
    "closed": (lambda pull: pull.close(), "closed", "was closed"),
    "merged": (lambda pull: pull.close(merged=True), "closed", "was closed"),
    "locked": (lambda pull: setattr(pull, "locked", True), "locked", "is locked"),
    "deleted": (lambda pull: setattr(pull, "deleted", True), "not_a_pull_request", "is gone"),
}


@pytest.mark.parametrize("what", MEANWHILE)
def test_what_happened_while_the_review_was_made_is_seen_before_it_is_posted(
    hub: Hub, actor: Actor, pull: Pull, what: str
) -> None:
    """G15, G16, G30."""
    then, reason, words = MEANWHILE[what]
    hub.faults.append(faults.meanwhile(COMPARE, lambda: then(pull)))
    ran = run(actor, pull)
    expect_nothing(pull, ran, reason, words)
    assert ran.writes == ()
    assert pull.repository.all_check_runs == []


@pytest.mark.smoke
@pytest.mark.parametrize("what", ["force-pushed", "locked", "deleted"])
def test_what_happens_in_the_very_moment_of_posting_ends_the_run(hub: Hub, actor: Actor, pull: Pull, what: str) -> None:
    """G8, G15, G16."""
    then, _, words = MEANWHILE[what]
    hub.faults.append(faults.meanwhile(REVIEW, lambda: then(pull)))
    ran = run(actor, pull)
    assert ours(pull) == []
    assert ran.exit_code == 0, ran.stderr
    assert words in ran.stdout or "gone" in ran.stdout


def test_a_push_between_the_review_and_its_summary_is_reviewed_by_its_own_run(hub: Hub, actor: Actor, pull: Pull) -> None:
    hub.faults.append(faults.meanwhile(REVIEW, lambda: pull.push({"m2.py": CLEAN.format(2)}), after=True))
    assert run(actor, pull).exit_code == 0
    ran = run(actor, pull, "synchronize")
    assert (ran.exit_code, ran.outputs["reviewed_sha"]) == (0, pull.head_sha), ran.stderr
    assert sorted((thread.path, thread.is_resolved) for thread in pull.threads) == [
        ("m0.py", False),
        ("m1.py", False),
        ("m2.py", True),
    ]
    assert len(pull.comments) == len(ours(pull)) == 1


def test_a_head_that_is_deleted_meanwhile_is_reviewed_to_the_end(hub: Hub, actor: Actor, pull: Pull) -> None:
    hub.faults.append(faults.meanwhile(COMPARE, pull.lose_head))
    assert run(actor, pull).exit_code == 0
    expect_whole(pull)


def test_lines_that_are_refused_become_words_of_the_body(hub: Hub, actor: Actor, pull: Pull) -> None:
    """G4: all or nothing, and it does not say which; everything is told all the same, and not again by the next run."""
    reason = "Pull request review thread line must be part of the diff and Pull request review thread diff hunk can't be blank"
    hub.faults.append(faults.refusal(REVIEW, 422, "Unprocessable Entity", [reason]))
    ran = run(actor, pull)
    assert (ran.exit_code, ran.outputs["comments_inline"], ran.outputs["comments_total"]) == (0, "0", "3")
    assert pull.threads == []
    (review,) = pull.reviews
    (summary,) = pull.comments
    for n in range(3):
        assert f"On `m{n}.py:1`" in review.body
        assert f"`m{n}.py:1`" in summary.body
    assert summary.body.count("\n### F") == 3
    assert run(actor, pull).writes == ()


def test_a_review_that_is_refused_altogether_is_told_by_the_summary(hub: Hub, actor: Actor, pull: Pull) -> None:
    hub.faults.append(faults.refusal(REVIEW, 422, "Unprocessable Entity", ["something else"], times=9))
    ran = run(actor, pull)
    assert ran.exit_code == 0, ran.stderr
    assert pull.reviews == []
    assert pull.comments[0].body.count("\n### F") == 3
    assert "::notice::" in ran.stdout


@pytest.mark.parametrize("late", [False, True], ids=["before", "meanwhile"])
def test_a_review_of_ours_that_was_begun_and_never_sent_is_taken_away(hub: Hub, actor: Actor, pull: Pull, late: bool) -> None:
    """G6: an empty pending one would keep every later one away."""
    if late:
        hub.faults.append(faults.meanwhile(REVIEW, lambda: begun_review(pull, hub.user(US), {"body": "", "comments": []})))
    else:
        begun_review(pull, hub.user(US), {"body": "", "comments": []})
    ran = run(actor, pull)
    assert ran.exit_code == 0, ran.stderr
    expect_whole(pull)


def test_an_approval_that_is_refused_becomes_a_comment(hub: Hub, tmp_path: Path, repository: Repository) -> None:
    """G7."""
    actor = Actor(hub, tmp_path, hub.token())
    repository.commit("topic", {"m0.py": CLEAN.format(0)}, "Change")
    pull = repository.pull("Change", "topic")
    ran = run(actor, pull, allow_approve="true")
    assert (ran.exit_code, ran.outputs["verdict"]) == (0, "approve"), ran.stderr
    assert [review.state for review in pull.reviews] == ["COMMENTED"]
    assert "not permitted to approve" in ran.stdout
    assert len(pull.comments) == 1
    assert run(actor, pull, allow_approve="true").writes == ()


@pytest.mark.parametrize("on", [CHECK, REVIEW])
def test_what_the_token_may_not_write_is_said_and_the_rest_is_done(hub: Hub, actor: Actor, pull: Pull, on: str) -> None:
    """G14."""
    hub.faults.append(faults.refusal(on, 403, MAY_NOT, times=99))
    ran = run(actor, pull)
    assert ran.exit_code == 0, ran.stderr
    assert MAY_NOT in ran.stdout
    (summary,) = pull.comments
    assert summary.body.count("`m0.py:1`") >= 1
    assert summary.body.count("\n### F") == (3 if on == REVIEW else 0)
    assert len(pull.threads) == (0 if on == REVIEW else 3)


def test_a_summary_that_may_not_be_written_is_the_jobs_own(hub: Hub, actor: Actor, pull: Pull) -> None:
    hub.faults.append(faults.refusal(SUMMARY, 403, MAY_NOT, times=99))
    ran = run(actor, pull)
    assert ran.exit_code == 0, ran.stderr
    assert "may not comment" in ran.stdout
    assert ran.stdout.count("::warning ") == 3
    fair(actor, pull)


def test_a_summary_that_is_refused_for_its_length_is_an_error_that_is_said(hub: Hub, actor: Actor, pull: Pull) -> None:
    """G9."""
    words = "Body is too long (maximum is 65536 characters)"
    entry = {"resource": "IssueComment", "code": "unprocessable", "field": "data", "message": words}
    hub.faults.append(faults.refusal(SUMMARY, 422, "Validation Failed", [entry]))
    ran = run(actor, pull)
    assert ran.exit_code == 3
    assert words in ran.stdout
    assert ran.stdout.count("::warning ") == 3
    fair(actor, pull)


def test_labels_that_may_not_be_set_stop_nothing(hub: Hub, actor: Actor, pull: Pull) -> None:
    actor.environment["REVIEWBOT__GITHUB__LABELS"] = "true"
    hub.faults.append(faults.refusal("issues/add-labels", 403, MAY_NOT))
    ran = run(actor, pull)
    assert ran.exit_code == 0, ran.stderr
    expect_whole(pull)
    assert pull.labels == []


def test_a_summary_that_was_deleted_meanwhile_is_written_anew(hub: Hub, actor: Actor, pull: Pull) -> None:
    run(actor, pull)
    pull.push({"m3.py": FAULTY.format(3)})
    hub.faults.append(faults.meanwhile(EDIT, pull.comments.clear))
    ran = run(actor, pull, "synchronize")
    assert ran.exit_code == 0, ran.stderr
    assert len(pull.comments) == 1
    assert sorted(thread.path for thread in pull.threads) == [f"m{n}.py" for n in range(4)]


def test_a_token_follows_no_redirect_to_another_host(hub: Hub, actor: Actor, pull: Pull) -> None:
    """G22."""
    elsewhere = hub.api_url.replace("127.0.0.1", "localhost")
    hub.faults.append(faults.moved(COMPARE, to=f"{elsewhere}/repos/octo/app/compare/main...topic", times=9))
    before = len(hub.journal)
    run(actor, pull)
    assert [entry.login for entry in hub.journal[before:] if entry.path.endswith("main...topic")] in ([], [None])


@pytest.mark.parametrize("weather", [faults.not_a_user, lambda: faults.server_error(PERMISSION, times=99)], ids=["404", "502"])
def test_who_cannot_be_looked_up_is_not_obeyed(hub: Hub, actor: Actor, pull: Pull, weather: Callable[[], Fault]) -> None:
    """G29."""
    hub.faults.append(weather())
    comment = pull.comment("octocat", "/debate full")
    ran = actor.run("issue_comment", hub.event("issue_comment", action="created", comment=comment))
    assert "Traceback" not in ran.stderr
    assert ran.outputs["skip_reason"] == "missing_permission"
    assert ran.writes == ()


PERMISSION = "repos/get-collaborator-permission-level"


def test_a_head_has_one_check_run_however_often_it_is_reviewed(hub: Hub, actor: Actor, pull: Pull) -> None:
    """G26."""
    run(actor, pull)
    for _ in range(2):
        comment = pull.comment("octocat", "/debate full")
        assert actor.run("issue_comment", hub.event("issue_comment", action="created", comment=comment)).exit_code == 0
    assert len(pull.repository.check_runs(pull.head_sha)) == 1
    assert len(pull.threads) == 3


def test_a_review_that_was_pointed_at_a_newer_head_is_not_taken_for_one_of_it(hub: Hub, actor: Actor, pull: Pull) -> None:
    """G25."""
    run(actor, pull)
    pull.force_push({f"m{n}.py": FAULTY.format(n) for n in range(4)})
    assert {review.commit_id for review in pull.reviews} == {pull.head_sha}
    ran = run(actor, pull, "synchronize")
    assert ran.outputs["reviewed_sha"] == pull.head_sha
    assert sorted(thread.path for thread in pull.threads) == [f"m{n}.py" for n in range(4)]
