from __future__ import annotations

import asyncio
import json
import time
import traceback
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from reviewbot.errors import ConfigError
from reviewbot.llm.provider import (
    Account,
    ModelReply,
    ModelRequest,
    ProviderError,
    Tool,
    ToolTurn,
    Usage,
)
from reviewbot.llm.providers.ollama import address_of, connect
from tests import fake_ollama
from tests.fake_ollama import answer, error
from tests.vendor_server import VendorServer

KEY = "key-0123456789-never-to-be-seen"
GOOD = '{"claims": []}'
READ = Tool(name="read", description="Read a file.", parameters={"type": "object"})
REQUEST = ModelRequest(
    provider="ollama",
    model="fake:1b",
    prefix="The change.",
    question="What is wrong with it?",
    schema={"type": "object"},
    label="critic/first_pass",
    max_output_tokens=500,
)


def ask(
    server: VendorServer, *requests: ModelRequest, key: str = "", seconds: float = 5, **more: Any
) -> list[ModelReply]:
    async def ask_all() -> list[ModelReply]:
        account = Account(name="ollama", base_url=server.url, key=key, seconds=seconds)
        provider = connect(account)
        try:
            return [await provider.complete(request, **more) for request in requests]
        finally:
            await provider.close()

    with server.running():
        return asyncio.run(ask_all())


def failure(server: VendorServer, request: ModelRequest = REQUEST, **more: Any) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        ask(server, request, key=KEY, **more)
    shown = "".join(traceback.format_exception(caught.value)) + repr(vars(caught.value))
    assert KEY not in shown
    return caught.value


@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("", "http://127.0.0.1:11434"),
        ("  'box' ", "http://box:11434"),
        ("box:8080", "http://box:8080"),
        (":8080", "http://127.0.0.1:8080"),
        ("0.0.0.0", "http://127.0.0.1:11434"),
        ("0.0.0.0:11435", "http://127.0.0.1:11435"),
        ("[::]:11435", "http://[::1]:11435"),
        ("::1", "http://[::1]:11434"),
        ("http://box", "http://box:80"),
        ("https://box.example/ollama/", "https://box.example:443/ollama"),
        ("HTTPS://box.example:8443", "https://box.example:8443"),
    ],
)
def test_ollama_host_is_read_as_ollama_reads_it(host: str, address: str) -> None:
    assert address_of(host) == address


@pytest.mark.parametrize(
    "host",
    [
        *("ftp://box", "box:port", "http://user:secret-word@box", "http://:secret-word@box"),
        *("secret-word@box:99999", "box:99999", "http://box?x=1"),
    ],
)
def test_a_wrong_ollama_host_is_refused_and_not_quoted(host: str) -> None:
    with pytest.raises(ConfigError, match="OLLAMA_HOST is not the address of a server") as caught:
        address_of(host)
    assert caught.value.hint == "write it as http://HOST:PORT"
    assert "secret-word" not in str(caught.value)


@settings(derandomize=True, max_examples=50)
@given(st.text(max_size=30))
def test_any_text_is_refused_or_an_address_that_stays_the_same(text: str) -> None:
    try:
        found = address_of(text)
    except ConfigError:
        return
    assert address_of(found) == found


def test_a_question_comes_with_its_schema_and_the_times_are_seconds() -> None:
    server = VendorServer([answer(GOOD, thinking="Hm.")])
    pieces: list[str] = []
    (reply,) = ask(server, REQUEST, key=KEY, on_text=pieces.append)
    assert reply.text == "".join(pieces) == GOOD
    assert reply.usage == Usage(
        input_tokens=100, output_tokens=10, load_seconds=0.5, input_seconds=0.25, output_seconds=2
    )
    (received,) = server.received
    assert received.path == "/api/chat"
    assert received.headers["authorization"] == f"Bearer {KEY}"
    body = received.body
    assert body["messages"] == [
        {"role": "user", "content": "The change.\n\nWhat is wrong with it?"}
    ]
    assert body["format"] == {"type": "object"}
    assert (body["truncate"], body["shift"]) == (False, False)
    assert body["options"] == {"num_ctx": 1024, "num_predict": 500, "temperature": 0, "seed": 0}


def test_the_text_arrives_before_the_answer_is_complete() -> None:
    times: list[float] = []
    server = VendorServer([answer(GOOD, pause=0.1)])
    ask(server, REQUEST, on_text=lambda _: times.append(time.monotonic()))
    assert times[0] < server.answered[0] - 0.1


def test_the_context_grows_in_steps_and_never_shrinks() -> None:
    sizes = (100, 15_000, 16_000, 200, 120_000, 121_000)
    requests = [replace(REQUEST, prefix="word " * (size // 5)) for size in sizes]
    server = VendorServer([answer(GOOD, input_tokens=size // 3) for size in sizes])
    ask(server, *requests)
    contexts = [received.body["options"]["num_ctx"] for received in server.received]
    assert all(context % 1024 == 0 for context in contexts)
    assert contexts == sorted(contexts)
    assert len(set(contexts)) == 3
    assert contexts[4] >= (120_000 / 3 + 500) * 9 / 8


@pytest.mark.parametrize(
    ("characters", "read", "written", "reason", "fault"),
    [
        (1_000, 1_024, 11, "stop", "too_long"),  # 0.12.5: cut to exactly num_ctx
        (1_000, 1_024, 0, "length", "too_long"),
        (1_000, 1_000, 30, "stop", "too_long"),  # 0.12.6 without shift: its beginning was lost
        (60_000, 8_192, 20, "stop", "too_long"),  # cut to what the model can read at most
        (60_000, 12_000, 20, "stop", ""),
        (60_000, 0, 20, "stop", ""),  # not counted
        (3_000, 300, 20, "stop", ""),  # too short to judge
        (1_000, 800, 224, "length", "truncated"),
    ],
)
def test_the_counters_tell_that_an_old_server_cut_the_prompt(
    characters: int, read: int, written: int, reason: str, fault: str
) -> None:
    sent = answer(GOOD, input_tokens=read, output_tokens=written, done_reason=reason)
    request = replace(REQUEST, prefix="x" * characters)
    if fault:
        assert failure(VendorServer([sent]), request).fault == fault
    else:
        assert ask(VendorServer([sent]), request)[0].text == GOOD


def test_a_prefix_that_was_read_before_may_count_little() -> None:
    request = replace(REQUEST, prefix="word " * 2_000)
    server = VendorServer([answer(GOOD, input_tokens=tokens) for tokens in (2_000, 20)])
    replies = ask(server, request, request)
    assert [reply.usage and reply.usage.input_tokens for reply in replies] == [2_000, 20]


HINTS = {
    "no model: no_model": "ollama pull fake:1b",
    "no path: invalid": "check OLLAMA_HOST: another server answers there",
    "memory: no_model": "use a smaller model",
}


@pytest.mark.parametrize("name", fake_ollama.FAULTS)
def test_each_fault_is_told_apart(name: str) -> None:
    error = failure(VendorServer([fake_ollama.FAULTS[name]]))
    assert error.fault == name.split(": ")[1]
    assert error.hint == HINTS.get(name)
    assert error.retry_after == (7 if name == "rate limit: rate_limited" else None)


def test_a_server_that_repeats_the_key_does_not_get_it_into_a_message() -> None:
    found = failure(VendorServer([error(500, f"bad key {KEY}\nnext")]))
    assert str(found) == "ollama answered 500: bad key … next"


def test_no_server_and_one_that_does_not_answer_are_told_apart() -> None:
    late = VendorServer([replace(answer(GOOD), delay=0.3)])
    assert failure(late, seconds=0.1).fault == "timeout"
    account = Account(name="ollama", base_url="127.0.0.1:9", seconds=2)
    with pytest.raises(ProviderError, match="ollama cannot be reached") as caught:
        asyncio.run(connect(account).complete(REQUEST))
    assert caught.value.fault == "unreachable"
    assert "OLLAMA_HOST" in str(caught.value.hint)


def test_tools_are_called_and_their_results_sent_back() -> None:
    calls = (("read", {"path": "a"}), ("read", {"path": "b"}))
    server = VendorServer([answer(calls=calls)])
    first = replace(REQUEST, tools=(READ,))
    (wish,) = ask(server, first)
    assert [(call.id, json.loads(call.arguments)) for call in wish.calls] == [
        ("call_0_0", {"path": "a"}),
        ("call_0_1", {"path": "b"}),
    ]
    body = server.received[0].body
    assert body["tools"][0]["function"]["parameters"] == {"type": "object"}
    assert "format" not in body
    assert '{"type":"object"}' in body["messages"][0]["content"]
    turn = ToolTurn(calls=wish.calls, results=("text of a", "text of b"), native=wish.native)
    second = replace(first, turns=(turn,))
    server = VendorServer([answer(GOOD), answer(GOOD)])
    replies = ask(server, second, replace(second, may_call_tools=False))
    assert [reply.text for reply in replies] == [GOOD, GOOD]
    _, assistant, *results = server.received[0].body["messages"]
    wanted = [call["function"] for call in assistant["tool_calls"]]
    assert wanted == [{"name": name, "arguments": arguments} for name, arguments in calls]
    assert [(result["tool_name"], result["content"]) for result in results] == [
        ("read", "text of a"),
        ("read", "text of b"),
    ]
    last = server.received[1].body
    assert last["format"] == {"type": "object"}
    assert "tools" not in last


def test_a_model_that_cannot_use_tools_is_asked_without_from_then_on() -> None:
    refusal = error(400, "registry.ollama.ai/library/fake:1b does not support tools")
    server = VendorServer([refusal, answer(GOOD), answer(GOOD)])
    ask(server, *[replace(REQUEST, tools=(READ,))] * 2)
    assert ["tools" in received.body for received in server.received] == [True, False, False]
