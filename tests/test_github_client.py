"""Calls of GitHub: what is sent again, what an answer means, what is read, what starts a run."""

from __future__ import annotations

import copy
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from each import each
from github import Auth
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Struct, convert, to_builtins

from reviewbot.errors import UsageError
from reviewbot.github import client as module
from reviewbot.github.client import Client, GitHubError
from reviewbot.github.job import Event, read_event
from reviewbot.github.pulls import Author, may_write, read_comments, read_snapshot
from reviewbot.github.steps import read_artifact
from reviewbot.text.hidden import find_hidden
from tests.fake_github import GitHub, Pull, Repository, faults

SECRET = "ghs_" + "canaryCANARY0123456789canaryCANARY01"
DATE, EPOCH = "Sat, 21 Nov 2026 12:00:00 GMT", 1_795_262_400
SECONDARY, PRIMARY = (
    {"message": faults.SECONDARY_LIMIT},
    {"message": "API rate limit exceeded for installation ID 1."},
)
NO_ACCESS = {"message": "Resource not accessible by integration"}
WENT_WRONG = {"message": "Something went wrong while executing your query."}
HTML = {"content-type": "text/html; charset=utf-8"}
USED_UP = {"x-ratelimit-remaining": "0"}
LINE = "Pull request review thread line must be part of the diff"
LONG = "Body is too long (maximum is 65536 characters)"


class Said(Struct, frozen=True):
    """What the server says: JSON, or bytes as they are, of which at most `sent` are sent."""

    status: int = 200
    body: Any = {}
    headers: dict[str, str] = {}
    sent: int | None = None


DROPPED, DONE = Said(0), Said(201, {"id": 5})
UNICORN = Said(503, b"<!DOCTYPE html>\n<title>Unicorn! &middot; GitHub</title>", HTML)


class Script(ThreadingHTTPServer):
    """A server that says one thing after another, the last of them again and again."""

    daemon_threads = True

    def __init__(self, *said: Said) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.said, self.url = list(said), f"http://127.0.0.1:{self.server_address[1]}"
        self.heard: list[tuple[str, str, Any, dict[str, str]]] = []


class Handler(BaseHTTPRequestHandler):
    server: Script
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1

    def answer(self) -> None:
        content = self.rfile.read(int(self.headers.get("content-length") or 0))
        heard = {name.lower(): value for name, value in self.headers.items()}
        self.server.heard.append((self.command, self.path, json.loads(content or "null"), heard))
        queue = self.server.said
        said = queue.pop(0) if len(queue) > 1 else queue[0]
        self.close_connection = said.status == 0 or said.sent is not None
        if said.status == 0:
            return
        text = said.body if isinstance(said.body, bytes) else json.dumps(said.body).encode()
        own = {"date": DATE, "content-type": "application/json", "content-length": str(len(text))}
        self.send_response_only(said.status)
        for name, value in (own | said.headers).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(text[: said.sent])

    do_GET = do_POST = do_DELETE = answer

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def scripted(
    *said: Said, token: str = SECRET, url: str = "", **options: Any
) -> Iterator[tuple[Client, Script, list[float]]]:
    """A client of a scripted server, and the seconds that it has waited."""
    script, waited = Script(*said), list[float]()
    threading.Thread(target=script.serve_forever, args=(0.01,), daemon=True).start()
    options |= {"api_url": url or script.url, "sleep": waited.append}
    client = Client(Auth.Token(token), "octo/app", **options)
    yield client, script, waited
    client.close()
    script.shutdown()
    script.server_close()


def comment(client: Client) -> Any:
    return client.write("POST", "/issues/7/comments", "do it", {"body": "hello"})


def resolve(client: Client) -> Any:
    return client.mutate("resolveReviewThread", {"threadId": "T"}, "do it")


def compare(client: Client) -> Any:
    return client.read("/compare/a...b", "compare", per_page="1", page="2")


def ask(client: Client) -> Any:
    return client.query("query { viewer { login } }", {}, "ask who it is")


Call = Callable[[Client], Any]


def refused(said: Said, call: Call = comment, **options: Any) -> tuple[str, int, list[float], str]:
    """Kind of the error, how many requests it took, what was waited, and its sentence."""
    with scripted(said, **options) as (client, script, waited):
        with pytest.raises(GitHubError) as caught:
            call(client)
        sentence = str(caught.value)
        assert SECRET not in sentence
        assert [*find_hidden(sentence)] == [] == sentence.splitlines()[1:]
        assert len(sentence) < 400
        return caught.value.kind, len(script.heard), waited, sentence


def graphql(*errors: Any, data: Any = None) -> Said:
    return Said(200, {"data": data, "errors": list(errors)})


def unprocessable(words: str, **entry: str) -> Said:
    errors = [{"message": words, **entry}] if entry else [words]
    return Said(422, {"message": "Unprocessable Entity", "errors": errors, "status": "422"})


NULL, HALF = {"resolveReviewThread": None}, {"resolveReviewThread": {"thread": None}}
REFUSALS: list[tuple[str, Said, str, str]] = [
    ("G4", unprocessable(LINE), "invalid", f"422 Unprocessable Entity: {LINE}"),
    ("G8", unprocessable("end_commit_oid is not part of the pull request"), "stale", "commit_oid"),
    ("G8", Said(422, {"message": f"No commit found for SHA: {'a' * 40}"}), "stale", "No commit"),
    ("G9", unprocessable(LONG, code="unprocessable", field="data"), "invalid", LONG),
    ("422", unprocessable("", code="missing_field"), "invalid", "Entity: missing_field"),
    ("422", Said(422, {"message": "Failed", "errors": "why"}), "invalid", "422 Failed: why"),
    ("G10", Said(422, {"message": "Bad.\n\nOnly 65535"}), "invalid", "422 Bad. Only 65535"),
    ("G14", Said(403, NO_ACCESS, USED_UP), "not_permitted", "403"),
    ("G15", Said(403, {"message": "The issue is locked."}, USED_UP), "gone", "is locked"),
    ("G15", unprocessable("lock prevents review"), "gone", "lock prevents"),
    ("G15", Said(403, {"message": "It was archived so is read-only."}), "gone", "read-only"),
    ("G16", Said(404, {"message": "Not Found"}), "gone", "404 Not Found"),
    ("G17", Said(401, {"message": f"Bad credentials {SECRET}"}), "not_authorized", "«secret:"),
    ("G21", Said(409, {"message": "Update is not a fast forward"}), "stale", "fast forward"),
    ("413", Said(413, b"<html>", HTML), "invalid", "413 text/html"),
    ("400", Said(400, {"message": "a\x1b[1mb\u202e" + "x" * 900}), "failed", "400 ab⟨U+202E⟩x"),
    ("graphql", graphql({"type": "FORBIDDEN", **NO_ACCESS}, data=NULL), "not_permitted", "access"),
    ("graphql", graphql({"type": "INSUFFICIENT_SCOPES"}), "not_permitted", ""),
    ("graphql", graphql({"type": "NOT_FOUND", "message": "none"}), "gone", "none"),
    ("graphql", graphql({"type": "UNPROCESSABLE"}), "invalid", ""),
    ("graphql", graphql({"type": "NEW", "message": "no"}, {"message": "why"}), "failed", "no; why"),
    ("graphql G20", graphql({"type": "STALE_DATA"}, data=NULL), "stale", ""),
    ("graphql G20", graphql({"message": 'Expected branch to point to "a"'}), "stale", "branch"),
    ("graphql G23", graphql(WENT_WRONG), "unsure", "Something went wrong"),
    ("graphql G23", graphql({"message": "half"}, data=HALF), "unsure", "half"),
    ("graphql G23", Said(200, {"data": None}), "unsure", "200"),
    ("graphql G23", Said(200, []), "unsure", "200"),
]


@each(("row", "said", "kind", "words"), REFUSALS)
def test_a_refusal_is_said_and_nothing_sent_again(
    row: str, said: Said, kind: str, words: str
) -> None:
    found, count, waited, sentence = refused(said, resolve if "graphql" in row else comment)
    assert (found, count, waited) == (kind, 1, [])
    assert sentence.startswith("GitHub was asked to do it and answered ")
    assert words in sentence


RESET = {**USED_UP, "x-ratelimit-reset": str(EPOCH + 41)}
ODD = ("nan", "inf", "-5", "1e999", "9" * 30, DATE, " ")
WAITS: list[tuple[Said, float]] = [
    (Said(403, SECONDARY, {"retry-after": "7"}), 7),
    (Said(429, SECONDARY, {"retry-after": "7"}), 7),
    (Said(403, SECONDARY), 60),
    (Said(429, b"<html>", HTML), 60),
    (Said(403, {"message": "no"}, {"retry-after": "0"}), 0),
    (Said(403, PRIMARY, RESET), 42),
    (Said(429, PRIMARY, RESET), 42),
    (Said(403, {}, {**USED_UP, "x-ratelimit-reset": "7"}), 1),
    (Said(200, {"errors": [{"type": "RATE_LIMITED"}]}, RESET), 42),
    (Said(200, {"errors": [{"type": "RATE_LIMIT", "message": "no"}]}, RESET), 42),
    (graphql({"message": "API rate limit already exceeded for user ID 1."}), 60),
    (graphql(SECONDARY), 60),
    *((Said(403, SECONDARY, {"x-ratelimit-reset": odd, **USED_UP}), 60) for odd in ODD[:1]),
    *((Said(403, SECONDARY, {"retry-after": odd, **USED_UP}), 60) for odd in ODD),
]


def test_a_rate_limit_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """G12, G13, G23: for what writes as well, since nothing was done."""
    monkeypatch.setattr("time.time", lambda: EPOCH)
    done = Said(200, {"data": {"resolveReviewThread": {"thread": {}}}})
    for call, (said, seconds) in ((call, row) for row in WAITS for call in (comment, resolve, ask)):
        is_rest = call is comment
        if said.status == 200 and is_rest:
            continue
        with scripted(said, DONE if is_rest else done) as (client, script, waited):
            assert call(client)
        assert waited == [seconds], said
        assert script.heard[0] == script.heard[1]


def test_rate_limits_are_waited_for_within_a_budget_of_all_calls() -> None:
    limit = Said(403, SECONDARY, {"retry-after": "50"})
    assert refused(Said(403, SECONDARY))[:3] == ("deferred", 3, [60, 120])
    assert "rate limit holds for 301 s more" in refused(Said(429, {}, {"retry-after": "301"}))[3]
    assert refused(Said(429, {}, {"retry-after": "0"}))[:3] == ("deferred", 4, [0, 0, 0])
    with scripted(limit, DONE, limit, DONE, limit, patience=120) as (client, _, waited):
        assert comment(client) == comment(client)
        with pytest.raises(GitHubError, match="50 s more"):
            comment(client)
    assert waited == [50, 50]


TROUBLE = {
    "500": Said(500, {"message": "Server Error"}),
    "408": Said(408),
    "unicorn": UNICORN,
    "portal": Said(200, b"<html>Sign in</html>", HTML),
    "empty": Said(200, b""),
    "dropped": DROPPED,
    "cut": Said(200, {"id": 5}, sent=4),
    "not UTF-8": Said(200, b'"\xff"'),
    "deep": Said(200, b"[" * 100_000),
}


def test_what_reads_is_sent_again_after_trouble_and_what_writes_never() -> None:
    """G18."""
    for what, said in TROUBLE.items():
        with scripted(said, said, DONE) as (client, script, waited):
            assert compare(client) == {"id": 5}, what
        path = "/repos/octo/app/compare/a...b?per_page=1&page=2"
        assert [heard[:2] for heard in script.heard] == [("GET", path)] * 3
        assert 0.5 < waited[0] < 1 < waited[1] < 2
        assert refused(said)[:2] == refused(said, resolve)[:2] == ("unsure", 1)
    assert refused(said, compare)[:2] == ("failed", 4)
    for silent in (Said(200, {"data": None}), graphql(WENT_WRONG, data={"x": None})):
        with scripted(said, silent, Said(200, {"data": {"x": 1}})) as (client, script, _):
            assert (ask(client), len(script.heard)) == (({"x": 1}, ()), 3)
        assert refused(silent, ask)[:2] == ("failed", 4)


def test_an_answer_that_comes_too_late_is_none(
    github: GitHub, pull: Pull, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = Client(Auth.Token(github.token()), "octo/app", api_url=github.api_url)
    monkeypatch.setattr(module, "SECONDS", 0.05)
    github.faults.append(faults.slow("issues/create-comment", delay=0.2))
    with pytest.raises(GitHubError, match=r"nothing whole \(ReadTimeout\)") as caught:
        client.write("POST", f"/issues/{pull.number}/comments", "post it", {"body": "x"})
    assert caught.value.kind == "unsure"
    client.close()


def test_a_write_that_never_left_is_tried_again_and_surely_not_done() -> None:
    kind, _, waited, sentence = refused(DONE, url="http://127.0.0.1:1")
    assert (kind, len(waited), "ConnectionError" in sentence) == ("failed", 3, True)


@each("token", ["a\nb", f"{SECRET}\r\nX-Evil: 1", "\u20ac"])
def test_a_token_that_no_header_can_hold_is_not_sent(token: str) -> None:
    kind, count, _, sentence = refused(DONE, token=token)
    assert (kind, count) == ("not_authorized", 0)
    assert sentence == "GitHub cannot be asked to do it: the token or the key is malformed"


def test_a_redirect_is_followed_on_the_same_host_only() -> None:
    """G22. A write is repeated with its body; an endless redirect is left."""
    with scripted(DONE) as (client, script, waited), scripted(DONE) as (_, other, _):
        location = {"location": f"{script.url}/repositories/1/x?page=2"}
        for status in (301, 302, 307, 308):
            script.heard.clear()
            for call in (compare, comment):
                script.said = [Said(status, {}, location), DONE]
                assert call(client) == {"id": 5}
            followed = [(verb, path) for verb, path, *_ in script.heard[1::2]]
            assert followed == [(verb, "/repositories/1/x?page=2") for verb in ("GET", "POST")]
            assert script.heard[3][2] == {"body": "hello"}
        script.said = [Said(307, {}, location)]
        with pytest.raises(GitHubError, match="one redirect after another"):
            compare(client)
        assert (len(script.heard), waited) == (8, [])
        for place in (other.url, other.url.replace("127.0.0.1", "localhost"), "http://[::1", ""):
            assert refused(Said(302, {}, {"location": f"{place}/x"}), compare)[0] == "failed"
        assert other.heard == []


def test_requests_say_who_sends_them_and_where_an_artifact_lies_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login me password other\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    away = Said(302, b"", {"location": "https://blobs.example.org/x?sig=1"})
    with scripted(away, Said(204, b"")) as (client, script, _):
        assert client.location("/actions/artifacts/1/zip", "find it") == away.headers["location"]
        assert client.write("DELETE", "/issues/comments/5", "delete a comment") is None
    headers = script.heard[1][3]
    assert headers["authorization"] == f"token {SECRET}"
    assert headers["x-github-api-version"] == "2022-11-28"
    assert headers["user-agent"].startswith("reviewbot/")


def test_an_artifact_that_arrives_in_part_is_none() -> None:
    with scripted(Said(200, b"x" * 100, sent=4)) as (_, host, _):
        found = Said(200, {"artifacts": [{"id": 1, "expired": False}]})
        with scripted(found, Said(302, b"", {"location": host.url})) as (client, _, _):
            assert read_artifact(client, 7) is None
        assert len(host.heard) == 1


def test_an_artifact_of_another_shape_is_none() -> None:
    for found in ([5], {"artifacts": 5}, {"artifacts": [5]}, {"artifacts": [{}]}):
        with scripted(Said(200, found)) as (client, _, _):
            assert read_artifact(client, 7) is None, found


def as_client(github: GitHub, auth: Auth.Auth, name: str = "octo/app") -> Client:
    return Client(auth, name, api_url=github.api_url, sleep=lambda _: None)


def test_an_app_gets_its_token_and_says_why_it_gets_none(github: GitHub, pull: Pull) -> None:
    """G17 for apps."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    form, pem = serialization.PrivateFormat.PKCS8, serialization.Encoding.PEM
    private = key.private_bytes(pem, form, serialization.NoEncryption()).decode()
    public = key.public_key().public_bytes(pem, serialization.PublicFormat.SubjectPublicKeyInfo)
    app = github.app("reviewbot-app", id=77, key=public.decode())
    github.faults.append(faults.server_error("apps/create-installation-access-token"))
    for id, text, installation, expected in (
        ("77", private, app.installation_id, "reviewbot-app[bot]"),
        ("77", private, 1, "gone"),
        ("78", private, app.installation_id, "not_authorized"),
        ("77", "no key", app.installation_id, "not_authorized"),
    ):
        auth = Auth.AppAuth(id, text).get_installation_auth(installation)
        client = as_client(github, auth)
        try:
            found = read_snapshot(client, pull.number).me
        except GitHubError as error:
            found = error.kind
        client.close()
        assert found == expected


BOT = {"type": "Bot", "login": "app"}
COMMENT = {
    **{"nodeId": "C", "id": "3400000001", "author": BOT, "isOwn": True},
    **{"isMinimized": False, "body": "b", "createdAt": DATE, "lastEditedAt": None, "url": "u"},
}
THREAD = {"nodeId": "T", "path": "a.py", "line": 3, "isResolved": False, "resolvedBy": None}
RUN = {"databaseId": None, "url": "https://github.com/o/a/runs/52000000001", "name": "tests"}
REVIEW = {"nodeId": "R", "isOwn": False, "state": "PENDING", "isMinimized": False}


def page(*nodes: Any) -> Any:
    return {"pageInfo": {"hasNextPage": False, "endCursor": None}, "nodes": list(nodes)}


RUNS = [{**RUN, "conclusion": "FAILURE"}, {**RUN, "databaseId": 5, "url": "u"}]
SUITES = page({"app": None, "checkRuns": {"nodes": RUNS}})
PULL = {
    **{"number": 7, "title": "t", "body": None, "state": "OPEN", "isDraft": False},
    **{"url": "u", "isLocked": True, "author": None, "headRepository": None},
    **{"baseRef": "main", "baseSha": "a", "headRef": "topic", "headSha": "b"},
    **{"labels": page({"name": "bug"}), "reviews": page(REVIEW)},
    "comments": page(COMMENT, {**COMMENT, "author": None}),
    "reviewThreads": page({**THREAD, "comments": {"nodes": [COMMENT]}}),
    "message": {"nodes": [{"commit": {"message": "m"}}]},
    "head": {"nodes": [{"commit": {"checkSuites": SUITES}}]},
}
WHOLE = {"repository": {"nameWithOwner": "octo/renamed", "pullRequest": PULL}}


def places(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The ways to all parts of a document."""
    inner = enumerate(value) if isinstance(value, list) else ()
    inner = value.items() if isinstance(value, dict) else inner
    return [at, *(way for key, part in inner for way in places(part, (*at, key)))]


def replaced(document: Any, way: tuple[Any, ...], value: Any) -> Any:
    if not way:
        return value
    made = copy.copy(document)
    made[way[0]] = replaced(made[way[0]], way[1:], value)
    return made


def test_accounts_ids_and_names_are_those_of_now_and_a_viewer_need_not_be() -> None:
    no_viewer = graphql({"type": "FORBIDDEN", "path": ["viewer"], **NO_ACCESS})
    with scripted(no_viewer, Said(200, {"data": WHOLE})) as (client, script, _):
        found = read_snapshot(client, 7)
    assert ["viewer {" in body["query"] for _, _, body, _ in script.heard] == [True, False]
    assert (found.repository, found.me, found.is_fork) == ("octo/renamed", "app[bot]", True)
    assert (found.pull.author, found.pull.head_repository, found.pull.is_locked) == (None, "", True)
    assert [c.author for c in found.comments] == [Author("app[bot]", "Bot"), None]
    assert (found.comments[0].id, found.comments[0].last_edited_at) == (3_400_000_001, "")
    ids = [(run.id, run.conclusion, run.title, run.app) for run in found.checks]
    assert ids == [(52_000_000_001, "failure", "", ""), (5, "", "", "")]
    assert not found.hides_own


THREAD_NODES = ("reviewThreads", "nodes", 0, "comments", "nodes")


@each(
    ("way", "value", "hides_own"),
    [
        (("head", "nodes", 0, "commit", "checkSuites"), None, False),
        (("labels",), None, False),
        (("author",), None, False),
        (("message", "nodes"), [None], False),
        (("reviews",), None, True),
        (("comments",), None, True),
        (("reviewThreads",), None, True),
        (("comments", "nodes"), [COMMENT, None], True),
        (("labels", "nodes"), [None], False),
        (THREAD_NODES, [COMMENT, None], True),
    ],
)
def test_it_is_known_whether_own_posts_cannot_be_read(
    way: Any, value: Any, hides_own: bool
) -> None:
    way = ("repository", "pullRequest", *way)
    error = {"message": "no", "type": "FORBIDDEN", "path": list(way)}
    with scripted(graphql(error, data=replaced(WHOLE, way, value))) as (client, _, _):
        assert read_snapshot(client, 7).hides_own == hides_own


def test_a_pull_request_is_read_in_one_call_and_a_long_list_in_one_more_for_each_page(
    github: GitHub, repository: Repository, pull: Pull
) -> None:
    repository.check(pull.head_sha, "tests", "failure")
    check = repository.check(pull.head_sha, "reviewbot", "failure")
    pull.comment("renovate[bot]", "hello")
    pull.reply(pull.thread("ann", "b.py", 2), "octocat", "because")
    client = as_client(github, Auth.Token(github.token()))

    found = read_snapshot(client, pull.number)

    assert github.calls() == 1
    assert (found.me, found.is_fork, found.hides_own) == ("github-actions[bot]", False, False)
    assert found.pull.head_sha == pull.head_sha
    (said,) = found.comments
    assert (said.author, said.id) == (Author("renovate[bot]", "Bot"), pull.comments[0].id)
    (thread,) = found.threads
    assert [c.author for c in thread.comments] == [Author("ann"), Author("octocat")]
    assert [(run.id, run.app) for run in found.checks] == [(check.id, "ci")]
    for number in range(210):
        pull.comment("github-actions[bot]", f"comment {number}")
    for _ in range(100):
        pull.thread("ann", "b.py", 1)
    pull.delete_head_repository()
    found = read_snapshot(client, pull.number)
    assert github.calls() == 1 + 1 + 2 + 1 + 1  # a thread has a review, so these have two pages
    assert [c.body for c in found.comments][1:] == [f"comment {number}" for number in range(210)]
    assert (len(found.threads), found.is_fork, found.hides_own) == (101, True, False)
    with pytest.raises(GitHubError, match="number of 4711") as caught:
        read_snapshot(client, 4711)
    assert caught.value.kind == "gone"
    client.close()


ROLES = {"admin": True, "write": True, "read": False, "none": False, "maintain": False, None: False}
UNSURE = [Said(404), Said(403, NO_ACCESS), Said(200, [])]


def test_whoever_is_not_known_to_write_may_not() -> None:
    """G29."""
    expected = [(Said(200, {"permission": role}), may) for role, may in ROLES.items()]
    for said, may in [*expected, *((said, False) for said in UNSURE)]:
        with scripted(said) as (client, script, _):
            assert may_write(client, "octo/../x[bot]") is may
        path = "/repos/octo/app/collaborators/octo%2F..%2Fx%5Bbot%5D/permission"
        assert script.heard[0][1] == path
    trouble = (UNICORN, DROPPED, Said(200, b"}"))
    for said in (*trouble, Said(401), Said(429, {}, {"retry-after": "999"})):
        refused(said, lambda client: may_write(client, "ann"))


WORDS = ("RATE_LIMITED", "FORBIDDEN", "something went wrong")
KEYS = ("data", "errors", "type", "message", "path", "viewer", "repository", "permission")
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.sampled_from(WORDS),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=5), inner, max_size=5)
    ),
    max_leaves=12,
)
NAMES = ("date", "retry-after", "x-ratelimit-remaining", "x-ratelimit-reset", "location")
VALUES = st.text(st.characters(codec="ascii", categories=["L", "N", "P"]), max_size=20)
CALLS: tuple[Call, ...] = (
    *(comment, resolve, compare, ask, lambda c: c.location("/x", "look")),
    *(lambda c: may_write(c, "ann"), lambda c: read_snapshot(c, 7), lambda c: read_comments(c, 7)),
)
ISSUES: list[Any] = [{"comments": None}, {"comments": {"nodes": 5}}, {"comments": {"nodes": [{}]}}]


def test_whatever_is_answered_is_a_value_or_one_error() -> None:
    @settings(max_examples=50, deadline=None)
    @given(
        body=JSON | st.binary(max_size=40),
        status=st.sampled_from((200, 200, 200, 201, 204, 302, 403, 422, 429, 500, 599)),
        headers=st.dictionaries(st.sampled_from(NAMES), VALUES | st.sampled_from(("0", DATE))),
        call=st.sampled_from(CALLS),
    )
    def check(body: Any, status: int, headers: dict[str, str], call: Call) -> None:
        script.said = [Said(status, body, headers, sent=10_000)]
        words = ""
        try:
            call(client)
        except GitHubError as error:
            words = str(error)
        assert [*find_hidden(words)] == []

    with scripted(DONE) as (client, script, _):
        check()


def test_comments_of_another_shape_are_one_error() -> None:
    for issue in (*ISSUES, [5]):
        said = Said(200, {"data": {"repository": {"issue": issue}}})
        kind, *_, sentence = refused(said, lambda client: read_comments(client, 7))
        assert kind == "failed"
        assert sentence.startswith("GitHub's answer has another shape: "), issue


def test_a_pull_request_with_anything_in_the_place_of_anything_is_read_or_one_error() -> None:
    @settings(max_examples=50, deadline=None)
    @given(way=st.sampled_from(places(WHOLE)), value=JSON)
    def check(way: tuple[Any, ...], value: Any) -> None:
        script.said = [Said(200, {"data": replaced(WHOLE, way, value)})]
        try:
            found = read_snapshot(client, 7)
        except GitHubError:
            return
        assert {type(each) for run in found.checks for each in (run.id, run.title)} <= {int, str}

    with scripted(DONE) as (client, script, _):
        check()


def events_of(github: GitHub, pull: Pull) -> list[tuple[str, Any]]:
    home, event = pull.repository, github.event
    pull.labels = ["bug"]
    inline = pull.thread("ann", "b.py", 2).comments[0]
    inputs = {"pull_request": " #12 ", "comment": "3400000001"}
    group = {"head_sha": "a" * 40, "base_sha": "b" * 40}
    return [
        ("pull_request", event("pull_request", pull=pull, action="labeled", label="wip")),
        ("issue_comment", event("issue_comment", comment=pull.comment("ann", "/debate"))),
        ("pull_request_review_comment", event("pull_request_review_comment", comment=inline)),
        ("workflow_run", event("workflow_run", run=home.run("collect", pull=pull))),
        ("workflow_dispatch", event("workflow_dispatch", repository=home, inputs=inputs)),
        ("schedule", event("schedule", repository=home)),
        ("push", {"ref": "refs/heads/main"} | event("schedule", repository=home)),
        ("merge_group", {"action": "checks_requested", "merge_group": group}),
    ]


def read(name: str, payload: Any) -> Event:
    return read_event(name, json.dumps(payload).encode())


def test_what_started_a_run_is_read(github: GitHub, pull: Pull) -> None:
    labeled, said, inline, run, order, night, push, group = (
        read(name, payload) for name, payload in events_of(github, pull)
    )
    sha = pull.head_sha
    assert (labeled.subject, labeled.action, labeled.label) == ("pull_request", "labeled", "wip")
    assert labeled.number == pull.number
    assert (labeled.head_sha, labeled.head_ref, labeled.base_sha) == (sha, "topic", "")
    assert (labeled.head_repository, labeled.default_branch) == ("octo/app", "main")
    assert labeled.sender == Author(pull.login)
    for event, is_inline, body in ((said, False, "/debate"), (inline, True, "Why?")):
        assert (event.subject, event.number) == ("comment", pull.number)
        assert (event.comment.is_inline, event.comment.body) == (is_inline, body)
        assert (event.comment.author, event.comment.id > 2**31) == (Author("ann"), True)
    assert (run.subject, run.run_event, run.conclusion) == (
        "finished_run",
        "pull_request",
        "success",
    )
    assert (run.head_sha, run.head_ref, run.head_repository) == (sha, "topic", "octo/app")
    assert (order.subject, order.number, order.asked_by) == ("dispatch", 12, 3_400_000_001)
    assert (night.subject, push.subject, group.subject) == ("audit", "nothing", "merge_group")
    assert (group.head_sha, group.base_sha) == ("a" * 40, "b" * 40)


def test_details_of_events_count() -> None:
    user = {"login": "x", "type": "Bot"}
    pull = {"number": 5, "head": {"sha": "HEAD", "repo": None}}
    gone = read("pull_request", {"pull_request": pull, "sender": user})
    assert (gone.sender, gone.head_sha, gone.head_repository) == (Author("x", "Bot"), "", "")
    assert read("push", {"action": 5, "sender": {"login": "y"}}).sender == Author("y")
    assert read("push", {"action": 5}).action == ""
    said = {"comment": {"id": 3, "body": "/debate", "user": None}, "issue": {"number": 5}}
    assert read("issue_comment", said).number == 0, "it is no pull request"
    assert (
        read("issue_comment", {**said, "issue": {**pull, "pull_request": {"url": ""}}}).number == 5
    )
    assert read("pull_request_target", {"pull_request": pull}).subject == "nothing"
    for inputs in (None, {}, {"pull_request": ""}, {"pull_request": None}):
        assert read("workflow_dispatch", {"inputs": inputs}).subject == "audit"
    assert read("workflow_dispatch", {"inputs": {"pull_request": 12}}).number == 12
    for number in ("twelve", "-1", "0", "1.5", "9" * 20, "²", -3, 0):
        with pytest.raises(UsageError, match="the input pull_request is"):
            read("workflow_dispatch", {"inputs": {"pull_request": number}})
    for name in ("issue", "comment"):
        with pytest.raises(UsageError, match="give the inputs issue and comment together"):
            read("workflow_dispatch", {"inputs": {name: "5"}})
    for payload in (b"", b"{", b'"\xff"', b"[" * 100_000):
        with pytest.raises(UsageError, match="GITHUB_EVENT_PATH holds no JSON"):
            read_event("push", payload)


def test_a_payload_with_anything_in_the_place_of_anything_is_read(
    github: GitHub, pull: Pull
) -> None:
    events = events_of(github, pull)
    ways = [(name, payload, way) for name, payload in events for way in places(payload)]

    @settings(max_examples=50, deadline=None)
    @given(st.sampled_from(ways), JSON)
    def check(place: tuple[str, Any, tuple[Any, ...]], value: Any) -> None:
        name, payload, way = place
        try:
            event = read(name, replaced(payload, way, value))
            assert convert(to_builtins(event), Event) == event  # all types are as they say
        except UsageError:
            assert name == "workflow_dispatch"

    check()
