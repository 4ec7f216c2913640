"""GraphQL by GitHub's own schema, on the same state as REST."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from tests.forge.hub import Hub, Pull, Repository
from tests.forge.hub.asking import ask, query

PULL = '{ repository(owner: "octo", name: "app") { pullRequest(number: 1) { %s } } }'


def told(hub: Hub, fields: str, *, token: str | None = None, **variables: Any) -> Any:
    """The fields of the pull request."""
    head = "query($after: String) " if variables else ""
    return query(hub, head + PULL % fields, token=token or hub.token(), **variables)["data"]["repository"]["pullRequest"]


def do(hub: Hub, name: str, selection: str, *, token: str | None = None, **given: Any) -> Any:
    kind = name[0].upper() + name[1:] + "Input"
    text = f"mutation($i: {kind}!) {{ {name}(input: $i) {{ {selection} }} }}"
    return query(hub, text, token=token or hub.token(), i=given)


def test_a_pull_request_and_who_asks_are_told(hub: Hub, pull: Pull):
    found = told(
        hub, "id number title state isDraft baseRefName headRefOid changedFiles viewerDidAuthor author { login __typename }"
    )
    assert (found["number"], found["state"], found["headRefOid"], found["changedFiles"]) == (1, "OPEN", pull.head_sha, 2)
    assert found["author"] == {"login": "octocat", "__typename": "User"}
    assert query(hub, "{ viewer { login databaseId } }", token=hub.token())["data"]["viewer"]["login"] == "github-actions[bot]"


def test_a_bot_loses_its_suffix_but_keeps_its_number(hub: Hub, pull: Pull):
    pull.comment("github-actions[bot]", "hello")
    fields = (
        "comments(first: 1) { nodes { databaseId fullDatabaseId viewerDidAuthor author { login ... on Bot { databaseId } } } }"
    )
    (node,) = told(hub, fields)["comments"]["nodes"]
    assert node["author"] == {"login": "github-actions", "databaseId": 41_898_282}
    assert (node["databaseId"], node["fullDatabaseId"], node["viewerDidAuthor"]) == (None, str(pull.comments[0].id), True)


def test_pages_follow_each_other(hub: Hub, pull: Pull):
    for number in range(7):
        pull.comment("mona", str(number))
    fields = "comments(first: 3, after: $after) { totalCount pageInfo { hasNextPage endCursor } nodes { body } }"
    bodies, after = [], None
    while True:
        page = told(hub, fields, after=after)["comments"]
        bodies += [node["body"] for node in page["nodes"]]
        after = page["pageInfo"]["endCursor"]
        if not page["pageInfo"]["hasNextPage"]:
            break
    assert bodies == [str(number) for number in range(7)]
    assert [n["body"] for n in told(hub, "comments(last: 2) { nodes { body } }")["comments"]["nodes"]] == ["5", "6"]


@pytest.mark.parametrize(
    ("arguments", "kind"),
    [
        ("", "MISSING_PAGINATION_BOUNDARIES"),
        ("(first: 101)", "EXCESSIVE_PAGINATION"),
        ('(first: 1, after: "x")', "INVALID_CURSOR_ARGUMENTS"),
    ],
)
def test_a_page_has_bounds(hub: Hub, pull: Pull, arguments: str, kind: str):
    said = query(hub, PULL % f"comments{arguments} {{ totalCount }}", token=hub.token())
    assert [error["type"] for error in said["errors"]] == [kind]


def test_checks_are_refused_to_who_may_not_read_them_and_the_rest_is_told(hub: Hub, repository: Repository, pull: Pull):
    repository.check(pull.head_sha, "build", "failure")
    repository.status(pull.head_sha, "ci/x", "pending")
    fields = (
        "title commits(last: 1) { nodes { commit { oid statusCheckRollup { state contexts(first: 9) { nodes { __typename "
        "... on CheckRun { name conclusion } ... on StatusContext { context state } } } } } } }"
    )
    (node,) = told(hub, fields)["commits"]["nodes"]
    assert node["commit"]["statusCheckRollup"] == {
        "state": "FAILURE",
        "contexts": {
            "nodes": [
                {"__typename": "CheckRun", "name": "build", "conclusion": "FAILURE"},
                {"__typename": "StatusContext", "context": "ci/x", "state": "PENDING"},
            ]
        },
    }
    said = query(hub, PULL % fields, token=hub.token(permissions={"pull_requests": "read"}))
    assert said["data"]["repository"]["pullRequest"]["title"] == "Change a.py"
    assert [(error["type"], error["message"]) for error in said["errors"]] == [
        ("FORBIDDEN", "Resource not accessible by integration")
    ]
    assert said["errors"][0]["path"][-1] == "statusCheckRollup"


def test_threads_are_resolved_answered_and_folded(hub: Hub, pull: Pull):
    thread = pull.thread("github-actions[bot]", "a.py", 10)
    said = do(hub, "resolveReviewThread", "thread { id isResolved }", threadId=thread.node_id)
    assert said["data"]["resolveReviewThread"]["thread"] == {"id": thread.node_id, "isResolved": True}
    assert pull.threads[0].is_resolved
    do(hub, "unresolveReviewThread", "thread { id }", threadId=thread.node_id)
    assert not pull.threads[0].is_resolved
    do(hub, "addPullRequestReviewThreadReply", "comment { id body }", pullRequestReviewThreadId=thread.node_id, body="Mended")
    assert [comment.body for comment in pull.threads[0].comments] == ["Why?", "Mended"]
    comment = thread.comments[0]
    folded = do(
        hub,
        "minimizeComment",
        "minimizedComment { isMinimized minimizedReason }",
        subjectId=comment.node_id,
        classifier="OUTDATED",
    )
    assert folded["data"]["minimizeComment"]["minimizedComment"] == {"isMinimized": True, "minimizedReason": "outdated"}
    assert hub.writes() == [
        "graphql:resolveReviewThread",
        "graphql:unresolveReviewThread",
        "graphql:addPullRequestReviewThreadReply",
        "graphql:minimizeComment",
    ]


def test_a_token_without_the_permission_resolves_nothing(hub: Hub, pull: Pull):
    thread = pull.thread("mona", "a.py", 10)
    reader = hub.token(permissions={"pull_requests": "read"})
    assert (
        do(hub, "resolveReviewThread", "thread { id }", token=reader, threadId=thread.node_id)["errors"][0]["type"] == "FORBIDDEN"
    )
    hub.resolving_needs_contents = True
    assert do(hub, "resolveReviewThread", "thread { id }", threadId=thread.node_id)["errors"][0]["type"] == "FORBIDDEN"
    assert not thread.is_resolved


def test_a_commit_goes_on_a_branch_that_did_not_move(hub: Hub, repository: Repository, pull: Pull):
    writer = hub.token(permissions={"contents": "write", "pull_requests": "read"})
    old = pull.head_sha
    additions = [{"path": "c.py", "contents": base64.b64encode(b"c\n").decode()}]
    given: dict[str, Any] = {
        "branch": {"repositoryNameWithOwner": "octo/app", "branchName": "topic"},
        "expectedHeadOid": old,
        "message": {"headline": "Fix", "body": "So"},
        "fileChanges": {"additions": additions, "deletions": [{"path": "b.py"}]},
    }
    said = do(hub, "createCommitOnBranch", "commit { oid message }", token=writer, **given)
    assert said["data"]["createCommitOnBranch"]["commit"] == {"oid": pull.head_sha, "message": "Fix\n\nSo"}
    assert [file.path for file in pull.files] == ["a.py", "c.py"]
    stale = do(hub, "createCommitOnBranch", "commit { oid }", token=writer, **given)
    assert stale["data"]["createCommitOnBranch"] is None
    assert (stale["errors"][0]["type"], stale["errors"][0]["path"]) == ("STALE_DATA", ["createCommitOnBranch"])
    workflow = {
        **given,
        "expectedHeadOid": pull.head_sha,
        "fileChanges": {"additions": [{**additions[0], "path": ".github/workflows/x.yml"}]},
    }
    assert do(hub, "createCommitOnBranch", "commit { oid }", token=writer, **workflow)["errors"][0]["type"] == "FORBIDDEN"


def test_what_is_not_there_is_not_found(hub: Hub, pull: Pull):
    said = query(hub, '{ repository(owner: "octo", name: "none") { id } }', token=hub.token())
    assert (said["data"], said["errors"][0]["type"]) == ({"repository": None}, "NOT_FOUND")
    said = query(hub, '{ repository(owner: "octo", name: "app") { pullRequest(number: 9) { id } } }', token=hub.token())
    assert said["errors"][0]["message"] == "Could not resolve to a PullRequest with the number of 9."


def test_linked_issues_are_told(hub: Hub, repository: Repository, pull: Pull):
    issue = repository.issue("A bug", "It breaks")
    pull.body = f"Fixes #{issue.number}"
    found = told(hub, "closingIssuesReferences(first: 5) { nodes { number title body } }")
    assert found["closingIssuesReferences"]["nodes"] == [{"number": 2, "title": "A bug", "body": "It breaks"}]


@pytest.mark.parametrize(
    "text", ["{ viewer { logn } }", "{ viewer", "query($x: Int!) { viewer { login } }", "{ viewer { monalisa: bio } }"]
)
def test_a_query_that_github_would_not_take_is_a_violation(hub: Hub, text: str):
    query(hub, text, token=hub.token())
    assert hub.violations
    hub.violations.clear()


def test_nobody_asks_without_a_token(hub: Hub):
    assert ask(hub, "POST", hub.graphql_url, {"query": "{ viewer { login } }"}).status == 401
