"""The provider `anthropic`, and the HTTP client that all providers use."""

import re
import time
from collections.abc import Mapping, Sequence
from email.utils import formatdate
from functools import partial
from typing import Any

import httpx2
import pytest
from each import each
from msgspec.structs import replace

from reviewbot.errors import ConfigError
from reviewbot.llm.http import check_address, retry_after
from reviewbot.llm.provider import Account, ModelReply, ToolCall, ToolTurn, Usage, strict_schema
from tests import fake_anthropic, test_providers
from tests.test_providers import KEY, READ, REQUEST, make_provider, turn_of
from tests.vendor_server import Received, Sent, VendorServer

ask = partial(test_providers.ask, "anthropic")


def account(url: str, **fields: Any) -> Account:
    return Account(**{"name": "anthropic", "base_url": url, "key": KEY, **fields})


def test_an_answer_arrives_with_its_text_and_usage() -> None:
    sent = fake_anthropic.answer('{"verdict": "real"}', input_tokens=7, cached=100, written=30)
    server = VendorServer([sent])
    (reply,) = ask(server, REQUEST)
    usage = Usage(input_tokens=137, cached_input_tokens=100, cache_write_tokens=30, output_tokens=5)
    assert reply == ModelReply(text='{"verdict": "real"}', usage=usage)
    (received,) = server.received
    assert received.path == "/v1/messages"
    assert received.headers["authorization"] == f"Bearer {KEY}"
    assert received.headers["anthropic-version"]
    body = received.body
    assert (body["model"], body["max_tokens"], "tools" in body) == ("some-model", 500, False)
    format_ = {"type": "json_schema", "schema": strict_schema(REQUEST.schema)}
    assert body["output_config"]["format"] == format_


def test_a_refusal_has_the_reason_of_the_vendor() -> None:
    reason = {"type": "refusal", "category": "cyber", "explanation": None}
    for details, words in (
        (reason, "cyber"),
        (reason | {"explanation": "It is an attack."}, "It is"),
    ):
        sent = fake_anthropic.answer(stop="refusal", details=details)
        failure = test_providers.failure("anthropic", VendorServer([sent]))
        assert str(failure).startswith(f"anthropic refused to answer: {words}")


def test_an_answer_without_usage_is_an_answer() -> None:
    answer = fake_anthropic.answer("{}")
    uncounted = (re.sub(rb'"usage": {[^}]*}', b'"other": {}', chunk) for chunk in answer.chunks)
    (reply,) = ask(VendorServer([replace(answer, chunks=tuple(uncounted))]), REQUEST)
    assert reply == ModelReply(text="{}", usage=None)


def test_a_tool_call_goes_back_as_the_model_made_it() -> None:
    call = ("toolu_1", "read", '{"path": "a.py"}')
    first = fake_anthropic.answer("I read.", calls=[call], thinking="Hm.")
    second = fake_anthropic.answer(calls=[("toolu_2", "read", '{"path": ')], stop="tool_use")
    request = replace(REQUEST, tools=(READ,))
    turns: tuple[ToolTurn, ...] = ()
    with VendorServer([first, second, fake_anthropic.answer("{}")]).running() as server:
        for result in ("def f(): ...", ""):
            (reply,) = ask(server, replace(request, turns=turns))
            turns += turn_of(reply, result)
        ask(server, replace(request, turns=turns, may_call_tools=False))
    assert turns[0].calls == (ToolCall(id="toolu_1", name="read", arguments='{"path":"a.py"}'),)
    assert turns[1].calls[0].arguments == "{}"  # it was no JSON
    before, _, last = (received.body for received in server.received)
    choices = [body["tool_choice"]["type"] for body in (before, last)]
    assert choices == ["auto", "none"]
    tool = {"name": "read", "description": "Read a file.", "input_schema": READ.parameters}
    assert last["tools"] == before["tools"] == [tool]
    asked, said, got, said_again, got_again = (turn["content"] for turn in last["messages"])
    cached = {"cache_control": {"type": "ephemeral"}}
    text = {"type": "text", "text": "The change.", **cached}
    assert asked == [text, {"type": "text", "text": "What is wrong with it?"}]
    thought = {"type": "thinking", "thinking": "Hm.", "signature": "signed=="}
    assert said[:2] == [thought, {"type": "text", "text": "I read."}]
    assert said[2]["input"] == {"path": "a.py"}
    assert got == [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "def f(): ..."}]
    assert [block["input"] for block in said_again] == [{}]  # and no empty text
    last_result = {"tool_use_id": "toolu_2", "content": "(empty)", **cached}
    assert got_again == [{"type": "tool_result", **last_result}]


def test_a_foreign_server_gets_only_the_key_of_its_account(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"):
        monkeypatch.setenv(name, "another-key")
    monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", "x-api-key: another-key\nx-other: another-key")
    monkeypatch.setenv("ALL_PROXY", "http://another-key@127.0.0.1:9")
    with VendorServer([fake_anthropic.answer("{}")] * 2).running() as server:
        ask(server, REQUEST)
        ask(server, REQUEST, key="")
    for received in server.received:
        assert "another-key" not in str(received.headers)
        assert not [name for name in received.headers if name.startswith("x-")]
    assert KEY in server.received[0].headers["authorization"]
    assert "authorization" not in server.received[1].headers


OPEN: Mapping[str, Any] = {"allow_private": True, "key": ""}
ADDRESSES: Sequence[tuple[str, Mapping[str, Any], str]] = [
    ("https://api.example.org/v1", {}, ""),
    ("http://[::1]:8080", {}, ""),
    ("http://10.0.0.5:8000", OPEN, ""),
    ("http://10.0.0.5:8000", {"allow_private": True}, "is not encrypted"),
    ("http://10.0.0.5:8000", {"key": ""}, "is not encrypted"),
    ("http://8.8.8.8", OPEN, "is not encrypted"),
    ("http://127.0.0.1.example.org", {}, "is not encrypted"),
    *(
        (url, {}, "is not that of a server")
        for url in (
            *("ftp://127.0.0.1", "api.example.org", "https:///v1", "https://[::1"),
            *("https://me:word@api.example.org", "https://a.org/?x=1", "https://a.org:port"),
            "http://127.0.0.1:65536",
        )
    ),
]


@each(("url", "fields", "problem"), ADDRESSES)
def test_only_safe_addresses_are_used(url: str, fields: Mapping[str, Any], problem: str) -> None:
    if not problem:
        check_address(account(url, **fields), url)
        return
    with pytest.raises(ConfigError, match=problem) as raised:
        check_address(account(url, **fields), url)
    assert url not in str(raised.value)


def test_a_key_that_cannot_be_one_is_refused_without_being_quoted() -> None:
    for key in ("two words", "line\n", "kéy", "tab\t"):
        with pytest.raises(ConfigError, match="has a character that no key has") as raised:
            make_provider("anthropic", "https://api.anthropic.com", key=key)
        assert key not in str(raised.value)


@each(
    ("name", "text", "seconds"),
    [
        ("retry-after", "20", 20),
        ("retry-after-ms", "1500", 1.5),
        ("retry-after", formatdate(time.time() + 3600, usegmt=True), pytest.approx(3600, abs=600)),
        ("retry-after", "Wed, 21 Oct 2015 07:28:30 GMT", 0),
        ("retry-after", "-3", None),
        ("retry-after", f"1 Jan 2026 00:00:00 +{'9' * 20}", None),
    ],
)
def test_the_time_to_wait_is_a_number_or_a_date(name: str, text: str, seconds: object) -> None:
    assert retry_after(httpx2.Headers({name: text}), "") == seconds


@each(
    ("refused", "words"),
    [
        ("effort", "output_config.effort: This model does not support the effort parameter."),
        ("format", "output_config.format.schema: The compiled grammar is too large."),
        ("format", "Schemas contains too many parameters with union types (17, limit: 16)."),
        ("effort format", "output_config: Extra inputs are not permitted"),
    ],
)
def test_what_a_model_does_not_take_is_left_out_from_then_on(refused: str, words: str) -> None:
    def reply(received: Received) -> Sent:
        is_refused = set(refused.split()) & received.body.get("output_config", {}).keys()
        refusal = fake_anthropic.error(400, "invalid_request_error", words)
        return refusal if is_refused else fake_anthropic.answer("{}")

    server = VendorServer(reply)
    ask(server, REQUEST, REQUEST)
    *_, one, two = (received.body for received in server.received)
    assert one == two
    assert one.get("output_config", {}).keys() == {"effort", "format"} - set(refused.split())
    assert ("JSON Schema" in str(one["messages"])) == ("format" in refused)
    assert len(server.received) == 2 + len(refused.split())
