"""The provider `bedrock`."""

import json
import re
from functools import cache
from typing import Any

import pytest
from botocore.loaders import Loader
from botocore.model import ServiceModel, Shape
from botocore.validate import ParamValidator
from each import each
from msgspec.structs import replace

from reviewbot.errors import ConfigError
from reviewbot.llm.provider import ModelReply, ToolCall, Usage
from tests import fake_bedrock, test_providers
from tests.test_providers import AWS, READ, make_provider, turn_of
from tests.vendor_server import VendorServer

CACHE_POINT = {"cachePoint": {"type": "default"}}
REQUEST = replace(test_providers.REQUEST, model="global.anthropic.claude-fake-v1:0")


@cache
def converse() -> Shape:
    """What AWS's own client takes as a request."""
    model = ServiceModel(Loader().load_service_model("bedrock-runtime", "service-2"))
    shape = model.operation_model("Converse").input_shape
    assert shape
    return shape


def ask(server: VendorServer, *requests: Any, **more: Any) -> list[ModelReply]:
    replies = test_providers.ask("bedrock", server, *requests, **more)
    for received in server.received:
        parameters = {"modelId": REQUEST.model, **received.body}
        assert not ParamValidator().validate(parameters, converse()).generate_report()
    return replies


def test_an_answer_arrives_with_its_text_and_usage() -> None:
    texts: list[str] = []
    sent = fake_bedrock.answer('{"verdict": "real"}', input_tokens=7, cached=100, written=30)
    server = VendorServer([sent])
    (reply,) = ask(server, REQUEST, on_text=texts.append)
    usage = Usage(input_tokens=137, cached_input_tokens=100, cache_write_tokens=30, output_tokens=5)
    assert reply == ModelReply(text='{"verdict": "real"}', usage=usage)
    assert texts == ['{"verdict": "real"}']
    (received,) = server.received
    assert received.path == "/model/global.anthropic.claude-fake-v1%3A0/converse"
    body = received.body
    assert body["inferenceConfig"] == {"maxTokens": 500}
    question = {"text": "What is wrong with it?"}
    assert body["messages"][0]["content"] == [{"text": "The change."}, CACHE_POINT, question]
    format_ = body["outputConfig"]["textFormat"]
    schema = json.loads(format_["structure"]["jsonSchema"]["schema"])
    trace = {"type": "string", "description": "The steps."}
    assert schema["properties"]["trace"] == {"anyOf": [trace, {"type": "null"}]}
    assert schema["additionalProperties"] is False
    assert "toolConfig" not in body


def test_every_signed_header_is_sent_and_the_secret_is_not() -> None:
    server = VendorServer([fake_bedrock.answer("{}")])
    ask(server, REQUEST)
    headers = server.received[0].headers
    form = r"AWS4-HMAC-SHA256 Credential=AKIAOFATEST/\d{8}/eu-central-1/bedrock/aws4_request, "
    form += r"SignedHeaders=content-type;host;x-amz-date;x-amz-security-token, Signature=\w{64}"
    assert re.fullmatch(form, headers["authorization"])
    assert {"content-type", "host", "x-amz-date"} <= headers.keys()
    assert headers["x-amz-security-token"] == "the-session"
    assert "the-secret-of-a-test" not in str(server.received)


def test_only_the_variables_of_the_account_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*AWS, "AWS_BEARER_TOKEN_BEDROCK", "AWS_PROFILE", "AWS_ENDPOINT_URL"):
        monkeypatch.setenv(name, "another-key")
    token = {"AWS_BEARER_TOKEN_BEDROCK": "a-token", "AWS_DEFAULT_REGION": "us-east-1"}
    with VendorServer([fake_bedrock.answer("{}")] * 3).running() as server:
        ask(server, REQUEST)
        ask(server, REQUEST, key="the-bearer")
        ask(server, REQUEST, variables=token)
    assert "another-key" not in str(server.received)
    signed, *bearers = (received.headers["authorization"] for received in server.received)
    assert signed.startswith("AWS4-HMAC-SHA256 ")
    assert bearers == ["Bearer the-bearer", "Bearer a-token"]


@each("missing", ["AWS_REGION", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"])
def test_without_region_or_credentials_there_is_no_provider(missing: str) -> None:
    variables = {name: value for name, value in AWS.items() if name != missing}
    with pytest.raises(ConfigError, match="has no region or no credentials of AWS"):
        make_provider("bedrock", "", variables=variables)


def test_tools_are_offered_beside_one_that_takes_the_answer() -> None:
    first = fake_bedrock.answer(calls=[("use_1", "read", {"path": "a.py"})])
    second = fake_bedrock.answer(calls=[("use_2", "answer", {"verdict": "real"})])
    request = replace(REQUEST, tools=(READ,))
    with VendorServer([first, second]).running() as server:
        (reply,) = ask(server, request)
        (last,) = ask(server, replace(request, turns=turn_of(reply, ""), may_call_tools=False))
    assert reply.calls == (ToolCall(id="use_1", name="read", arguments='{"path":"a.py"}'),)
    assert (last.text, last.calls) == ('{"verdict":"real"}', ())
    before, after = (received.body for received in server.received)
    assert before["outputConfig"] == {"effort": "medium"}
    assert "toolChoice" not in before["toolConfig"]
    read, answer = (tool["toolSpec"] for tool in before["toolConfig"]["tools"])
    schema = {"inputSchema": {"json": READ.parameters}}
    assert read == {"name": "read", "description": "Read a file.", **schema}
    assert (answer["name"], answer["inputSchema"]["json"]["type"]) == ("answer", "object")
    assert after["toolConfig"]["tools"] == before["toolConfig"]["tools"]
    assert after["toolConfig"]["toolChoice"] == {"tool": {"name": "answer"}}
    use = {"toolUseId": "use_1", "name": "read", "input": {"path": "a.py"}}
    result = {"toolUseId": "use_1", "content": [{"text": "(empty)"}]}
    said = {"role": "assistant", "content": [{"toolUse": use}]}
    got = {"role": "user", "content": [{"toolResult": result}, CACHE_POINT]}
    assert after["messages"][1:] == [said, got]


def test_what_a_model_does_not_take_is_left_out_from_then_on() -> None:
    refusals = (
        "cachePoint is not supported by this model",
        "output_config.effort: Extra inputs are not permitted",
        "output_config.format: Extra inputs are not permitted",
        "This model doesn't support the toolConfig.toolChoice.tool field.",
    )
    said = '{"verdict": "real"}'
    script = [
        *map(fake_bedrock.refuses, refusals),
        fake_bedrock.answer(calls=[("use_1", "answer", {"verdict": "real"})]),
        *map(fake_bedrock.answer, (said, "{}")),
    ]
    server = VendorServer(script)
    replies = ask(server, REQUEST, REQUEST, replace(REQUEST, model="amazon.nova-fake"))
    assert [reply.text for reply in replies] == ['{"verdict":"real"}', said, "{}"]
    words = ("cachePoint", "effort", "textFormat", "toolConfig", "toolChoice")
    bodies = [json.dumps(received.body) for received in server.received]
    assert [" ".join(word for word in words if word in body) for body in bodies] == [
        *("cachePoint effort textFormat", "effort textFormat", "textFormat"),
        *("toolConfig toolChoice", "toolConfig", "toolConfig", "cachePoint textFormat"),
    ]


def test_an_older_model_is_asked_without_what_it_does_not_know() -> None:
    for model, refusals in (
        (REQUEST.model, ["Malformed input request: extraneous key [output_config]"]),
        (REQUEST.model, ["Schemas contains too many parameters with union types (limit: 16)."]),
        ("old", ["This model doesn't support tool use.", "Structured output is not supported."]),
    ):
        script = [*map(fake_bedrock.refuses, refusals), fake_bedrock.answer("{}")]
        server = VendorServer(script)
        (reply,) = ask(server, replace(REQUEST, tools=(READ,), model=model))
        assert reply.text == "{}"
        last = server.received[-1].body.keys()
        assert last == {"messages", "inferenceConfig", *(["toolConfig"] if model != "old" else [])}
