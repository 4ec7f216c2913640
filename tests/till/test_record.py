"""Calls as the ledger keeps them."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviewbot.adapters.till import record
from reviewbot.ports import (
    Completion,
    Exchange,
    Fault,
    ModelCall,
    ProviderError,
    Stop,
    Timings,
    Tokens,
    ToolCall,
    ToolResult,
    ToolSpec,
)
from tests.rings import examples

CALL = ModelCall(model="m", system="system", prefix="prefix", suffix="suffix", schema={"b": 1, "a": [1, 2]}, schema_name="claims")
STEP = Exchange((ToolCall("1", "read_file", "{}"),), (ToolResult("1", "text"),), "opaque")
TEXTS = st.text(max_size=20)
COUNTS = st.integers(0, 10**6)
SECONDS = st.floats(0, 1e6)


def key(call: ModelCall = CALL, *, model: str = "one:m", seat: str = "critic", attempt: int = 1) -> str:
    return record.key(call, model=model, seat=seat, attempt=attempt)


DECIDES = {
    "system": "other",
    "prefix": "other",
    "suffix": "other",
    "schema": {"a": 1},
    "schema_name": "position",
    "max_output_tokens": 1,
    "effort": "high",
    "tools": (ToolSpec("read_file", "reads", {"type": "object"}),),
    "exchanges": (STEP,),
    "context_window": 8_192,
}
DECIDES_NOT = {"model": "in the name already", "timeout_seconds": 1.0, "cache_key": "P2"}


def test_every_field_of_a_call_is_known_to_decide_or_not() -> None:
    """A new field must be thought of here, or two different calls could be one."""
    assert {entry.name for entry in fields(ModelCall)} == {*DECIDES, *DECIDES_NOT}


@pytest.mark.parametrize("name", DECIDES)
def test_what_decides_an_answer_is_in_the_key(name: str) -> None:
    assert key(replace(CALL, **{name: DECIDES[name]})) != key()


@pytest.mark.parametrize("name", DECIDES_NOT)
def test_what_does_not_is_not(name: str) -> None:
    assert key(replace(CALL, **{name: DECIDES_NOT[name]})) == key()


def test_seats_attempts_and_providers_have_calls_of_their_own() -> None:
    assert len({key(), key(model="two:m"), key(seat="reviewer"), key(attempt=2)}) == 4


def test_the_order_in_which_a_schema_was_built_does_not_matter() -> None:
    assert key(replace(CALL, schema={"a": [1, 2], "b": 1})) == key()
    assert key(replace(CALL, schema={"a": [2, 1], "b": 1})) != key()


def test_the_key_is_the_same_on_every_machine_and_day() -> None:
    assert key() == "13bd3389af260b63772c89a6b002628a071c0dc6593a23772b688c74d1cb6399"


@settings(max_examples=examples(100), derandomize=True)
@given(st.lists(st.text(max_size=4), max_size=4), st.lists(st.text(max_size=4), max_size=4))
def test_two_lists_of_texts_have_one_digest_only_where_they_are_equal(one: list[str], other: list[str]) -> None:
    assert (record.digest(*one) == record.digest(*other)) == (one == other)


def test_half_a_character_has_a_digest_too() -> None:
    assert record.digest("\ud800") != record.digest("?")


COMPLETIONS = st.builds(
    Completion,
    stop=st.sampled_from(Stop),
    text=TEXTS,
    tokens=st.builds(Tokens, COUNTS, COUNTS, COUNTS, COUNTS, st.booleans()),
    tool_calls=st.lists(st.builds(ToolCall, TEXTS, TEXTS, TEXTS), max_size=2).map(tuple),
    opaque=TEXTS,
    reason=TEXTS,
    timings=st.none() | st.builds(Timings, SECONDS, COUNTS, SECONDS, COUNTS, SECONDS),
    request_id=TEXTS,
)


@settings(max_examples=examples(100), derandomize=True)
@given(COMPLETIONS)
def test_a_completion_is_read_as_it_was_written(made: Completion) -> None:
    text = record.completion(made)
    assert text.isascii(), "whatever the database"
    assert record.read_completion(text) == made


@pytest.mark.parametrize("fault", list(Fault))
def test_a_failure_is_read_as_it_was_written(fault: Fault) -> None:
    found = record.read_failure(record.failure(ProviderError(fault, "it says „no“", retry_after=3.0)))
    assert (found.fault, found.message, found.retry_after) == (fault, "it says „no“", None)


def test_steps_of_tools_are_text_or_nothing() -> None:
    assert record.exchanges(()) == ""
    assert record.exchanges((STEP,)) != record.exchanges((STEP, STEP))
    assert record.exchanges((STEP,)) != record.exchanges((replace(STEP, opaque=""),))
