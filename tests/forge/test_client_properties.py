"""Whatever GitHub, or something that stands between it and us, answers: a value, or one ForgeError."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviewbot.adapters.github import acts, artifact, changes, listed, permission, pulls, standing
from reviewbot.adapters.github.auth import GivenToken, Token
from reviewbot.adapters.github.exchange import Answer, Call
from reviewbot.adapters.github.session import Session, Waits
from reviewbot.changeset import patch as patches
from reviewbot.domain.action import (
    MinimizeComment,
    PostComment,
    PostReview,
    ResolveThread,
    ReviewEvent,
)
from reviewbot.domain.forge import (
    Permission,
    Standing,
)
from reviewbot.errors import ForgeError, UnsureError
from tests.forge.scripted import SECRET, Time
from tests.rings import examples

WORDS = ("data", "errors", "type", "message", "path", "viewer", "repository", "pullRequest", "nodes", "pageInfo", "id", "login")
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters(exclude_categories=()), max_size=8)
    | st.sampled_from(("RATE_LIMITED", "FORBIDDEN")),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(WORDS) | st.text(max_size=5), inner, max_size=5),
    max_leaves=12,
)
HEADERS = st.dictionaries(
    st.sampled_from(("link", "date", "retry-after", "x-ratelimit-remaining", "x-ratelimit-reset", "content-type", "location")),
    st.text(max_size=30) | st.sampled_from(("0", "9e9", "text/html", '<http://x/>; rel="next"', "Sat, 21 Nov 2026 12:00:00 GMT")),
)


class Echo:
    """A wire on which every request is given the same answer."""

    graphql_url = "https://api.github.com/graphql"

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.asked = 0

    def exchange(self, call: Call, bearer: str) -> Answer:
        del call, bearer
        self.asked += 1
        assert self.asked < 300
        return self.answer

    def fetch(self, url: str, most: int) -> bytes:
        return self.answer.body[:most]

    def close(self) -> None:
        pass


def session(answer: Answer) -> Session:
    time = Time()
    waits = Waits(300.0, clock=time, sleep=time.sleep, random=lambda: 0.5)
    return Session(Echo(answer), GivenToken(Token(SECRET)), waits)


def said(body: Any) -> Answer:
    return Answer(200, {"content-type": "application/json"}, json.dumps(body).encode())


AUTHOR = {"__typename": "Bot", "login": "github-actions", "databaseId": 5}
COMMENT = {"id": "IC_1", "fullDatabaseId": "3400000001", "author": AUTHOR, "viewerDidAuthor": True, "isMinimized": False, "body": "b",
           "createdAt": "2026-11-21T12:00:00Z", "url": "https://github.com/o/r/pull/1#1"}  # fmt: skip
DONE = {"hasNextPage": False, "endCursor": None}
THREAD = {"id": "T_1", "path": "a.py", "line": 3, "startLine": None, "diffSide": "RIGHT", "isResolved": False, "isOutdated": False,
          "comments": {"pageInfo": {"hasNextPage": False}, "nodes": [COMMENT]}}  # fmt: skip
CHECKS = [
    {"app": {"slug": "ci"}, "checkRuns": {"pageInfo": {"hasNextPage": False}, "nodes": [
        {"databaseId": None, "url": "https://github.com/o/r/runs/52000000001", "name": "tests", "conclusion": "FAILURE",
         "title": None, "externalId": ""}]}},
]  # fmt: skip
STATUSES = {"contexts": [{"context": "lint", "state": "EXPECTED", "description": None}]}


def listing(*nodes: Any) -> dict[str, Any]:
    return {"pageInfo": DONE, "nodes": list(nodes)}


WHOLE = {
    "data": {
        "viewer": {"login": "github-actions[bot]", "databaseId": 41_898_282},
        "repository": {
            "nameWithOwner": "octo/hello",
            "pullRequest": {
                "id": "PR_1", "number": 1, "title": "t", "body": "b", "state": "OPEN", "isDraft": False, "locked": False,
                "url": "https://github.com/octo/hello/pull/1", "changedFiles": 2, "author": None, "baseRefName": "main",
                "baseRefOid": "a" * 40, "headRefName": "topic", "headRefOid": "b" * 40, "headRepository": None,
                "labels": listing({"name": "bug"}), "comments": listing(COMMENT, None), "reviewThreads": listing(THREAD),
                "reviews": listing({"id": "R_1", "fullDatabaseId": "7", "viewerDidAuthor": False, "state": "COMMENTED", "body": ""}),
                "head": {"nodes": [{"commit": {"status": STATUSES, "checkSuites": listing(*CHECKS)}}]},
                "commits": listing({"commit": {"oid": "b" * 40, "message": "m", "author": {"name": "A", "user": None}}}),
                "closingIssuesReferences": listing({"number": 3, "title": "i", "body": ""}),
            },
        },
    }
}  # fmt: skip


def places(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The ways to all parts of a document."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [at, *(way for key, part in inner for way in places(part, (*at, key)))]


def replaced(document: Any, way: tuple[Any, ...], value: Any) -> Any:
    if not way:
        return value
    made = copy.deepcopy(document)
    holder = made
    for step in way[:-1]:
        holder = holder[step]
    holder[way[-1]] = value
    return made


def test_a_whole_answer_is_read():
    found = standing.standing(session(said(WHOLE)), "octo/hello", 1)
    assert found.pull.author is None
    assert found.pull.is_fork
    assert [(comment.id, comment.author and comment.author.login) for comment in found.comments] == [
        (3_400_000_001, "github-actions[bot]")
    ]
    assert [(check.name, check.conclusion, check.id) for check in found.checks] == [
        ("tests", "failure", 52_000_000_001),
        ("lint", None, 0),
    ]
    assert found.commits[0].author == "A"
    assert found.unread == ("some comments",)


def test_a_token_without_a_viewer_is_known_by_what_it_wrote():
    nobody = {
        "data": None,
        "errors": [{"type": "FORBIDDEN", "path": ["viewer"], "message": "Resource not accessible by integration"}],
    }

    class Shy(Echo):
        def exchange(self, call: Call, bearer: str) -> Answer:
            assert call.body is not None
            return said(nobody) if call.body["variables"]["me"] else said(replaced(WHOLE, ("data", "viewer"), None))

    time = Time()
    waits = Waits(1.0, clock=time, sleep=time.sleep, random=lambda: 0.5)
    found = standing.standing(Session(Shy(said({})), GivenToken(Token(SECRET)), waits), "octo/hello", 1)
    assert found.me.login == "github-actions[bot]"
    assert "who we are" in found.unread


@pytest.mark.parametrize(
    ("part", "words"),
    [
        (("head", "nodes", 0, "commit", "checkSuites"), "checks of the head: no"),
        (("head", "nodes", 0, "commit", "status"), "commit statuses of the head: no"),
        (("head",), "checks of the head: no"),
        (("closingIssuesReferences",), "linked issues: no"),
        (("reviews",), "reviews: no"),
        (("author",), "author: no"),
    ],
)
def test_a_part_that_may_not_be_read_is_named(part: tuple[Any, ...], words: str):
    way = ("data", "repository", "pullRequest", *part)
    document = replaced(WHOLE, way, None)
    document["errors"] = [{"type": "FORBIDDEN", "path": list(way[1:]), "message": "no"}]
    assert words in standing.standing(session(said(document)), "octo/hello", 1).unread


def test_a_thread_of_which_a_comment_is_hidden_is_cut():
    way = ("data", "repository", "pullRequest", "reviewThreads", "nodes", 0, "comments", "nodes")
    (thread,) = standing.standing(session(said(replaced(WHOLE, way, [COMMENT, None]))), "octo/hello", 1).threads
    assert (len(thread.comments), thread.is_cut, thread.is_answered) == (1, True, True)


def test_a_comment_that_nothing_could_store_stops_no_review():
    way = ("data", "repository", "pullRequest", "comments", "nodes", 0, "body")
    (comment,) = standing.standing(session(said(replaced(WHOLE, way, "a\0b\ud83dc"))), "octo/hello", 1).comments
    assert comment.body == "a\ufffdb\ufffdc"


def test_pages_that_never_end_are_left_and_that_is_said():
    endless = {"hasNextPage": True, "endCursor": "x"}
    document = replaced(WHOLE, ("data", "repository", "pullRequest", "comments", "pageInfo"), endless)
    assert "comments beyond 100 further pages" in standing.standing(session(said(document)), "octo/hello", 1).unread


@settings(max_examples=examples(400))
@given(way=st.sampled_from(places(WHOLE)), value=JSON)
def test_an_answer_with_anything_in_the_place_of_anything_is_read_or_is_one_error(way: tuple[Any, ...], value: Any):
    try:
        found = standing.standing(session(said(replaced(WHOLE, way, value))), "octo/hello", 1)
    except ForgeError:
        return
    assert isinstance(found, Standing)
    assert "\\x00" not in repr(found)
    for text in (found.pull.title, found.pull.head_ref, *found.unread, *(comment.body for comment in found.comments)):
        text.encode("utf-8")


@settings(max_examples=examples(300))
@given(body=JSON, headers=HEADERS, status=st.sampled_from((200, 200, 200, 403, 422, 500)))
def test_any_json_is_read_or_is_one_error(body: Any, headers: dict[str, str], status: int):
    every_reader_answers_or_fails(Answer(status, headers, json.dumps(body).encode()))


@settings(max_examples=examples(300))
@given(
    body=st.binary(max_size=60) | st.just(b"[" * 100_000) | st.just(b"1" * 5000), status=st.integers(100, 599), headers=HEADERS
)
def test_any_bytes_are_read_or_are_one_error(body: bytes, status: int, headers: dict[str, str]):
    every_reader_answers_or_fails(Answer(status, headers, body))


def every_reader_answers_or_fails(answer: Answer) -> None:
    readers = (
        lambda: standing.standing(session(answer), "octo/hello", 1),
        lambda: pulls.pull_of(session(answer), "octo/hello", ("octo/hello", "topic", "a" * 40)),
        lambda: changes.diff(session(answer), "octo/hello", 1, changed_files=3),
        lambda: artifact.files(session(answer), "octo/hello", 7, name="evidence"),
        lambda: acts.do(session(answer), "octo/hello", PostComment(1, "x")),
        lambda: acts.do(session(answer), "octo/hello", PostReview(1, "a" * 40, ReviewEvent.COMMENT, "x")),
        lambda: acts.do(session(answer), "octo/hello", ResolveThread("T")),
        lambda: acts.do(session(answer), "octo/hello", MinimizeComment("C")),
    )
    for reader in readers:
        words = "nothing"
        try:
            reader()
        except ForgeError as exc:
            words = str(exc)
        assert words.isprintable()
        assert len(words) < 700
    assert permission.permission(session(answer), "octo/hello", "x") in Permission if answer.status != 401 else True


@settings(max_examples=examples(200))
@given(status=st.integers(500, 599), body=st.binary(max_size=30))
def test_a_write_that_fails_on_github_s_side_is_always_unsure_and_sent_once(status: int, body: bytes):
    echo = Echo(Answer(status, {}, body))
    time = Time()
    waits = Waits(300.0, clock=time, sleep=time.sleep, random=lambda: 0.5)
    with pytest.raises(UnsureError):
        acts.do(Session(echo, GivenToken(Token(SECRET)), waits), "octo/hello", PostComment(1, "x"))
    assert echo.asked == 1


NAMES = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0/"), min_size=1, max_size=12).filter(
    lambda n: n not in (".", "..")
)
PATHS = st.lists(NAMES, min_size=1, max_size=3).map("/".join)


@settings(max_examples=examples(400))
@given(
    name=PATHS, old=PATHS, status=st.sampled_from(("added", "removed", "modified", "renamed", "copied")), has_patch=st.booleans()
)
def test_a_listed_file_is_a_section_that_names_it(name: str, old: str, status: str, has_patch: bool):
    counts = {"added": "@@ -0,0 +1 @@\n+x", "removed": "@@ -1 +0,0 @@\n-x"}
    patch = counts.get(status, "@@ -1 +1 @@\n-x\n+y")
    node = {"filename": name, "previous_filename": old, "status": status, "sha": "0" * 40, "additions": int("+x" in patch or "+y" in patch),
            "deletions": int("-x" in patch)} | ({"patch": patch} if has_patch else {})  # fmt: skip
    file = listed.file(node)
    (section,) = patches.sections(file.section)
    assert section.path == name
    assert section.old_path == (old if status in ("renamed", "copied") else None)
    assert len(section.hunks) == has_patch
    assert bool(file.left_out) is not has_patch


@given(st.text(max_size=200))
def test_any_link_header_names_a_page_or_none(text: str):
    assert Answer(200, {"link": text}).next_page is None or "<" in text


@pytest.mark.parametrize(
    ("text", "page"),
    [
        ('<https://x/?page=2>; rel="next", <https://x/?page=9>; rel="last"', "https://x/?page=2"),
        ('<https://x/?page=1>; rel="prev", <https://x/?page=3>; rel="next"', "https://x/?page=3"),
        ('<https://x/?a=1,2&page=2>; rel=next', "https://x/?a=1,2&page=2"),
        ('<https://x/>; rel="last"', None),
        ('<https://x/>; rel="nextish"', None),
        ("", None),
    ],
)  # fmt: skip
def test_the_next_page_is_the_one_that_is_called_so(text: str, page: str | None):
    assert Answer(200, {"link": text}).next_page == page
