"""The Anthropic provider through the real library: what it sends, and what every documented answer becomes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviewbot.adapters.panel.anthropic import Anthropic, request
from reviewbot.adapters.panel.anthropic_stream import BrokenMessage, Message
from reviewbot.debate import reply
from reviewbot.ports import Exchange, Fault, Provider, Stop, ToolCall, ToolResult, ToolSpec
from tests.fakes import Answer, Models, Tokens, Wish, faults, queue, rejects, uses
from tests.fakes.faults import Canned
from tests.fakes.http import Reply
from tests.panel.asking import CALL, account, answered, failed, with_provider
from tests.rings import examples

READ = ToolSpec("read", "Read a file.", {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]})


@pytest.fixture
def models() -> Iterator[Models]:
    with Models() as running:
        yield running


@pytest.fixture
def make(models: Models) -> Callable[[], Provider]:
    return lambda: Anthropic(account(models.url))


def test_the_prefix_is_marked_for_the_cache_and_the_suffix_is_not(make: Callable[[], Provider], models: Models):
    answered(make)
    (seen,) = models.calls
    assert seen.system == CALL.system
    assert seen.parts == (CALL.prefix, CALL.suffix)
    marks = [block.get("cache_control") for block in seen.body["messages"][0]["content"]]
    assert marks == [{"type": "ephemeral"}, None]
    assert seen.body["output_config"]["effort"] == "medium"
    assert seen.max_output == 500
    assert seen.streamed


def test_a_second_call_with_the_same_prefix_reads_it_from_the_cache(make: Callable[[], Provider], models: Models):
    long = "x = 1  # a line of the change\n" * 400
    answered(make, prefix=long, suffix="one")
    found = answered(make, prefix=long, suffix="another question than before")
    assert found.tokens.cached > 2_000
    assert found.tokens.input > found.tokens.cached


def test_the_cost_counts_what_went_through_the_cache_as_read(make: Callable[[], Provider], models: Models):
    models.script = lambda _: Answer("{}", usage=Tokens(input=100, cached=60, output=7, cache_written=30))
    tokens = answered(make).tokens
    assert (tokens.input, tokens.cached, tokens.cache_written, tokens.output, tokens.known) == (100, 60, 30, 7, True)


def test_an_answer_that_does_not_say_its_cost_says_so(make: Callable[[], Provider], models: Models):
    models.script = lambda _: faults.no_usage()
    found = answered(make)
    assert found.stop is Stop.END
    assert not found.tokens.known


SCHEMAS = [name for name in vars(reply) if name.endswith("_SCHEMA")]


@pytest.mark.parametrize("name", SCHEMAS)
def test_every_schema_of_the_debate_is_one_that_the_api_takes(make: Callable[[], Provider], models: Models, name: str):
    answered(make, schema=getattr(reply, name))
    assert models.calls[-1].schema is not None
    assert json.loads(json.dumps(models.calls[-1].schema))["type"] == "object"


STOPS = [
    ("end_turn", "", Stop.END),
    ("max_tokens", "", Stop.LENGTH),
    ("model_context_window_exceeded", "", Stop.LENGTH),
    ("stop_sequence", "", Stop.OTHER),
    ("pause_turn", "", Stop.OTHER),
    ("tool_use", "", Stop.OTHER),
    ("something_new", "", Stop.OTHER),
    ("refusal", "cyber", Stop.REFUSED),
    ("refusal", "", Stop.REFUSED),
]


@pytest.mark.parametrize(("reason", "category", "stop"), STOPS)
def test_only_the_end_of_a_turn_is_an_end(make: Callable[[], Provider], models: Models, reason: str, category: str, stop: Stop):
    models.script = lambda _: faults.L5(reason, category, text='{"ok": 1}')
    found = answered(make)
    assert found.stop is stop
    assert category in found.reason
    assert (found.reason == "") == (stop is Stop.END)
    assert found.tokens.known
    assert (found.tool_calls, found.opaque) == ((), "")


FAILURES = [
    (faults.L1(), Fault.OVERLOADED),
    (faults.L2(7), Fault.RATE_LIMITED),
    (faults.L3(), Fault.SPENT),
    (faults.L4("too_long"), Fault.TOO_LONG),
    (faults.L4("spend_400"), Fault.SPENT),
    (faults.L4("bad_request"), Fault.INVALID),
    (faults.L4("denied"), Fault.DENIED),
    (faults.L4("billing"), Fault.SPENT),
    (faults.L4("forbidden"), Fault.DENIED),
    (faults.L4("no_model"), Fault.NO_MODEL),
    (faults.L4("too_large"), Fault.TOO_LONG),
    (faults.L4("server"), Fault.SERVER),
    (faults.L4("gateway"), Fault.SERVER),
    (faults.L6("error"), Fault.OVERLOADED),
    (faults.L6("error", after=4), Fault.OVERLOADED),
    (faults.L6("cut", after=4), Fault.NETWORK),
]


@pytest.mark.parametrize(("fault", "expected"), FAILURES, ids=[f"{fault.name} {fault}"[:24] for fault, _ in FAILURES])
def test_every_documented_fault_is_known_and_tried_once(
    make: Callable[[], Provider], models: Models, fault: Any, expected: Fault
):
    models.script = lambda _: fault
    error = failed(make)
    assert error.fault is expected
    assert str(error).startswith("vendor: ")
    assert len(models.calls) == 1


def test_a_rate_limit_says_how_long_to_wait_and_a_spend_limit_does_not(make: Callable[[], Provider], models: Models):
    models.script = queue([faults.L2(7), faults.L2(None), faults.L3()])
    assert [failed(make).retry_after for _ in range(3)] == [7, None, None]


@pytest.mark.parametrize("code", ["enforced_spend_limit_reached", "contract_spend_limit_reached"])
def test_a_spend_limit_is_known_by_its_code_whatever_the_words(make: Callable[[], Provider], models: Models, code: str):
    error = {"type": "rate_limit_error", "message": "No.", "details": {"error_code": code}}
    models.script = lambda _: Canned("spent", Reply(429, (json.dumps({"type": "error", "error": error}).encode(),)))
    assert failed(make).fault is Fault.SPENT


def test_a_model_that_knows_no_effort_is_asked_without_it_from_then_on(make: Callable[[], Provider], models: Models):
    models.script = rejects("output_config.effort", then=lambda _: Answer("{}"))

    async def twice(provider: Provider) -> None:
        for _ in range(2):
            assert (await provider.complete(CALL, lambda: None)).stop is Stop.END

    asyncio.run(with_provider(make(), twice))
    assert ["effort" in call.body["output_config"] for call in models.calls if call.status == 200] == [False, False]
    assert len(models.requests) == 3


def test_a_model_without_structured_output_is_asked_in_words_only(make: Callable[[], Provider], models: Models):
    models.script = rejects("output_config.format", then=lambda _: Answer("{}"))
    assert answered(make).stop is Stop.END
    assert models.calls[-1].schema is None


def test_an_error_that_names_no_option_is_not_tried_another_way(make: Callable[[], Provider], models: Models):
    models.script = lambda _: faults.trouble("bad_request", "messages: at least one message is required")
    assert failed(make).fault is Fault.INVALID
    assert len(models.requests) == 1


def test_tools_are_wished_used_and_the_thinking_goes_back_unchanged(make: Callable[[], Provider], models: Models):
    wish = Answer("I look.", tool_calls=(Wish("read", {"path": "a.py"}),), thinking="Hm, ünïcode.")
    models.script = queue([wish, Answer('{"ok": 1}')])
    first = answered(make, tools=(READ,))
    assert first.stop is Stop.TOOLS
    (call,) = first.tool_calls
    assert (call.name, json.loads(call.arguments)) == ("read", {"path": "a.py"})
    step = Exchange(first.tool_calls, (ToolResult(call.id, "1 x = 1"),), first.opaque)
    assert answered(make, tools=(READ,), exchanges=(step,)).stop is Stop.END
    seen = models.calls[-1]
    assert list(seen.tools) == ["read"]
    ((used, results),) = [(one.calls, one.results) for one in seen.exchanges]
    assert (used[0].name, used[0].arguments) == ("read", {"path": "a.py"})
    assert results == ((call.id, "1 x = 1", False),)
    blocks = seen.body["messages"][1]["content"]
    assert blocks[0] == {"type": "thinking", "thinking": "Hm, ünïcode.", "signature": "sig1=="}
    assert seen.body["messages"][2]["content"][-1]["cache_control"] == {"type": "ephemeral"}


def test_no_more_than_four_places_are_marked_for_the_cache():
    steps = tuple(Exchange((ToolCall(f"t{n}", "read", "{}"),), (ToolResult(f"t{n}", "x"),)) for n in range(9))
    body = json.dumps(request(replace(CALL, tools=(READ,), exchanges=steps)))
    assert body.count("cache_control") == 2


@pytest.mark.parametrize("opaque", ["", "null", '[{"type": "reasoning"}]', '{"role": "assistant"}', "["])
def test_a_turn_of_another_vendors_model_is_told_again(make: Callable[[], Provider], models: Models, opaque: str):
    step = Exchange(
        (ToolCall("call_1", "read", '{"path": "a.py"}'),), (ToolResult("call_1", "no such file", is_error=True),), opaque
    )
    assert answered(make, tools=(READ,), exchanges=(step,)).stop is Stop.END
    (seen,) = models.calls
    assert seen.exchanges[0].calls[0].arguments == {"path": "a.py"}
    assert seen.exchanges[0].results == (("call_1", "no such file", True),)


def test_after_the_last_step_tools_are_named_but_may_not_be_used(make: Callable[[], Provider], models: Models):
    step = Exchange((ToolCall("call_1", "read", "{}"),), (ToolResult("call_1", "x"),))
    answered(make, exchanges=(step,))
    assert models.calls[-1].body["tool_choice"] == {"type": "none"}
    assert list(models.calls[-1].tools) == ["read"]


def test_arguments_that_are_no_json_reach_whoever_checks_them(make: Callable[[], Provider], models: Models):
    message = Message()
    for event in wished('{"path": "a'):
        message.take(event)
    found = message.completion("")
    assert found.tool_calls == (ToolCall("t1", "read", '{"path": "a'),)
    assert json.loads(found.opaque) == [{"type": "tool_use", "id": "t1", "name": "read", "input": {}}]


def wished(arguments: str) -> list[dict[str, Any]]:
    return [
        {"type": "message_start", "message": {"usage": {"input_tokens": 1, "output_tokens": 1}}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_stop", "index": 0},
        {
            "type": "content_block_start",
            "index": 1,
            "content_block": {"type": "tool_use", "id": "t1", "name": "read", "input": {}},
        },
        {"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": arguments}},
        {"type": "content_block_stop", "index": 1},
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 9}},
        {"type": "message_stop"},
    ]


@settings(derandomize=True, max_examples=examples(60))
@given(st.sets(st.integers(0, 7), min_size=1))
def test_a_message_that_misses_an_event_is_whole_or_nothing(missing: set[int]):
    """What may miss: the beginning (only counters) and blocks as a whole."""
    message = Message()
    try:
        for number, event in enumerate(wished("{}")):
            if number not in missing:
                message.take(event)
        found = message.completion("")
    except BrokenMessage:
        return
    assert not missing & {6, 7}
    assert (3 in missing) == (5 in missing)
    assert found.stop is (Stop.OTHER if 3 in missing else Stop.TOOLS)


NOISE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["type", "index", "delta", "content_block", "usage", "message", "text"]), inner, max_size=4
        )
    ),
    max_leaves=8,
)
KINDS = ["message_start", "content_block_start", "content_block_delta", "content_block_stop", "message_delta", "message_stop"]


@settings(derandomize=True, max_examples=examples(200))
@given(
    st.lists(
        st.tuples(
            st.sampled_from(KINDS),
            st.dictionaries(st.sampled_from(["index", "delta", "content_block", "usage", "message"]), NOISE),
        ),
        max_size=6,
    )
)
def test_no_event_can_break_the_reader(events: list[tuple[str, dict[str, Any]]]):
    message = Message()
    try:
        for kind, event in events:
            message.take({**event, "type": kind})
        message.completion("")
    except BrokenMessage:
        pass


def test_a_loop_of_tools_runs_to_its_answer(make: Callable[[], Provider], models: Models):
    models.script = uses([[Wish("read", {"path": "a"})], [Wish("read", {"path": "b"}), Wish("read", {"path": "c"})]], "{}")
    steps: tuple[Exchange, ...] = ()
    while (found := answered(make, tools=(READ,), exchanges=steps)).stop is Stop.TOOLS:
        steps = (*steps, Exchange(found.tool_calls, tuple(ToolResult(one.id, "x") for one in found.tool_calls), found.opaque))
    assert found.stop is Stop.END
    assert [len(step.calls) for step in steps] == [1, 2]
