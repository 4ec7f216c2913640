"""Every fault of the list can be had, for the request that it is meant for and for no other."""

from __future__ import annotations

import http.client
import time

import pytest

from tests.forge.hub import Hub, Pull, faults
from tests.forge.hub.asking import ask, query

COMMENTS = "/repos/octo/app/issues/1/comments"
HELLO = {"body": "hello"}


@pytest.mark.parametrize(("status", "retry_after"), [(403, 60), (429, None)])
def test_a_secondary_limit_stops_writes_alone(hub: Hub, pull: Pull, status: int, retry_after: int | None):
    hub.faults.append(faults.secondary_limit(status=status, retry_after=retry_after))
    token = hub.token()
    assert ask(hub, "GET", COMMENTS, token=token).status == 200
    said = ask(hub, "POST", COMMENTS, HELLO, token=token)
    assert (said.status, said.headers.get("retry-after")) == (status, retry_after and str(retry_after))
    assert "secondary rate limit" in said.json["message"]
    assert ask(hub, "POST", COMMENTS, HELLO, token=token).status == 201
    assert hub.faults == []


def test_a_primary_limit_says_when_it_ends(hub: Hub, pull: Pull):
    hub.faults.append(faults.primary_limit(reset_in=30))
    said = ask(hub, "GET", COMMENTS, token=hub.token())
    assert (said.status, said.headers["x-ratelimit-remaining"]) == (403, "0")
    assert 0 < int(said.headers["x-ratelimit-reset"]) - time.time() <= 30


@pytest.mark.parametrize("after", [False, True])
def test_an_error_of_the_server_comes_before_or_after_the_write(hub: Hub, pull: Pull, after: bool):
    hub.faults.append(faults.server_error("issues/create-comment", after=after))
    assert ask(hub, "POST", COMMENTS, HELLO, token=hub.token()).status == 502
    assert len(pull.comments) == after


@pytest.mark.parametrize("after", [False, True])
def test_a_connection_ends_before_or_after_the_write(hub: Hub, pull: Pull, after: bool):
    hub.faults.append(faults.dropped("write", after=after))
    with pytest.raises((http.client.RemoteDisconnected, ConnectionError, OSError)):
        ask(hub, "POST", COMMENTS, HELLO, token=hub.token())
    assert len(pull.comments) == after


def test_an_error_may_be_a_page(hub: Hub, pull: Pull):
    hub.faults.append(faults.server_error(status=503, html=True))
    said = ask(hub, "GET", COMMENTS, token=hub.token())
    assert (said.status, said.headers["content-type"]) == (503, "text/html; charset=utf-8")
    assert b"Unicorn!" in said.content


def test_an_address_may_have_moved(hub: Hub, pull: Pull):
    hub.faults.append(faults.moved("issues/list-comments", to="http://other.example/x", status=307))
    said = ask(hub, "GET", COMMENTS, token=hub.token())
    assert (said.status, said.headers["location"]) == (307, "http://other.example/x")


def test_graphql_fails_with_status_200(hub: Hub, pull: Pull):
    hub.faults += [faults.graphql_limit(), faults.graphql_nothing()]
    token = hub.token()
    assert query(hub, "{ viewer { login } }", token=token)["errors"][0]["type"] == "RATE_LIMITED"
    assert query(hub, "{ viewer { login } }", token=token)["data"] is None
    assert query(hub, "{ viewer { login } }", token=token)["data"]["viewer"]


def test_a_mutation_has_a_name_of_its_own(hub: Hub, pull: Pull):
    thread = pull.thread("mona", "a.py", 10)
    hub.faults.append(faults.server_error("graphql:resolveReviewThread", after=True))
    token = hub.token()
    assert query(hub, "{ viewer { login } }", token=token)["data"]["viewer"]
    body = {"query": f'mutation {{ resolveReviewThread(input: {{threadId: "{thread.node_id}"}}) {{ thread {{ id }} }} }}'}
    assert ask(hub, "POST", hub.graphql_url, body, token=token).status == 502
    assert thread.is_resolved


def test_a_fault_may_wait_and_may_come_again(hub: Hub, pull: Pull):
    hub.faults.append(faults.server_error("write", skip=1, times=2))
    token = hub.token()
    assert [ask(hub, "POST", COMMENTS, HELLO, token=token).status for _ in range(4)] == [201, 502, 502, 201]


def test_a_permission_may_be_unknown(hub: Hub, pull: Pull):
    hub.faults.append(faults.not_a_user())
    assert ask(hub, "GET", "/repos/octo/app/collaborators/octocat/permission", token=hub.token()).status == 404


def test_what_a_fault_kept_from_github_stands_in_the_journal(hub: Hub, pull: Pull):
    hub.faults += [faults.dropped("write"), faults.server_error("write", after=True)]
    token = hub.token()
    with pytest.raises(OSError):
        ask(hub, "POST", COMMENTS, HELLO, token=token)
    ask(hub, "POST", COMMENTS, HELLO, token=token)
    assert [entry.status for entry in hub.journal] == [0, 201]
    assert hub.writes() == ["issues/create-comment"]


def test_something_may_happen_meanwhile(hub: Hub, pull: Pull):
    before = pull.head_sha
    hub.faults.append(faults.meanwhile("pulls/get", lambda: pull.push({"a.py": "new\n"})))
    assert ask(hub, "GET", "/repos/octo/app/pulls/1", token=hub.token()).json["head"]["sha"] != before
    struck: list[int] = []
    hub.faults.append(faults.meanwhile("write", lambda: struck.append(len(pull.comments)), after=True))
    assert ask(hub, "POST", COMMENTS, HELLO, token=hub.token()).status == 201
    assert struck == [1]


def test_any_refusal_may_be_had(hub: Hub, pull: Pull):
    hub.faults.append(faults.refusal("checks/create", 422, "Invalid request.", ["too much"]))
    said = ask(hub, "POST", "/repos/octo/app/check-runs", {"name": "x", "head_sha": pull.head_sha}, token=hub.token())
    assert (said.status, said.json["errors"]) == (422, ["too much"])
