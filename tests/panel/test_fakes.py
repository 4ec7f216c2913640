"""The fake models are what they say: asked through the vendors' own libraries, or byte by byte."""

from __future__ import annotations

import gzip
import json
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx2
import pytest

from tests.fakes import (
    Answer,
    Decoy,
    Models,
    Process,
    Tokens,
    Wish,
    by_model,
    faults,
    fitting,
    queue,
    rejects,
    said,
    uses,
)
from tests.fakes.dialects import DIALECTS, Dialect, post

pytestmark = pytest.mark.matrix(parts=1)

SHAPE = {
    "type": "object",
    "additionalProperties": False,
    "required": ["verdict", "lines"],
    "properties": {
        "verdict": {"type": "string", "enum": ["good", "bad"]},
        "lines": {"type": ["array", "null"], "items": {"type": "integer"}},
    },
}
PARTS = ("the change\n", "the question")
LONG = "def f(x):\n    return x\n" * 400
every_dialect = pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
streaming = pytest.mark.parametrize("dialect", [one for one in DIALECTS if one.stream], ids=lambda dialect: dialect.name)


@every_dialect
def test_a_vendors_library_gets_a_fitting_answer_and_the_journal_knows_what_was_asked(dialect: Dialect):
    with Models() as models:
        told = dialect.ask(models.url, PARTS, schema=SHAPE)
    assert json.loads(told.text) == {"verdict": "good", "lines": []}
    (seen,) = models.calls
    assert (seen.protocol, seen.model, seen.system) == (dialect.name, "some-model", "be brief")
    assert (seen.parts, seen.prompt, seen.suffix) == (PARTS, "".join(PARTS), "the question")
    assert seen.schema == SHAPE
    assert (seen.outcome, seen.status, seen.in_flight) == ("answered", 200, 1)
    assert models.refused == []


@streaming
def test_a_stream_says_the_same_as_a_reply_in_one_piece(dialect: Dialect):
    text = "Grüße, " * 40
    with Models(script=said(text)) as models:
        assert dialect.stream is not None
        assert dialect.stream(models.url, PARTS) == text
    assert models.calls[0].streamed


@every_dialect
def test_a_tool_is_wished_and_its_result_comes_back(dialect: Dialect):
    script = uses([[Wish("read", {"path": "a.py"}), Wish("read", {"path": "b.py"})]], then="done")
    with Models(script=script) as models:
        assert dialect.use_tool(models.url, "read", "1: pass") == "done"
    first, second = models.calls
    assert set(first.tools) == {"read"}
    (step,) = second.exchanges
    paths = [json.loads(call.arguments) if isinstance(call.arguments, str) else call.arguments for call in step.calls]
    assert paths == [{"path": "a.py"}, {"path": "b.py"}]
    assert len(step.results) == 2
    assert all("1: pass" in text for _, text, _ in step.results)


@every_dialect
def test_usage_is_counted_in_the_vendors_own_way(dialect: Dialect):
    with Models(script=Answer("{}", usage=Tokens(input=5000, cached=2048, output=70))) as models:
        told = dialect.ask(models.url, PARTS)
    assert (told.input, told.cached, told.output) == (5000, 2048, 70)


@every_dialect
def test_a_second_call_with_the_same_beginning_reads_from_the_cache(dialect: Dialect):
    with Models() as models:
        first, second = (dialect.ask(models.url, (LONG, f"{number} {LONG[:99]}")) for number in range(2))
    assert first.cached == 0
    assert second.cached == pytest.approx(len(LONG) / 4, rel=0.1)
    assert second.cached < second.input
    assert 0.45 < models.bytes_shared() < 0.5


def test_calls_at_the_same_time_do_not_share_a_cache():
    together = threading.Barrier(3)
    with Models(script=Answer("{}", before_reply=lambda: together.wait(10))) as models, ThreadPoolExecutor(3) as pool:
        told = list(pool.map(lambda number: DIALECTS[1].ask(models.url, (LONG, str(number))), range(3)))
    assert [one.cached for one in told] == [0, 0, 0]
    assert models.most_in_flight == 3
    assert sorted(seen.in_flight for seen in models.calls) == [1, 2, 3]


DOCUMENTED = [
    ("anthropic", faults.L1(), 529, "overloaded_error"),
    ("anthropic", faults.L2(3), 429, "rate_limit_error"),
    ("anthropic", faults.L3(), 429, "enforced_spend_limit_reached"),
    *(("anthropic", faults.L4(kind), status, "error") for kind, status in
      {"too_long": 400, "denied": 401, "billing": 402, "forbidden": 403, "no_model": 404, "too_large": 413, "server": 500, "gateway": 504}.items()),
    ("openai", faults.L7(), 400, "context_length_exceeded"),
    ("openai", faults.L8("slow_down"), 429, "slow_down"),
    ("openai", faults.L8("server_is_overloaded"), 503, "server_is_overloaded"),
    ("responses", faults.L9(), 429, "insufficient_quota"),
    ("responses", faults.L9("credit_balance_exhausted"), 429, "credit_balance_exhausted"),
    ("gemini", faults.L12(), 503, "UNAVAILABLE"),
    ("gemini", faults.L12("list"), 503, "UNAVAILABLE"),
    ("gemini", faults.L12("nested"), 503, "UNAVAILABLE"),
    ("gemini", faults.L12("quota_minute"), 429, "PerMinute"),
    ("gemini", faults.L12("quota_day"), 429, "PerDay"),
    ("ollama", faults.L4("no_model"), 404, "not found"),
    ("bedrock", faults.L2(), 429, "ThrottlingException"),
    ("bedrock", faults.L7(), 400, "Input is too long"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "fault", "status", "words"), DOCUMENTED, ids=lambda value: getattr(value, "name", None))
def test_a_documented_fault_arrives_as_documented(name: str, fault: Any, status: int, words: str):
    dialect = next(one for one in DIALECTS if one.name == name)
    with Models(script=fault) as models:
        failure = dialect.fail(models.url)
    assert failure.status == status
    assert words in failure.words
    assert models.calls[0].outcome == fault.name


@every_dialect
@pytest.mark.parametrize(
    "kind", ["overloaded", "rate_limited", "spent", "too_long", "denied", "forbidden", "no_model", "server", "gateway"]
)
def test_every_dialect_knows_every_trouble(dialect: Dialect, kind: str):
    with Models(script=faults.trouble(kind)) as models:
        assert post(models.url + dialect.path, dialect.body, headers={"anthropic-version": "1"}).status_code >= 400


@pytest.mark.parametrize(
    ("name", "answer", "stop"),
    [
        ("anthropic", faults.L5("refusal", "cyber"), "refusal"),
        ("anthropic", faults.L5("model_context_window_exceeded", text="{"), "model_context_window_exceeded"),
        ("anthropic", Answer("{", stop="length"), "max_tokens"),
        ("openai", faults.L10("length", text="{"), "length"),
        ("openai", faults.L10("stop", refusal="I can't"), "stop"),
        ("responses", faults.L11("incomplete", "content_filter"), "incomplete"),
        ("responses", faults.L11("failed", code="bio_policy"), "failed"),
        ("gemini", faults.L13("RECITATION", text="{"), "RECITATION"),
        ("gemini", faults.L13(block="JAILBREAK"), "JAILBREAK"),
        ("ollama", Answer("{", stop="load"), "load"),
        ("bedrock", Answer("{", stop="guardrail_intervened"), "guardrail_intervened"),
    ],
)
def test_a_model_stops_for_the_reason_that_the_script_gives(name: str, answer: Answer, stop: str):
    dialect = next(one for one in DIALECTS if one.name == name)
    with Models(script=answer) as models:
        assert dialect.ask(models.url, PARTS).stop == stop


@streaming
@pytest.mark.parametrize("how", ["error", "cut"])
def test_a_stream_that_breaks_is_never_whole(dialect: Dialect, how: str):
    with Models(script=faults.L6(how, after=2, of=Answer("word " * 50))) as models:
        assert dialect.stream is not None
        try:
            text = dialect.stream(models.url, PARTS)
        except dialect.errors:
            return
    assert len(text) < 250


def test_a_reply_is_cut_at_any_byte_that_a_test_wants():
    good, dialect = Answer("{}"), DIALECTS[1]
    with Models(script=good) as models:
        dialect.ask(models.url, PARTS)
        whole = models.calls[0].reply_bytes
        for at in (0, 1, whole // 2, whole - 1):
            models.script = faults.truncated(at, good)
            head, body = raw(models, dialect)
            assert f"Content-Length: {whole}".encode() in head
            assert len(body) == at
            models.script = faults.truncated_unframed(at, good)
            head, body = raw(models, dialect)
            assert b"Content-Length" not in head
            assert len(body) == at
            models.script = faults.truncated_chunked(at, good)
            assert not raw(models, dialect)[1].endswith(b"0\r\n\r\n")
            models.script = faults.truncated_chunked(at, good, ended=True)
            assert raw(models, dialect)[1].endswith(b"0\r\n\r\n")


def test_silence_lasts_until_the_client_hangs_up():
    for after in ("request", "headers", 3):
        with Models(script=faults.hang(after)) as models:
            with pytest.raises(httpx2.ReadTimeout):
                post(models.url + DIALECTS[1].path, DIALECTS[1].body, timeout=httpx2.Timeout(10, read=0.1))
            models.wait_idle()
            assert models.calls[0].outcome == "left"


def test_bodies_that_no_client_should_swallow():
    path, body = DIALECTS[1].path, DIALECTS[1].body
    with Models(
        script=queue([faults.gzip_bomb(2), faults.huge(2), faults.deep(50), faults.html_page(), faults.wrong_content_type()])
    ) as models:
        packed = raw(models, DIALECTS[1])
        assert b"Content-Encoding: gzip" in packed[0]
        assert len(packed[1]) < 20_000
        assert len(gzip.decompress(packed[1])) > 2_000_000
        assert len(post(models.url + path, body).content) > 2_000_000
        assert post(models.url + path, body).text == "[" * 50 + "]" * 50
        assert "<html>" in post(models.url + path, body).text
        assert post(models.url + path, body).headers["content-type"] == "text/plain"
        models.script = faults.endless_chunks()
        with httpx2.stream("POST", models.url + path, json=body) as stream:
            chunks = stream.iter_raw()
            assert sum(len(next(chunks)) for _ in range(20)) > 20_000


def test_lengths_that_lie_and_connections_that_break():
    path, body = DIALECTS[1].path, DIALECTS[1].body
    for fault in (faults.content_length_lie(5), faults.connection_reset(), faults.cut()):
        with Models(script=fault) as models, pytest.raises(httpx2.TransportError):
            post(models.url + path, body)
    with Models(script=faults.content_length_lie(-5)) as models, pytest.raises(ValueError):
        post(models.url + path, body).json()
    with Models() as models:
        with models.refuse(), pytest.raises(httpx2.ConnectError):
            post(models.url + path, body)
        assert post(models.url + path, body).status_code == 200


def test_a_trickle_is_a_good_reply_that_takes_its_time():
    with Models(script=faults.trickle(2_000, of=Answer("{}"))) as models:
        told = DIALECTS[4].ask(models.url, PARTS)
        assert told.text == "{}"
        assert models.calls[0].seconds > 0.05


def test_a_redirect_leads_to_a_decoy_that_sees_whether_a_key_came_along():
    with Decoy() as decoy, Models(script=faults.redirect(307, decoy.url)) as models:
        path, headers = models.url + DIALECTS[1].path, {"x-api-key": "secret"}
        assert post(path, DIALECTS[1].body, headers=headers).status_code == 307
        assert decoy.requests == []
        post(path, DIALECTS[1].body, headers=headers, follow_redirects=True)
        assert decoy.keys == [("x-api-key", "secret")]
    assert models.keys == [("x-api-key", "secret")] * 2


@every_dialect
def test_every_key_is_recorded_wherever_the_vendor_puts_it(dialect: Dialect):
    with Models() as models:
        dialect.ask(models.url, PARTS)
        assert dialect.names(models.url) == ([] if dialect.name == "bedrock" else list(models.names))
    assert all(("KEY" in value) for _, value in models.keys)
    assert bool(models.keys) == (dialect.name != "ollama")
    assert len(models.calls) == 1


def test_scripts_are_put_together():
    refuse = rejects("response_format.type", "json_schema", then="ok", message="no schemas here")
    with Models(script=by_model({"a": queue([faults.L1(), "one"], then="rest"), "*": refuse})) as models:

        def say(model: str, **more: Any) -> Any:
            return post(models.url + "/v1/chat/completions", {"model": model, "messages": [], **more}).json()

        texts = [say("a").get("choices", [{"message": {"content": "failed"}}])[0]["message"]["content"] for _ in range(4)]
        assert texts == ["failed", "one", "rest", "rest"]
        wanted = {"type": "json_schema", "json_schema": {"name": "x", "schema": {}}}
        assert say("b", response_format=wanted)["error"]["message"] == "no schemas here"
        assert say("b", response_format={"type": "json_object"})["choices"][0]["message"]["content"] == "ok"


def test_a_request_that_the_real_server_would_refuse_is_refused():
    loose = {"type": "object", "properties": {"a": {"type": "string", "maxLength": 5}}}
    with Models() as models:
        for path, more in (
            ("/v1/messages", {"max_tokens": 9, "output_config": {"format": {"type": "json_schema", "schema": loose}}}),
            ("/v1/messages", {"max_tokens": 9, "messages": [{"role": "assistant", "content": "{"}]}),
            ("/v1/messages", {}),
            (
                "/v1/chat/completions",
                {"response_format": {"type": "json_schema", "json_schema": {"name": "x", "strict": True, "schema": loose}}},
            ),
            ("/v1/chat/completions", {"messages": [{"role": "tool", "tool_call_id": "nobody", "content": ""}]}),
            ("/api/chat", {"messages": 5}),
        ):
            body = {"model": "m", "messages": [{"role": "user", "content": "hi"}], **more}
            assert post(models.url + path, body, headers={"anthropic-version": "1"}).status_code == 400
        assert len(models.refused) == 6
        assert "additionalProperties" in models.refused[0]
        assert models.calls == []


def test_a_mistake_in_a_script_is_the_tests_mistake():
    with (
        pytest.raises(ZeroDivisionError),
        Models(script=lambda _: Answer(str(1 // 0))) as models,
        pytest.raises(httpx2.TransportError),
    ):
        post(models.url + DIALECTS[1].path, DIALECTS[1].body)


def test_a_client_is_killed_when_its_reply_is_ready_and_none_of_it_was_sent():
    program = "import sys, urllib.request as r; r.urlopen(r.Request(sys.argv[1], data=sys.argv[2].encode())); print('answered')"
    child: list[subprocess.Popen[bytes]] = []
    started = threading.Event()

    def kill() -> None:
        started.wait(10)
        child[0].kill()
        child[0].wait()

    with Models(script=Answer("{}", before_reply=kill)) as models:
        arguments = [sys.executable, "-c", program, models.url + DIALECTS[1].path, json.dumps(DIALECTS[1].body)]
        child.append(subprocess.Popen(arguments, stdout=subprocess.PIPE))
        started.set()
        assert child[0].communicate(timeout=20)[0] == b""
        assert child[0].returncode == -9
        models.wait_idle()


def test_a_stream_begins_at_half_time():
    with Models(0.1) as models:
        assert DIALECTS[0].stream is not None
        DIALECTS[0].stream(models.url, PARTS)
        (seen,) = models.calls
    assert seen.replied is not None
    assert seen.replied - seen.began >= 0.05
    assert seen.seconds >= 0.1


def test_the_fakes_run_as_a_process_of_their_own_and_end_with_whoever_started_them():
    with Process(seconds=0.01, script="fitting", names="one,two") as models:
        assert DIALECTS[4].names(models.url) == ["one", "two"]
        models.speed(prompt=1e6, output=50)
        started = time.monotonic()
        DIALECTS[4].ask(models.url, PARTS)
        assert time.monotonic() - started > 0.02
        (call,) = models.journal()
        assert (call["protocol"], call["outcome"]) == ("ollama", "answered")
        models.reset()
        assert models.journal() == []
        port = int(models.url.rpartition(":")[2])
    assert models.code == 0
    with pytest.raises(ConnectionRefusedError), socket.create_connection(("127.0.0.1", port), 1):
        pass


def raw(models: Models, dialect: Dialect) -> tuple[bytes, bytes]:
    """Head and body of a reply, as bytes, up to the end of the connection."""
    body = json.dumps(dialect.body).encode()
    with socket.create_connection(("127.0.0.1", models.port), 5) as line:
        line.sendall(f"POST {dialect.path} HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
        found = b""
        while b"\r\n\r\n" not in found or not _complete(found):
            piece = line.recv(65536)
            if not piece:
                break
            found += piece
    head, _, rest = found.partition(b"\r\n\r\n")
    return head, rest


def _complete(found: bytes) -> bool:
    head, _, rest = found.partition(b"\r\n\r\n")
    length = [int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.startswith(b"Content-Length")]
    return bool(length and len(rest) >= length[0])


def test_a_default_script_answers_without_a_schema_too():
    with Models(script=fitting()) as models:
        assert DIALECTS[4].ask(models.url, PARTS).text == "ok"
