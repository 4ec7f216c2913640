import json

from each import each
from msgspec.structs import replace

from reviewbot.llm.provider import ModelReply, ModelRequest, Usage, strict_schema
from tests import fake_openai, test_providers
from tests.fake_openai import error
from tests.fake_responses import THOUGHT, answer, ended, message
from tests.test_providers import GOOD, KEY, READ, REQUEST, turn_of
from tests.vendor_server import Received, Sent, VendorServer, json_answer

TOOLS = replace(REQUEST, tools=(READ,))


def ask(server: VendorServer, *requests: ModelRequest) -> list[ModelReply]:
    return test_providers.ask("openai", server, *requests)


def test_what_panelists_share_ends_with_a_mark_for_the_prompt_cache() -> None:
    sent = answer(GOOD, input_tokens=900, cached=700, stored=150, output_tokens=60)
    server = VendorServer([sent])
    (reply,) = ask(server, REQUEST)
    cached = Usage(input_tokens=900, cached_input_tokens=700, cache_write_tokens=150)
    assert reply == ModelReply(text=GOOD, usage=replace(cached, output_tokens=60))
    (received,) = server.received
    assert received.path == "/v1/responses"
    assert received.headers["authorization"] == f"Bearer {KEY}"
    body = received.body
    mark = {"prompt_cache_breakpoint": {"mode": "explicit"}}
    shared = {"type": "input_text", "text": "The change.", **mark}
    question = {"type": "input_text", "text": "What is wrong with it?"}
    assert body["input"] == [{"role": "user", "content": [shared, question]}]
    assert body["prompt_cache_options"] == {"mode": "explicit"}
    assert len(body["prompt_cache_key"]) == 32
    form = {"type": "json_schema", "name": "answer", "strict": True}
    assert body["text"] == {"format": {**form, "schema": strict_schema(REQUEST.schema)}}
    assert (body["max_output_tokens"], body["store"], body["stream"]) == (500, False, True)
    assert body["reasoning"] == {"effort": "medium"}
    assert "tools" not in body


def test_tools_are_called_and_thoughts_go_back_with_their_results() -> None:
    calls = (("read", {"path": "a"}), ("read", {"path": "b"}))
    with VendorServer([answer(calls=calls), answer(GOOD), answer(GOOD)]).running() as server:
        (wish,) = ask(server, TOOLS)
        second = replace(TOOLS, turns=turn_of(wish, "text of a", "text of b"))
        reply, _ = ask(server, second, replace(second, may_call_tools=False))
    assert [(call.name, json.loads(call.arguments)) for call in wish.calls] == list(calls)
    assert (reply.text, reply.calls) == (GOOD, ())
    one, two, three = (received.body for received in server.received)
    assert one["tools"] == two["tools"] == three["tools"]
    assert (one["tools"][0]["type"], one["tools"][0]["strict"]) == ("function", False)
    assert [body["tool_choice"] for body in (one, two, three)] == ["auto", "auto", "none"]
    _, thought, *items = two["input"]
    assert thought == {name: value for name, value in THOUGHT.items() if value is not None}
    kinds = ("function_call", "function_call_output")
    expected = [(kind, f"call_{number}") for kind in kinds for number in (0, 1)]
    assert [(item["type"], item["call_id"]) for item in items] == expected
    assert items[2]["output"] == "text of a"


def test_what_a_model_says_beside_its_answer_is_no_part_of_it() -> None:
    said = ended(message("I look at it first.", phase="commentary"), message(GOOD))
    (reply,) = ask(VendorServer([said]), REQUEST)
    assert reply.text == GOOD


@each(
    ("part", "words"),
    [
        ("reasoning", "Unsupported parameter: 'reasoning.effort' is not supported with this model"),
        ("reasoning", "Encrypted content is not supported with this model."),
        ("prompt_cache_options", "Unknown parameter: 'prompt_cache_options'."),
        ("prompt_cache_options", "Unknown parameter: 'input[0].content[0].prompt_cache_breakpoint"),
        ("text", "Invalid parameter: 'text.format' of type 'json_schema' is not supported"),
        ("text", "Invalid schema: Objects provided via 'anyOf' must not share first keys"),
    ],
)
def test_what_an_older_model_does_not_take_is_left_out_from_then_on(part: str, words: str) -> None:
    def reply(received: Received) -> Sent:
        return error(400, words) if part in received.body else answer(GOOD)

    server = VendorServer(reply)
    ask(server, REQUEST, REQUEST)
    first, *others = (received.body for received in server.received)
    gone = {"reasoning": {"reasoning", "include"}}.get(part, {part})
    assert [first.keys() - other.keys() for other in others] == [gone, gone]
    mark = "prompt_cache_breakpoint" in str(others[0]["input"])
    assert mark == (part != "prompt_cache_options")
    assert ("JSON Schema" in str(others[0]["input"])) == (part == "text")


def test_a_server_in_front_that_knows_chat_completions_alone_is_asked_by_them() -> None:
    for refusal in (json_answer({"detail": "Not Found"}, 404), Sent(status=405)):

        def reply(received: Received, refusal: Sent = refusal) -> Sent:
            return refusal if received.path == "/v1/responses" else fake_openai.answer(GOOD)

        server = VendorServer(reply)
        assert [reply.text for reply in ask(server, REQUEST, REQUEST)] == [GOOD, GOOD]
        paths = [received.path for received in server.received]
        assert paths == ["/v1/responses", "/v1/chat/completions", "/v1/chat/completions"]
