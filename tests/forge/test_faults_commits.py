"""What GitHub says when it refuses or fails to make a branch, a commit or a pull request. Row numbers are those of the fault list;
G31 to G33 are what issues of others tell of ``createCommitOnBranch`` and ``POST pulls``."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviewbot.adapters.github import Hub as Client
from reviewbot.adapters.github import Token, acts, branches, history
from reviewbot.adapters.github.exchange import Answer
from reviewbot.domain.action import Action, DeleteBranch, MakeBranch, MakeCommit, OpenPull
from reviewbot.domain.repair import Edit
from reviewbot.errors import (
    DeferredError,
    ForgeError,
    GoneError,
    InvalidError,
    NotAuthorizedError,
    NotPermittedError,
    StaleError,
    UnsureError,
)
from tests.forge.hub import Fault, Hub, Pull, Repository, faults
from tests.forge.scripted import EPOCH, SECRET, SILENCE, UNICORN, Heard, Say, Time, listening, opened, say
from tests.forge.test_client_properties import HEADERS, JSON, session
from tests.rings import examples

pytestmark = pytest.mark.matrix(parts=1)

HEAD, NEW = "a" * 40, "c" * 40
COMMIT = MakeCommit("topic", HEAD, "Mend", "Reviewbot-Finding: f1", (Edit("src/b.py", b"x = 2\n"), Edit("old.py", None)))
BRANCH = MakeBranch("mend", HEAD)
DELETE = DeleteBranch("mend", HEAD)
PULL = OpenPull("Mend", "body", "mend", "topic")
LOOK = say(
    {
        "data": {
            "repository": {
                "object": {
                    "f0": {"mode": 0o100644, "oid": "1" * 40},
                    "f1": {"mode": 0o040000, "oid": "2" * 40},
                    "f2": {"mode": 0o100644, "oid": "3" * 40},
                }
            }
        }
    }
)
FOUND = say({"data": {"repository": {"id": "R_1"}}})
COMMITTED = say({"data": {"createCommitOnBranch": {"commit": {"oid": NEW, "url": "https://github.com/octo/hello/commit/c"}}}})
BRANCHED = say({"ref": "refs/heads/mend", "object": {"type": "commit", "sha": HEAD, "url": ""}}, 201)
DELETED = say({"data": {"updateRefs": {"clientMutationId": None}}})
PULLED = say({"id": 3_400_000_001, "number": 8, "html_url": "https://github.com/octo/hello/pull/8"}, 201)

#: Each action with what is answered before it is sent, what GitHub says when it is done, and by what it is known as a write.
ACTIONS = [
    pytest.param(COMMIT, (LOOK,), COMMITTED, id="commit"),
    pytest.param(BRANCH, (), BRANCHED, id="branch"),
    pytest.param(DELETE, (FOUND,), DELETED, id="delete"),
    pytest.param(PULL, (), PULLED, id="pull"),
]
EVERY = pytest.mark.parametrize(("action", "before", "done"), ACTIONS)
SECONDARY = {
    "message": "You have exceeded a secondary rate limit and have been temporarily blocked from content creation. "
    "Please retry your request again later."
}
TROUBLE = [
    pytest.param(say({"message": "Server Error"}, 502), id="502"),
    pytest.param(say({"message": "No server is currently available to service your request."}, 503), id="503"),
    pytest.param(Say(504, UNICORN, media="text/html; charset=utf-8"), id="unicorn"),
    pytest.param(Say(200, UNICORN, media="text/html"), id="portal"),
    pytest.param(Say(499, b""), id="499"),
    pytest.param(Say(408, b""), id="408"),
    pytest.param(SILENCE, id="silence"),
    pytest.param(Say(200, b'{"data": {"createCommitOnBranch"', cut=9), id="cut"),
    pytest.param(Say(200, b""), id="empty"),
    pytest.param(Say(200, b"[]"), id="list"),
]


def failing(action: Action, *answers: Say, kind: type[ForgeError], time: Time | None = None) -> ForgeError:
    """The one error that the last answer leads to; nothing is asked after it."""
    with listening(*answers) as server, opened(server.url, time=time) as hub, pytest.raises(ForgeError) as failed:
        hub.do(action)
    assert type(failed.value) is kind, failed.value
    assert len(server.heard) == len(answers)
    return failed.value


def refusal(kind: str, message: str, name: str = "createCommitOnBranch", *more: str) -> Say:
    told = {"type": kind, "path": [name, *more], "locations": [{"line": 1, "column": 1}], "message": message}
    return say({"data": {name: None}, "errors": [told]})


def test_what_is_sent_for_a_commit():
    with listening(LOOK, COMMITTED) as server, opened(server.url) as hub:
        done = hub.do(COMMIT)
    assert (done.sha, done.url) == (NEW, "https://github.com/octo/hello/commit/c")
    look, sent = (heard.json["variables"] for heard in server.heard)
    assert look == {"owner": "octo", "name": "hello", "oid": HEAD, "p0": "old.py", "p1": "src", "p2": "src/b.py"}
    assert sent["input"] == {
        "clientMutationId": f"reviewbot-{HEAD}",
        "branch": {"repositoryNameWithOwner": "octo/hello", "branchName": "topic"},
        "expectedHeadOid": HEAD,
        "message": {"headline": "Mend", "body": "Reviewbot-Finding: f1"},
        "fileChanges": {
            "additions": [{"path": "src/b.py", "contents": base64.b64encode(b"x = 2\n").decode()}],
            "deletions": [{"path": "old.py"}],
        },
    }


def test_what_is_sent_for_a_branch_and_a_pull_request():
    with listening(BRANCHED, PULLED, FOUND, DELETED) as server, opened(server.url) as hub:
        assert hub.do(BRANCH).sha == HEAD
        assert hub.do(PULL).id == 8
        hub.do(DELETE)
    assert server.asked()[:2] == ["POST /repos/octo/hello/git/refs", "POST /repos/octo/hello/pulls"]
    assert server.heard[0].json == {"ref": "refs/heads/mend", "sha": HEAD}
    assert server.heard[1].json == {"title": "Mend", "body": "body", "head": "mend", "base": "topic"}
    (update,) = server.heard[3].json["variables"]["input"]["refUpdates"]
    assert update == {"name": "refs/heads/mend", "beforeOid": HEAD, "afterOid": "0" * 40}


@EVERY
@pytest.mark.parametrize("status", [403, 429])
@pytest.mark.parametrize(("header", "pause"), [("7", 7.0), ("", 60.0), (None, 60.0)])
def test_g12_a_secondary_limit_is_waited_for_and_the_write_done_once(
    action: Action, before: tuple[Say, ...], done: Say, status: int, header: str | None, pause: float
):
    time = Time()
    limit = say(SECONDARY, status, **({} if header is None else {"retry_after": header}))
    with listening(*before, limit, done) as server, opened(server.url, time=time) as hub:
        hub.do(action)
    assert time.slept == [pause]
    assert len(server.heard) == len(before) + 2
    assert server.heard[-1].body == server.heard[-2].body


@EVERY
def test_g12_g13_a_limit_beyond_our_patience_is_deferred_and_nothing_done(action: Action, before: tuple[Say, ...], done: Say):
    del done
    limit = say(
        {"message": "API rate limit exceeded for x."}, 403, x_ratelimit_remaining="0", x_ratelimit_reset=str(EPOCH + 3000)
    )
    error = failing(action, *before, limit, kind=DeferredError)
    assert isinstance(error, DeferredError)
    assert error.seconds == 3001.0


@pytest.mark.parametrize(("action", "before", "done"), [ACTIONS[0], ACTIONS[2]])
def test_g23_a_limit_in_the_body_of_graphql_is_waited_for(action: Action, before: tuple[Say, ...], done: Say):
    time = Time()
    body = {"errors": [{"type": "RATE_LIMITED", "message": "API rate limit exceeded for installation ID 1."}]}
    limit = say(body, x_ratelimit_remaining="0", x_ratelimit_reset=str(EPOCH + 9))
    with listening(*before, limit, done) as server, opened(server.url, time=time) as hub:
        hub.do(action)
    assert time.slept == [10.0]


@EVERY
def test_g14_a_token_that_may_not_write_says_so(action: Action, before: tuple[Say, ...], done: Say):
    del done
    error = failing(action, *before, say({"message": "Resource not accessible by integration"}, 403), kind=NotPermittedError)
    assert "permission" in error.hint


@pytest.mark.parametrize(("action", "before", "done"), [ACTIONS[1], ACTIONS[3]])
def test_g14_a_404_for_what_would_be_new_is_a_missing_permission_too(action: Action, before: tuple[Say, ...], done: Say):
    del done
    failing(action, *before, say({"message": "Not Found"}, 404), kind=NotPermittedError)


@pytest.mark.parametrize(
    ("type_", "message", "kind"),
    [
        ("FORBIDDEN", "Resource not accessible by integration", NotPermittedError),
        ("FORBIDDEN", "Repository rule violations found\n\n3 of 3 required status checks are expected.\n\n", NotPermittedError),
        ("BRANCH_PROTECTION_RULE_VIOLATION", "Changes must be made through a pull request.", NotPermittedError),
        ("BRANCH_PROTECTION_RULE_VIOLATION", 'Required status check "ci" is expected.', NotPermittedError),
        ("UNPROCESSABLE", "Repository rule violations found\n\nChanges must be made through a pull request.", NotPermittedError),
        ("INSUFFICIENT_SCOPES", "Your token has not been granted the required scopes", NotPermittedError),
        ("NOT_FOUND", "Could not resolve to a Repository with the name 'octo/hello'.", NotPermittedError),
        ("NOT_FOUND", 'A ref named "refs/heads/topic" does not exist in the repository.', GoneError),
        ("NOT_FOUND", "Branch not found", GoneError),
        ("STALE_DATA", 'Expected branch to point to "aaa" but it did not.  Pull and try again.', StaleError),
        ("UNPROCESSABLE", f"Ref refs/heads/topic is at {NEW} but expected {HEAD}", StaleError),
        ("NOT_FOUND", f"No commit exists with specified expectedHeadOid '{HEAD}'.", StaleError),
        ("NOT_FOUND", f"A path was requested for deletion which does not exist as of commit oid `{HEAD}`", GoneError),
        ("UNPROCESSABLE", "Path must be unique: src/b.py", InvalidError),
        ("SOMETHING_NEW", "Who knows", ForgeError),
    ],
)
def test_g20_g31_g32_a_commit_that_is_refused_says_why(type_: str, message: str, kind: type[ForgeError]):
    error = failing(COMMIT, LOOK, refusal(type_, message), kind=kind)
    assert "\n" not in str(error)
    assert " ".join(message.split())[:40] in str(error)


def test_g31_g32_a_guarded_branch_is_no_question_of_the_token():
    guarded = (
        ("BRANCH_PROTECTION_RULE_VIOLATION", "You're not authorized to push to this branch."),
        ("FORBIDDEN", "Repository rule violations found\n\nCannot update this protected ref.\n\n"),
    )
    for told in guarded:
        assert "guarded" in failing(COMMIT, LOOK, refusal(*told), kind=NotPermittedError).hint


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (say({"message": "Reference already exists", "status": "422"}, 422), InvalidError),
        (say({"message": "Object does not exist", "status": "422"}, 422), InvalidError),
        (say({"message": "Reference update failed", "status": "422"}, 422), InvalidError),
        (say({"message": "Repository rule violations found\n\nCannot create ref due to creations being restricted.\n\n"}, 422), NotPermittedError),
        (say({"message": "Git Repository is empty."}, 409), ForgeError),
        (say({"message": "Repository was archived so is read-only."}, 403), GoneError),
    ],
)  # fmt: skip
def test_a_branch_that_is_refused_says_why(answer: Say, kind: type[ForgeError]):
    error = failing(BRANCH, answer, kind=kind)
    if isinstance(error, InvalidError):
        assert error.reasons == (answer_words(answer),)


def answer_words(answer: Say) -> str:
    return str(json.loads(answer.body)["message"])


@pytest.mark.parametrize(
    "words",
    [
        "No commits between topic and mend",
        "A pull request already exists for octo:mend.",
        "title is too long (maximum is 256 characters)",
        "The base branch topic does not exist",
    ],
)
def test_g33_a_pull_request_that_is_refused_says_why(words: str):
    told = {"resource": "PullRequest", "code": "custom", "message": words}
    error = failing(PULL, say({"message": "Validation Failed", "errors": [told]}, 422), kind=InvalidError)
    assert isinstance(error, InvalidError)
    assert error.reasons == (words,)


def test_g33_actions_that_may_open_no_pull_requests_are_told_where_that_is_set():
    body = {"message": "GitHub Actions is not permitted to create or approve pull requests.", "status": "403"}
    error = failing(PULL, say(body, 403), kind=NotPermittedError)
    assert "settings" in error.hint


@EVERY
def test_g17_a_token_that_is_none_is_said_without_the_token(action: Action, before: tuple[Say, ...], done: Say):
    del done
    error = failing(action, *before, say({"message": f"Bad credentials {SECRET}"}, 401), kind=NotAuthorizedError)
    assert SECRET not in str(error)


@EVERY
@pytest.mark.parametrize("answer", TROUBLE)
def test_g18_what_writes_is_never_sent_twice(action: Action, before: tuple[Say, ...], done: Say, answer: Say):
    del done
    time = Time()
    failing(action, *before, answer, kind=UnsureError, time=time)
    assert time.slept == []


@pytest.mark.parametrize(("action", "before", "done"), [ACTIONS[0], ACTIONS[1], ACTIONS[3]])
def test_what_was_made_and_is_told_oddly_is_unsure(action: Action, before: tuple[Say, ...], done: Say):
    del done
    odd = b'{"object": 5, "number": "x", "data": {"createCommitOnBranch": {"commit": {"oid": 5}}}}'
    failing(action, *before, Say(201, odd), kind=UnsureError)


@pytest.mark.parametrize("action", [COMMIT, DELETE])
@pytest.mark.parametrize("answer", TROUBLE[:8])
def test_g18_a_look_that_fails_is_looked_again_and_nothing_is_written(action: Action, answer: Say):
    look, done = (LOOK, COMMITTED) if action is COMMIT else (FOUND, DELETED)
    with listening(answer, answer, look, done) as server, opened(server.url) as hub:
        hub.do(action)
    assert len(server.heard) == 4
    with listening(answer) as server, opened(server.url) as hub, pytest.raises(ForgeError) as failed:
        hub.do(action)
    assert type(failed.value) is ForgeError, "nobody is unsure of what was never sent"
    assert len(server.heard) == 4
    assert all("query" in heard.json["query"][:5] for heard in server.heard)


@pytest.mark.parametrize(
    "look",
    [
        say({"data": {"repository": None}, "errors": [{"type": "NOT_FOUND", "path": ["repository"], "message": "Could not resolve to a Repository with the name 'x'."}]}),
        say({"data": {"repository": {"object": None}}, "errors": [{"type": "FORBIDDEN", "path": ["repository", "object"], "message": "Resource not accessible by integration"}]}),
    ],
)  # fmt: skip
def test_what_may_not_be_looked_at_is_not_written(look: Say):
    failing(COMMIT, look, kind=NotPermittedError)


@pytest.mark.parametrize("more", [{}, {"errors": [{"type": "NOT_FOUND", "path": ["repository", "object"], "message": "none"}]}])
def test_a_head_that_is_no_commit_there_is_stale(more: dict[str, Any]):
    failing(COMMIT, say({"data": {"repository": {"object": None}}, **more}), kind=StaleError)


def test_a_head_that_is_a_tree_is_no_commit():
    failing(COMMIT, say({"data": {"repository": {"object": {}}}}), kind=ForgeError)


def test_a_path_that_is_told_as_missing_is_new():
    """GitHub may say of each that it is not there, or say nothing."""
    missing = {"f0": None, "f1": None, "f2": None}
    errors = [{"type": "NOT_FOUND", "path": ["repository", "object", "f1"], "message": "Could not resolve file for path 'src'."}]
    look = say({"data": {"repository": {"object": missing}}, "errors": errors})
    failing(COMMIT, look, kind=InvalidError)  # the other edit would take away what is not there
    only = MakeCommit("topic", HEAD, "Mend", "", (Edit("src/b.py", b"x = 2\n"),))
    with listening(look, COMMITTED) as server, opened(server.url) as hub:
        assert hub.do(only).sha == NEW


def test_g23_a_mutation_during_which_something_went_wrong_is_unsure():
    words = "Something went wrong while executing your query. This may be the result of a timeout, or it could be a GitHub bug."
    for data in (None, {"createCommitOnBranch": None}):
        failing(COMMIT, LOOK, say({"data": data, "errors": [{"message": words}]}), kind=UnsureError)


def test_a_commit_of_which_github_cannot_tell_is_unsure():
    """It was made: what went wrong lies below it."""
    for made in (None, {"commit": None}):
        told = {"type": "FORBIDDEN", "path": ["createCommitOnBranch", "commit", "url"], "message": "no"}
        failing(COMMIT, LOOK, say({"data": {"createCommitOnBranch": made}, "errors": [told]}), kind=UnsureError)


def test_a_mutation_that_was_never_understood_is_no_question():
    told = {"path": ["mutation Do", "createCommitOnBranch", "input"], "message": "Argument 'input' has an invalid value"}
    failing(COMMIT, LOOK, say({"errors": [told]}), kind=ForgeError)


@EVERY
def test_g22_a_write_is_redirected_with_its_body(action: Action, before: tuple[Say, ...], done: Say):
    with listening(Say()) as server, opened(server.url) as hub:
        server.answers = [*before, say({}, 307, location="/elsewhere"), done]
        hub.do(action)
    assert server.heard[-1].body == server.heard[-2].body


@EVERY
def test_g22_a_write_is_never_sent_to_another_host(action: Action, before: tuple[Say, ...], done: Say):
    with listening(done) as other, listening(Say()) as server, opened(server.url) as hub:
        server.answers = [*before, say({}, 307, location=other.url)]
        with pytest.raises(ForgeError, match="another host"):
            hub.do(action)
    assert other.heard == []


@EVERY
def test_no_error_holds_the_token_or_what_was_written(action: Action, before: tuple[Say, ...], done: Say):
    del done

    def echo(heard: Heard) -> Say:
        return say({"message": f"no {SECRET}"}, 422)

    with listening(*before, echo) as server, opened(server.url) as hub, pytest.raises(ForgeError) as failed:
        hub.do(action)
    assert SECRET not in str(failed.value)
    assert base64.b64encode(b"x = 2\n").decode() not in str(failed.value)


HEAD_NODE = {
    "oid": NEW,
    "message": "m",
    "author": {"name": "A", "user": None},
    "parents": {"nodes": [{"oid": HEAD}]},
    "signature": None,
}


def told_head(node: object) -> Say:
    return say({"data": {"repository": {"ref": node}}})


@pytest.mark.parametrize(
    ("signature", "vouched"),
    [
        (None, False),
        ({"isValid": True, "wasSignedByGitHub": True}, True),
        ({"isValid": True, "wasSignedByGitHub": False}, False),
        ({"isValid": False, "wasSignedByGitHub": True}, False),
        ({"isValid": "true", "wasSignedByGitHub": 1}, False),
    ],
)
def test_only_what_github_signed_itself_is_vouched_for(signature: object, vouched: bool):
    with listening(told_head({"target": {**HEAD_NODE, "signature": signature}})) as server, opened(server.url) as hub:
        told = hub.head("topic")
    assert told is not None
    assert told.is_vouched is vouched


@pytest.mark.parametrize("answer", TROUBLE[:8])
def test_g18_where_a_branch_stands_is_asked_again(answer: Say):
    with listening(answer, told_head({"target": HEAD_NODE})) as server, opened(server.url) as hub:
        assert (hub.head("topic") or pytest.fail("none")).parents == (HEAD,)
    assert len(server.heard) == 2


def test_a_branch_that_is_not_there_and_one_that_may_not_be_seen_are_told_apart():
    with listening(told_head(None)) as server, opened(server.url) as hub:
        assert hub.head("topic") is None
        server.answers = [refused_read({"repository": None}, "NOT_FOUND", "Could not resolve to a Repository with the name 'x'.")]
        with pytest.raises(NotPermittedError):
            hub.head("topic")
        server.answers = [refused_read({"repository": {"ref": None}}, "FORBIDDEN", "Resource not accessible by integration")]
        with pytest.raises(NotPermittedError):
            hub.head("topic")
        server.answers = [told_head({"target": {}})]
        with pytest.raises(ForgeError):
            hub.head("topic")


def refused_read(data: object, kind: str, message: str) -> Say:
    return say({"data": data, "errors": [{"type": kind, "path": ["repository"], "message": message}]})


OPEN, GUARDED = say({"name": "t", "protected": False}), say({"name": "t", "protected": True})
NO_RULES = say([])
UPGRADE = say({"message": "Upgrade to GitHub Pro or make this repository public to enable this feature."}, 403)


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ((GUARDED,), True),
        ((OPEN, NO_RULES), False),
        ((OPEN, say([{"type": "deletion"}, {"type": "non_fast_forward"}])), False),
        ((OPEN, say([{"type": "deletion"}, {"type": "pull_request"}])), True),
        ((OPEN, say([{"type": "a_rule_of_tomorrow"}])), True),
        ((OPEN, UPGRADE), False),
        ((OPEN, say({"message": "Resource not accessible by integration"}, 403)), None),
        ((OPEN, say({"message": "Not Found"}, 404)), None),
        ((say({"message": "Branch not found"}, 404),), None),
        ((say({"message": "Resource not accessible by integration"}, 403),), None),
    ],
)
def test_what_guards_a_branch_is_known_or_said_to_be_unknown(answers: tuple[Say, ...], expected: bool | None):
    with listening(*answers) as server, opened(server.url) as hub:
        assert hub.is_protected("a/b") is expected
    paths = ["GET /repos/octo/hello/branches/a%2Fb", "GET /repos/octo/hello/rules/branches/a%2Fb?per_page=100"]
    assert server.asked() == paths[: len(answers)]


def test_the_rules_of_a_branch_are_read_to_the_last_page():
    with listening(Say()) as server, opened(server.url) as hub:
        onward = f'<{server.url}/repositories/1/rules/branches/t?page=2>; rel="next"'
        server.answers = [OPEN, say([{"type": "deletion"}] * 100, link=onward), say([{"type": "update"}])]
        assert hub.is_protected("t") is True


@pytest.mark.parametrize("answer", TROUBLE[:8])
def test_g18_what_guards_a_branch_is_asked_again_and_never_guessed(answer: Say):
    with listening(answer, OPEN, answer, NO_RULES) as server, opened(server.url) as hub:
        assert hub.is_protected("t") is False
        server.answers = [answer]
        with pytest.raises(ForgeError):
            hub.is_protected("t")


@pytest.mark.parametrize("body", [{}, {"encoding": "utf-8", "content": "x"}, {"encoding": "base64", "content": "?"}, []])
def test_a_blob_that_is_told_otherwise_is_one_error(body: object):
    with listening(say(body)) as server, opened(server.url) as hub, pytest.raises(ForgeError):
        hub.blob("1" * 40)
    assert server.asked() == [f"GET /repos/octo/hello/git/blobs/{'1' * 40}"]


def test_pages_of_a_commit_that_never_end_are_left():
    with listening(Say()) as server, opened(server.url) as hub:
        onward = f'<{server.url}/repos/octo/hello/commits/{HEAD}?page=2>; rel="next"'
        server.answers = [say({"parents": [{"sha": NEW}], "files": []}, link=onward)]
        with pytest.raises(ForgeError):
            hub.touched(HEAD, HEAD)
    assert len(server.heard) == history.MOST_PAGES


# What was lost on the way, asked of the fake GitHub: whether it was done or not, the question that follows finds out, and another
# attempt makes no second one.

LOST: list[tuple[str, Callable[[str, bool], Fault]]] = [
    ("502", lambda on, after: faults.server_error(on, status=502, after=after)),
    ("unicorn", lambda on, after: faults.server_error(on, status=504, html=True, after=after)),
    ("dropped", lambda on, after: faults.dropped(on, after=after)),
]
WRITER = {"contents": "write", "pull_requests": "write", "metadata": "read"}
after_or_before = pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
each_loss = pytest.mark.parametrize("lost", [lost for _, lost in LOST], ids=[name for name, _ in LOST])


def client(hub: Hub):
    return opened(hub.api_url, credential=Token(hub.token(login="reviewbot[bot]", permissions=WRITER)), repository="octo/app")


def unsure(made: Client, action: Action) -> None:
    with pytest.raises(UnsureError):
        made.do(action)


def mend(head: str, branch: str = "topic") -> MakeCommit:
    return MakeCommit(branch, head, "Mend", "Reviewbot-Finding: f1", (Edit("b.py", b"x = 2\n"),))


def is_ours(made: Client, action: MakeCommit) -> bool:
    """The question after a commit whose answer was lost."""
    told = made.head(action.branch)
    return told is not None and told.is_vouched and told.parents == (action.expected_head,) and action.body in told.message


@each_loss
@after_or_before
def test_a_commit_whose_answer_was_lost_is_found_or_made_once(
    hub: Hub, repository: Repository, pull: Pull, lost: Callable[[str, bool], Fault], after: bool
):
    old = pull.head_sha
    hub.faults.append(lost("graphql:createCommitOnBranch", after))
    with client(hub) as made:
        action = mend(old)
        unsure(made, action)
        assert is_ours(made, action) is after
        if after:
            with pytest.raises(StaleError):
                made.do(action)
        else:
            assert made.do(action).sha == pull.head_sha
        assert is_ours(made, action)
    assert repository.code.told(pull.head_sha)["parents"] == old
    assert len(pull.commits) == 2


@each_loss
@after_or_before
def test_a_branch_whose_answer_was_lost_is_found_or_made_once(
    hub: Hub, repository: Repository, pull: Pull, lost: Callable[[str, bool], Fault], after: bool
):
    hub.faults.append(lost("git/create-ref", after))
    with client(hub) as made:
        action = MakeBranch("mend", pull.head_sha)
        unsure(made, action)
        assert (made.head("mend") is not None) is after
        if after:
            with pytest.raises(InvalidError, match="Reference already exists"):
                made.do(action)
        else:
            made.do(action)
    assert repository.code.sha("refs/heads/mend") == pull.head_sha


@each_loss
@after_or_before
def test_a_pull_request_whose_answer_was_lost_is_found_or_opened_once(
    hub: Hub, repository: Repository, pull: Pull, lost: Callable[[str, bool], Fault], after: bool
):
    hub.faults.append(lost("pulls/create", after))
    with client(hub) as made:
        made.do(MakeBranch("mend", pull.head_sha))
        sha = made.do(mend(pull.head_sha, "mend")).sha
        action = OpenPull("Mend", "body", "mend", "topic")
        unsure(made, action)
        assert made.pull_of("octo/app", "mend", sha) == (2 if after else None)
        if after:
            with pytest.raises(InvalidError, match="already exists"):
                made.do(action)
        else:
            made.do(action)
    assert [one.head_ref for one in repository.pulls] == ["topic", "mend"]


@each_loss
@after_or_before
def test_a_branch_that_was_to_go_is_gone_or_goes_then(
    hub: Hub, repository: Repository, pull: Pull, lost: Callable[[str, bool], Fault], after: bool
):
    repository.commit("mend", {}, parent=pull.head_sha)
    sha = repository.code.sha("refs/heads/mend") or ""
    hub.faults.append(lost("graphql:updateRefs", after))
    with client(hub) as made:
        action = DeleteBranch("mend", sha)
        unsure(made, action)
        assert (made.head("mend") is None) is after
        if after:
            with pytest.raises(StaleError):
                made.do(action)
        else:
            made.do(action)
        assert made.head("mend") is None


def test_a_lost_answer_and_a_push_of_somebody_in_between_are_told_apart(hub: Hub, repository: Repository, pull: Pull):
    """Our commit is no longer the head, but it is one of the pull request."""
    old = pull.head_sha
    hub.faults.append(faults.dropped("graphql:createCommitOnBranch", after=True, then=lambda: pull.push({"c.py": "c\n"})))
    with client(hub) as made:
        action = mend(old)
        unsure(made, action)
        assert not is_ours(made, action)
        ours = [one for one in made.standing(pull.number).commits if one.is_vouched and one.parents == (old,)]
    assert [action.body in one.message for one in ours] == [True]


ANY = (
    lambda answer: acts.do(session(answer), "octo/hello", COMMIT),
    lambda answer: acts.do(session(answer), "octo/hello", BRANCH),
    lambda answer: acts.do(session(answer), "octo/hello", DELETE),
    lambda answer: acts.do(session(answer), "octo/hello", PULL),
    lambda answer: branches.head(session(answer), "octo/hello", "topic"),
    lambda answer: branches.is_protected(session(answer), "octo/hello", "topic"),
    lambda answer: history.touched(session(answer), "octo/hello", HEAD, head=NEW),
    lambda answer: history.blob(session(answer), "octo/hello", HEAD),
)
KEYS = st.sampled_from(
    ("data", "errors", "repository", "object", "f0", "f1", "mode", "oid", "createCommitOnBranch", "commit", "url", "number", "ref",
     "target", "protected", "parents", "files", "filename", "encoding", "content", "type", "nodes", "signature", "updateRefs", "id")
)  # fmt: skip
NESTED = st.recursive(JSON, lambda inner: st.dictionaries(KEYS, inner, max_size=5) | st.lists(inner, max_size=3), max_leaves=10)


@settings(max_examples=examples(400))
@given(body=NESTED, headers=HEADERS, status=st.sampled_from((200, 200, 200, 201, 403, 422, 500)))
def test_any_answer_is_read_or_is_one_error(body: Any, headers: dict[str, str], status: int):
    answer = Answer(status, headers, json.dumps(body).encode())
    for reader in ANY:
        words = "nothing"
        try:
            reader(answer)
        except ForgeError as exc:
            words = str(exc)
        assert words.isprintable()
        assert len(words) < 700


PATHS = st.text(st.characters(exclude_categories=("Cs",)), max_size=12) | st.text(st.sampled_from("./\\ab\0.git"), max_size=10)


@settings(max_examples=examples(300))
@given(paths=st.lists(PATHS, min_size=1, max_size=4), content=st.binary(max_size=8) | st.none())
def test_whatever_is_asked_to_be_written_is_sent_as_it_is_or_not_at_all(paths: list[str], content: bytes | None):
    sent: list[Any] = []

    class Noting:
        graphql_url = "/graphql"

        def exchange(self, call: Any, bearer: str) -> Answer:
            variables = call.body["variables"]
            sent.append(json.loads(json.dumps(variables)))
            if "input" in variables:
                return Answer(200, {}, COMMITTED.body)
            there = {f"f{key[1:]}": {"mode": 0o100644, "oid": "1" * 40} for key, path in variables.items() if path in paths}
            known = {f"f{key[1:]}": {"mode": 0o040000, "oid": "2" * 40} for key in variables if key[0] == "p"} | there
            return Answer(200, {}, json.dumps({"data": {"repository": {"object": known}}}).encode())

        def fetch(self, url: str, most: int) -> bytes:
            raise AssertionError(url)

        def close(self) -> None:
            pass

    asked = session(Answer(200))
    asked._wire = Noting()
    edits = tuple(Edit(path, content) for path in paths)
    try:
        acts.do(asked, "octo/hello", MakeCommit("topic", HEAD, "Mend", "", edits))
    except InvalidError:
        assert not [one for one in sent if "input" in one]
        return
    changes = sent[-1]["input"]["fileChanges"]
    told = [entry["path"] for entry in (changes["deletions"] if content is None else changes["additions"])]
    assert told == paths
    assert len(set(paths)) == len(paths)
    assert not [path for path in paths if path.startswith("/") or path.endswith("/") or "\0" in path or "//" in path]
    assert not {part.lower() for path in paths for part in path.split("/")} & {"", ".", "..", ".git"}
