"""Calls of GitHub: what is sent again, what an answer means, what is read, what starts a run."""

from __future__ import annotations

import copy
import gzip
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
from github import Auth
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Struct

from reviewbot.errors import UsageError
from reviewbot.github import client as module
from reviewbot.github import snapshot as snapshot_module
from reviewbot.github.client import Client, GitHubError
from reviewbot.github.event import Event, read_event
from reviewbot.github.snapshot import Author, Snapshot, may_write, read_snapshot
from tests.fake_github import GitHub, Pull, Repository, faults
from tests.github_job import BASE, FAULTY, REVIEWER, Jobs

SECRET = "ghs_" + "canaryCANARY0123456789canaryCANARY01"
DATE, EPOCH = "Sat, 21 Nov 2026 12:00:00 GMT", 1_795_262_400
SECONDARY = {"message": faults.SECONDARY_LIMIT}
PRIMARY = {"message": faults.PRIMARY_LIMIT}
NO_ACCESS = {"message": "Resource not accessible by integration"}
WENT_WRONG = {"message": faults.GRAPHQL_FAILURE}


class Said(Struct, frozen=True):
    """What the server says: JSON, or bytes as they are. `sent`: at most so many of them."""

    status: int = 200
    body: Any = {}
    headers: dict[str, str] = {}
    sent: int | None = None
    media: str = "application/json; charset=utf-8"


DROPPED = Said(0)
UNICORN = Said(503, faults.UNICORN.encode(), media="text/html; charset=utf-8")
DONE = Said(201, {"id": 5})


class Script:
    """A server that says one thing after another, the last of them again and again."""

    def __init__(self, *said: Said) -> None:
        self.said = list(said)
        self.heard: list[tuple[str, str, Any]] = []
        self.headers: list[dict[str, str]] = []
        script = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True
            wbufsize = -1

            def answer(self) -> None:
                content = self.rfile.read(int(self.headers.get("content-length") or 0))
                body = json.loads(content) if content else None
                script.heard.append((self.command, self.path, body))
                script.headers.append({k.lower(): v for k, v in self.headers.items()})
                said = script.said.pop(0) if len(script.said) > 1 else script.said[0]
                self.close_connection = said.status == 0 or said.sent is not None
                if said.status == 0:
                    return
                text = said.body if isinstance(said.body, bytes) else json.dumps(said.body).encode()
                headers = {"date": DATE, "content-type": said.media, **said.headers}
                self.send_response_only(said.status)
                for name, value in {**headers, "content-length": str(len(text))}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(text[: said.sent])

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = answer

            def log_message(self, *_: object) -> None:
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}"


@contextmanager
def scripted(*said: Said, **options: Any) -> Iterator[tuple[Client, Script, list[float]]]:
    """A client of a scripted server, and the seconds that it has waited."""
    script, waited = Script(*said), list[float]()
    threading.Thread(target=script.http.serve_forever, args=(0.01,), daemon=True).start()
    token = options.pop("token", SECRET)
    options = {"api_url": script.url, "sleep": waited.append, **options}
    client = Client(Auth.Token(token), "octo/app", **options)
    try:
        yield client, script, waited
    finally:
        client.close()
        script.http.shutdown()
        script.http.server_close()


def comment(client: Client) -> Any:
    return client.write("POST", "/issues/7/comments", "post a comment", {"body": "hello"})


def resolve(client: Client) -> Any:
    return client.mutate("resolveReviewThread", {"threadId": "T"}, "thread { id }", "resolve it")


def compare(client: Client) -> Any:
    return client.read("/compare/a...b", "compare", per_page="1", page="2")


def ask(client: Client) -> Any:
    return client.query("query { viewer { login } }", {}, "ask who it is")


Call = Callable[[Client], Any]


def refused(said: Said, call: Call = comment, **options: Any) -> tuple[str, str, int, list[float]]:
    """Kind and sentence of the error, how many requests it took, and what was waited."""
    with scripted(said, **options) as (client, script, waited):
        with pytest.raises(GitHubError) as caught:
            call(client)
        assert SECRET not in str(caught.value)
        assert str(caught.value).isprintable()
        assert len(str(caught.value)) < 400
        return caught.value.kind, str(caught.value), len(script.heard), waited


def unprocessable(words: str, **entry: str) -> Said:
    errors: list[Any] = [{"resource": "X", "message": words, **entry}] if entry else [words]
    return Said(422, {"message": "Unprocessable Entity", "errors": errors, "status": "422"})


LINE = "Pull request review thread line must be part of the diff"
PENDING = "user_id can only have one pending review per pull request"
LONG = "Body is too long (maximum is 65536 characters)"
REFUSALS: list[tuple[str, Said, str, str]] = [
    ("G4", unprocessable(LINE), "invalid", f"422 Unprocessable Entity: {LINE}"),
    ("G6", unprocessable(PENDING, code="custom", field="user_id"), "invalid", PENDING),
    ("G7", unprocessable("Can not approve your own pull request"), "invalid", "approve your own"),
    ("G8", unprocessable("end_commit_oid is not part of the pull request"), "stale", "commit_oid"),
    ("G8", unprocessable("The commitOID is not part of the pull request"), "stale", "commitOID"),
    ("G8", Said(422, {"message": f"No commit found for SHA: {'a' * 40}"}), "stale", "No commit"),
    ("G9", unprocessable(LONG, code="unprocessable", field="data"), "invalid", LONG),
    ("422", unprocessable("", code="missing_field"), "invalid", "Entity: missing_field"),
    ("G10", Said(422, {"message": "Bad.\n\nOnly 65535"}), "invalid", "422 Bad. Only 65535"),
    ("G14", Said(403, NO_ACCESS), "not_permitted", "post a comment and answered 403 Resource not"),
    ("G15", Said(403, {"message": "The issue is locked."}), "gone", "is locked"),
    ("G15", unprocessable("lock prevents review"), "gone", "lock prevents"),
    ("G15", Said(403, {"message": "It was archived so is read-only."}), "gone", "read-only"),
    ("G16", Said(404, {"message": "Not Found"}), "gone", "404 Not Found"),
    ("G16", Said(410, {"message": "This issue was deleted"}), "gone", "410"),
    ("G17", Said(401, {"message": f"Bad credentials {SECRET}"}), "not_authorized", "«secret:"),
    ("G21", Said(409, {"message": "Update is not a fast forward"}), "stale", "fast forward"),
    ("413", Said(413, b"<html>", media="text/html"), "invalid", "413 text/html"),
    ("400", Said(400, {"message": "Problems parsing JSON"}), "failed", "Problems parsing JSON"),
    ("words", Said(400, {"message": "a\n::error::b\u202e" + "x" * 900}), "failed", ": :error::b⟨"),
    ("none left", Said(403, NO_ACCESS, {"x-ratelimit-remaining": "0"}), "not_permitted", "403"),
]


@pytest.mark.parametrize(("said", "kind", "words"), [row[1:] for row in REFUSALS])
def test_a_refusal_is_said_once_and_not_asked_about_again(
    said: Said, kind: str, words: str
) -> None:
    found, sentence, count, waited = refused(said)

    assert (found, count, waited) == (kind, 1, [])
    assert sentence.startswith("GitHub was asked to post a comment and answered ")
    assert words in sentence


def graphql(*errors: Any, data: Any = None) -> Said:
    return Said(200, {"data": data, "errors": list(errors)})


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        (graphql({"type": "FORBIDDEN", **NO_ACCESS}), "not_permitted"),
        (graphql({"type": "INSUFFICIENT_SCOPES", "message": "no"}), "not_permitted"),
        (graphql({"type": "NOT_FOUND", "message": "no"}), "gone"),
        (graphql({"type": "UNPROCESSABLE", "message": "no"}), "invalid"),
        (graphql({"type": "STALE_DATA", "message": "no"}), "stale"),
        (graphql({"type": "X", "message": 'Expected branch to point to "a"'}), "stale"),
        (graphql({"type": "NEW", "message": "no"}, {"message": "why"}), "failed"),
        (graphql(WENT_WRONG), "unsure"),
        (graphql(WENT_WRONG, data={"resolveReviewThread": None}), "unsure"),
        (graphql({"message": "half"}, data={"resolveReviewThread": {"thread": None}}), "unsure"),
        (Said(200, {"data": None}), "unsure"),
        (Said(200, {"data": {"resolveReviewThread": None}}), "unsure"),
        (Said(200, []), "unsure"),
    ],
)
def test_a_mutation_that_graphql_refuses_is_said_once(said: Said, kind: str) -> None:
    assert refused(said, resolve)[::2] == (kind, 1)


WAITS: list[tuple[str, int, Any, dict[str, str], list[float]]] = [
    ("G12", 403, SECONDARY, {"retry-after": "7"}, [7]),
    ("G12", 429, SECONDARY, {"retry-after": "7"}, [7]),
    ("G12", 403, SECONDARY, {}, [60]),
    ("G12", 429, SECONDARY, {"retry-after": " "}, [60]),
    ("words", 429, {}, {}, [60]),
    ("header", 403, {"message": "no"}, {"retry-after": "0"}, [0]),
    ("G13", 403, PRIMARY, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "+41"}, [42]),
    ("G13", 429, PRIMARY, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "+41"}, [42]),
    ("past", 403, PRIMARY, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "7"}, [1]),
    *(
        ("odd", 403, SECONDARY, dict.fromkeys(("retry-after", "x-ratelimit-reset"), odd), [60])
        for odd in ("nan", "inf", "-5", "1e999", "9" * 30, DATE)
    ),
]


@pytest.mark.parametrize(("status", "body", "headers", "expected"), [row[1:] for row in WAITS])
@pytest.mark.parametrize("call", [comment, compare])
def test_a_rate_limit_is_waited_for_by_githubs_own_clock(
    call: Call, status: int, body: Any, headers: dict[str, str], expected: list[float]
) -> None:
    reset = headers.get("x-ratelimit-reset", "")
    if reset.startswith("+"):
        headers = {**headers, "x-ratelimit-reset": str(EPOCH + int(reset))}
    with scripted(Said(status, body, headers), DONE) as (client, script, waited):
        assert call(client) == {"id": 5}

    assert waited == expected
    assert script.heard[0] == script.heard[1]


@pytest.mark.parametrize("call", [ask, resolve])
@pytest.mark.parametrize("error", [{"type": "RATE_LIMITED"}, SECONDARY])
def test_a_rate_limit_in_the_body_of_graphql_is_waited_for(call: Call, error: Any) -> None:
    headers = {"x-ratelimit-remaining": "0", "x-ratelimit-reset": str(EPOCH + 9)}
    done = Said(200, {"data": {"resolveReviewThread": {"thread": {}}}})
    limit = Said(200, {"errors": [error]}, headers)
    with scripted(limit, done) as (client, script, waited):
        call(client)

    assert (waited, len(script.heard), script.heard[0][1]) == ([10], 2, "/graphql")


def test_a_limit_that_goes_on_is_waited_for_longer_each_time_and_then_left() -> None:
    kind, sentence, count, waited = refused(Said(403, SECONDARY))

    assert (kind, count, waited) == ("deferred", 3, [60, 120])
    assert "its rate limit holds for 240 s more" in sentence


def test_a_limit_beyond_the_budget_is_not_waited_for() -> None:
    assert refused(Said(403, SECONDARY, {"retry-after": "301"}))[2:] == (1, [])
    assert refused(Said(403, SECONDARY, {"retry-after": "0"}))[2:] == (4, [0, 0, 0])


def test_the_budget_of_waiting_is_that_of_all_calls() -> None:
    limit = Said(403, SECONDARY, {"retry-after": "50"})
    with scripted(limit, DONE, limit, DONE, limit, patience=120) as (client, _, waited):
        comment(client)
        comment(client)
        with pytest.raises(GitHubError, match="50 s more"):
            comment(client)

    assert waited == [50, 50]


TROUBLE = {
    "500": Said(500, {"message": "Server Error"}),
    "503": Said(503, {"message": faults.NO_SERVER}),
    "408": Said(408),
    "unicorn": UNICORN,
    "portal": Said(200, b"<html>Sign in</html>", media="text/html"),
    "empty": Said(200, b""),
    "dropped": DROPPED,
    "cut": Said(200, {"id": 5}, sent=4),
    "garbled": Said(200, b'{"id": '),
    "not UTF-8": Said(200, b'"\xff"'),
    "deep": Said(200, b"[" * 100_000),
}


@pytest.mark.parametrize("what", TROUBLE)
def test_what_reads_is_sent_again_after_trouble_and_what_writes_never(what: str) -> None:
    said = TROUBLE[what]
    with scripted(said, said, Said(200, {"id": 5})) as (client, script, waited):
        assert compare(client) == {"id": 5}
    assert [path for _, path, _ in script.heard] == 3 * [
        "/repos/octo/app/compare/a...b?per_page=1&page=2"
    ]
    assert 0.5 <= waited[0] <= 1 <= waited[1] <= 2

    assert refused(said, compare)[::2] == ("failed", 4)
    assert refused(said)[::2] == refused(said, resolve)[::2] == ("unsure", 1)


@pytest.mark.parametrize(
    "said", [Said(200, {"data": None}), graphql(WENT_WRONG), graphql(WENT_WRONG, data={"x": None})]
)
def test_a_query_without_data_is_sent_again(said: Said) -> None:
    with scripted(said, Said(200, {"data": {"x": 1}})) as (client, _, waited):
        assert ask(client) == ({"x": 1}, ())
    assert len(waited) == 1
    assert refused(said, ask)[::2] == ("failed", 4)


def test_an_answer_that_does_not_come_in_time_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SECONDS", 0.05)
    with GitHub() as github:
        repository = github.repository("octo/app")
        client = Client(Auth.Token(github.token()), "octo/app", api_url=github.api_url)
        github.faults.append(faults.slow("issues/create", delay=0.3))
        with pytest.raises(GitHubError, match=r"nothing whole \(ReadTimeout\)") as caught:
            client.write("POST", "/issues", "open an issue", {"title": "t"})
        client.close()
    assert caught.value.kind == "unsure"
    assert len(repository.issues) <= 1


@pytest.mark.parametrize("url", ["http://127.0.0.1:1", "http://nowhere.invalid"])
def test_a_write_that_never_left_is_tried_again_and_surely_not_done(url: str) -> None:
    kind, sentence, _, waited = refused(DONE, api_url=url)

    assert (kind, len(waited)) == ("failed", 3)
    assert "ConnectionError" in sentence


@pytest.mark.parametrize("token", ["a\nb", f"{SECRET}\r\nX-Evil: 1", "\u20ac"])
def test_a_token_that_no_header_can_hold_is_not_sent(token: str) -> None:
    assert refused(DONE, token=token)[::2] == ("not_authorized", 0)


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_is_followed_on_the_same_host_only(status: int) -> None:
    with scripted(DONE) as (client, script, _):
        there = f"{script.url}/repositories/1/x?page=2"
        script.said = [Said(status, {}, {"location": there}), DONE]
        assert compare(client) == {"id": 5}
        script.said = [Said(status, {}, {"location": there}), DONE]
        assert comment(client) == {"id": 5}
        assert [(verb, path) for verb, path, _ in script.heard[1::2]] == [
            ("GET", "/repositories/1/x?page=2"),
            ("POST", "/repositories/1/x?page=2"),
        ]
        assert script.heard[3][2] == {"body": "hello"}
        assert script.headers[3]["authorization"] == f"token {SECRET}"
    with scripted(DONE) as (_, other, _):
        for there in (other.url, other.url.replace("127.0.0.1", "localhost"), "http://[::1/", ""):
            assert refused(Said(status, {}, {"location": f"{there}/x"}), compare)[0] == "failed"
    assert other.heard == []


def test_redirects_without_end_are_left() -> None:
    with scripted(DONE) as (client, script, waited):
        script.said = [Said(301, {}, {"location": f"{script.url}/x"})]
        with pytest.raises(GitHubError, match="one redirect after another"):
            compare(client)
    assert (len(script.heard), waited) == (4, [])


def test_where_an_artifact_lies_is_said_and_not_followed() -> None:
    with scripted(Said(302, b"", {"location": "https://blobs.example.org/x?sig=1"})) as (
        client,
        _,
        _,
    ):
        assert (
            client.location("/actions/artifacts/1/zip", "download it")
            == "https://blobs.example.org/x?sig=1"
        )


def test_requests_say_who_sends_them_and_a_netrc_counts_less(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login me password other\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    with scripted(DONE, Said(204, b"")) as (client, script, _):
        comment(client)
        assert client.write("DELETE", "/issues/comments/5", "delete a comment") is None
    assert script.headers[0]["authorization"] == f"token {SECRET}"
    assert script.headers[0]["accept"] == "application/vnd.github+json"
    assert script.headers[0]["x-github-api-version"] == "2022-11-28"
    assert script.headers[0]["user-agent"].startswith("reviewbot/")
