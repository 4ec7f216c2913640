import json
from functools import partial

import pytest
from each import each
from msgspec.structs import replace

from reviewbot.errors import ConfigError
from reviewbot.llm.provider import Usage
from reviewbot.llm.providers.ollama import address_of
from tests import test_providers
from tests.fake_ollama import answer, error
from tests.test_providers import GOOD, KEY, READ, failure, turn_of
from tests.vendor_server import VendorServer

REQUEST = replace(test_providers.REQUEST, model="fake:1b", schema={"type": "object"})
ask = partial(test_providers.ask, "ollama")


def test_ollama_host_is_read_as_ollama_reads_it() -> None:
    for host, address in (
        ("", "http://127.0.0.1:11434"),
        (" box ", "http://box:11434"),
        ("0.0.0.0:11435", "http://127.0.0.1:11435"),
        ("[::1]", "http://[::1]:11434"),
        ("http://box", "http://box"),
        ("https://box.example/ollama/", "https://box.example/ollama"),
    ):
        assert address_of(host) == address


@each(
    "host",
    [
        *("ftp://box", "box:port", "http://user:secret-word@box", "secret-word@box:99999"),
        *("http://box?x=1", "::1", ":8080"),
    ],
)
def test_a_wrong_ollama_host_is_refused_and_not_quoted(host: str) -> None:
    with pytest.raises(ConfigError, match=r"the address of ollama is not ") as caught:
        test_providers.make_provider("ollama", host)
    assert "secret-word" not in str(caught.value)


def test_a_question_comes_with_its_schema_and_the_times_are_seconds() -> None:
    server = VendorServer([answer(GOOD, thinking="Hm.")])
    pieces: list[str] = []
    (reply,) = ask(server, REQUEST, on_text=pieces.append)
    assert reply.text == "".join(pieces) == GOOD
    seconds = {"load_seconds": 0.5, "input_seconds": 0.25, "output_seconds": 2}
    assert reply.usage == Usage(input_tokens=100, output_tokens=10, **seconds)
    (received,) = server.received
    assert received.path == "/api/chat"
    assert received.headers["authorization"] == f"Bearer {KEY}"
    body = received.body
    text = "The change.\n\nWhat is wrong with it?"
    assert body["messages"] == [{"role": "user", "content": text}]
    assert body["format"] == {"type": "object"}
    assert (body["truncate"], body["shift"]) == (False, False)
    assert body["options"] == {"num_ctx": 1024, "num_predict": 500, "temperature": 0, "seed": 0}


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


def test_the_counters_tell_that_an_old_server_cut_the_prompt() -> None:
    for characters, read, written, reason, fault in (
        (1_000, 1_024, 11, "stop", "too_long"),  # 0.12.5: cut to exactly num_ctx
        (1_000, 1_024, 0, "length", "too_long"),
        (60_000, 0, 20, "stop", ""),  # not counted
        (1_000, 800, 224, "length", "truncated"),
    ):
        sent = answer(GOOD, input_tokens=read, output_tokens=written, done_reason=reason)
        request = replace(REQUEST, prefix="x" * characters)
        if fault:
            assert failure("ollama", VendorServer([sent]), request).fault == fault
        else:
            assert ask(VendorServer([sent]), request)[0].text == GOOD


def test_tools_are_called_and_their_results_sent_back() -> None:
    calls = (("read", {"path": "a"}), ("read", '{"path": "b"}'))  # a text, as some write it
    first = replace(REQUEST, tools=(READ,))
    said = answer("I read.", thinking="Hm.", calls=calls)
    with VendorServer([said, answer(GOOD), answer(GOOD)]).running() as server:
        (wish,) = ask(server, first)
        second = replace(first, turns=turn_of(wish, "text of a", "text of b"))
        replies = ask(server, second, replace(second, may_call_tools=False))
    made = [(call.id, json.loads(call.arguments)) for call in wish.calls]
    assert made == [("call_0_0", {"path": "a"}), ("call_0_1", {"path": "b"})]
    assert [reply.text for reply in replies] == [GOOD, GOOD]
    body, again, last = (received.body for received in server.received)
    assert body["tools"][0]["function"]["parameters"] == READ.parameters
    assert "format" not in body
    assert '{"type":"object"}' in body["messages"][0]["content"]
    _, assistant, *results = again["messages"]
    assert (assistant["role"], assistant["content"]) == ("assistant", "I read.")
    assert assistant["thinking"] == "Hm."
    wanted = [call["function"] for call in assistant["tool_calls"]]
    assert wanted == [{"name": "read", "arguments": {"path": path}} for path in "ab"]
    sent = [(result["tool_name"], result["content"]) for result in results]
    assert sent == [("read", "text of a"), ("read", "text of b")]
    assert last["format"] == {"type": "object"}
    assert "tools" not in last


def test_a_model_that_cannot_use_tools_is_asked_without_from_then_on() -> None:
    refusal = error(400, "registry.ollama.ai/library/fake:1b does not support tools")
    server = VendorServer([refusal, answer(GOOD), answer(GOOD)])
    ask(server, *[replace(REQUEST, tools=(READ,))] * 2)
    assert ["tools" in received.body for received in server.received] == [True, False, False]
