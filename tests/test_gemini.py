from __future__ import annotations

import base64
import json
from functools import partial

import pytest
from each import each
from msgspec.structs import replace

from reviewbot.llm.provider import ModelReply, Usage, strict_schema
from tests import fake_gemini, test_providers
from tests.fake_gemini import SIGNATURE, answer, error
from tests.test_providers import GOOD, KEY, READ, REQUEST, failure, turn_of
from tests.vendor_server import VendorServer, json_answer

ask = partial(test_providers.ask, "gemini")


def test_a_question_comes_with_its_schema_and_thoughts_are_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for variable, value in {
        "GOOGLE_API_KEY": "key-of-somebody-else",
        "GOOGLE_GENAI_USE_VERTEXAI": "true",
        "GOOGLE_GEMINI_BASE_URL": "http://127.0.0.1:9",
        "GOOGLE_GENAI_API_VERSION": "v9",
    }.items():
        monkeypatch.setenv(variable, value)
    sent = answer(
        GOOD, thought="Hm.", input_tokens=900, cached=700, output_tokens=50, thought_tokens=10
    )
    server = VendorServer([sent])
    pieces: list[str] = []
    (reply,) = ask(server, REQUEST, on_text=pieces.append)
    assert "".join(pieces) == GOOD
    usage = Usage(input_tokens=900, cached_input_tokens=700, output_tokens=60)
    assert reply == ModelReply(text=GOOD, usage=usage)
    (received,) = server.received
    assert received.path == "/v1beta/models/some-model:streamGenerateContent?alt=sse"
    assert received.headers["x-goog-api-key"] == KEY
    assert received.body == {
        "contents": [
            {"role": "user", "parts": [{"text": "The change.\n\n"}, {"text": REQUEST.question}]}
        ],
        "generationConfig": {
            "maxOutputTokens": 500,
            "responseMimeType": "application/json",
            "responseJsonSchema": strict_schema(REQUEST.schema),
        },
    }


def test_counters_may_be_missing() -> None:
    sent = fake_gemini.events(
        {"candidates": [{"content": {"parts": [{"text": GOOD}]}, "finishReason": "STOP"}]}
    )
    (reply,) = ask(VendorServer([sent]), REQUEST)
    assert reply == ModelReply(text=GOOD, usage=None)


@each(
    ("finish", "fault"),
    [
        *((word, "truncated") for word in ("MAX_TOKENS", "CONTINUATION")),
        *((word, "refused") for word in ("SAFETY", "RECITATION", "BLOCKLIST", "SPII")),
        *((word, "refused") for word in ("PROHIBITED_CONTENT", "MODEL_ARMOR", "ESCALATION")),
        *((word, "malformed") for word in ("LANGUAGE", "OTHER", "MALFORMED_FUNCTION_CALL")),
        *((word, "malformed") for word in ("TOO_MANY_TOOL_CALLS", "A_WORD_OF_NEXT_YEAR")),
    ],
)
def test_only_stop_ends_an_answer(finish: str, fault: str) -> None:
    found = failure("gemini", VendorServer([answer(GOOD, finish=finish)]))
    assert found.fault == fault
    assert finish in str(found)
    assert found.usage == Usage(input_tokens=100, output_tokens=10)


def test_a_model_that_refuses_the_schema_is_asked_in_words_from_then_on() -> None:
    words = "The specified schema produces a constraint that has too many states for serving."
    server = VendorServer([json_answer(error(400, words), 400), answer(GOOD), answer(GOOD)])
    ask(server, REQUEST, REQUEST)
    bodies = [received.body for received in server.received]
    has_schema = ["responseJsonSchema" in body["generationConfig"] for body in bodies]
    assert has_schema == [True, False, False]
    questions = [body["contents"][0]["parts"][1]["text"] for body in bodies]
    assert ['"verdict"' in question for question in questions] == [False, True, True]


def test_tools_come_without_schema_and_the_models_turn_goes_back_unchanged() -> None:
    calls = (("read", {"path": "a"}), ("read", {"path": "b"}))
    first = replace(REQUEST, tools=(READ,))
    server = VendorServer([answer(thought="Why not?", calls=calls)])
    (wish,) = ask(server, first)
    assert [(call.name, json.loads(call.arguments)) for call in wish.calls] == list(calls)
    assert [call.id for call in wish.calls] == ["call_0_0", "call_0_1"]
    body = server.received[0].body
    assert "responseMimeType" not in body["generationConfig"]
    assert '"verdict"' in body["contents"][0]["parts"][1]["text"]
    (function,) = body["tools"][0]["functionDeclarations"]
    assert (function["name"], function["description"]) == ("read", "Read a file.")
    assert function["parametersJsonSchema"] == READ.parameters
    second = replace(first, turns=turn_of(wish, "text of a", "text of b"))
    server = VendorServer([answer(GOOD), answer(GOOD)])
    (reply, _) = ask(server, second, replace(second, may_call_tools=False))
    assert reply.text == GOOD
    _, model, user = server.received[0].body["contents"]
    assert model["role"] == "model"
    assert model["parts"][0] == {"text": "Why not?", "thought": True}
    signed = model["parts"][1]
    assert signed["functionCall"] == {"name": "read", "args": {"path": "a"}}
    signature = base64.urlsafe_b64decode(signed["thoughtSignature"])
    assert signature == base64.b64decode(SIGNATURE)
    assert user["parts"] == [
        {"functionResponse": {"name": "read", "response": {"output": f"text of {name}"}}}
        for name in ("a", "b")
    ]
    last = server.received[1].body
    assert last["toolConfig"]["functionCallingConfig"]["mode"] == "NONE"
    assert last["tools"] == server.received[0].body["tools"]


def test_ids_of_calls_that_gemini_gave_go_back_to_it() -> None:
    call = {"functionCall": {"id": "fc_1", "name": "read", "args": {}}}
    sent = fake_gemini.events(
        {"candidates": [{"content": {"parts": [call]}, "finishReason": "STOP"}]}
    )
    (wish,) = ask(VendorServer([sent]), REQUEST)
    server = VendorServer([answer(GOOD)])
    ask(server, replace(REQUEST, turns=turn_of(wish, "x")))
    _, model, user = server.received[0].body["contents"]
    assert model["parts"][0]["functionCall"]["name"] == "read"
    assert user["parts"][0]["functionResponse"]["id"] == "fc_1"
