"""The fake GitHub through PyGithub: what it refuses, and that it says so as GitHub does. Rows G1-G30 are those of the fault list."""

from __future__ import annotations

import base64
import gzip
import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from github import Auth, Github, GithubException, InputGitTreeElement
from github.PullRequest import PullRequest
from github.Repository import Repository as Client

from tests.forge.hub import Fault, Hub, Pull, Repository

READER = {"contents": "read", "issues": "read", "metadata": "read", "pull_requests": "read"}
LONG = "x" * 65_537


def connected(hub: Hub, token: str, *, lazy: bool = True) -> Github:
    return Github(
        auth=Auth.Token(token), base_url=hub.api_url, retry=None, lazy=lazy, seconds_between_requests=0, seconds_between_writes=0
    )


@pytest.fixture
def gh(hub: Hub) -> Iterator[Github]:
    made = connected(hub, hub.token())
    yield made
    made.close()


@pytest.fixture
def repo(gh: Github, repository: Repository) -> Client:
    return gh.get_repo(repository.full_name)


@pytest.fixture
def pr(repo: Client, pull: Pull) -> PullRequest:
    return repo.get_pull(pull.number)


def inline(path: str = "a.py", line: int = 10, **more: Any) -> Any:
    return {"path": path, "line": line, "side": "RIGHT", "body": "why", **more}


def labelled(pr: PullRequest, *names: str) -> None:
    """PyGithub sends a bare list, which GitHub's description no longer has."""
    pr.requester.requestJsonAndCheck("POST", f"{pr.issue_url}/labels", input={"labels": list(names)})


def refusal(caught: pytest.ExceptionInfo[GithubException]) -> tuple[int, Any]:
    """Status, and the errors or the message."""
    data = caught.value.data
    return caught.value.status, data.get("errors") or data["message"]


def test_a_pull_request_is_read_with_its_files_and_commits(pr: PullRequest, pull: Pull):
    assert (pr.title, pr.user.login, pr.head.sha, pr.base.ref, pr.changed_files) == (
        "Change a.py",
        "octocat",
        pull.head_sha,
        "main",
        2,
    )
    files = {file.filename: file for file in pr.get_files()}
    assert (files["a.py"].status, files["a.py"].additions, files["b.py"].status) == ("modified", 2, "added")
    assert "+ten" in files["a.py"].patch
    assert [commit.commit.message for commit in pr.get_commits()] == ["Change a.py"]


def test_a_review_with_inline_comments_makes_threads(pr: PullRequest, pull: Pull):
    comments = [inline(), inline(line=12, start_line=10, start_side="RIGHT"), inline("b.py", 1)]
    review = pr.create_review(body="Three things", event="COMMENT", comments=comments)
    assert review.state == "COMMENTED"
    assert [(thread.path, thread.start_line, thread.line) for thread in pull.threads] == [
        ("a.py", None, 10),
        ("a.py", 10, 12),
        ("b.py", None, 1),
    ]
    assert [comment.body for comment in pr.get_review_comments()] == ["why"] * 3


@pytest.mark.parametrize(
    ("comment", "words"),
    [
        (inline(line=20), "line must be part of the diff and Pull request review thread diff hunk can't be blank"),
        (inline("gone.py", 1), "path is invalid and"),
        (inline(line=20, start_line=19), "start line must be part of the same hunk as the line., and"),
        (inline(line=30, start_line=10), "start line must be part of the same hunk as the line."),
        (inline(line=10, start_line=10), "start line must precede the end line."),
        (inline("b.py", 1, side="LEFT"), "line must be part of the diff"),
    ],
)
def test_an_anchor_outside_the_diff_refuses_the_whole_review(pr: PullRequest, pull: Pull, comment: Any, words: str):
    with pytest.raises(GithubException) as caught:
        pr.create_review(body="Two things", event="COMMENT", comments=[inline(), comment])
    status, errors = refusal(caught)
    assert status == 422
    assert words in errors[0]
    assert (pull.reviews, pull.threads) == ([], [])


def test_a_lone_comment_is_refused_in_the_other_shape(pr: PullRequest, repo: Client, pull: Pull):
    with pytest.raises(GithubException) as caught:
        pr.create_review_comment("why", pull.head_sha, "a.py", line=20, side="RIGHT")
    assert refusal(caught)[1][0]["field"] == "pull_request_review_thread.line"
    made = pr.create_review_comment("why", pull.head_sha, "a.py", line=10, side="RIGHT")
    answer = pr.create_review_comment_reply(made.id, "because")
    assert answer.in_reply_to_id == made.id
    assert [comment.body for comment in pull.threads[0].comments] == ["why", "because"]


def test_one_pending_review_is_all_that_anybody_has(pr: PullRequest, hub: Hub, pull: Pull):
    pending = pr.create_review(body="A draft", comments=[inline()])
    assert (pending.state, pull.threads) == ("PENDING", [])
    with pytest.raises(GithubException) as caught:
        pr.create_review(body="Another", event="COMMENT")
    assert refusal(caught) == (422, ["User can only have one pending review per pull request"])
    other = connected(hub, hub.token("mona"))
    assert list(other.get_repo("octo/app").get_pull(1).get_reviews()) == []
    other.close()
    assert [review.id for review in pr.get_reviews()] == [pending.id]
    pending.delete()
    assert pull.reviews == []


@pytest.mark.parametrize(
    ("login", "event", "words"),
    [
        ("octocat", "APPROVE", "Can not approve your own pull request"),
        ("octocat", "REQUEST_CHANGES", "Can not request changes on your own pull request"),
        ("github-actions[bot]", "APPROVE", "GitHub Actions is not permitted to approve pull requests."),
        ("mona", "COMMENT", "You need to leave a comment indicating the requested changes."),
    ],
)
def test_a_verdict_that_is_not_allowed_is_refused(hub: Hub, pull: Pull, login: str, event: str, words: str):
    client = connected(hub, hub.token(login))
    with pytest.raises(GithubException) as caught:
        client.get_repo("octo/app").get_pull(1).create_review(body="" if event == "COMMENT" else "So", event=event)
    client.close()
    assert refusal(caught) == (422, [words])


def test_a_verdict_can_be_taken_back(hub: Hub, pull: Pull):
    client = connected(hub, hub.token("mona"))
    review = client.get_repo("octo/app").get_pull(1).create_review(body="No", event="REQUEST_CHANGES")
    review.dismiss("Well")
    client.close()
    assert pull.reviews[0].state == "DISMISSED"


def test_a_commit_that_is_gone_is_no_commit_of_the_pull_request(pr: PullRequest, repo: Client, pull: Pull):
    old = repo.get_commit(pull.head_sha)
    pull.force_push({"a.py": "all new\n"})
    with pytest.raises(GithubException) as caught:
        pr.create_review(commit=old, body="Late", event="COMMENT")
    assert refusal(caught) == (422, ["Commit oid is not part of the pull request"])


def test_a_force_push_points_old_reviews_to_the_new_head(pr: PullRequest, pull: Pull):
    pr.create_review(body="Fine", event="COMMENT")
    head = pull.force_push({"a.py": "all new\n"})
    assert [review.commit_id for review in pr.get_reviews()] == [head]


def test_threads_follow_their_lines_until_these_are_gone(pr: PullRequest, pull: Pull):
    pr.create_review(body="", event="COMMENT", comments=[inline(), inline("b.py", 1)])
    text = pull.repository.git_text(pull.head_sha, "a.py")
    pull.push({"a.py": "new\nnew\n" + text, "b.py": "z = 3\n"})
    first, second = pull.threads
    assert (first.line, first.is_outdated) == (12, False)
    assert (second.line, second.is_outdated) == (None, True)
    lines = [comment.raw_data.get("line") for comment in pr.get_review_comments()]
    assert lines == [12, None]


def test_a_body_that_is_too_long_is_refused(pr: PullRequest):
    with pytest.raises(GithubException) as caught:
        pr.create_issue_comment(LONG)
    status, errors = refusal(caught)
    assert (status, errors[0]["message"]) == (422, "Body is too long (maximum is 65536 characters)")
    with pytest.raises(GithubException) as caught:
        pr.create_review(body=LONG, event="COMMENT")
    assert caught.value.status == 422
    pr.create_issue_comment(LONG[1:])


def test_comments_come_in_pages(pr: PullRequest, pull: Pull, hub: Hub):
    for number in range(65):
        pull.comment("mona", f"word {number}")
    assert pr.title
    link = pr.requester.requestJsonAndCheck("GET", f"{pr.issue_url}/comments?per_page=30&page=2")[0]["link"]
    pages = re.findall(r'[?&]page=(\d+)[^>]*>; rel="(\w+)"', link)
    assert pages == [("3", "next"), ("3", "last"), ("1", "prev"), ("1", "first")]
    before = hub.calls()
    assert [comment.body for comment in pr.get_issue_comments()] == [f"word {number}" for number in range(65)]
    assert hub.calls() - before == 3


def test_a_locked_conversation_and_a_deleted_one_take_no_comment(pr: PullRequest, pull: Pull):
    pull.locked = True
    with pytest.raises(GithubException) as caught:
        pr.create_issue_comment("hello")
    assert refusal(caught) == (403, "Unable to create comment because issue is locked.")
    pull.deleted = True
    with pytest.raises(GithubException) as caught:
        pr.create_issue_comment("hello")
    assert caught.value.status == 410


def test_the_diff_is_told_while_it_is_small(gh: Github, pr: PullRequest, repository: Repository):
    accept = {"Accept": "application/vnd.github.v3.diff"}
    text = gh.requester.requestJsonAndCheck("GET", pr.url, headers=accept)[1]["data"]
    assert text.startswith("diff --git a/a.py b/a.py")
    repository.commit("wide", {f"many/{n}.txt": "x\n" for n in range(301)})
    repository.commit("long", {"long.txt": "x\n" * 20_001})
    for head, words in (("wide", "maximum number of files (300)"), ("long", "maximum number of lines (20000)")):
        url = f"{repository.hub.api_url}/repos/octo/app/pulls/{repository.pull(head, head).number}"
        with pytest.raises(GithubException) as caught:
            gh.requester.requestJsonAndCheck("GET", url, headers=accept)
        assert caught.value.status == 406
        assert words in caught.value.data["message"]
        assert caught.value.data["errors"][0]["code"] == "too_large"


def test_no_more_than_3000_files_are_told(repo: Client, repository: Repository):
    repository.commit("huge", {f"{n // 100}/{n}.txt": f"{n}\n" for n in range(3010)})
    pull = repo.get_pull(repository.pull("Huge", "huge").number)
    assert pull.changed_files == 3010
    last = pull._requester.requestJsonAndCheck("GET", f"{pull.url}/files", parameters={"per_page": 100, "page": 30})
    assert len(last[1]) == 100
    assert 'rel="next"' not in last[0]["link"]


def test_check_runs_gather_annotations_and_belong_to_their_app(repo: Client, repository: Repository, pull: Pull):
    note = {"path": "a.py", "start_line": 1, "end_line": 1, "annotation_level": "notice", "message": "m"}
    output = {"title": "t", "summary": "s", "annotations": [note] * 50}
    run = repo.create_check_run(
        "reviewbot", pull.head_sha, external_id="x", status="completed", conclusion="neutral", output=output
    )
    run.edit(output={**output, "annotations": [note] * 7})
    assert len(list(run.get_annotations())) == 57
    assert [check.external_id for check in repository.check_runs(pull.head_sha)] == ["x"]
    theirs = repository.check(pull.head_sha, "build", "failure")
    with pytest.raises(GithubException) as caught:
        repo.get_check_run(theirs.id).edit(conclusion="success")
    assert caught.value.status == 403
    with pytest.raises(GithubException) as caught:
        repo.create_check_run("reviewbot", pull.head_sha, status="completed")
    assert "conclusion" in caught.value.data["message"]


def test_statuses_are_combined_to_the_worst(repo: Client, repository: Repository, pull: Pull):
    commit = repo.get_commit(pull.head_sha)
    commit.create_status("success", context="a")
    commit.create_status("error", context="b", description="no")
    assert commit.get_combined_status().state == "failure"
    assert {check.name for check in commit.get_check_runs()} == set()


def test_labels_reactions_and_issues_are_kept(repo: Client, pr: PullRequest, repository: Repository, pull: Pull):
    labelled(pr, "reviewed", "big one")
    pr.remove_from_labels("big one")
    assert pull.labels == ["reviewed"]
    with pytest.raises(GithubException) as caught:
        pr.remove_from_labels("big one")
    assert refusal(caught) == (404, "Label does not exist")
    comment = pr.create_issue_comment("hello")
    comment.create_reaction("eyes")
    comment.create_reaction("eyes")
    assert [reaction.content for reaction in pull.comments[0].reactions] == ["eyes"]
    comment.edit("bye")
    assert pull.comments[0].body == "bye"
    comment.delete()
    assert pull.comments == []
    repo.create_issue("Audit", "Found", labels=["audit"])
    assert [(issue.title, issue.labels) for issue in repository.issues] == [("Audit", ["audit"])]


def test_a_permission_is_told_coarsely_and_strangers_are_nowhere(hub: Hub, repo: Client, repository: Repository):
    for login, role in (("w", "write"), ("m", "maintain"), ("t", "triage"), ("r", "read")):
        repository.allow(login, role)
    assert [repo.get_collaborator_permission(login) for login in ("w", "m", "t", "r", "octo")] == [
        "write",
        "write",
        "read",
        "read",
        "admin",
    ]
    with pytest.raises(GithubException) as caught:
        repo.get_collaborator_permission("nobody")
    assert refusal(caught) == (404, "nobody is not a user")


def test_a_token_does_what_it_may_and_no_more(hub: Hub, pull: Pull):
    client = connected(hub, hub.token(permissions=READER))
    pr = client.get_repo("octo/app").get_pull(1)
    for attempt in (
        lambda: pr.create_issue_comment("hello"),
        lambda: pr.create_review(body="hello", event="COMMENT"),
        lambda: labelled(pr, "x"),
        lambda: client.get_repo("octo/app").create_check_run("x", pull.head_sha),
        lambda: client.get_repo("octo/app").create_issue("x"),
        lambda: client.get_user().login,
    ):
        with pytest.raises(GithubException) as caught:
            attempt()
        assert refusal(caught) == (403, "Resource not accessible by integration")
    client.close()
    assert hub.writes() == []


def test_an_unknown_token_and_an_expired_one_are_refused(hub: Hub, pull: Pull):
    for token in ("ghs_unknown", hub.token(expires_in=-1)):
        client = connected(hub, token)
        with pytest.raises(GithubException) as caught:
            assert client.get_repo("octo/app").get_pull(1).title
        client.close()
        assert refusal(caught) == (401, "Bad credentials")


def test_a_private_repository_is_nowhere_for_others(hub: Hub):
    hub.repository("octo/secret", private=True).commit("main", {"a": "1\n"})
    client = connected(hub, hub.token(repositories=["octo/app"]))
    with pytest.raises(GithubException) as caught:
        client.get_repo("octo/secret").get_contents("a")
    client.close()
    assert caught.value.status == 404


def test_what_happened_on_github_before_can_be_told(pull: Pull, hub: Hub, pr: PullRequest):
    thread = pull.thread("mona", "a.py", 10, body="Why ten?")
    pull.reply(thread, "octocat", "Because")
    pull.review("mona", "Not yet", event="REQUEST_CHANGES")
    assert [(review.user.login, review.state) for review in pr.get_reviews()] == [
        ("mona", "COMMENTED"),
        ("octocat", "COMMENTED"),
        ("mona", "CHANGES_REQUESTED"),
    ]
    assert hub.writes() == []


def test_a_head_repository_may_be_lost(hub: Hub, repository: Repository, repo: Client):
    fork = repository.fork("mona/app")
    fork.commit("fix", {"a.py": "mine\n"}, author="mona")
    pull = repository.pull("Mine", "fix", author="mona", head_repository=fork)
    assert repo.get_pull(pull.number).head.repo.full_name == "mona/app"
    pull.lose_head()
    told = repo.get_pull(pull.number)
    assert (told.head.repo, told.head.sha) == (None, pull.head_sha)


def test_a_commit_can_be_made_from_blobs_and_a_tree(hub: Hub, repository: Repository, pull: Pull):
    client = connected(hub, hub.token(permissions={"contents": "write", "pull_requests": "read"}), lazy=False)
    repo = client.get_repo("octo/app")
    parent = repo.get_git_commit(pull.head_sha)
    blob = repo.create_git_blob("x = 3\n", "utf-8")
    tree = repo.create_git_tree([InputGitTreeElement("lib/c.py", "100644", "blob", sha=blob.sha)], base_tree=parent.tree)
    commit = repo.create_git_commit("Fix", tree, [parent])
    ref = repo.get_git_ref("heads/topic")
    ref.edit(commit.sha)
    assert pull.head_sha == commit.sha
    assert base64.b64decode(repo.get_contents("lib/c.py", ref="topic").content) == b"x = 3\n"
    with pytest.raises(GithubException) as caught:
        ref.edit(parent.parents[0].sha)
    assert refusal(caught) == (422, "Update is not a fast forward")
    client.close()


def test_a_sarif_report_is_unpacked(gh: Github, repository: Repository, pull: Pull):
    report = {"version": "2.1.0", "runs": []}
    packed = base64.b64encode(gzip.compress(json.dumps(report).encode())).decode()
    body = {"commit_sha": pull.head_sha, "ref": "refs/pull/1/head", "sarif": packed}
    gh.requester.requestJsonAndCheck("POST", "/repos/octo/app/code-scanning/sarifs", input=body)
    assert repository.sarifs[0]["report"] == report
    with pytest.raises(GithubException) as caught:
        gh.requester.requestJsonAndCheck("POST", "/repos/octo/app/code-scanning/sarifs", input={**body, "sarif": "none"})
    assert caught.value.status == 400


def test_the_journal_tells_what_was_asked(hub: Hub, pr: PullRequest):
    pr.create_issue_comment("hello")
    assert [(entry.operation, entry.status, entry.is_write) for entry in hub.journal] == [
        ("pulls/get", 200, False),
        ("issues/create-comment", 201, True),
    ]
    assert (hub.calls(), hub.writes()) == (2, ["issues/create-comment"])


def test_a_fault_after_the_write_leaves_what_was_written(hub: Hub, pr: PullRequest, pull: Pull):
    hub.faults.append(Fault("issues/create-comment", 502, '{"message":"Server Error"}', after=True))
    with pytest.raises(GithubException) as caught:
        pr.create_issue_comment("hello")
    assert caught.value.status == 502
    assert [comment.body for comment in pull.comments] == ["hello"]
