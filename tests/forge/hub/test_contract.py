"""GitHub's description holds both sides to it."""

from __future__ import annotations

import gzip
from collections.abc import Iterator

import pytest

from tests.forge.contract.cut import GRAPHQL, OPERATIONS, REST
from tests.forge.hub import Hub, Pull, Repository
from tests.forge.hub.asking import ask
from tests.forge.hub.contract import contract
from tests.forge.hub.rest import HANDLERS
from tests.forge.hub.tokens import EVERYBODY, NEEDS, OF_APPS, OF_PEOPLE

NOTE = {"path": "a.py", "start_line": 1, "end_line": 1, "annotation_level": "notice", "message": "m"}
REVIEWS = "/repos/octo/app/pulls/1/reviews"
CHECKS = "/repos/octo/app/check-runs"


@pytest.fixture
def strict() -> Iterator[Hub]:
    """A hub whose violations a test looks at itself."""
    with Hub() as hub:
        repository = hub.repository("octo/app")
        repository.commit("main", {"a.py": "x\n"})
        repository.commit("topic", {"a.py": "y\n"})
        repository.pull("Change", "topic")
        yield hub
        hub.violations.clear()


@pytest.mark.parametrize(
    ("method", "path", "body", "words"),
    [
        ("POST", REVIEWS, {"body": "x", "event": "COMMENT", "coments": []}, "$.coments"),
        (
            "POST",
            REVIEWS,
            {"event": "COMMENT", "comments": [{"path": "a.py", "body": "x", "startLine": 1}]},
            "$.comments[0].startLine",
        ),
        ("POST", REVIEWS, {"event": "APPROVED"}, "'APPROVED'"),
        ("POST", REVIEWS, {"event": "COMMENT", "comments": [{"path": "a.py", "line": "1", "body": "x"}]}, "comments[0]"),
        ("POST", CHECKS, {"head_sha": "x"}, "'name' is a required property"),
        (
            "POST",
            CHECKS,
            {"name": "n", "head_sha": "x", "output": {"title": "t", "summary": "s", "annotations": [NOTE] * 51}},
            "annotations",
        ),
        ("POST", CHECKS, {"name": "n", "head_sha": "x", "output": {"title": "t", "summary": "s" * 65_536}}, "summary"),
        ("POST", "/repos/octo/app/issues/1/comments", None, "the body is missing"),
        ("POST", "/repos/octo/app/issues/1/labels", {"labels": []}, "labels"),
        ("GET", "/repos/octo/app/pulls?per_pag=3", None, "query 'per_pag'"),
        ("GET", "/repos/octo/app/pulls?per_page=many", None, "is no number"),
        ("GET", "/repos/octo/app/pulls?state=opened", None, "is none of"),
        ("GET", "/repos/octo/app/pull/1", None, "no such operation"),
        ("PUT", "/repos/octo/app/pulls/1", {}, "no such operation"),
    ],
)
def test_a_request_that_is_not_described_is_refused(strict: Hub, method: str, path: str, body: object, words: str):
    said = ask(strict, method, path, body, token=strict.token())
    assert said.status == 418
    assert words in " ".join(said.json["errors"])
    with pytest.raises(AssertionError, match="not as GitHub describes it"):
        strict.check()


def test_leaving_the_hub_fails_where_something_was_not_as_described():
    with pytest.raises(AssertionError, match="not as GitHub describes it"), Hub() as hub:
        ask(hub, "GET", "/nothing")


def test_an_answer_that_is_not_described_is_found():
    operation, _ = contract().router.find("GET", "/repos/o/r/issues/comments/1") or pytest.fail("not routed")
    good = contract().filled(operation, 200, {"id": 1, "body": "x"})
    assert contract().response(operation, 200, "application/json", good) == []
    assert contract().response(operation, 200, "application/json", {**good, "id": "1"})
    assert contract().response(operation, 200, "application/json", {"id": 1})
    assert contract().response(operation, 206, "application/json", good) == ["status 206 is not described"]
    assert contract().response(operation, 502, "application/json", {"message": "Server Error"}) == []


def test_every_operation_of_the_slice_is_known_and_asks_for_something():
    assert set(HANDLERS) == OPERATIONS
    assert set(NEEDS) | EVERYBODY | OF_APPS | OF_PEOPLE == OPERATIONS


@pytest.mark.parametrize(
    ("path", "variables"),
    [
        ("/repos/o/r/contents/src/a%20b.py", {"path": "src/a b.py"}),
        ("/repos/o/r/compare/main...feat/x", {"basehead": "main...feat/x"}),
        ("/repos/o/r/git/ref/heads/feat/x", {"ref": "heads/feat/x"}),
        ("/repos/o/r/commits/feat/x/check-runs", {"ref": "feat/x"}),
        ("/repos/o/r/pulls/7", {"pull_number": 7}),
    ],
)
def test_a_path_is_taken_apart(path: str, variables: dict[str, object]):
    found = contract().router.find("GET", path)
    assert found is not None
    assert variables.items() <= found[1].items()


def test_what_lies_in_the_repository_is_small():
    assert len(REST.read_bytes()) + len(GRAPHQL.read_bytes()) < 300_000
    assert gzip.decompress(GRAPHQL.read_bytes()).startswith(b"directive") or b"type PullRequest " in gzip.decompress(
        GRAPHQL.read_bytes()
    )


def test_payloads_have_what_github_sends(hub: Hub, repository: Repository, pull: Pull):
    fork = repository.fork("mona/app")
    fork.commit("fix", {"a.py": "mine\n"}, author="mona")
    theirs = repository.pull("Mine", "fix", author="mona", head_repository=fork)
    comment, thread = pull.comment("mona", "/debate"), pull.thread("mona", "a.py", 10)
    before = pull.head_sha
    pull.push({"c.py": "c\n"})
    opened = hub.event("pull_request", pull=theirs)
    assert (opened["action"], opened["number"], opened["pull_request"]["head"]["repo"]["full_name"]) == ("opened", 2, "mona/app")
    assert opened["repository"]["full_name"] == "octo/app"
    moved = hub.event("pull_request", action="synchronize", pull=pull, before=before)
    assert (moved["before"], moved["after"]) == (before, pull.head_sha)
    said = hub.event("issue_comment", comment=comment)
    assert (said["issue"]["number"], said["comment"]["id"], "pull_request" in said["issue"]) == (1, comment.id, True)
    lines = hub.event("pull_request_review_comment", comment=thread.comments[0])
    assert (lines["comment"]["path"], lines["pull_request"]["number"]) == ("a.py", 1)
    ran = hub.event("workflow_run", run=repository.run("collect", pull=theirs))
    assert (ran["workflow_run"]["pull_requests"], ran["workflow_run"]["head_sha"]) == ([], theirs.head_sha)
    pushed = hub.event("push", repository=repository, before=before, ref="refs/heads/topic")
    assert [commit["id"] for commit in pushed["commits"]] == [pull.head_sha]
    assert hub.event("schedule", repository=repository)["schedule"]
    assert hub.event("workflow_dispatch", repository=repository, inputs={"pull": "1"})["inputs"] == {"pull": "1"}
