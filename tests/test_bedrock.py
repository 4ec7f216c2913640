"""The provider `bedrock`."""

from __future__ import annotations

import asyncio
import json
import re
from time import monotonic
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from reviewbot.errors import ConfigError
from reviewbot.llm.provider import Account, ModelReply, ProviderError, ToolCall, ToolTurn, Usage
from reviewbot.llm.providers.bedrock import connect
from tests import fake_bedrock, test_anthropic
from tests.test_anthropic import READ, complete
from tests.vendor_server import VendorServer

VARIABLES = {
    "AWS_ACCESS_KEY_ID": "AKIAOFATEST",
    "AWS_SECRET_ACCESS_KEY": "the-secret-of-a-test",
    "AWS_SESSION_TOKEN": "the-session",
    "AWS_REGION": "eu-central-1",
}
CACHE_POINT = {"cachePoint": {"type": "default"}}
REQUEST = replace(test_anthropic.REQUEST, model="global.anthropic.claude-fake-v1:0")


def account(url: str = "", **fields: Any) -> Account:
    fields = {"name": "bedrock", "base_url": url, "variables": VARIABLES, "seconds": 5} | fields
    return Account(**fields)


def ask(account: Account, *requests: Any, **more: Any) -> list[ModelReply]:
    return asyncio.run(complete(connect(account), *requests, **more))


def test_an_answer_arrives_with_its_text_and_usage() -> None:
    texts: list[str] = []
    sent = fake_bedrock.answer('{"verdict": "real"}', input_tokens=7, cached=100, written=30)
    with VendorServer([sent]).running() as server:
        (reply,) = ask(account(server.url), REQUEST, on_text=texts.append)
    usage = Usage(input_tokens=137, cached_input_tokens=100, cache_write_tokens=30, output_tokens=5)
    assert reply == ModelReply(text='{"verdict": "real"}', usage=usage)
    assert texts == ['{"verdict": "real"}']
    (received,) = server.received
    assert received.path == "/model/global.anthropic.claude-fake-v1%3A0/converse"
    assert received.body["inferenceConfig"] == {"maxTokens": 700}
    (asked,) = received.body["messages"]
    assert asked["content"] == [{"text": "the change"}, CACHE_POINT, {"text": "what is wrong?"}]
    format_ = received.body["outputConfig"]["textFormat"]
    schema = json.loads(format_["structure"]["jsonSchema"]["schema"])
    assert schema["properties"]["trace"] == {"type": "string", "description": "The steps."}
    assert schema["additionalProperties"] is False
    assert "toolConfig" not in received.body


def test_every_signed_header_is_sent_and_the_secret_is_not() -> None:
    with VendorServer([fake_bedrock.answer("{}")]).running() as server:
        ask(account(server.url), REQUEST)
    headers = server.received[0].headers
    form = r"AWS4-HMAC-SHA256 Credential=AKIAOFATEST/\d{8}/eu-central-1/bedrock/aws4_request, "
    form += r"SignedHeaders=content-type;host;x-amz-date;x-amz-security-token, Signature=\w{64}"
    assert re.fullmatch(form, headers["authorization"])
    assert {"content-type", "host", "x-amz-date"} <= headers.keys()
    assert headers["x-amz-security-token"] == "the-session"
    assert "the-secret-of-a-test" not in str(server.received)


def test_only_the_variables_of_the_account_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*VARIABLES, "AWS_BEARER_TOKEN_BEDROCK", "AWS_PROFILE", "AWS_ENDPOINT_URL"):
        monkeypatch.setenv(name, "another-key")
    with VendorServer([fake_bedrock.answer("{}")] * 3).running() as server:
        ask(account(server.url), REQUEST)
        ask(account(server.url, key="the-bearer"), REQUEST)
        token = {"AWS_BEARER_TOKEN_BEDROCK": "a-token", "AWS_DEFAULT_REGION": "us-east-1"}
        ask(account(server.url, variables=token), REQUEST)
    assert "another-key" not in str(server.received)
    signed, *bearers = (received.headers["authorization"] for received in server.received)
    assert signed.startswith("AWS4-HMAC-SHA256 ")
    assert bearers == ["Bearer the-bearer", "Bearer a-token"]


@pytest.mark.parametrize("missing", ["AWS_REGION", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"])
def test_without_region_or_credentials_there_is_no_provider(missing: str) -> None:
    variables = {name: value for name, value in VARIABLES.items() if name != missing}
    with pytest.raises(ConfigError, match="has no region or no credentials of AWS"):
        connect(account(variables=variables))


@pytest.mark.parametrize("name", list(fake_bedrock.FAULTS))
def test_a_fault_of_the_api_is_named_by_what_follows_from_it(name: str) -> None:
    with VendorServer([fake_bedrock.FAULTS[name]]).running() as server:
        with pytest.raises(ProviderError) as raised:
            ask(account(server.url), REQUEST)
        assert len(server.received) == 1
    error = raised.value
    fault = name.partition(":")[0]
    assert error.fault == fault
    assert str(error).startswith("bedrock ")
    assert (error.__context__, error.__cause__) == (None, None)  # they would hold the signature
    assert error.retry_after == (3 if fault in ("overloaded", "rate_limited") else None)
    answered = fault in ("truncated", "refused") or name.endswith("tool") or "nothing" in name
    assert (error.usage is not None) == answered


def test_a_call_that_is_cancelled_or_late_ends_at_once() -> None:
    async def run(url: str) -> None:
        async with asyncio.timeout(0.1):
            await complete(connect(account(url)), REQUEST)

    started = monotonic()
    with VendorServer([fake_bedrock.answer("late", delay=0.5)] * 2).running() as server:
        with pytest.raises(TimeoutError):
            asyncio.run(run(server.url))
        with pytest.raises(ProviderError, match=r"bedrock did not answer within 0\.1 s"):
            ask(account(server.url, seconds=0.1), REQUEST)
        assert monotonic() - started < 0.45


def test_turns_of_another_vendor_are_written_in_the_form_of_this_one() -> None:
    calls = (ToolCall(id="call_1", name="read", arguments="no JSON"),)
    turn = ToolTurn(calls=calls, results=("a",), native={"anthropic": [{"type": "tool_use"}]})
    with VendorServer([fake_bedrock.answer("{}")]).running() as server:
        ask(account(server.url), replace(REQUEST, tools=(READ,), turns=(turn,)))
    (use,) = server.received[0].body["messages"][1]["content"]
    assert use == {"toolUse": {"toolUseId": "call_1", "name": "read", "input": {}}}


def test_tools_are_offered_beside_one_that_takes_the_answer() -> None:
    first = fake_bedrock.answer(calls=[("use_1", "read", {"path": "a.py"})])
    second = fake_bedrock.answer(calls=[("use_2", "answer", {"verdict": "real"})])
    request = replace(REQUEST, tools=(READ,))
    with VendorServer([first, second]).running() as server:
        (reply,) = ask(account(server.url), request)
        reply = msgspec.json.decode(msgspec.json.encode(reply), type=ModelReply)  # the ledger
        turn = ToolTurn(calls=reply.calls, results=("",), native=reply.native)
        (last,) = ask(account(server.url), replace(request, turns=(turn,), may_call_tools=False))
    assert reply.calls == (ToolCall(id="use_1", name="read", arguments='{"path": "a.py"}'),)
    assert (last.text, last.calls) == ('{"verdict": "real"}', ())
    before, after = (received.body for received in server.received)
    assert "outputConfig" not in before
    assert "toolChoice" not in before["toolConfig"]
    read, answer = (tool["toolSpec"] for tool in before["toolConfig"]["tools"])
    assert (read["name"], answer["name"]) == ("read", "answer")
    assert answer["inputSchema"]["json"]["type"] == "object"
    assert after["toolConfig"]["tools"] == before["toolConfig"]["tools"]
    assert after["toolConfig"]["toolChoice"] == {"tool": {"name": "answer"}}
    use = {"toolUseId": "use_1", "name": "read", "input": {"path": "a.py"}}
    result = {"toolUseId": "use_1", "content": [{"text": "(empty)"}]}
    assert after["messages"][1:] == [
        {"role": "assistant", "content": [{"toolUse": use}]},
        {"role": "user", "content": [{"toolResult": result}, CACHE_POINT]},
    ]


def test_what_a_model_does_not_take_is_left_out_from_then_on() -> None:
    script = [
        fake_bedrock.refuses("cachePoint is not supported by this model"),
        fake_bedrock.refuses("output_config.format: Extra inputs are not permitted"),
        fake_bedrock.refuses("This model doesn't support the toolConfig.toolChoice.tool field."),
        fake_bedrock.answer(calls=[("use_1", "answer", {"verdict": "real"})]),
        fake_bedrock.answer('{"verdict": "real"}'),
        fake_bedrock.answer("{}"),
    ]
    with VendorServer(script).running() as server:
        other = replace(REQUEST, model="amazon.nova-fake")
        replies = ask(account(server.url), REQUEST, REQUEST, other)
    assert [reply.text for reply in replies] == ['{"verdict": "real"}', '{"verdict": "real"}', "{}"]
    words = ("cachePoint", "outputConfig", "toolConfig", "toolChoice")
    bodies = [json.dumps(received.body) for received in server.received]
    sent = [[word for word in words if word in body] for body in bodies]
    assert sent == [
        ["cachePoint", "outputConfig"],
        ["outputConfig"],
        ["toolConfig", "toolChoice"],
        ["toolConfig"],
        ["toolConfig"],
        ["cachePoint", "outputConfig"],
    ]


def test_a_model_that_takes_none_of_it_is_asked_with_the_prompt_alone() -> None:
    tools = fake_bedrock.refuses("This model doesn't support tool use.")
    schema = fake_bedrock.refuses("Structured output is not supported.")
    with VendorServer([tools, schema, fake_bedrock.answer("{}")]).running() as server:
        (reply,) = ask(account(server.url), replace(REQUEST, tools=(READ,), model="old.text"))
    assert reply.text == "{}"
    assert server.received[-1].body.keys() == {"messages", "inferenceConfig"}


def test_a_complaint_about_what_was_not_sent_ends_the_call() -> None:
    complaint = fake_bedrock.refuses("cachePoint is not supported by this model")
    with VendorServer([complaint] * 3).running() as server:
        with pytest.raises(ProviderError, match="cachePoint is not supported") as raised:
            ask(account(server.url), REQUEST)
        assert (raised.value.fault, len(server.received)) == ("invalid", 2)
