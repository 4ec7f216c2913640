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


def test_a_question_comes_with_its_schema_and_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("API_KEY", "GENAI_USE_VERTEXAI", "GEMINI_BASE_URL", "GENAI_API_VERSION"):
        monkeypatch.setenv(f"GOOGLE_{name}", "http://127.0.0.1:9")
    counts = {"input_tokens": 900, "cached": 700, "output_tokens": 50, "thought_tokens": 10}
    server = VendorServer([answer(GOOD, thought="Hm.", **counts)])
    pieces: list[str] = []
    (reply,) = ask(server, REQUEST, on_text=pieces.append)
    assert "".join(pieces) == GOOD
    usage = Usage(input_tokens=900, cached_input_tokens=700, output_tokens=60)
    assert reply == ModelReply(text=GOOD, usage=usage)
    (received,) = server.received
    assert received.path == "/v1beta/models/some-model:streamGenerateContent?alt=sse"
    assert received.headers["x-goog-api-key"] == KEY
    parts = [{"text": "The change.\n\n"}, {"text": REQUEST.question}]
    schema = {"responseJsonSchema": strict_schema(REQUEST.schema)}
    thinking = {"thinkingConfig": {"thinkingLevel": "MEDIUM"}}
    form = {"maxOutputTokens": 500, "responseMimeType": "application/json", **schema, **thinking}
    contents = [{"role": "user", "parts": parts}]
    assert received.body == {"contents": contents, "generationConfig": form}


FINISHES = {
    "truncated": "MAX_TOKENS CONTINUATION",
    "refused": "SAFETY RECITATION BLOCKLIST SPII PROHIBITED_CONTENT MODEL_ARMOR ESCALATION",
    "malformed": "LANGUAGE OTHER MALFORMED_FUNCTION_CALL UNEXPECTED_TOOL_CALL TOO_MANY_TOOL_CALLS"
    " A_WORD_OF_NEXT_YEAR",
}


@each(("fault", "words"), FINISHES.items())
def test_only_stop_ends_an_answer(fault: str, words: str) -> None:
    for finish in words.split():
        found = failure("gemini", VendorServer([answer(GOOD, finish=finish)]))
        assert (found.fault, finish in str(found)) == (fault, True), finish
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


def test_a_model_that_has_no_such_level_of_thinking_is_asked_without_from_then_on() -> None:
    words = "Thinking level MEDIUM is not supported for this model. Please retry with other"
    server = VendorServer([json_answer(error(400, words), 400), answer(GOOD), answer(GOOD)])
    ask(server, REQUEST, REQUEST)
    bodies = [received.body["generationConfig"] for received in server.received]
    assert ["thinkingConfig" in body for body in bodies] == [True, False, False]
    assert all("responseJsonSchema" in body for body in bodies)


def test_tools_come_without_schema_and_the_models_turn_goes_back_unchanged() -> None:
    calls = (("read", {"path": "a"}), ("read", {"path": "b"}))
    first = replace(REQUEST, tools=(READ,))
    answers = [answer(thought="Why not?", calls=calls), answer(GOOD), answer(GOOD)]
    with VendorServer(answers).running() as server:
        (wish,) = ask(server, first)
        second = replace(first, turns=turn_of(wish, "text of a", "text of b"))
        (reply, _) = ask(server, second, replace(second, may_call_tools=False))
    assert [(call.name, json.loads(call.arguments)) for call in wish.calls] == list(calls)
    assert [call.id for call in wish.calls] == ["call_0_0", "call_0_1"]
    assert reply.text == GOOD
    body, again, last = (received.body for received in server.received)
    assert "responseMimeType" not in body["generationConfig"]
    assert '"verdict"' in body["contents"][0]["parts"][1]["text"]
    (function,) = body["tools"][0]["functionDeclarations"]
    assert (function["name"], function["description"]) == ("read", "Read a file.")
    assert function["parametersJsonSchema"] == READ.parameters
    _, model, user = again["contents"]
    assert model["role"] == "model"
    assert model["parts"][0] == {"text": "Why not?", "thought": True}
    signed = model["parts"][1]
    assert signed["functionCall"] == {"name": "read", "args": {"path": "a"}}
    signature = base64.urlsafe_b64decode(signed["thoughtSignature"])
    assert signature == base64.b64decode(SIGNATURE)
    results = [{"name": "read", "response": {"output": f"text of {name}"}} for name in "ab"]
    assert user["parts"] == [{"functionResponse": result} for result in results]
    assert last["toolConfig"]["functionCallingConfig"]["mode"] == "NONE"
    assert last["tools"] == body["tools"]


def test_ids_of_calls_that_gemini_gave_go_back_to_it() -> None:
    """And counters may be missing."""
    call = {"functionCall": {"id": "fc_1", "name": "read", "args": {}}}
    candidate = {"content": {"parts": [call]}, "finishReason": "STOP"}
    answers = [fake_gemini.events({"candidates": [candidate]}), answer(GOOD)]
    with VendorServer(answers).running() as server:
        (wish,) = ask(server, REQUEST)
        ask(server, replace(REQUEST, turns=turn_of(wish, "x")))
    assert wish.usage is None
    _, model, user = server.received[1].body["contents"]
    assert model["parts"][0]["functionCall"]["name"] == "read"
    assert user["parts"][0]["functionResponse"]["id"] == "fc_1"
