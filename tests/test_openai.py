import json
from collections.abc import Iterator, Sequence
from typing import Any

import jsonschema
import pytest
from each import each
from msgspec.structs import replace

from reviewbot.debate.reader import schema_for
from reviewbot.llm.provider import ModelReply, ModelRequest, ToolCall, Usage, strict_schema
from tests import fake_openai, test_providers
from tests.fake_openai import answer, error
from tests.test_providers import GOOD, KEY, READ, REQUEST, failure, turn_of
from tests.vendor_server import Received, Sent, VendorServer, json_answer


def ask(
    server: VendorServer, *requests: ModelRequest, name: str = "gpu", **more: Any
) -> list[ModelReply]:
    return test_providers.ask(name, server, *requests, **more)


def test_a_question_is_one_text_with_the_form_of_the_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("API_KEY", "ADMIN_KEY", "BASE_URL", "ORG_ID"):
        monkeypatch.setenv(f"OPENAI_{name}", "http://127.0.0.1:9/another")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Name: another")
    server = VendorServer([answer(GOOD, input_tokens=900, cached=700, output_tokens=60)])
    (reply,) = ask(server, REQUEST)
    usage = Usage(input_tokens=900, cached_input_tokens=700, output_tokens=60)
    assert reply == ModelReply(text=GOOD, usage=usage)
    (received,) = server.received
    assert received.path == "/v1/chat/completions"
    assert received.headers["authorization"] == f"Bearer {KEY}"
    assert "another" not in str(received.headers)
    body = received.body
    text = "The change.\n\nWhat is wrong with it?"
    assert body["messages"] == [{"role": "user", "content": text}]
    assert body["response_format"]["json_schema"]["schema"] == strict_schema(REQUEST.schema)
    assert (body["max_tokens"], body["stream"]) == (500, True)
    assert body["stream_options"] == {"include_usage": True}
    # What only OpenAI knows.
    assert not {"store", "prompt_cache_key", "max_completion_tokens"} & body.keys()


ODD = [
    answer(GOOD, finish="eos"),
    fake_openai.whole({"content": [{"type": "text", "text": GOOD[:3]}, {"text": GOOD[3:]}]}),
    replace(fake_openai.whole({"content": GOOD}), headers={"content-type": "text/plain"}),
    Sent(chunks=(b": waiting\n\n", *answer(GOOD).chunks)),
    fake_openai.events(
        {"choices": [{"index": 0, "content_filter_results": {}}]},
        {"choices": [{"delta": {"content": GOOD}}]},
        {"choices": [{"delta": None, "finish_reason": "stop"}]},
    ),
]


def test_odd_answers_of_other_servers_are_read() -> None:
    assert [reply.text for reply in ask(VendorServer(ODD), *[REQUEST] * 5)] == [GOOD] * 5


def test_a_line_separator_within_a_text_ends_no_line() -> None:
    text = '{"claims": ["\u2028"]}'
    document = json.dumps({"choices": [{"delta": {"content": text}, "finish_reason": "stop"}]})
    event = f"data: {document}\n\n".encode().replace(rb"\u2028", "\u2028".encode())
    (reply,) = ask(VendorServer([Sent(chunks=(event,))]), REQUEST)
    assert reply.text == text


COUNTED = {"prompt_tokens": 10, "completion_tokens": 2}


def test_llama_cpp_says_how_long_it_took() -> None:
    timings = {"cache_n": 3, "prompt_n": 7, "prompt_ms": 500.0, "predicted_ms": 2_000.0}
    sent = fake_openai.whole({"content": GOOD}, usage=COUNTED, timings=timings)
    (reply,) = ask(VendorServer([sent]), REQUEST)
    usage = Usage(input_tokens=10, output_tokens=2, input_seconds=0.5, output_seconds=2)
    assert reply.usage == usage


def test_counters_are_believed_only_if_they_make_sense() -> None:
    wrong = ({"prompt_tokens": count, "completion_tokens": 1} for count in (-1, True))
    usages: list[tuple[Any, int | None]] = [
        *((usage, None) for usage in (None, [], "x", {}, {"prompt_tokens": 1}, *wrong)),
        *(({**COUNTED, "prompt_tokens_details": details}, 0) for details in (None, {})),
        ({**COUNTED, "prompt_tokens_details": {"cached_tokens": None}}, 0),
        ({**COUNTED, "prompt_tokens_details": {"cached_tokens": 99}}, 10),
        ({**COUNTED, "prompt_tokens_details": {"cached_tokens": 9, "cache_write_tokens": 0}}, 9),
    ]
    server = VendorServer(
        [fake_openai.whole({"content": GOOD}, usage=usage) for usage, _ in usages]
    )
    replies = ask(server, *[REQUEST] * len(usages))
    for reply, (usage, cached) in zip(replies, usages, strict=True):
        counted = Usage(input_tokens=10, cached_input_tokens=cached or 0, output_tokens=2)
        assert reply.usage == (None if cached is None else counted), usage


def server_that_refuses(*refusals: tuple[str, str, int, str]) -> VendorServer:
    """Refuses requests with (parameter, a word in its value) by (status, message)."""

    def reply(received: Received) -> Sent:
        for parameter, word, status, message in refusals:
            if parameter in received.body and word in json.dumps(received.body[parameter]):
                return error(status, message)
        return answer(GOOD)

    return VendorServer(reply)


def test_a_server_without_schemas_is_asked_for_json_and_then_in_words_and_remembered() -> None:
    """The first message is llama-cpp-python's."""
    words = "[{'loc': ('body', 'response_format', 'type'), 'msg': \"Input should be 'text'\"}]"
    server = server_that_refuses(
        ("response_format", '"json_schema"', 500, words),
        ("response_format", '"json_object"', 400, "response_format is not supported"),
    )
    ask(server, REQUEST, REQUEST, replace(REQUEST, model="other"))
    bodies = [received.body for received in server.received]
    asked = [(body["model"], body.get("response_format", {}).get("type")) for body in bodies]
    steps = ["json_schema", "json_object", None]
    expected = [*(("some-model", step) for step in (*steps, None))]
    assert asked == [*expected, *(("other", step) for step in steps)]
    assert bodies[1]["response_format"]["schema"] == strict_schema(REQUEST.schema)
    prompts = [body["messages"][0]["content"] for body in bodies[:3]]
    assert ['"verdict"' in prompt for prompt in prompts] == [False, True, True]


def test_a_parameter_that_is_refused_is_left_out_from_then_on() -> None:
    other = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
    for parameter, message, instead in (
        ("max_tokens", other, "max_completion_tokens"),
        ("stream_options", "stream_options is not supported", ""),
    ):
        server = server_that_refuses((parameter, "", 400, message))
        ask(server, REQUEST, REQUEST)
        sent = [parameter in received.body for received in server.received]
        assert sent == [True, False, False]
        assert not instead or server.received[2].body[instead] == 500


def test_a_refusal_for_another_reason_is_not_tried_again() -> None:
    for message in ("max_tokens is too large: 500", "messages: field required"):
        assert failure("gpu", VendorServer([error(400, message)]), REQUEST).fault == "invalid"


def test_tools_are_called_and_their_results_sent_back() -> None:
    calls = (("read", {"path": "a"}), ("read", {"path": "b"}))
    first = replace(REQUEST, tools=(READ,))
    with VendorServer([answer(calls=calls), answer(GOOD), answer(GOOD)]).running() as server:
        (wish,) = ask(server, first)
        second = replace(first, turns=turn_of(wish, "text of a", "text of b"))
        reply, _ = ask(server, second, replace(second, may_call_tools=False))
    assert [(call.name, json.loads(call.arguments)) for call in wish.calls] == list(calls)
    assert (reply.text, reply.calls) == (GOOD, ())
    bodies = [received.body for received in server.received]
    function = {"name": "read", "description": "Read a file.", "parameters": READ.parameters}
    tools = [{"type": "function", "function": function}]
    assert [body["tools"] for body in bodies] == [tools] * 3
    assert [body.get("tool_choice") for body in bodies] == [None, None, "none"]
    assert ["response_format" in body for body in bodies] == [False, False, True]
    _, assistant, *results = bodies[1]["messages"]
    ids = ["call_0", "call_1"]
    assert [call["id"] for call in assistant["tool_calls"]] == ids
    texts = zip(ids, ("text of a", "text of b"), strict=True)
    assert results == [{"role": "tool", "tool_call_id": id, "content": text} for id, text in texts]


def test_what_a_model_thought_goes_back_to_it() -> None:
    call = {"id": "c1", "function": {"name": "read", "arguments": '{"path":"a"}'}}
    message = {"content": None, "reasoning_content": "Hm.", "tool_calls": [call]}
    with VendorServer([fake_openai.whole(message, "stop"), answer(GOOD)]).running() as server:
        (wish,) = ask(server, REQUEST, name="deepseek")
        request = replace(REQUEST, tools=(READ,), turns=turn_of(wish, "x"))
        ask(server, request, name="deepseek")
    assert wish.calls == (ToolCall(id="c1", name="read", arguments='{"path":"a"}'),)
    assistant = server.received[1].body["messages"][1]
    assert assistant["reasoning_content"] == "Hm."
    assert assistant["tool_calls"][0]["function"]["arguments"] == '{"path":"a"}'


def test_thoughts_that_arrive_in_parts_go_back_whole() -> None:
    """And so does what the model said with its calls."""
    text = {"type": "reasoning.text", "index": 0, "format": "anthropic-claude-v1"}
    parts = [{"text": "Let", "signature": None}, {"text": " me."}, {"signature": "Et8"}]
    secrets = [{"type": "reasoning.encrypted", "index": 0, "data": data} for data in "xy"]
    details = [*({**text, **part} for part in parts), *secrets]
    call = {"index": 0, "id": "c1", "function": {"name": "read", "arguments": "{}"}}
    deltas = [
        *({"reasoning": "Hm", "reasoning_details": [detail]} for detail in details),
        {"content": "I read."},
        {"tool_calls": [call]},
    ]
    end = {"choices": [{"delta": {}, "finish_reason": "tool_calls"}]}
    wishes = fake_openai.events(*({"choices": [{"delta": delta}]} for delta in deltas), end)
    with VendorServer([wishes, answer(GOOD)]).running() as server:
        (wish,) = ask(server, REQUEST, name="openrouter")
        ask(server, replace(REQUEST, tools=(READ,), turns=turn_of(wish, "x")), name="openrouter")
    assistant = server.received[1].body["messages"][1]
    thought = {**text, "text": "Let me.", "signature": "Et8"}
    assert assistant["reasoning_details"] == [thought, *secrets]
    assert (assistant["content"], assistant["reasoning"]) == ("I read.", "Hm" * 5)


def test_what_a_vendor_behind_openrouter_says_is_quoted() -> None:
    raw = json.dumps({"error": {"type": "invalid_request_error", "message": "max_tokens: small"}})
    metadata = {"raw": raw, "provider_name": "Anthropic"}
    body = {"error": {"message": "Provider returned error", "code": 400, "metadata": metadata}}
    said = failure("openrouter", VendorServer([json_answer(body, 400)]))
    assert str(said) == "openrouter answered 400: max_tokens: small"


def test_calls_without_ids_get_others_in_each_turn() -> None:
    call = {"function": {"name": "read", "arguments": "{}"}}
    wishes = fake_openai.whole({"content": None, "tool_calls": [call]}, "tool_calls")
    with VendorServer([wishes, wishes]).running() as server:
        (wish,) = ask(server, REQUEST)
        (again,) = ask(server, replace(REQUEST, tools=(READ,), turns=turn_of(wish, "x")))
    assert wish.calls[0].id != again.calls[0].id


X = {"name": "x", "arguments": "{}"}
PARTS: Sequence[Sequence[Any]] = [
    [{"index": 0, "id": "a", "function": X}] * 2,  # one number for both
    [{"id": "a", "function": X}] * 2,  # not numbered
    [
        *({"index": n, "function": {"name": "x", "arguments": "{" * n}} for n in (0, 1)),
        *({"index": n, "function": {"arguments": "{}"[n:]}} for n in (0, 1)),
    ],
]


@each("parts", PARTS)
def test_calls_are_put_together_from_their_parts(parts: Sequence[Any]) -> None:
    deltas = [{"choices": [{"delta": {"tool_calls": [part]}}]} for part in parts]
    end = {"choices": [{"delta": {}, "finish_reason": "tool_calls"}]}
    (reply,) = ask(VendorServer([fake_openai.events(*deltas, end)]), REQUEST)
    assert [(call.name, call.arguments) for call in reply.calls] == [("x", "{}")] * 2


def test_openrouter_alone_gets_an_effort_and_the_mark_for_anthropics_cache() -> None:
    server, other = VendorServer([answer(GOOD)]), VendorServer([answer(GOOD)])
    request = replace(REQUEST, model="anthropic/claude")
    ask(server, request, name="openrouter")
    ask(other, request)
    assert isinstance(other.received[0].body["messages"][0]["content"], str)
    assert server.received[0].body["reasoning"] == {"effort": "medium"}
    assert "reasoning" not in other.received[0].body
    first, second = server.received[0].body["messages"][0]["content"]
    mark = {"cache_control": {"type": "ephemeral"}}
    assert first == {"type": "text", "text": "The change.", **mark}
    assert second == {"type": "text", "text": REQUEST.question}


def choices_in(part: Any) -> Iterator[list[Any]]:
    for name, inner in part.items() if isinstance(part, dict) else enumerate(part):
        if name == "anyOf":
            yield inner
        if isinstance(inner, dict | list):
            yield from choices_in(inner)


def test_the_schema_of_answers_has_no_choices_that_vendors_refuse() -> None:
    """OpenAI takes no objects that begin with the same key, Claude no more than 16 choices."""
    strict = strict_schema(schema_for(("python",)))
    every = [*choices_in(strict)]
    assert 0 < len(every) <= 16
    for choices in every:
        objects = [strict["$defs"][c["$ref"].rpartition("/")[2]] for c in choices if "$ref" in c]
        first = [next(iter(one["properties"])) for one in objects]
        assert len(first) == len({*first})


def test_a_property_that_was_optional_may_be_null() -> None:
    nullable = [{"type": "string"}, {"type": "null"}]
    schema = {
        "type": "object",
        "properties": {
            "a": {"enum": ["x"]},
            "b": {"type": "integer", "minimum": 1},
            "c": {"anyOf": nullable, "default": None},
            "d": {"$ref": "#/$defs/D", "default": {}},
        },
        "required": ["b", "d"],
    }
    strict = strict_schema({"$ref": "#/$defs/Root", "$defs": {"Root": schema, "D": schema}})
    jsonschema.Draft202012Validator.check_schema(strict)
    for part in (strict, strict["$defs"]["D"]):
        assert part["additionalProperties"] is False
        assert part["required"] == ["a", "b", "c", "d"]
    optional = {"anyOf": [{"enum": ["x"], "type": "string"}, {"type": "null"}]}
    b, d = {"type": "integer"}, {"$ref": "#/$defs/D"}  # it stands alone
    assert strict["properties"] == {"a": optional, "b": b, "c": {"anyOf": nullable}, "d": d}
