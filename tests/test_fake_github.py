"""The fake GitHub is as strict as GitHub. G numbers are those of the table of faults."""

from __future__ import annotations

import base64
import os
import subprocess
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from tests.fake_github import GitHub, Pull, Repository, faults, query, send
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
NOT_ACCESSIBLE = "Resource not accessible by integration"


@pytest.fixture
def ask(github: GitHub, pull: Pull) -> Ask:
    """Send a request to a repository with a pull request, as a workflow that reviews it."""
    assert pull.number == 1
    return partial(send, github, token=github.token())


def inline(path: str = "a.py", line: Any = 10, **more: Any) -> dict[str, Any]:
    return {"path": path, "line": line, "side": "RIGHT", "body": "why", **more}


def review(*comments: dict[str, Any], event: str = "COMMENT", **more: Any) -> dict[str, Any]:
    return {"event": event, "body": "See below", "comments": list(comments), **more}


def mutate(github: GitHub, name: str, fields: str, token: str, **given: Any) -> Any:
    kind = f"{name[0].upper()}{name[1:]}Input"
    text = f"mutation($i: {kind}!) {{ {name}(input: $i) {{ {fields} }} }}"
    body = query(github, text, token=token, i=given)
    return body["errors"][0] if "errors" in body else body["data"][name]


UNDESCRIBED: list[tuple[str, str, Any, int, str]] = [
    ("POST", REVIEWS, {**HELLO, "coments": []}, 418, "$.coments is not described"),
    ("POST", REVIEWS, review(inline(startLine=1)), 418, "$.comments[0].startLine"),
    ("POST", REVIEWS, review(event="APPROVED"), 418, "'APPROVED'"),
    ("POST", REVIEWS, review(inline(line="1")), 418, "comments[0]"),
    ("POST", CHECKS, {"head_sha": "x"}, 418, "'name' is a required property"),
    ("PATCH", f"{CHECKS}/1", {"output": {"title": "t"}}, 418, "summary"),
    ("PATCH", f"{CHECKS}/1", {"output": {"summary": "", "annotations": [NOTE] * 51}}, 418, ""),
    ("POST", COMMENTS, None, 418, "the body is missing"),
    ("GET", f"{COMMENTS}?per_pag=3", None, 418, "query 'per_pag' is not described"),
    ("GET", f"{COMMENTS}?page=many", None, 418, "is not a number"),
    ("GET", f"{REPO}/issues?state=opened", None, 418, "is none of"),
    ("GET", f"{PULL}/commits", None, 501, "the fake has no such operation"),
    ("PATCH", PULL, {}, 501, "the fake has no such operation"),
]


def test_a_request_that_github_does_not_describe_is_a_violation(github: GitHub, ask: Ask):
    for method, path, body, status, error in UNDESCRIBED:
        received = ask(method, path, body)
        assert received.status == status, (path, body)
        assert error in " ".join(received.json["errors"])
        with pytest.raises(AssertionError, match="not as GitHub describes it"):
            github.check()
        github.violations.clear()


def test_leaving_the_fake_raises_what_was_violated():
    with pytest.raises(AssertionError, match="GET /api/v3/x: the fake has"), GitHub() as github:
        send(github, "GET", "/x")


def test_a_response_that_github_does_not_describe_is_a_violation(
    github: GitHub, ask: Ask, monkeypatch: pytest.MonkeyPatch
):
    responses: list[tuple[Any, str]] = [
        ({"id": "1"}, "response 200 $.id: '1' is not of type 'integer'"),
        (Respond(206, {}), "status 206 is not described"),
        (Respond(502, {"message": "Server Error"}), ""),
    ]
    path = f"{REPO}/issues/comments/1"
    for response, error in responses:
        handler = Handler(lambda _, response=response: response, ("issues:read",))
        monkeypatch.setitem(HANDLERS, "issues/get-comment", handler)
        assert ask("GET", path).status == (418 if error else 502)
        assert github.violations == ([f"GET /api/v3{path}: {error}"] if error else [])
        github.violations.clear()


def test_the_description_has_the_operations_of_the_fake_and_no_other():
    assert {operation.id for operation in contract().operations} == set(HANDLERS)


def test_branches_are_compared_page_by_page(ask: Ask, pull: Pull):
    pull.repository.commit("feature/x", {"c.py": "c\n"})
    path = f"{REPO}/compare/main...feature/x?per_page=1&page="
    first, second = (ask("GET", f"{path}{number}").json for number in (1, 2))
    assert first["merge_base_commit"]["sha"] == second["merge_base_commit"]["sha"] == pull.base_sha
    assert ([file["filename"] for file in first["files"]], first["ahead_by"]) == (["c.py"], 1)
    assert (second["files"], second["commits"], second["ahead_by"]) == ([], [], 1)


def test_lists_have_pages(ask: Ask, pull: Pull):
    for number in range(3):
        pull.comment("mona", str(number))
    first = ask("GET", f"{COMMENTS}?per_page=2")
    assert [each["body"] for each in first.json] == ["0", "1"]
    assert 'page=2>; rel="next"' in first.headers["link"]


def test_a_review_starts_threads_and_takes_replies(ask: Ask, pull: Pull):
    body = review(inline(), inline(line=12, start_line=10), inline("b.py", 1))
    created = ask("POST", REVIEWS, body).json
    assert (created["state"], created["submitted_at"] > "2026") == ("COMMENTED", True)
    lines = [(thread.path, thread.start_line, thread.line) for thread in pull.threads]
    assert lines == [("a.py", None, 10), ("a.py", 10, 12), ("b.py", None, 1)]
    first = pull.review_comments[0].id
    reply = ask("POST", f"{PULL}/comments/{first}/replies", HELLO).json
    assert reply["in_reply_to_id"] == first
    assert ask("POST", f"{PULL}/comments/{reply['id']}/replies", HELLO).status == 404
    path = f"{REPO}/pulls/comments/{first}"
    assert ask("POST", f"{path}/reactions", {"content": "+1"}).status == 201
    assert ask("DELETE", path).status == 204
    assert [comment.body for comment in pull.threads[0].comments] == ["hello"]


REFUSED: list[tuple[Any, str]] = [
    (review(inline(), inline(line=20)), LINE),
    (review(inline(), inline("gone.py", 1)), "path is invalid and"),
    (review(inline(line=20, start_line=19)), "part of the same hunk as the line., and"),
    (review(inline(line=30, start_line=10)), "start line must be part of the same hunk"),
    (review(inline(start_line=10)), "start line must precede the end line."),
    (review(inline("b.py", 1, side="LEFT")), LINE),
    (review(event="APPROVE"), "GitHub Actions is not permitted to approve pull requests."),
    ({"event": "COMMENT"}, "You need to leave a comment"),
    (review(body=LONG), "Body is too long (maximum is 65536 characters)"),
    (review(inline(body=" ")), "review comment body can't be blank"),
    (review(commit_id="0" * 40), "Commit oid is not part of the pull request"),
]


def test_a_review_is_refused_as_a_whole(github: GitHub, ask: Ask, pull: Pull):
    """G4, G7, G8, G9"""
    for body, error in REFUSED:
        received = ask("POST", REVIEWS, body)
        assert (received.status, received.json["message"]) == (422, "Unprocessable Entity"), error
        assert error in received.json["errors"][0]
    assert (pull.reviews, pull.threads, github.writes()) == ([], [], [])


def test_authors_do_not_judge_their_own_pull_requests(github: GitHub, ask: Ask, pull: Pull):
    for event, verb in (("APPROVE", "approve"), ("REQUEST_CHANGES", "request changes on")):
        received = ask("POST", REVIEWS, review(event=event), token=github.token(pull.login))
        assert received.json["errors"] == [f"Can not {verb} your own pull request"]
    ask("POST", REVIEWS, review(event="REQUEST_CHANGES"), token=github.token("mona"))
    path, body = f"{REVIEWS}/{pull.reviews[0].id}/dismissals", {"message": "Fixed"}
    assert ask("PUT", path, body).json["state"] == "DISMISSED"
    assert ask("PUT", path, body).status == 422


def test_a_user_has_one_pending_review_that_nobody_else_sees(github: GitHub, ask: Ask, pull: Pull):
    """G6"""
    pending = ask("POST", REVIEWS, {"comments": [inline()]}).json
    assert (pending["state"], pull.threads) == ("PENDING", [])
    again = ask("POST", REVIEWS, review()).json
    assert again["errors"] == ["User can only have one pending review per pull request"]
    thread = pull.thread("mona", "a.py", 30)
    reply = ask("POST", f"{PULL}/comments/{thread.comments[0].id}/replies", HELLO).json
    assert reply["errors"][0]["field"] == "user_id"
    fields = "reviews(first: 9) { totalCount } reviewThreads(first: 9) { totalCount }"
    for login, count in (("github-actions[bot]", 2), ("mona", 1)):
        body = query(github, SELECT % fields, token=github.token(login))
        shown = {"reviews": {"totalCount": count}, "reviewThreads": {"totalCount": count}}
        assert body["data"]["repository"]["pullRequest"] == shown
    path = f"{REVIEWS}/{pending['id']}"
    assert ask("DELETE", path, token=github.token("mona")).status == 404
    assert ask("DELETE", path).status == 200
    assert pull.all_threads == [thread]


def test_a_force_push_points_reviews_to_the_new_head(ask: Ask, pull: Pull):
    """G25"""
    ask("POST", REVIEWS, review())
    head = pull.force_push({"a.py": "new\n"})
    assert [each.commit_id for each in pull.reviews] == [head]


def test_threads_follow_their_lines_until_these_change(pull: Pull):
    thread, gone = pull.thread("mona", "a.py", 10), pull.thread("mona", "b.py", 1)
    text = pull.repository.text("topic", "a.py").replace("ten\n", "ten\nafter it\n")
    pull.push({"a.py": "new\nnew\n" + text, "b.py": "z = 3\n"})
    assert (thread.line, thread.is_outdated, gone.line, gone.is_outdated) == (12, False, None, True)


def test_long_comments_and_those_on_locked_or_deleted_pull_requests_are_refused(
    ask: Ask, pull: Pull
):
    """G9, G15, G16"""
    too_long = ask("POST", COMMENTS, {"body": LONG})
    message = "Body is too long (maximum is 65536 characters)"
    assert (too_long.status, too_long.json["errors"][0]["message"]) == (422, message)
    assert ask("POST", COMMENTS, {"body": LONG[1:]}).status == 201
    pull.locked = True
    locked = ask("POST", COMMENTS, HELLO)
    message = "Unable to create comment because issue is locked."
    assert (locked.status, locked.json["message"]) == (403, message)
    pull.deleted = True
    assert ask("POST", COMMENTS, HELLO).status == 410


def test_comments_labels_reactions_and_issues_are_kept(ask: Ask, pull: Pull):
    path = f"{REPO}/issues/comments/{ask('POST', COMMENTS, HELLO).json['id']}"
    ask("PATCH", path, {"body": "bye"})
    assert ask("GET", path).json["body"] == "bye"
    eyes = [ask("POST", f"{path}/reactions", {"content": "eyes"}).status for _ in range(2)]
    assert (eyes, len(pull.comments[0].reactions)) == ([201, 200], 1)
    assert (ask("DELETE", path).status, pull.comments) == (204, [])
    ask("POST", f"{REPO}/issues/1/labels", {"labels": ["reviewed", "big one"]})
    gone = [ask("DELETE", f"{REPO}/issues/1/labels/big%20one").status for _ in range(2)]
    assert (gone, pull.labels) == ([200, 404], ["reviewed"])
    issue = {"title": "Audit", "body": "Found", "labels": ["audit"]}
    number = ask("POST", f"{REPO}/issues", issue).json["number"]
    ask("PATCH", f"{REPO}/issues/{number}", {"state": "closed"})
    path = f"{REPO}/issues?labels=audit&state=closed&creator=github-actions%5Bbot%5D"
    assert [each["number"] for each in ask("GET", path).json] == [number]
    assert ask("GET", path.replace("closed", "open")).json == []


def test_check_runs_collect_annotations_and_belong_to_their_app(ask: Ask, pull: Pull):
    output = {"title": "t", "summary": "s", "annotations": [NOTE] * 50}
    body = {"name": "reviewbot", "head_sha": pull.head_sha, "status": "in_progress"}
    path = f"{CHECKS}/{ask('POST', CHECKS, {**body, 'output': output}).json['id']}"
    more = {"output": {**output, "annotations": [NOTE] * 7}, "conclusion": "neutral"}
    assert ask("PATCH", path, more).json["status"] == "completed"
    assert len(pull.repository.check_runs(pull.head_sha)[0].annotations) == 57
    theirs = f"{CHECKS}/{pull.repository.check(pull.head_sha, 'build').id}"
    assert ask("PATCH", theirs, {"conclusion": "success"}).status == 403
    assert "conclusion" in ask("POST", CHECKS, {**body, "status": "completed"}).json["message"]


def test_a_token_has_the_permissions_given_and_no_other(github: GitHub, ask: Ask, pull: Pull):
    """G14, G17"""
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
        assert (refused.status, refused.json["message"]) == (403, NOT_ACCESSIBLE)
    pulls_only = github.token(permissions={"pull_requests": "write"})
    issue = f"{REPO}/issues/{pull.repository.issue('A bug').number}/comments"
    assert ask("POST", COMMENTS, HELLO, token=pulls_only).status == 201
    assert ask("POST", issue, HELLO, token=pulls_only).status == 403
    assert ask("GET", COMMENTS, token="ghs_unknown").json["message"] == "Bad credentials"
    assert ask("GET", COMMENTS, token=github.token(expires_in=-1)).status == 401
    assert ask("POST", COMMENTS, HELLO, token=None).status == 401


def test_roles_are_shown_as_old_permissions(ask: Ask, repository: Repository):
    """G29"""
    shown = []
    for login, role in (("w", "write"), ("m", "maintain"), ("t", "triage"), ("r", "read")):
        repository.allow(login, role)
    for login in ("w", "m", "t", "r", "octo", "nobody"):
        body = ask("GET", f"{REPO}/collaborators/{login}/permission").json
        shown.append(body.get("permission") or body["message"])
    assert shown == ["write", "write", "read", "read", "admin", "nobody is not a user"]


def test_refs_pull_requests_and_dispatches_are_kept(github: GitHub, ask: Ask, pull: Pull):
    home = pull.repository
    names = ("contents", "pull_requests", "actions")
    ask = partial(ask, token=github.token("app[bot]", dict.fromkeys(names, "write")))
    ref = {"ref": "refs/heads/fix", "sha": pull.head_sha}
    assert [ask("POST", f"{REPO}/git/refs", ref).status for _ in range(2)] == [201, 422]
    body = {"title": "Fix", "head": "fix", "base": "main"}
    assert ask("POST", f"{REPO}/pulls", body).json["number"] == 2
    assert ask("DELETE", f"{REPO}/git/refs/heads/fix").status == 204
    home.protect("topic")
    home.add_rule("pull_request", "to*")
    assert ask("GET", f"{REPO}/branches/topic").json["protected"]
    rules = ask("GET", f"{REPO}/rules/branches/topic").json
    assert [rule["type"] for rule in rules] == ["pull_request"]
    body = {"ref": "main", "inputs": {"comment": "7"}}
    path = f"{REPO}/actions/workflows/reviewbot.yml/dispatches"
    assert ask("POST", path, body).status == 204
    assert [each.inputs for each in home.dispatches] == [{"comment": "7"}]


def test_an_artifact_is_on_another_host_that_gets_no_token(github: GitHub, ask: Ask, pull: Pull):
    run = pull.repository.run("collect", pull=pull)
    artifact = pull.repository.artifact(run, "evidence", b"PK zip")
    listed = ask("GET", f"{REPO}/actions/runs/{run.id}/artifacts").json["artifacts"]
    assert [each["name"] for each in listed] == ["evidence"]
    path = f"{REPO}/actions/artifacts/{artifact.id}/zip"
    redirect = ask("GET", path)
    url = redirect.headers["location"]
    assert (redirect.status, url.startswith(github.server_url)) == (302, False)
    assert ask("GET", url, token=None).content == b"PK zip"
    ask("GET", url)
    assert "a token was sent to another host" in github.violations.pop()
    artifact.expired = True
    assert ask("GET", path).status == 410


def test_graphql_shows_editors_and_no_short_ids_of_comments(github: GitHub, pull: Pull):
    for number in range(3):
        pull.comment("github-actions[bot]", str(number))
    pull.edit(pull.comments[1], "one", editor="mona")
    who = "author { login __typename } editor { login }"
    fields = f"databaseId body viewerDidAuthor lastEditedAt {who}"
    text = f"comments(first: 2) {{ pageInfo {{ hasNextPage }} nodes {{ {fields} }} }}"
    body = query(github, SELECT % text, token=github.token())
    comments = body["data"]["repository"]["pullRequest"]["comments"]
    bot = {"login": "github-actions", "__typename": "Bot"}
    first = {"databaseId": None, "body": "0", "viewerDidAuthor": True, "author": bot}
    assert comments["nodes"][0] == {**first, "editor": None, "lastEditedAt": None}
    edited = {"body": "one", "editor": {"login": "mona"}}
    assert comments["nodes"][1] == {**first, **edited, "lastEditedAt": pull.comments[1].updated_at}
    assert comments["pageInfo"] == {"hasNextPage": True}


def test_graphql_gives_partial_data_where_a_permission_is_missing(github: GitHub, pull: Pull):
    pull.repository.check(pull.head_sha, "build", "failure")
    suites = "checkSuites(first: 9) { nodes { checkRuns(first: 9) { nodes { name } } } }"
    text = SELECT % f"title commits(last: 1) {{ nodes {{ commit {{ {suites} }} }} }}"
    assert "'build'" in str(query(github, text, token=github.token()))
    body = query(github, text, token=github.token(permissions={"pull_requests": "read"}))
    assert body["data"]["repository"]["pullRequest"]["title"] == "Change a.py"
    (error,) = body["errors"]
    assert (error["type"], error["path"][-1]) == ("FORBIDDEN", "checkSuites")
    text = "{ viewer { login } " + text[1:]
    body = query(github, text, token=github.token(has_viewer=False))
    assert (body["data"], body["errors"][0]["path"]) == (None, ["viewer"])


def test_a_query_that_github_would_refuse_is_a_violation(github: GitHub):
    for text, error in (
        ("{ viewer { logn } }", "Cannot query field 'logn'"),
        ("{ viewer", "Syntax Error"),
        ("query($x: Int!) { viewer { login } }", "is never used"),
        ("{ viewer { bio } }", "the fake does not have User.bio"),
    ):
        query(github, text, token=github.token())
        assert error in github.violations.pop(0)
        github.violations.clear()


def test_graphql_refuses_wrong_pages_and_numbers(github: GitHub, pull: Pull):
    assert pull.number == 1
    for field, kind in (
        ("comments { totalCount }", "MISSING_PAGINATION_BOUNDARIES"),
        ("comments(first: 101) { totalCount }", "EXCESSIVE_PAGINATION"),
        ('comments(first: 1, after: "x") { totalCount }', "INVALID_CURSOR_ARGUMENTS"),
        ("repository { pullRequest(number: 9) { id } }", "NOT_FOUND"),
    ):
        body = query(github, SELECT.replace("%s", field), token=github.token())
        assert [error["type"] for error in body["errors"]] == [kind], field


def test_threads_are_resolved_and_comments_minimized(github: GitHub, pull: Pull):
    thread, token = pull.thread("github-actions[bot]", "a.py", 10), github.token()
    names, fields = ("resolveReviewThread", "unresolveReviewThread"), "thread { isResolved }"
    for name, value in zip(names, (True, False), strict=True):
        body = mutate(github, name, fields, token, threadId=thread.node_id)
        assert body == {"thread": {"isResolved": value}}
    subject = {"subjectId": thread.comments[0].node_id, "classifier": "OUTDATED"}
    fields = "minimizedComment { isMinimized minimizedReason }"
    body = mutate(github, "minimizeComment", fields, token, **subject)
    assert body == {"minimizedComment": {"isMinimized": True, "minimizedReason": "outdated"}}
    assert github.writes() == [f"graphql:{name}" for name in (*names, "minimizeComment")]
    github.resolving_needs_contents = True
    error = mutate(github, names[0], "thread { id }", token, threadId=thread.node_id)
    assert (error["type"], thread.is_resolved) == ("FORBIDDEN", False)


def test_a_commit_is_made_where_the_branch_did_not_move(github: GitHub, pull: Pull):
    """G19, G20"""
    token = github.token("app[bot]", {"contents": "write", "pull_requests": "read"})
    commit = partial(mutate, github, "createCommitOnBranch", "commit { message }", token)
    new = {"path": "c.py", "contents": base64.b64encode(b"c\n").decode()}
    given: dict[str, Any] = {
        "branch": {"repositoryNameWithOwner": "octo/app", "branchName": "topic"},
        "expectedHeadOid": pull.head_sha,
        "message": {"headline": "Fix", "body": "It"},
        "fileChanges": {"additions": [new], "deletions": [{"path": "b.py"}]},
    }
    assert commit(**given) == {"commit": {"message": "Fix\n\nIt"}}
    assert [file.path for file in pull.files] == ["a.py", "c.py"]
    assert commit(**given)["type"] == "STALE_DATA"
    given["expectedHeadOid"] = pull.head_sha
    given["fileChanges"] = {"additions": [{**new, "path": ".github/workflows/x.yml"}]}
    assert commit(**given)["type"] == "FORBIDDEN"
    given["fileChanges"] = {"additions": [new]}
    pull.repository.add_rule("pull_request", "topic")
    assert "Changes must be made through a pull request." in commit(**given)["message"]


def test_a_fault_comes_before_or_after_the_write(github: GitHub, ask: Ask, pull: Pull):
    """G18"""
    for after in (False, True):
        github.faults.append(faults.server_error("issues/create-comment", after=after))
        assert ask("POST", COMMENTS, HELLO).status == 502
        github.faults.append(faults.dropped("write", after=after))
        with pytest.raises(ConnectionError):
            ask("POST", COMMENTS, HELLO)
        assert github.writes() == ["issues/create-comment"] * len(pull.comments)
    assert [entry.status for entry in github.log] == [502, 0, 201, 201]


FAULTS = [
    (faults.secondary_limit(), 403, "retry-after: 60", "secondary rate limit"),
    (faults.server_error(status=503), 503, "", "No server is currently available"),
    (faults.error("any", 422, "Invalid", ["too much"]), 422, "", "too much"),
]


def test_a_fault_happens_once_and_as_documented(github: GitHub, ask: Ask, pull: Pull):
    """G12, G18"""
    for count, (fault, status, header, text) in enumerate(FAULTS, 1):
        github.faults.append(fault)
        received = ask("POST", COMMENTS, HELLO)
        assert (received.status, text in received.text) == (status, True)
        assert header in "\n".join(f"{name}: {value}" for name, value in received.headers.items())
        assert ("retry-after" in received.headers) == header.startswith("retry-after")
        assert ask("POST", COMMENTS, HELLO).status == 201
        assert (len(pull.comments), github.faults) == (count, [])


def test_faults_wait_repeat_and_call(github: GitHub, ask: Ask, pull: Pull):
    """G30"""
    github.faults.append(faults.server_error("write", skip=1, times=2))
    assert [ask("POST", COMMENTS, HELLO).status for _ in range(4)] == [201, 502, 502, 201]
    before, seen = pull.head_sha, list[int]()
    github.faults.append(faults.meanwhile("issues/get", lambda: pull.push({"a.py": "new\n"})))
    ask("GET", f"{REPO}/issues/1")
    assert pull.head_sha != before
    note = faults.meanwhile("write", lambda: seen.append(len(pull.comments)), after=True)
    github.faults += [note, faults.slow("read", delay=0.05)]
    ask("POST", COMMENTS, HELLO)
    start = time.monotonic()
    ask("GET", f"{REPO}/issues/1")
    assert (seen, time.monotonic() - start >= 0.05) == ([3], True)


def git(folder: Path, *arguments: str) -> tuple[int, str]:
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "GIT_TERMINAL_PROMPT": "0"}
    command = ["git", "-c", "user.name=Mona", "-c", "user.email=mona@example.org", *arguments]
    ended = subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=False)
    return ended.returncode, ended.stdout.decode().strip()


def test_git_fetches_any_commit_and_pushes_with_permission(
    github: GitHub, pull: Pull, tmp_path: Path
):
    url, old, app = f"{github.server_url}/octo/app.git", pull.head_sha, tmp_path / "app"
    pull.force_push({"a.py": "new\n"})
    assert git(tmp_path, "clone", "-q", "-b", "topic", url, "app") == (0, "")
    # Protocol 2 lets clients fetch any commit; 0 asks the server's settings.
    fetch = ("-c", "protocol.version=0", "fetch", "-q", "--depth=1", "origin")
    assert git(app, *fetch, old) == (0, "")
    assert git(app, "fetch", "-q", "origin", "refs/pull/1/head") == (0, "")
    git(app, "commit", "-q", "--allow-empty", "-m", "More")
    for level, code in (("read", 128), ("write", 0)):
        token = github.token(permissions={"contents": level})
        with_token = url.replace("://", f"://x-access-token:{token}@")
        assert git(app, "push", "-q", with_token, "topic") == (code, "")
    assert git(app, "rev-parse", "HEAD") == (0, pull.head_sha)
    assert (github.calls(), {entry.operation for entry in github.log}) == (0, {"git"})
    github.repository("octo/secret", private=True).commit("main", {"a": "1\n"})
    secret = f"{github.server_url}/octo/secret.git"
    assert git(app, "ls-remote", secret)[0] == 128
    header = f"http.extraHeader=Authorization: Bearer {github.token()}"
    assert "refs/heads/main" in git(app, "-c", header, "ls-remote", secret)[1]


def test_an_app_gets_a_token_with_its_permissions(github: GitHub, ask: Ask, pull: Pull):
    private = generate_private_key(public_exponent=65537, key_size=2048)
    form = (Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    key = private.public_key().public_bytes(*form).decode()
    app = github.app("reviewbot", key=key, permissions={"pull_requests": "write"})

    def sign(lasts: int = 540, issuer: str = "77") -> str:
        claims = {"iat": int(time.time()) - 60, "exp": int(time.time()) + lasts, "iss": issuer}
        return jwt.encode(claims, private, algorithm="RS256")

    assert ask("GET", f"{REPO}/installation", token=sign()).json["id"] == app.installation_id
    path = f"/app/installations/{app.installation_id}/access_tokens"
    token = ask("POST", path, token=sign()).json["token"]
    assert ask("POST", COMMENTS, HELLO, token=token).status == 201
    assert pull.comments[0].login == "reviewbot[bot]"
    assert ask("POST", f"{REPO}/issues", {"title": "x"}, token=token).status == 403
    more = {"permissions": {"workflows": "write"}}
    assert ask("POST", path, more, token=sign()).status == 422
    forged = sign().rpartition(".")[0] + "." + sign(541).rpartition(".")[2]
    for wrong in (sign(issuer="78"), sign(-1), sign(3600), forged):
        assert ask("POST", path, token=wrong).status == 401


def test_events_have_what_github_sends(github: GitHub, pull: Pull):
    home = pull.repository
    fork = home.fork("mona/app")
    fork.commit("fix", {"a.py": "mine\n"}, author="mona")
    theirs = home.pull("Mine", "fix", author="mona", head_repository=fork)
    before = pull.head_sha
    pull.push({"c.py": "c\n"})
    event = github.event("pull_request", pull=theirs)
    assert event["pull_request"]["head"]["repo"]["full_name"] == "mona/app"
    event = github.event("pull_request", action="synchronize", pull=pull, before=before)
    assert (event["before"], event["after"]) == (before, pull.head_sha)
    event = github.event("issue_comment", comment=pull.comment("mona", "/debate"))
    assert ("pull_request" in event["issue"], event["sender"]["login"]) == (True, "mona")
    thread = pull.thread("mona", "a.py", 10)
    event = github.event("pull_request_review_comment", comment=thread.comments[0])
    assert (event["comment"]["path"], event["pull_request"]["number"]) == ("a.py", 1)
    event = github.event("workflow_run", run=home.run("collect", pull=theirs))
    assert event["workflow_run"]["pull_requests"] == []
    assert event["workflow_run"]["head_sha"] == theirs.head_sha
    event = github.event("push", repository=home, before=before, ref="refs/heads/topic")
    assert [commit["id"] for commit in event["commits"]] == [pull.head_sha]
    event = github.event("workflow_dispatch", repository=home, inputs={"pull": "1"})
    assert event["inputs"] == {"pull": "1"}
    assert github.event("schedule", repository=home)["schedule"] == "0 3 * * 1"
    theirs.delete_head_repository()
    head = github.event("pull_request", pull=theirs)["pull_request"]["head"]
    assert (head["repo"], head["sha"]) == (None, theirs.head_sha)
