"""The provider for OpenAI and every server that speaks its language, through the real library; chat and responses."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviewbot.adapters.panel import openai_responses, openai_words
from reviewbot.adapters.panel.openai import OpenAI, messages
from reviewbot.adapters.panel.openai_manners import Manners, first_manners, humbler, options
from reviewbot.adapters.panel.openai_responses import Responses
from reviewbot.debate import reply
from reviewbot.ports import Account, Exchange, Fault, Provider, ProviderError, Stop, ToolCall, ToolResult, ToolSpec
from tests.fakes import Answer, Models, Seen, Tokens, Wish, faults, queue, rejects, uses
from tests.fakes.faults import Canned
from tests.fakes.http import Reply
from tests.panel.asking import CALL, account, answered, failed, with_provider
from tests.rings import examples

READ = ToolSpec("read", "Read a file.", {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]})
HERE = Account("vendor")


@pytest.fixture
def models() -> Iterator[Models]:
    with Models() as running:
        yield running


@pytest.fixture
def make(models: Models) -> Callable[[], Provider]:
    return lambda: OpenAI(account(models.url + "/v1"))


@pytest.fixture(params=[OpenAI, Responses])
def either(request: pytest.FixtureRequest, models: Models) -> Callable[[], Provider]:
    return lambda: request.param(account(models.url + "/v1"))


def test_the_question_is_one_text_and_the_answer_has_a_form(make: Callable[[], Provider], models: Models):
    answered(make)
    (seen,) = models.calls
    assert (seen.system, seen.prompt) == (CALL.system, CALL.prefix + CALL.suffix)
    assert seen.body["response_format"]["json_schema"]["strict"] is True
    assert seen.max_output == 500
    assert not {"store", "prompt_cache_key", "reasoning_effort"} & set(seen.body), "these are OpenAI's own"


SCHEMAS = [name for name in vars(reply) if name.endswith("_SCHEMA")]


@pytest.mark.parametrize("name", SCHEMAS)
def test_every_schema_of_the_debate_is_one_that_strict_mode_takes(either: Callable[[], Provider], models: Models, name: str):
    answered(either, schema=getattr(reply, name))
    assert models.calls[-1].schema is not None
    assert len(models.requests) == 1


def test_cached_tokens_are_a_part_of_what_was_read(either: Callable[[], Provider], models: Models):
    models.script = lambda _: Answer("{}", usage=Tokens(input=100, cached=60, output=7))
    tokens = answered(either).tokens
    assert (tokens.input, tokens.cached, tokens.output, tokens.known) == (100, 60, 7, True)


def test_an_answer_that_does_not_say_its_cost_says_so(either: Callable[[], Provider], models: Models):
    models.script = lambda _: faults.no_usage('{"ok": 1}')
    found = answered(either)
    assert (found.stop, found.tokens.known) == (Stop.END, False)


@pytest.mark.parametrize(
    "usage",
    [
        None, [], "x", {}, {"prompt_tokens": None}, {"prompt_tokens": 1}, {"prompt_tokens": -1, "completion_tokens": 1},
        {"prompt_tokens": True, "completion_tokens": 1},
    ],
)  # fmt: skip
def test_counters_that_say_nothing_are_not_known(usage: Any):
    assert not openai_words.tokens(usage).known


def test_details_of_counters_may_be_missing_or_too_large():
    told = {"prompt_tokens": 10, "completion_tokens": 2}
    for details, cached in ((None, 0), ({}, 0), ({"cached_tokens": None}, 0), ({"cached_tokens": 99}, 10)):
        tokens = openai_words.tokens({**told, "prompt_tokens_details": details})
        assert (tokens.input, tokens.cached, tokens.output, tokens.known) == (10, cached, 2, True)


FINISHES = [
    ("stop", "", "{}", Stop.END),
    ("length", "", "{", Stop.LENGTH),
    ("content_filter", "", "{}", Stop.REFUSED),
    ("stop", "I will not.", "", Stop.REFUSED),
    ("tool_calls", "", "{}", Stop.OTHER),
    ("function_call", "", "{}", Stop.OTHER),
    ("something_new", "", "{}", Stop.OTHER),
    ("stop", "", "", Stop.OTHER),
]


@pytest.mark.parametrize(("finish", "refusal", "text", "stop"), FINISHES)
def test_only_a_stop_with_text_is_an_end(
    make: Callable[[], Provider], models: Models, finish: str, refusal: str, text: str, stop: Stop
):
    models.script = lambda _: faults.L10(finish, refusal, text)
    found = answered(make)
    assert found.stop is stop
    assert refusal in found.reason
    assert (found.reason == "") == (stop is Stop.END)
    assert found.tokens.known


FAILURES = [
    (faults.L7(), Fault.TOO_LONG),
    (faults.L8("rate_limit_exceeded", 3), Fault.RATE_LIMITED),
    (faults.L8("slow_down"), Fault.RATE_LIMITED),
    (faults.L8("server_is_overloaded"), Fault.OVERLOADED),
    (faults.L9("insufficient_quota"), Fault.SPENT),
    (faults.L9("organization_usage_limit_exceeded"), Fault.SPENT),
    (faults.L9("credit_balance_exhausted"), Fault.SPENT),
    (faults.L9("organization_spend_limit_exceeded"), Fault.SPENT),
    (faults.L9("project_spend_limit_exceeded"), Fault.SPENT),
    (faults.L4("bad_request"), Fault.INVALID),
    (faults.L4("spend_400"), Fault.SPENT),
    (faults.L4("denied"), Fault.DENIED),
    (faults.L4("billing"), Fault.SPENT),
    (faults.L4("forbidden"), Fault.DENIED),
    (faults.L4("no_model"), Fault.NO_MODEL),
    (faults.L4("too_large"), Fault.TOO_LONG),
    (faults.L4("server"), Fault.SERVER),
    (faults.L4("gateway"), Fault.SERVER),
]


@pytest.mark.parametrize(("fault", "expected"), FAILURES, ids=[fault.name for fault, _ in FAILURES])
def test_every_documented_fault_is_known_and_tried_once(
    either: Callable[[], Provider], models: Models, fault: Any, expected: Fault
):
    models.script = lambda _: fault
    error = failed(either)
    assert error.fault is expected
    assert len(models.requests) == 1
    assert error.retry_after == fault.retry_after


RESPONSES = [
    (("completed", "", "", "{}"), Stop.END),
    (("completed", "", "", ""), Stop.OTHER),
    (("incomplete", "max_output_tokens", "", "{"), Stop.LENGTH),
    (("incomplete", "content_filter", "", "{}"), Stop.REFUSED),
    (("incomplete", "something_new", "", "{}"), Stop.OTHER),
    (("in_progress", "", "", "{}"), Stop.OTHER),
    (("queued", "", "", "{}"), Stop.OTHER),
    (("cancelled", "", "", "{}"), Stop.OTHER),
    (("failed", "", "bio_policy", ""), Stop.REFUSED),
    (("failed", "", "rate_limit_exceeded", ""), Fault.RATE_LIMITED),
    (("failed", "", "server_error", ""), Fault.SERVER),
    (("failed", "", "invalid_prompt", ""), Fault.INVALID),
    (("failed", "", "something_new", ""), Fault.SERVER),
]


@pytest.mark.parametrize(("row", "expected"), RESPONSES, ids=[" ".join(row[:3]) for row, _ in RESPONSES])
def test_every_status_of_a_response_is_known(models: Models, row: tuple[str, ...], expected: Stop | Fault):
    models.script = lambda _: faults.L11(*row)
    make = lambda: Responses(account(models.url + "/v1"))  # noqa: E731
    if isinstance(expected, Fault):
        assert failed(make).fault is expected
    else:
        found = answered(make)
        assert found.stop is expected
        assert (found.reason == "") == (expected is Stop.END)


ODD = {
    "no choices": (faults.empty_choices(), Fault.UNREADABLE),
    "no content": (faults.null_content(), Stop.OTHER),
    "parts": (faults.content_parts('{"ok": 1}'), Stop.END),
    "text/plain": (faults.wrong_content_type(of=Answer('{"ok": 1}')), Stop.END),
}


@pytest.mark.parametrize("name", ODD)
def test_what_compatible_servers_do_is_withstood(make: Callable[[], Provider], models: Models, name: str):
    fault, expected = ODD[name]
    models.script = lambda _: fault
    if isinstance(expected, Fault):
        assert failed(make).fault is expected
    else:
        found = answered(make)
        assert found.stop is expected
        assert found.text == ('{"ok": 1}' if expected is Stop.END else "")


BODIES = [
    (400, {"error": {"message": "the request exceeds the available context size", "type": "exceed_context_size_error"}}, Fault.TOO_LONG),
    (400, {"object": "error", "message": "This model's maximum context length is 512 tokens.", "code": 400}, Fault.TOO_LONG),
    (429, {"error": {"message": "Request too large for x on tokens per min (TPM): Limit 1, Requested 2", "code": "rate_limit_exceeded"}}, Fault.TOO_LONG),
    (403, {"error": {"message": "Your chosen model requires moderation and your input was flagged", "code": 403}}, Fault.INVALID),
    (429, {"error": {"message": "No.", "type": "x", "code": "credit_balance_exhausted"}}, Fault.SPENT),
    (402, {"error": {"message": "Insufficient credits", "code": 402}}, Fault.SPENT),
    (200, {"error": {"message": "Provider returned error", "code": 502}}, Fault.SERVER),
    (200, {"error": {"message": "Rate limit exceeded", "code": 429}}, Fault.RATE_LIMITED),
    (404, {"detail": "Not Found"}, Fault.NO_MODEL),
    (422, {"detail": [{"loc": ["body", "messages"], "msg": "field required"}]}, Fault.INVALID),
    (500, {"error": "llama runner process has terminated"}, Fault.SERVER),
    (200, {"choices": [{"finish_reason": "error", "error": {"code": 503, "message": "gone"}, "message": {}}]}, Fault.OVERLOADED),
    (200, {"choices": "x"}, Fault.UNREADABLE),
    (200, {"choices": [None]}, Fault.UNREADABLE),
    (200, [], Fault.UNREADABLE),
    (200, {"choices": [{"message": {"content": 5}, "finish_reason": 7}]}, Stop.OTHER),
]  # fmt: skip


@pytest.mark.parametrize(("status", "body", "expected"), BODIES)
def test_other_servers_errors_are_understood(
    make: Callable[[], Provider], models: Models, status: int, body: Any, expected: Fault | Stop
):
    models.script = lambda _: Canned("canned", Reply(status, (json.dumps(body).encode(),)))
    if isinstance(expected, Fault):
        assert failed(make).fault is expected
        assert len(models.requests) == 1
    else:
        assert answered(make).stop is expected


def test_a_wrong_path_is_said_to_be_one(make: Callable[[], Provider], models: Models):
    models.script = lambda _: faults.html_page(404)
    assert "base_url" in str(failed(make))


def test_a_server_without_schemas_is_asked_for_json_and_then_in_words(make: Callable[[], Provider], models: Models):
    """The ladder: each rung costs one refused request, for this model and once. The first refusal is llama-cpp-python's."""
    words = "[{'type': 'literal_error', 'loc': ('body', 'response_format', 'type'), 'msg': \"Input should be 'text' or 'json_object'\"}]"
    body = {"error": {"message": words, "type": "internal_server_error", "code": None}}
    in_words = rejects("response_format.type", "json_object", then=lambda _: Answer("{}"))

    def script(seen: Seen) -> Any:
        if seen.body.get("response_format", {}).get("type") == "json_schema":
            return Canned("llama-cpp-python", Reply(500, (json.dumps(body).encode(),)))
        return in_words(seen)

    async def thrice(provider: Provider) -> None:
        for model in ("a", "a", "b"):
            assert (await provider.complete(replace(CALL, model=model), lambda: None)).stop is Stop.END

    models.script = script
    asyncio.run(with_provider(make(), thrice))
    rungs = [(call.model, call.body.get("response_format", {}).get("type")) for call in models.calls]
    down = ["json_schema", "json_object", None]
    assert rungs == [*(("a", rung) for rung in down), ("a", None), *(("b", rung) for rung in down)]


def test_llama_cpp_gets_its_schema_beside_json_object(make: Callable[[], Provider], models: Models):
    models.script = rejects("response_format.type", "json_schema", then=lambda _: Answer("{}"))
    answered(make)
    assert models.calls[-1].schema is not None
    assert models.calls[-1].body["response_format"]["type"] == "json_object"


def test_a_server_that_knows_only_the_newer_limit_gets_it(make: Callable[[], Provider], models: Models):
    words = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
    models.script = rejects("max_tokens", then=lambda _: Answer("{}"), message=words)
    assert answered(make).stop is Stop.END
    assert models.calls[-1].body["max_completion_tokens"] == 500
    assert "max_tokens" not in models.calls[-1].body


def test_openai_itself_is_asked_in_its_own_way():
    manners = first_manners("gpt-5.6-terra", is_openai=True)
    asked = options(CALL, manners)
    assert asked["max_completion_tokens"] == 500
    assert (asked["store"], asked["prompt_cache_key"], asked["reasoning_effort"]) == (False, "change-1", "medium")
    for model, thinks in (("gpt-4.1", False), ("o3-mini", True), ("gpt-10-x", True), ("o", False), ("gpt-4o", False)):
        assert first_manners(model, is_openai=True).effort is thinks
    assert "prompt_cache_key" not in options(replace(CALL, cache_key=""), manners)


def test_a_complaint_takes_away_what_it_names():
    best = Manners(limit="max_completion_tokens", effort=True, hints=True)
    without = humbler(best, 400, "Unsupported parameter: 'reasoning_effort' is not supported with this model.")
    assert without == replace(best, effort=False)
    assert humbler(best, 400, "Unknown parameter: 'prompt_cache_key'.") == replace(best, hints=False)
    assert humbler(best, 400, "messages: field required") is None
    assert humbler(best, 401, "response_format") is None
    assert humbler(Manners(), 400, "max_tokens is too large: 500") is None


@settings(derandomize=True, max_examples=examples(100))
@given(
    st.lists(
        st.tuples(
            st.sampled_from([400, 422, 500, 401]),
            st.text()
            | st.sampled_from(["response_format", "unknown store", "unsupported max_tokens", "invalid reasoning_effort"]),
        ),
        max_size=12,
    )
)
def test_the_ladder_has_an_end(complaints: list[tuple[int, str]]):
    manners: Manners | None = Manners(effort=True, hints=True)
    seen = {manners}
    for status, words in complaints:
        milder = humbler(manners, status, words)  # type: ignore[arg-type]
        if milder is not None:
            assert milder not in seen
            seen.add(milder)
            manners = milder
    assert len(seen) <= 6


def test_tools_are_wished_used_and_answered(either: Callable[[], Provider], models: Models):
    models.script = uses([[Wish("read", {"path": "a"})], [Wish("read", {"path": "b"}), Wish("read", {"path": "c"})]], '{"ok": 1}')
    steps: tuple[Exchange, ...] = ()
    while (found := answered(either, tools=(READ,), exchanges=steps)).stop is Stop.TOOLS:
        results = tuple(ToolResult(one.id, f"text of {json.loads(one.arguments)['path']}") for one in found.tool_calls)
        steps = (*steps, Exchange(found.tool_calls, results, found.opaque))
    assert found.text == '{"ok": 1}'
    last = models.calls[-1]
    assert list(last.tools) == ["read"]
    assert [[call.name for call in step.calls] for step in last.exchanges] == [["read"], ["read", "read"]]
    assert [text for step in last.exchanges for _, text, _ in step.results] == ["text of a", "text of b", "text of c"]


def test_reasoning_goes_back_with_the_results(make: Callable[[], Provider], models: Models):
    models.script = queue([Answer("", tool_calls=(Wish("read", {}),), thinking="Hm."), Answer("{}")])
    found = answered(make, tools=(READ,))
    step = Exchange(found.tool_calls, (ToolResult(found.tool_calls[0].id, "x"),), found.opaque)
    answered(make, tools=(READ,), exchanges=(step,))
    turn = models.calls[-1].body["messages"][2]
    assert turn["reasoning_content"] == "Hm."
    assert set(turn) == {"role", "reasoning_content", "tool_calls"}


@pytest.mark.parametrize("opaque", ["", "null", '[{"type": "tool_use"}]', '{"role": "model"}', "["])
def test_a_turn_of_another_vendors_model_is_told_again(either: Callable[[], Provider], models: Models, opaque: str):
    step = Exchange((ToolCall("call_1", "read", '{"path": "a"}'),), (ToolResult("call_1", "x", is_error=True),), opaque)
    assert answered(either, tools=(READ,), exchanges=(step,)).stop is Stop.END
    assert models.calls[-1].exchanges[0].calls[0].name == "read"


def test_a_server_that_says_stop_where_it_wants_tools_is_understood():
    call = {"id": "c1", "type": "function", "function": {"name": "read", "arguments": {"path": "a"}}}
    body = {"choices": [{"finish_reason": "stop", "message": {"content": "", "tool_calls": [call]}}]}
    found = openai_words.completion(body, "", HERE)
    assert found.stop is Stop.TOOLS
    assert found.tool_calls == (ToolCall("c1", "read", '{"path": "a"}'),)


def test_openrouter_gets_the_mark_for_anthropics_cache():
    marked = messages(CALL, marked=True)[1]["content"]
    assert [part.get("cache_control") for part in marked] == [{"type": "ephemeral"}, None]
    assert "".join(part["text"] for part in marked) == CALL.prefix + CALL.suffix


ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.sampled_from(["stop", "completed", "message", "output_text"]),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(
            ["choices", "message", "content", "tool_calls", "function", "finish_reason", "refusal", "error", "usage", "status",
             "output", "type", "text", "code"]
        ),
        inner,
        max_size=5,
    ),
    max_leaves=12,
)  # fmt: skip


@settings(derandomize=True, max_examples=examples(300))
@given(st.dictionaries(st.sampled_from(["choices", "error", "usage", "status", "output", "id"]), ANY, max_size=5))
def test_no_document_can_break_the_readers(document: dict[str, Any]):
    for reader in (openai_words.completion, openai_responses.completion):
        with contextlib.suppress(ProviderError):
            found = reader(document, "", HERE)
            assert found.stop is not Stop.END or found.text


def test_the_journal_shows_one_prefix_for_every_call(either: Callable[[], Provider], models: Models):
    long = "x = 1  # a line of the change\n" * 400

    def both() -> list[Seen]:
        for suffix in ("one", "two"):
            answered(either, prefix=long, suffix=suffix)
        return models.calls

    assert len({seen.prompt[: len(long)] for seen in both()}) == 1
    assert models.calls[-1].usage.cached > 2_000
