"""The fake GitHub is as strict as GitHub. G numbers are those of the table of faults."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from tests.fake_github import GitHub, Pull, faults, query, send
from tests.fake_github.call import HANDLERS, Handler, Respond
from tests.fake_github.client import Received
from tests.fake_github.contract import contract

Ask = Callable[..., Received]

REPO = "/repos/octo/app"
PULL = f"{REPO}/pulls/1"
REVIEWS = f"{PULL}/reviews"
COMMENTS = f"{REPO}/issues/1/comments"
CHECKS = f"{REPO}/check-runs"
HELLO = {"body": "hello"}
LONG = "x" * 65_537
NOTE = {"path": "a.py", "start_line": 1, "end_line": 1, "annotation_level": "notice", "message": ""}
SELECT = '{ repository(owner: "octo", name: "app") { pullRequest(number: 1) { %s } } }'
LINE = "line must be part of the diff and Pull request review thread diff hunk can't be blank"


@pytest.fixture
def ask(github: GitHub, pull: Pull) -> Ask:
    """Send a request to a repository with a pull request, as a workflow that reviews it."""
    assert pull.number == 1
    return partial(send, github, token=github.token())


def inline(path: str = "a.py", line: Any = 10, **more: Any) -> dict[str, Any]:
    return {"path": path, "line": line, "side": "RIGHT", "body": "why", **more}


def review(*comments: dict[str, Any], event: str = "COMMENT", **more: Any) -> dict[str, Any]:
    return {"event": event, "body": "See below", "comments": list(comments), **more}


def test_a_request_that_github_does_not_describe_is_a_violation(github: GitHub, ask: Ask) -> None:
    for method, path, body, status, error in (
        ("POST", REVIEWS, {**HELLO, "coments": []}, 418, "$.coments is not described"),
        ("POST", REVIEWS, review(inline(startLine=1)), 418, "$.comments[0].startLine"),
        ("POST", REVIEWS, review(event="APPROVED"), 418, "'APPROVED'"),
        ("POST", CHECKS, {"head_sha": "x"}, 418, "'name' is a required property"),
        ("PATCH", f"{CHECKS}/1", {"output": {"summary": "", "annotations": [NOTE] * 51}}, 418, ""),
        ("POST", COMMENTS, None, 418, "the body is missing"),
        ("GET", f"{COMMENTS}?per_pag=3", None, 418, "query 'per_pag' is not described"),
        ("GET", f"{COMMENTS}?page=many", None, 418, "is not a number"),
        ("PATCH", PULL, {}, 501, "the fake has no such operation"),
    ):
        received = ask(method, path, body)
        assert received.status == status, (path, body)
        assert error in " ".join(received.json["errors"])
        with pytest.raises(AssertionError, match="not as GitHub describes it"):
            github.check()
        github.violations.clear()
    for text, error in (
        ("{ viewer { logn } }", "Cannot query field 'logn'"),
        ("query($x: Int!) { viewer { login } }", "is never used"),
        ("{ viewer { bio } }", "the fake does not have User.bio"),
    ):
        query(github, text, token=github.token())
        assert error in github.violations.pop(0)
        github.violations.clear()


def test_a_response_that_github_does_not_describe_is_a_violation(
    github: GitHub, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = f"{REPO}/issues/comments/1"
    for response, error in (
        ({"id": "1"}, "response 200 $.id: '1' is not of type 'integer'"),
        (Respond(206, {}), "status 206 is not described"),
    ):
        handler = Handler(lambda _, response=response: response, ("issues:read",))
        monkeypatch.setitem(HANDLERS, "issues/get-comment", handler)
        assert ask("GET", path).status == 418
        assert github.violations.pop() == f"GET /api/v3{path}: {error}"
    assert {operation.id for operation in contract().operations} == set(HANDLERS)


def test_a_review_is_refused_as_a_whole(github: GitHub, ask: Ask, pull: Pull) -> None:
    """G4, G6, G7, G8, G9"""
    for body, error in (
        (review(inline(), inline(line=20)), LINE),
        (review(inline(), inline("gone.py", 1)), "path is invalid and"),
        (review(inline(line=30, start_line=10)), "start line must be part of the same hunk"),
        (review(inline("b.py", 1, side="LEFT")), LINE),
        (review(event="APPROVE"), "GitHub Actions is not permitted to approve pull requests."),
        ({"event": "COMMENT"}, "You need to leave a comment"),
        (review(body=LONG), "Body is too long (maximum is 65536 characters)"),
        (review(commit_id="0" * 40), "Commit oid is not part of the pull request"),
    ):
        received = ask("POST", REVIEWS, body)
        assert (received.status, received.json["message"]) == (422, "Unprocessable Entity"), error
        assert error in received.json["errors"][0]
    assert (pull.reviews, pull.threads, github.writes()) == ([], [], [])
    pull.review("github-actions[bot]", "", event="")
    again = ask("POST", REVIEWS, review()).json
    assert again["errors"] == ["User can only have one pending review per pull request"]


def test_threads_follow_their_lines_until_these_change(pull: Pull) -> None:
    thread, gone = pull.thread("mona", "a.py", 10), pull.thread("mona", "b.py", 1)
    text = pull.repository.text("topic", "a.py").replace("ten\n", "ten\nafter it\n")
    pull.push({"a.py": "new\nnew\n" + text, "b.py": "z = 3\n"})
    assert (thread.line, gone.line) == (12, None)


def test_a_token_has_the_permissions_given_and_no_other(
    github: GitHub, ask: Ask, pull: Pull
) -> None:
    """G14, G15, G17"""
    reader = github.token(permissions={"pull_requests": "read", "contents": "read"})
    for path, body in (
        (COMMENTS, HELLO),
        (REVIEWS, review()),
        (CHECKS, {"name": "x", "head_sha": pull.head_sha}),
        (f"{REPO}/issues", {"title": "x"}),
        (f"{REPO}/git/refs", {"ref": "refs/heads/x", "sha": pull.head_sha}),
        (f"{REPO}/actions/workflows/reviewbot.yml/dispatches", {"ref": "main"}),
    ):
        refused = ask("POST", path, body, token=reader)
        assert refused.json["message"] == "Resource not accessible by integration"
    suites = "checkSuites(first: 9) { nodes { checkRuns(first: 9) { nodes { title } } } }"
    text = SELECT % f"title commits(last: 1) {{ nodes {{ commit {{ {suites} }} }} }}"
    body = query(github, text, token=reader)
    assert body["data"]["repository"]["pullRequest"]["title"] == "Change a.py"
    assert [error["type"] for error in body["errors"]] == ["FORBIDDEN"]
    assert ask("GET", COMMENTS, token="ghs_unknown").json["message"] == "Bad credentials"
    pull.locked = True
    assert ask("POST", COMMENTS, HELLO).status == 403


def test_an_artifact_is_on_another_host_that_gets_no_token(
    github: GitHub, ask: Ask, pull: Pull
) -> None:
    run = pull.repository.run("collect", pull=pull)
    artifact = pull.repository.artifact(run, "evidence", b"PK zip")
    redirect = ask("GET", f"{REPO}/actions/artifacts/{artifact.id}/zip")
    url = redirect.headers["location"]
    assert (redirect.status, url.startswith(github.server_url)) == (302, False)
    assert ask("GET", url, token=None).content == b"PK zip"
    ask("GET", url)
    assert "a token was sent to another host" in github.violations.pop()


def test_a_fault_comes_before_or_after_the_write(github: GitHub, ask: Ask, pull: Pull) -> None:
    """G18"""
    for after in (False, True):
        github.faults.append(faults.server_error("issues/create-comment", after=after))
        assert ask("POST", COMMENTS, HELLO).status == 502
        github.faults.append(faults.dropped("write", after=after))
        with pytest.raises(ConnectionError):
            ask("POST", COMMENTS, HELLO)
        assert github.writes() == ["issues/create-comment"] * len(pull.comments)
    assert [entry.status for entry in github.log] == [502, 0, 201, 201]
