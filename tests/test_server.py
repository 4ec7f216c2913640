"""The REST API: a server in a process of its own, asked over HTTP."""

import asyncio
import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest
import test_talk
from click.testing import CliRunner
from conftest import Project
from jsonschema import Draft202012Validator
from msgspec import Struct

from reviewbot.cli.commands import reviewbot
from reviewbot.events import Emit
from reviewbot.server.app import MAX_WAITING, ROUTES, ApiError, Failure, Jobs, ReviewOrder, openapi
from reviewbot.state import State
from tests import fake_openai
from tests.served import configuration, configure, run, wait_until
from tests.vendor_server import Received, Sent, VendorServer

pytest_plugins = ["postgres"]
shop = test_talk.shop  # a fixture
TOKEN = "a token of the test"
SECRET = "ghp_" + "a1B2" * 9
PATCH = (
    "--- a/a.py\n+++ b/a.py\n@@ -1 +1,6 @@\n x = 1\n+<<<<<<< ours\n+a\n+=======\n+b\n+>>>>>>> b\n"
)


EXCLUDE = "findings, report and goal exclude each other; paths are for a goal"
UNCLEAR = (
    {"findings": ["F1"], "report": "It fails."},
    {"findings": ["F1"], "goal": "repair", "report": "It fails."},
    {"goal": "tests", "report": "It fails."},
    {"paths": ["a.py"]},
    {"goal": "repair", "paths": ["a.py"]},
)


class Client(Struct):
    """Asks a server that runs."""

    host: str
    port: int
    process: Any
    token: str = TOKEN

    def ask(
        self, method: str, path: str, body: Any = None, token: str | None = None, **more: str
    ) -> tuple[int, Any]:
        connection = HTTPConnection(self.host, self.port, timeout=30)
        token = self.token if token is None else token
        content = body if isinstance(body, bytes) else json.dumps(body).encode() if body else b""
        headers = {"Authorization": f"Bearer {token}", "Content-Length": str(len(content)), **more}
        connection.request(method, path, content, headers)
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        is_json = answer.headers["content-type"] == "application/json"
        return answer.status, json.loads(text) if is_json else text

    def finish(self, order: dict[str, Any]) -> Any:
        """Order a job, watch it to its end, and return it."""
        status, job = self.ask("POST", "/v1/jobs", order)
        assert status == 202, job
        _, events = self.ask("GET", f"/v1/jobs/{job['id']}/events")
        assert events.rstrip().rpartition("\n\n")[2].startswith("event: end\n")
        return self.ask("GET", f"/v1/jobs/{job['id']}")[1]


CLAIM = {"path": "prices.py", "line": 1, "quote": "PRICES = {'tea': 3}", "title": "It is wrong"}
CLAIM |= {"category": "correctness", "severity": "high", "trigger": "tea", "refuted_if": "never"}
ANSWERS = {
    "# Task: plan": {"increments": [{"title": "A clock", "behaviour": "It ticks."}]},
    "# Task: write": {"test": ""},
    "# Task: find defects": {"claims": [{**CLAIM, "consequence": SECRET}]},
}


def negotiator(received: Received) -> Sent:
    """Finds a defect, too, and plans a clock, for which it writes no test."""
    prompt = test_talk.prompt_of(received)
    said = next((said for task, said in ANSWERS.items() if task in prompt), None)
    return fake_openai.answer(json.dumps(said or test_talk.negotiator(received)))


@contextmanager
def serving(*options: str, token: str = TOKEN) -> Iterator[Client]:
    command = (sys.executable, "-m", "reviewbot", "serve", "--port", "0", *options)
    environment = {**os.environ, "REVIEWBOT_TOKEN": token}
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment)
    assert process.stderr
    try:
        line = process.stderr.readline()
        place = re.search(r" at http://(127\.0\.0\.1|\[::1\]):(\d+)$", line.strip())
        assert place, line + process.stderr.read()
        yield Client(place[1].strip("[]"), int(place[2]), process)
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=10)


def test_a_review_is_ordered_watched_and_read(shop: Project) -> None:
    shop.commit("A slip", {"prices.py": "PRICES = {'tea': 3}\nprint(undefined)\n"})
    with serving() as client:
        job = client.finish({"kind": "review", "target": "HEAD"})
        assert job["state"] == "done"
        assert [f["title"] for f in job["result"]["findings"]] == ["Undefined name `undefined`"]
        (first,) = client.ask("GET", "/v1/reviews")[1]
        assert (first["target"], first["verdict"]) == ("HEAD", job["result"]["verdict"])
        status, text = client.ask("GET", f"/v1/reviews/{first['id']}?format=concise")
        assert (status, "prices.py:2: " in text) == (200, True)
        assert client.ask("GET", "/v1/jobs")[1][0]["result"] is None
        _, events = client.ask("GET", f"/v1/jobs/{job['id']}/events")
        assert 'event: progress\ndata: {"what":"job","name":"ruff"' in events
        assert len({*re.findall("data: .+", events)}) > 2, "its beginning, its end, that of the job"
        path, after = f"/v1/jobs/{job['id']}/events", {"Last-Event-ID": "9" * 5000}
        assert client.ask("GET", path, **after)[1] == events
        assert client.ask("GET", path, **{"Last-Event-ID": "1"})[1] == events.partition("\n\n")[2]
        by_patch = client.finish({"kind": "review", "patch": PATCH})["result"]
        assert by_patch["findings"][0]["result"]["name"] == "conflict-marker"


def test_the_address_and_the_token_that_are_printed_are_used_with_ipv6_too(shop: Project) -> None:
    """What is not committed is reviewed, and its tests do not run."""
    (shop.folder / "test_prices.py").write_text("def test_price():\n    undefined()\n")
    with serving("--host", "::1", "--no-exec", token="") as client:
        assert client.ask("GET", "/v1/jobs")[0] == 401
        client.token = client.process.stderr.readline().removeprefix("reviewbot: the token is ")[
            :-1
        ]
        found = client.finish({"kind": "review"})["result"]
        assert [finding["title"] for finding in found["findings"]] == ["Undefined name `undefined`"]
        said = {check["check"]: check["text"] for check in found["checks"]}
        assert said["pytest"] == "was not run: nothing of the change is executed (--no-exec)"


def test_fixes_are_drafted_and_nothing_is_written(shop: Project) -> None:
    text = "PRICES = {'tea': 3}\nprint(PRICES['tea'] is 3)\n"
    shop.commit("A slip", {"prices.py": text})
    with serving() as client:
        job = client.finish({"kind": "fix", "target": "HEAD"})
        assert job["state"] == "done"
        (fixed,) = job["result"]["fixes"]
        assert (fixed["outcome"], fixed["author"]) == ("fixed", "ruff")
        assert not fixed.keys() & {"files", "evidence", "tree"}  # they are large
        (kept,) = client.ask("GET", "/v1/reviews")[1]
        assert client.ask("GET", f"/v1/reviews/{kept['id']}")[1] == job["result"]["review"]
        assert "+print(PRICES['tea'] == 3)" in fixed["diff"]
        assert (shop.folder / "prices.py").read_text() == text
        for order in (
            {"kind": "fix", "goal": "refactor"},
            {"kind": "fix", "report": "Traceback"},
            {"kind": "develop", "specification": "A clock."},
        ):
            lost = client.finish({**order, "target": "HEAD"})
            assert lost["state"] == "failed", order
            assert "nobody to write code" in lost["error"]["message"]
            assert lost["error"]["hint"] == "reviewbot models list"
        for more, words in (
            ({"findings": ["F9"]}, "there is no finding F9"),
            ({"goal": "tests", "paths": ["gone.py"]}, "gone.py is no file of the repository"),
        ):
            assert words in client.finish({"kind": "fix", **more})["error"]["message"]
        newest, *_, oldest = client.ask("GET", "/v1/jobs")[1]
        assert (newest["order"]["goal"], oldest["order"]["target"]) == ("tests", "HEAD")


@pytest.mark.usefixtures("shop")
def test_a_negotiation_and_its_turns() -> None:
    with VendorServer(negotiator).running() as server:
        configure(configuration(server.url))
        with serving() as client:
            job = client.finish({"kind": "negotiate", "question": f"How? {SECRET}"})
            assert [idea["standing"] for idea in job["result"]["ideas"]] == ["contested", "agreed"]
            (session,) = client.ask("GET", "/v1/sessions")[1]
            assert session["subject"]["kind"] == "negotiation"
            _, whole = client.ask("GET", f"/v1/sessions/{session['id']}")
            assert {turn["phase"] for turn in whole["turns"]} >= {"critic/brainstorm"}
            assert whole["turns"][0]["request"]["model"] in "abc"
            assert [idea["id"] for idea in whole["outcome"]["ideas"]] == ["I1", "I2"]
            _, events = client.ask("GET", f"/v1/jobs/{job['id']}/events")
            assert SECRET not in json.dumps([job["result"], whole, events])
            (found,) = client.finish({"kind": "review"})["result"]["findings"]
            assert found["consequence"] == "«secret:github-token»"
            newest, _ = client.ask("GET", "/v1/sessions")[1]
            _, whole = client.ask("GET", f"/v1/sessions/{newest['id']}")
            assert whole["review"]["findings"] == [found]
            assert SECRET not in json.dumps(whole)
            with closing(sqlite3.connect(".git/reviewbot/ledger.db")) as ledger, ledger:
                ledger.execute("UPDATE calls SET reply = '{torn'")
            status, refused = client.ask("GET", f"/v1/sessions/{newest['id']}")
            assert (status, "JSONDecodeError" in refused["error"]["message"]) == (500, True)
            assert '"what":"call","name":"critic/brainstorm"' in events
            job = client.finish({"kind": "develop", "specification": "It ticks."})
            assert "optimizer gave no test for step 1" in job["error"]["message"]
            assert "It ticks." in test_talk.prompt_of(server.received[-1])
            _, events = client.ask("GET", f"/v1/jobs/{job['id']}/events")
            assert '"what":"step","name":"step 1 of 1: A clock"' in events


def test_a_ledger_of_a_team_shows_sessions_of_this_project_alone(
    shop: Project, postgres: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    other = Project(tmp_path_factory.mktemp("other"))
    other.commit("Begin", {"a.txt": "a\n"})

    with VendorServer(negotiator).running() as server:
        shared = json.loads(configuration(server.url)) | {"store": {"url": postgres}}
        configure(json.dumps(shared))
        with serving("-C", str(shop.folder)) as client:
            client.finish({"kind": "negotiate", "question": "How?"})
            (session,) = client.ask("GET", "/v1/sessions")[1]
            assert client.ask("GET", f"/v1/sessions/{session['id']}")[0] == 200
        with serving("-C", str(other.folder)) as client:
            assert client.ask("GET", "/v1/sessions") == (200, [])
            assert client.ask("GET", f"/v1/sessions/{session['id']}")[0] == 404
        for folder, count in ((other.folder, 0), (shop.folder, 1)):
            assert run("-C", str(folder), "sessions").stdout.count("Negotiation done") == count
            assert f"reviews: {count}, " in run("-C", str(folder), "sessions", "prune").stderr


@pytest.mark.usefixtures("shop")
def test_a_job_is_cancelled_and_the_next_one_runs() -> None:
    with VendorServer(lambda _: Sent(delay=20)).running() as server:
        configure(configuration(server.url))
        with serving() as client:
            _, first = client.ask("POST", "/v1/jobs", {"kind": "negotiate", "question": "How?"})
            _, second = client.ask("POST", "/v1/jobs", {"kind": "review", "patch": "no patch"})
            wait_until(lambda: server.received)
            assert client.ask("GET", f"/v1/jobs/{second['id']}")[1]["state"] == "waiting"
            assert client.ask("DELETE", f"/v1/jobs/{first['id']}")[1]["state"] == "cancelled"
            client.ask("GET", f"/v1/jobs/{second['id']}/events")
            _, second = client.ask("GET", f"/v1/jobs/{second['id']}")
            assert (second["state"], bool(second["error"]["message"])) == ("failed", True)


@pytest.mark.usefixtures("shop")
def test_who_watches_a_job_is_told_that_the_server_ends() -> None:
    """A client that goes before its order is complete leaves no traceback."""
    with VendorServer(lambda _: Sent(delay=20)).running() as server:
        configure(configuration(server.url))
        with serving() as client:
            connection = HTTPConnection("127.0.0.1", client.port, timeout=30)
            headers = {"Authorization": f"Bearer {TOKEN}", "Content-Length": "100"}
            connection.request("POST", "/v1/jobs", b'{"kind"', headers)
            connection.close()
            assert client.ask("GET", "/v1/jobs") == (200, [])
            _, job = client.ask("POST", "/v1/jobs", {"kind": "negotiate", "question": "How?"})
            connection = HTTPConnection("127.0.0.1", client.port, timeout=30)
            path, headers = f"/v1/jobs/{job['id']}/events", {"Authorization": f"Bearer {TOKEN}"}
            connection.request("GET", path, headers=headers)
            events = connection.getresponse()
            wait_until(lambda: server.received)
            client.process.send_signal(signal.SIGINT)
            *_, last = events.read().decode().rstrip().split("\n\n")
            connection.close()
            assert last.startswith("event: end\n")
            assert '"state":"cancelled"' in last
            assert client.process.communicate(timeout=10)[1] == "reviewbot: interrupted\n"


def test_a_bug_ends_its_job_alone_and_few_jobs_are_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """50 wait; of those that ended, 100 are there when the next one is ordered."""

    def fail(_: Emit) -> Any:
        raise RuntimeError(SECRET)

    async def order() -> None:
        jobs = Jobs(fail, State(tmp_path))
        for number in (1, 2, 3):
            given = [jobs.start(ReviewOrder()) for _ in range(MAX_WAITING)]
            with pytest.raises(ApiError, match="50 jobs wait already") as caught:
                jobs.start(ReviewOrder())
            assert caught.value.status == 429
            assert [number async for number, _ in jobs.events(given[-1])] == []
            assert {job.state for job in given} == {"failed"}
            assert len(jobs.by_id) == 50 * number
        assert given[-1].error == Failure("this is a bug in reviewbot: RuntimeError")
        last = jobs.start(ReviewOrder())
        assert [*jobs.by_id.values()][-51:] == [*given, last]
        assert len(jobs.by_id) == 101
        await jobs.cancel()

    asyncio.run(order())
    logged = capsys.readouterr().err
    assert "RuntimeError: «secret:github-token»" in logged
    assert SECRET not in logged


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """The server of a project whose reviews are all damaged."""
    project = Project(tmp_path_factory.mktemp("empty"))
    project.commit("A file", {"a.txt": "a\n"})
    folder = project.folder / ".git/reviewbot/reviews"
    folder.mkdir(parents=True)
    for second, text in enumerate((b"{", b'{"title": "\xff"}', b"[" * 100_000)):
        (folder / f"20261128-09000{second}-000000.json").write_bytes(text)
    with serving("-C", str(project.folder)) as client:
        yield client


def test_a_review_that_is_damaged_is_not_listed(empty: Client) -> None:
    assert empty.ask("GET", "/v1/reviews") == (200, [])
    assert empty.ask("GET", "/v1/reviews/20261128-090001-000000")[0] == 404


def test_wrong_requests(empty: Client) -> None:
    negotiation = {"kind": "negotiate"}
    for method, path, body, status, words in (
        ("GET", "/v1/jobs/0", None, 404, "no such job any more, or never was"),
        ("GET", "/v1/reviews/..%2F..%2Fx", None, 404, "Not Found"),
        ("GET", "/v1/reviews/x", None, 404, "no such review"),
        ("GET", "/v1/reviews/x?format=y", None, 422, "no format y"),
        ("GET", "/v1/sessions/7", None, 404, "no such session"),
        ("GET", "/v1/sessions/x", None, 404, "no such session"),
        *(("GET", f"/v1/sessions/{'9' * n}", None, 404, "no such session") for n in (19, 5_000)),
        ("POST", "/v1/jobs", b"{", 422, "cannot be read"),
        ("POST", "/v1/jobs", {"kind": "push"}, 422, "cannot be read"),
        ("POST", "/v1/jobs", {"kind": "review", "sandbox": "none"}, 422, "sandbox"),
        ("POST", "/v1/jobs", {**negotiation, "question": " "}, 422, "question"),
        ("POST", "/v1/jobs", {"kind": "fix", "report": " "}, 422, "report"),
        ("POST", "/v1/jobs", {"kind": "review", "target": "A", "patch": "B"}, 422, "exclude"),
        *(("POST", "/v1/jobs", {"kind": "fix", **order}, 422, EXCLUDE) for order in UNCLEAR),
        ("POST", "/v1/jobs", b" " * 8_000_001, 413, "8000000 bytes"),
        ("PUT", "/v1/jobs", {}, 405, "Method Not Allowed"),
    ):
        answered, document = empty.ask(method, path, body)
        assert answered == status, path
        assert words in document["error"]["message"], path
    connection = HTTPConnection(empty.host, empty.port, timeout=30)
    connection.request("POST", "/v1/jobs", iter([b"{}"]), {"Authorization": f"Bearer {TOKEN}"})
    assert connection.getresponse().status == 413, "a body without a length could have any"
    connection.close()


def test_nothing_is_answered_without_the_token(empty: Client) -> None:
    for method, path, *_ in ROUTES:
        path = path.replace("{id}", "1").replace("{id:int}", "1")
        for token in ("another", ""):
            assert empty.ask(method, path, token=token)[0] == 401, path


def test_the_description_is_openapi_and_has_every_route(empty: Client) -> None:
    _, document = empty.ask("GET", "/openapi.json")
    assert document == json.loads(json.dumps(openapi()))
    described = {(m.upper(), path) for path, found in document["paths"].items() for m in found}
    assert described == {(m, path.replace(":int", "")) for m, path, _, _ in ROUTES}
    parts = document["components"]["schemas"]
    _, refused = empty.ask("GET", "/v1/jobs/none", Authorization=f"bearer {TOKEN}")
    assert "no such job" in refused["error"]["message"]  # the scheme may be in any case
    for found in (one for path in document["paths"].values() for one in path.values()):
        schema = found["responses"]["default"]["content"]["application/json"]["schema"]
        Draft202012Validator({**schema, "components": {"schemas": parts}}).validate(refused)
    for schema in parts.values():
        Draft202012Validator.check_schema(schema)
    whole = {"$ref": "#/components/schemas/ReviewOrder", "components": {"schemas": parts}}
    Draft202012Validator(whole).validate({"kind": "review", "target": "HEAD"})


def test_what_keeps_it_from_starting(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.commit("A file", {"a.txt": "a\n"})
    for token, more, code, words in (
        ("short", (), 2, "less than 16 characters"),
        (TOKEN, ("--host", "192.0.2.1"), 3, "192.0.2.1 cannot be listened at"),
    ):
        monkeypatch.setenv("REVIEWBOT_TOKEN", token)
        done = CliRunner().invoke(reviewbot, ("serve", "-C", str(project.folder), *more))
        assert done.exit_code == code
        assert words in done.stderr
