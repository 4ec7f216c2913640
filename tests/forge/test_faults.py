"""What GitHub says when it refuses or fails, and what becomes of it. Row numbers are those of the fault list."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import requests

from reviewbot.adapters.github import Token, wire
from reviewbot.adapters.panel.origin import Origin
from reviewbot.domain.action import (
    AddLabels,
    CheckConclusion,
    EditComment,
    InlineComment,
    MinimizeComment,
    PostCheck,
    PostComment,
    PostReview,
    RemoveLabel,
    ReplyThread,
    ResolveThread,
    ReviewEvent,
)
from reviewbot.domain.forge import (
    Permission,
)
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
from tests.forge.scripted import EPOCH, SECRET, SILENCE, UNICORN, Say, Time, listening, opened, say

REVIEW = PostReview(7, "a" * 40, ReviewEvent.COMMENT, "body", (InlineComment("a.py", 3, "x", "fp"),))
COMMENT = PostComment(7, "hello")
MADE = say({"id": 5, "html_url": "https://github.com/octo/hello/pull/7#5"}, 201)
SECONDARY = {
    "message": "You have exceeded a secondary rate limit and have been temporarily blocked from content creation. "
    "Please retry your request again later."
}
PRIMARY = {"message": "API rate limit exceeded for installation ID 1."}
NO_SERVER = {
    "message": "No server is currently available to service your request. Sorry about that. Please try resubmitting your request "
    "and contact us if the problem persists."
}
TOO_MANY_LINES = {
    "message": "Sorry, the diff exceeded the maximum number of lines (20000)",
    "errors": [{"resource": "PullRequest", "field": "diff", "code": "too_large"}],
}
TOO_MANY_FILES = {
    "message": "Sorry, the diff exceeded the maximum number of files (300). Consider using 'List pull requests files' API or "
    "locally cloning the repository instead.",
    "errors": [{"resource": "PullRequest", "field": "diff", "code": "too_large"}],
    "status": "406",
}


def unprocessable(*errors: str) -> Say:
    url = "https://docs.github.com/rest/pulls/reviews#create-a-review-for-a-pull-request"
    return say({"message": "Unprocessable Entity", "errors": list(errors), "documentation_url": url, "status": "422"}, 422)


def failing(answer: Say, action: object = COMMENT, *, kind: type[ForgeError], time: Time | None = None) -> ForgeError:
    """The one error that a single answer leads to, after a single request."""
    with listening(answer) as server, opened(server.url, time=time) as hub, pytest.raises(ForgeError) as failed:
        hub.do(action)  # type: ignore[arg-type]
    assert type(failed.value) is kind
    assert len(server.heard) == 1
    return failed.value


@pytest.mark.parametrize("body", [TOO_MANY_LINES, TOO_MANY_FILES], ids=["G1", "G2"])
def test_a_diff_that_is_too_large_is_read_file_by_file_and_that_is_said(body: object):
    file = {
        "filename": "a.py",
        "status": "modified",
        "additions": 1,
        "deletions": 1,
        "patch": "@@ -1 +1 @@\n-a\n+b",
        "sha": "0" * 40,
    }
    with listening(say(body, 406), say([file])) as server, opened(server.url) as hub:
        told = hub.diff(7, 1)
    assert server.asked() == ["GET /repos/octo/hello/pulls/7", "GET /repos/octo/hello/pulls/7/files?per_page=100"]
    assert told.diff.patch == b"diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-a\n+b\n"
    assert len(told.left_out) == 1
    assert "exceeded the maximum number of" in told.left_out[0]


def test_g3_pages_are_followed_and_what_github_left_out_is_said():
    def file(name: str, **more: object) -> dict[str, object]:
        return {"filename": name, "status": "modified", "additions": 0, "deletions": 0, "sha": "0" * 40, **more}

    with listening(Say()) as server, opened(server.url) as hub:
        onward = f'<{server.url}/repositories/1/pulls/7/files?per_page=100&page=2>; rel="next", <{server.url}/x>; rel="last"'
        server.answers = [
            say(TOO_MANY_FILES, 406),
            say(
                [
                    file("photo.png"),
                    file("empty.py", status="added", sha="e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"),
                    file("big.py", additions=90_000),
                ],
                link=onward,
            ),
            say(
                [
                    file("old.py", status="renamed", previous_filename="new name.py"),
                    file("some.py", additions=2, patch="@@ -0,0 +1 @@\n+a"),
                ]
            ),
        ]
        told = hub.diff(7, 9)
    assert server.asked()[-1] == "GET /repositories/1/pulls/7/files?page=2&per_page=100"
    assert told.left_out[1:] == (
        "4 of 9 changed files: GitHub left them out",
        "photo.png: GitHub gives no patch for it, it is binary or only its mode changed",
        "big.py: GitHub gives no patch for it, it is too large",
        "some.py: GitHub gives a part of its patch only",
    )


def test_g3_the_list_ends_after_three_thousand_files():
    with listening(Say()) as server, opened(server.url) as hub:
        pages = iter(range(2, 1000))

        def page(_: object) -> Say:
            return say([], link=f'<{server.url}/repos/octo/hello/pulls/7/files?page={next(pages)}>; rel="next"')

        server.answers = [say(TOO_MANY_FILES, 406), page]
        told = hub.diff(7, 4000)
    assert len(server.heard) == 1 + 30
    assert "4000 of 4000 changed files: GitHub left them out" in told.left_out


def test_a_link_that_leads_in_a_circle_is_followed_once():
    with listening(Say()) as server, opened(server.url) as hub:
        circle = f'<{server.url}/repos/octo/hello/pulls?page=2>; rel="next"'
        server.answers = [say([], link=circle)]
        assert hub.pull_of("octo/hello", "topic", "a" * 40) is None
    assert len(server.heard) == 2 + 2  # for the branch, and then for a fork that was deleted: two pages of each


@pytest.mark.parametrize(
    "words",
    [
        "Pull request review thread line must be part of the diff and Pull request review thread diff hunk can't be blank",
        "Pull request review thread start line must be part of the same hunk as the line.",
        "Pull request review thread path is invalid and Pull request review thread diff hunk can't be blank",
        "Pull request review thread start line must precede the end line.",
        "User can only have one pending review per pull request",
        "Can not approve your own pull request",
        "GitHub Actions is not permitted to approve pull requests.",
    ],
)
def test_g4_g6_g7_a_refused_review_says_github_s_reasons(words: str):
    error = failing(unprocessable(words), REVIEW, kind=InvalidError)
    assert isinstance(error, InvalidError)
    assert error.reasons == (words,)
    assert words[:60] in str(error)


def test_g6_the_other_shape_of_a_422_is_read_too():
    body = {"message": "Validation Failed", "errors": [{"resource": "PullRequestReviewComment", "code": "custom", "field": "user_id",
            "message": "user_id can only have one pending review per pull request"}]}  # fmt: skip
    error = failing(say(body, 422), ReplyThread(7, 5, "x"), kind=InvalidError)
    assert isinstance(error, InvalidError)
    assert error.reasons == ("user_id can only have one pending review per pull request",)


@pytest.mark.parametrize(
    "words",
    [
        "end_commit_oid is not part of the pull request",
        "Start commit oid is not part of the pull request",
        "The commitOID is not part of the pull request",
    ],
)
def test_g8_a_commit_that_is_gone_is_stale(words: str):
    failing(unprocessable(words), REVIEW, kind=StaleError)


def test_g8_a_check_run_for_a_commit_that_is_gone_is_stale():
    check = PostCheck("reviewbot", "a" * 40, "x", CheckConclusion.NEUTRAL, "t", "s")
    failing(say({"message": "No commit found for SHA: " + "a" * 40}, 422), check, kind=StaleError)


@pytest.mark.parametrize("field", [{"code": "unprocessable", "field": "data"}, {"code": "custom", "field": "body"}])
def test_g9_a_body_that_github_finds_too_long_is_invalid(field: dict[str, str]):
    told = {"resource": "IssueComment", **field, "message": "Body is too long (maximum is 65536 characters)"}
    error = failing(say({"message": "Validation Failed", "errors": [told]}, 422), kind=InvalidError)
    assert "Body is too long" in str(error)


def test_g9_a_body_that_is_too_long_is_never_sent():
    with listening(MADE) as server, opened(server.url) as hub:
        hub.do(PostComment(7, "x" * 65_536))
        for body in ("x" * 65_537, "\U0001f600" * 32_769):
            with pytest.raises(InvalidError):
                hub.do(PostComment(7, body))
    assert len(server.heard) == 1


def test_g10_a_summary_that_github_finds_too_long_is_invalid():
    check = PostCheck("reviewbot", "a" * 40, "x", CheckConclusion.NEUTRAL, "t", "s")
    error = failing(
        say({"message": "Invalid request.\n\nOnly 65535 characters are allowed; 250684 were supplied."}, 422),
        check,
        kind=InvalidError,
    )
    assert "\n" not in str(error)
    assert "Only 65535 characters" in str(error)


@pytest.mark.parametrize("status", [403, 429])
@pytest.mark.parametrize(("header", "pauses"), [("60", [60.0]), ("", [60.0]), (None, [60.0]), ("7", [7.0])])
def test_g12_a_secondary_limit_is_waited_for_and_the_write_done_once(status: int, header: str | None, pauses: list[float]):
    time = Time()
    headers = {} if header is None else {"retry_after": header}
    with listening(say(SECONDARY, status, **headers), MADE) as server, opened(server.url, time=time) as hub:
        assert hub.do(COMMENT).id == 5
    assert time.slept == pauses
    assert len(server.heard) == 2


def test_g12_a_secondary_limit_that_goes_on_is_given_longer_each_time_and_then_up():
    time = Time()
    with (
        listening(say(SECONDARY, 403)) as server,
        opened(server.url, time=time, patience=200.0) as hub,
        pytest.raises(DeferredError) as failed,
    ):
        hub.do(COMMENT)
    assert time.slept == [60.0, 120.0]
    assert failed.value.seconds == 240.0
    assert len(server.heard) == 3


@pytest.mark.parametrize("status", [403, 429])
def test_g13_a_primary_limit_is_waited_for_by_github_s_own_clock(status: int):
    time = Time()
    limit = say(PRIMARY, status, x_ratelimit_remaining="0", x_ratelimit_reset=str(EPOCH + 41))
    with listening(limit, say({"permission": "write"})) as server, opened(server.url, time=time) as hub:
        assert hub.permission("octocat") is Permission.WRITE
    assert time.slept == [42.0]


def test_g13_a_primary_limit_beyond_our_patience_is_deferred_at_once():
    time = Time()
    limit = say(PRIMARY, 403, x_ratelimit_remaining="0", x_ratelimit_reset=str(EPOCH + 3000))
    error = failing(limit, kind=DeferredError, time=time)
    assert isinstance(error, DeferredError)
    assert error.seconds == 3001.0
    assert time.slept == []


def test_patience_is_spent_once_for_all_calls():
    time = Time()
    limit = say(SECONDARY, 403, retry_after="50")
    with listening(limit, MADE, limit, MADE, limit) as server, opened(server.url, time=time, patience=120.0) as hub:
        hub.do(COMMENT)
        hub.do(COMMENT)
        with pytest.raises(DeferredError):
            hub.do(COMMENT)
    assert time.slept == [50.0, 50.0]
    assert len(server.heard) == 5


@pytest.mark.parametrize("header", ["nan", "inf", "-5", "soon", "1e999", "Sat, 21 Nov 2026 12:00:00 GMT"])
def test_odd_headers_of_a_limit_are_no_time_at_all(header: str):
    time = Time()
    odd = say(
        SECONDARY, 403, retry_after=header, x_ratelimit_remaining=header, x_ratelimit_limit=header, x_ratelimit_reset=header
    )
    with listening(odd, MADE) as server, opened(server.url, time=time) as hub:
        hub.do(COMMENT)
    assert time.slept == [60.0]


@pytest.mark.parametrize("action", [COMMENT, REVIEW, EditComment(3, "x"), AddLabels(7, ("a",))])
def test_g14_a_token_that_may_not_write_says_so(action: object):
    error = failing(say({"message": "Resource not accessible by integration"}, 403), action, kind=NotPermittedError)
    assert "permission" in error.hint


def test_a_missing_permission_is_not_waited_for_where_no_requests_are_left():
    time = Time()
    answer = say(
        {"message": "Resource not accessible by integration"}, 403, x_ratelimit_remaining="0", x_ratelimit_reset=str(EPOCH + 9)
    )
    failing(answer, kind=NotPermittedError, time=time)
    assert time.slept == []


def test_g14_a_404_for_what_would_be_new_is_a_missing_permission_too():
    failing(say({"message": "Not Found"}, 404), REVIEW, kind=NotPermittedError)


@pytest.mark.parametrize(
    "answer",
    [
        say({"message": "Unable to create comment because issue is locked."}, 403),
        unprocessable("lock prevents review"),
        say({"message": "Repository was archived so is read-only."}, 403),
        say({"message": "This issue was deleted"}, 410),
    ],
)
def test_g15_g16_what_is_closed_to_words_is_gone(answer: Say):
    failing(answer, kind=GoneError)


@pytest.mark.parametrize("action", [EditComment(3, "x"), ReplyThread(7, 3, "x"), RemoveLabel(7, "a/b c")])
def test_g16_a_404_for_what_was_there_says_that_it_is_gone(action: object):
    failing(say({"message": "Not Found"}, 404), action, kind=GoneError)


def test_g17_a_token_that_is_none_is_said_without_the_token():
    error = failing(say({"message": f"Bad credentials {SECRET}"}, 401), kind=NotAuthorizedError)
    assert SECRET not in str(error)


TROUBLE = [
    pytest.param(say({"message": "Server Error"}, 502), id="502"),
    pytest.param(say(NO_SERVER, 503), id="503"),
    pytest.param(Say(504, UNICORN, media="text/html; charset=utf-8"), id="unicorn"),
    pytest.param(Say(200, UNICORN, media="text/html"), id="portal"),
    pytest.param(SILENCE, id="silence"),
    pytest.param(Say(200, b'{"permission": "write"}', cut=5), id="cut"),
]


@pytest.mark.parametrize("answer", TROUBLE)
def test_g18_what_reads_is_asked_again_with_jitter(answer: Say):
    time = Time()
    with listening(answer, answer, say({"permission": "write"})) as server, opened(server.url, time=time) as hub:
        assert hub.permission("octocat") is Permission.WRITE
    assert len(server.heard) == 3
    assert time.slept == [0.5, 1.0]


@pytest.mark.parametrize("answer", TROUBLE)
def test_g18_what_reads_is_not_asked_for_ever(answer: Say):
    with listening(answer) as server, opened(server.url) as hub, pytest.raises(ForgeError) as failed:
        hub.pull_of("octo/hello", "topic", "a" * 40)
    assert type(failed.value) is ForgeError
    assert len(server.heard) == 4


@pytest.mark.parametrize("answer", TROUBLE)
@pytest.mark.parametrize("action", [COMMENT, REVIEW, EditComment(3, "x"), ResolveThread("T"), RemoveLabel(7, "x")])
def test_g18_what_writes_is_never_sent_twice(answer: Say, action: object):
    time = Time()
    failing(answer, action, kind=UnsureError, time=time)
    assert time.slept == []


def test_a_write_whose_answer_cannot_be_read_is_unsure():
    for body in (b"", b"[]", b'{"id": "x"}', b"\xff", b"{" * 100_000):
        failing(Say(201, body), kind=UnsureError)


def test_a_write_that_never_left_is_tried_again_and_is_no_question():
    with listening(MADE) as server:
        url = server.url
    time = Time()
    with opened(url, time=time) as hub, pytest.raises(ForgeError, match="cannot be reached") as failed:
        hub.do(COMMENT)
    assert type(failed.value) is ForgeError
    assert len(time.slept) == 3


@pytest.mark.parametrize("status", [301, 307, 308])
def test_g22_a_redirect_on_the_same_origin_is_followed_with_its_query(status: int):
    with listening(Say()) as server, opened(server.url) as hub:
        server.answers = [say({}, status, location=f"{server.url}/repositories/1/pulls?state=open&head=a%3Ab"), say([])]
        assert hub.pull_of("octo/hello", "topic", "a" * 40) is None
    assert server.asked()[1] == "GET /repositories/1/pulls?head=a%3Ab&state=open"
    assert server.heard[1].headers["authorization"] == f"Bearer {SECRET}"


def test_g22_a_write_is_redirected_with_its_body():
    with listening(Say()) as server, opened(server.url) as hub:
        server.answers = [say({}, 307, location="/repositories/1/issues/7/comments"), MADE]
        assert hub.do(COMMENT).id == 5
    assert server.asked()[1] == "POST /repositories/1/issues/7/comments"
    assert server.heard[1].json == {"body": "hello"}


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_g22_a_redirect_to_another_host_or_port_is_never_followed(status: int):
    with listening(say([])) as other, listening(Say()) as server, opened(server.url) as hub:
        port = other.url.rpartition(":")[2]
        for location in (
            other.url,
            f"http://localhost:{port}/x",
            f"//127.0.0.1:{port}/x",
            "https://example.com/",
            "ftp://x/",
            "http://[::1/",
        ):
            server.answers = [say({}, status, location=location)]
            with pytest.raises(ForgeError, match="another host"):
                hub.pull_of("octo/hello", "topic", "a" * 40)
    assert other.heard == []


def test_g22_redirects_without_end_are_left():
    with listening(Say()) as server, opened(server.url) as hub:
        server.answers = [say({}, 301, location="/repos/octo/hello/pulls")]
        with pytest.raises(ForgeError, match="without end"):
            hub.pull_of("octo/hello", "topic", "a" * 40)
    assert len(server.heard) == 4


def test_a_next_page_on_another_host_is_never_asked_for():
    with listening(say([])) as other, listening(Say()) as server, opened(server.url) as hub:
        server.answers = [say([], link=f'<{other.url}/repos/octo/hello/pulls?page=2>; rel="next"')]
        with pytest.raises(ForgeError, match="another host"):
            hub.pull_of("octo/hello", "topic", "a" * 40)
    assert other.heard == []


def test_of_many_pull_requests_only_that_with_the_very_head_is_meant():
    def entry(number: int, repository: str | None, ref: str = "topic", sha: str = "a" * 40) -> dict[str, object]:
        return {"number": number, "head": {"ref": ref, "sha": sha, "repo": repository and {"full_name": repository}}}

    others = [
        entry(9, "mallory/hello"),
        entry(8, None),
        entry(7, "octo/hello", ref="other"),
        entry(6, "octo/hello", sha="b" * 40),
    ]
    with listening(say([*others, entry(3, "Octo/Hello"), entry(4, "octo/hello")])) as server, opened(server.url) as hub:
        assert hub.pull_of("octo/hello", "topic", "a" * 40) == 4
        server.answers = [say(others)]
        assert hub.pull_of("octo/hello", "topic", "a" * 40) == 8, "its fork was deleted since: branch and commit are told still"
        server.answers = [say([one for one in others if one["number"] != 8])]
        assert hub.pull_of("octo/hello", "topic", "a" * 40) is None
    assert server.asked()[0] == "GET /repos/octo/hello/pulls?head=octo%3Atopic&per_page=100&state=open"


def graphql(*errors: dict[str, object], data: object = None) -> Say:
    return say({"data": data, "errors": list(errors)})


RESOLVED = say({"data": {"resolveReviewThread": {"thread": {"isResolved": True}}}})


def test_g20_a_branch_that_moved_is_stale():
    told = {
        "type": "STALE_DATA",
        "path": ["resolveReviewThread"],
        "message": 'Expected branch to point to "aaa" but it did not.  Pull and try again.',
    }
    failing(graphql(told, data={"resolveReviewThread": None}), ResolveThread("T"), kind=StaleError)


def test_g21_a_ref_that_moved_is_stale():
    failing(say({"message": "Update is not a fast forward"}, 422), EditComment(1, "x"), kind=StaleError)


@pytest.mark.parametrize(
    ("type_", "kind"),
    [("FORBIDDEN", NotPermittedError), ("NOT_FOUND", GoneError), ("INSUFFICIENT_SCOPES", NotPermittedError), ("UNPROCESSABLE", InvalidError),
     ("SOMETHING_NEW", ForgeError)],
)  # fmt: skip
def test_a_mutation_that_graphql_refuses_says_why(type_: str, kind: type[ForgeError]):
    told = {"type": type_, "path": ["resolveReviewThread"], "message": "Resource not accessible by integration"}
    failing(graphql(told, data={"resolveReviewThread": None}), ResolveThread("T"), kind=kind)


def test_g23_a_limit_in_the_body_of_graphql_is_waited_for():
    time = Time()
    body = {"errors": [{"type": "RATE_LIMITED", "message": "API rate limit exceeded for installation ID 1."}]}
    limit = say(body, x_ratelimit_remaining="0", x_ratelimit_reset=str(EPOCH + 9))
    with listening(limit, RESOLVED) as server, opened(server.url, time=time) as hub:
        hub.do(ResolveThread("T"))
    assert time.slept == [10.0]
    assert len(server.heard) == 2


def test_g23_a_mutation_during_which_something_went_wrong_is_unsure():
    told = {"message": "Something went wrong while executing your query. Please include `0000` when reporting this issue."}
    failing(graphql(told), MinimizeComment("C"), kind=UnsureError)
    failing(graphql(told, data={"minimizeComment": None}), MinimizeComment("C"), kind=UnsureError)


def test_g23_no_data_and_no_error_is_a_failure():
    failing(say({"data": None}), MinimizeComment("C"), kind=ForgeError)


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ({"permission": "admin", "role_name": "admin"}, Permission.ADMIN),
        ({"permission": "write", "role_name": "maintain"}, Permission.MAINTAIN),
        ({"permission": "write", "role_name": "write"}, Permission.WRITE),
        ({"permission": "read", "role_name": "triage"}, Permission.TRIAGE),
        ({"permission": "read", "role_name": "read"}, Permission.READ),
        ({"permission": "none", "role_name": "none"}, Permission.NONE),
        ({"permission": "write", "role_name": "release-captain"}, Permission.WRITE),
        ({"permission": "read", "role_name": "admin"}, Permission.TRIAGE),
        ({"permission": "write"}, Permission.WRITE),
        ({"permission": "root", "role_name": "owner"}, Permission.NONE),
        ({"permission": None}, Permission.NONE),
        ([], Permission.NONE),
    ],
)
def test_g29_a_permission_is_read_from_both_words(told: object, expected: Permission):
    with listening(say(told)) as server, opened(server.url) as hub:
        assert hub.permission("octo/../x[bot]") is expected
    assert server.asked() == ["GET /repos/octo/hello/collaborators/octo%2F..%2Fx%5Bbot%5D/permission"]


@pytest.mark.parametrize("answer", [say({"message": "octocat is not a user"}, 404), say({"message": "Must have push access"}, 403),
                                    say(NO_SERVER, 503), SILENCE, Say(200, b"}")])  # fmt: skip
def test_g29_an_unsure_permission_is_none(answer: Say):
    with listening(answer) as server, opened(server.url) as hub:
        assert hub.permission("octocat") is Permission.NONE


def test_an_answer_without_end_is_not_read_to_its_end():
    endless = Say(200, b"x" * 25_000_000)
    with listening(endless) as server, opened(server.url) as hub, pytest.raises(ForgeError, match="larger than 24 MB"):
        hub.diff(7, 1)
    assert len(server.heard) == 1


def test_an_answer_that_drips_is_not_waited_for():
    class Hasty(Time):
        """Every look at the clock takes a minute."""

        def seconds(self) -> float:
            self.now += 60.0
            return self.now

    with (
        listening(Say(200, b"x" * 1_000_000)) as server,
        opened(server.url, time=Hasty(), patience=1e6) as hub,
        pytest.raises(ForgeError, match="not whole after 120 s"),
    ):
        hub.diff(7, 1)


def test_a_connection_is_kept_but_not_for_long():
    time = Time()
    with listening(MADE) as server, opened(server.url, time=time) as hub:
        for pause in (0, 5, 600):
            time.now += pause
            hub.do(COMMENT)
    first, second, third = (heard.port for heard in server.heard)
    assert first == second != third


def test_a_signed_address_is_fetched_without_the_token_and_no_further():
    listed = say({"artifacts": [{"id": 9, "name": "evidence", "expired": False}]})
    for answer in (say({}, 302, location="https://example.com/"), say({}, 404), Say(200, b"x" * 40_000_000)):
        with listening(answer) as other, listening(listed) as server, opened(server.url) as hub:
            server.answers = [listed, say({}, 302, location=f"{other.url}/blob?sig=abc")]
            with pytest.raises(ForgeError):
                hub.artifact(1, "evidence")
            assert other.asked() == ["GET /blob?sig=abc"]
            assert "authorization" not in other.heard[0].headers


@pytest.mark.parametrize("location", ["http://example.com/x", "file:///etc/passwd", "", "https://user:pass@x/", "http://[::1"])
def test_an_address_in_clear_text_is_never_fetched(location: str):
    listed = say({"artifacts": [{"id": 9, "name": "evidence", "expired": False}]})
    with (
        listening(listed, say({}, 302, location=location)) as server,
        opened(server.url) as hub,
        pytest.raises(ForgeError, match="not asked for anything"),
    ):
        hub.artifact(1, "evidence")


def test_a_compressed_answer_is_not_unpacked():
    with listening(Say(200, b"\x1f\x8b", {"content-encoding": "gzip"})) as server, opened(server.url) as hub:
        with pytest.raises(ForgeError, match="compressed"):
            hub.diff(7, 1)
        assert server.heard[0].headers["accept-encoding"] == "identity"


def test_an_answer_in_chunks_is_read_whole():
    body = b"5\r\ndiff \r\n4\r\n--gi\r\n0\r\n\r\n"
    with listening(Say(200, body, {"transfer-encoding": "chunked"}, media="text/plain")) as server, opened(server.url) as hub:
        assert hub.diff(7, 0).diff.patch == b"diff --gi"


def test_a_202_is_not_waited_for():
    time = Time()
    with listening(say([], 202)) as server, opened(server.url, time=time) as hub:
        assert hub.pull_of("octo/hello", "topic", "a" * 40) is None
    assert len(server.heard) == 2  # two questions, each asked once


def chain(error: BaseException | None) -> list[str]:
    """All that a traceback of an error may show: words, arguments, causes and contexts."""
    words = []
    while error is not None:
        words += [str(error), repr(error), json.dumps([str(arg) for arg in error.args])]
        error = error.__cause__ or error.__context__
    return words


ANSWERS = [
    say({"message": f"no {SECRET}"}, 401), say({"message": f"no {SECRET}", "errors": [SECRET]}, 422), say({"message": SECRET}, 403),
    Say(500, SECRET.encode(), media="text/html"), SILENCE, Say(201, SECRET.encode()), say({}, 301, location=f"http://{SECRET}/"),
    Say(200, b"x" * 100, cut=3), say({"data": None, "errors": [{"message": SECRET}]}),
]  # fmt: skip


@pytest.mark.parametrize("answer", ANSWERS)
@pytest.mark.parametrize("action", [COMMENT, ResolveThread("T")])
def test_no_error_holds_the_token(answer: Say, action: object, caplog: pytest.LogCaptureFixture):
    caplog.set_level("DEBUG")
    with listening(answer) as server, opened(server.url) as hub, pytest.raises(ForgeError) as failed:
        hub.do(action)  # type: ignore[arg-type]
    assert server.heard[0].headers["authorization"] == f"Bearer {SECRET}"
    assert not [words for words in chain(failed.value) if SECRET in words]
    # What GitHub itself echoes may be in a body, but our own header is never logged.
    assert f"Bearer {SECRET}" not in caplog.text


def test_a_token_of_an_unknown_form_is_not_said_back():
    secret = "correct-horse-battery-staple"
    with (
        listening(say({"message": f"no {secret}"}, 401)) as server,
        opened(server.url, credential=Token(secret)) as hub,
        pytest.raises(NotAuthorizedError) as failed,
    ):
        hub.do(COMMENT)
    assert "no [token]" in str(failed.value)


def test_a_netrc_of_the_user_is_never_sent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Asked of what would be sent: https to another host is not reached from a test, and on this machine nobody looks for one."""
    netrc = tmp_path / "netrc"
    netrc.write_text("machine api.github.com login someone password secret\n", encoding="utf-8")
    netrc.chmod(0o600)
    monkeypatch.setenv("NETRC", str(netrc))
    connection = wire._Connection(Origin("https", "api.github.com", 443), Time())
    asked = requests.Request("GET", "https://api.github.com/user", headers={"Authorization": f"Bearer {SECRET}"})
    assert connection._session.prepare_request(asked).headers["Authorization"] == f"Bearer {SECRET}"
    connection.close()


def test_no_proxy_of_the_environment_is_asked_for_this_machine(monkeypatch: pytest.MonkeyPatch):
    with listening(MADE) as other, listening(MADE) as server:
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, other.url)
        for name in ("no_proxy", "NO_PROXY"):
            monkeypatch.delenv(name, raising=False)
        with opened(server.url) as hub:
            hub.do(COMMENT)
    assert (len(server.heard), other.heard) == (1, [])
