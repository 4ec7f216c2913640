"""Gemini's words, without a server: schemas, delays, and bodies of any shape."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviewbot.adapters.panel.gemini_dialect import completion, fault_of, schema_for
from reviewbot.debate.reply import CLAIMS_SCHEMA, POSITION_SCHEMA, REBUTTAL_SCHEMA
from reviewbot.ports import Completion, Fault, ProviderError
from tests.panel.probing import SCHEMA
from tests.rings import examples


@pytest.mark.parametrize("wait", ["7s", "7.0s", "7.000000000s"])
def test_the_delay_in_the_details_is_believed(wait):
    retry = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": wait}
    found = fault_of(429, [{"error": {"code": 429, "message": "slow", "details": [1, retry]}}], after=None)
    assert (found.fault, found.retry_after) == (Fault.RATE_LIMITED, 7.0)


def test_the_delay_in_the_words_is_the_last_resort_and_the_header_the_first():
    body = {"error": {"message": "Please retry in 34.07s."}}
    assert fault_of(429, body, after=None).retry_after == 34.07
    assert fault_of(429, body, after=3.0).retry_after == 3.0


@pytest.mark.parametrize("schema", [CLAIMS_SCHEMA, POSITION_SCHEMA, REBUTTAL_SCHEMA, SCHEMA])
def test_a_schema_keeps_to_what_gemini_documents(schema):
    allowed = {
        "type",
        "format",
        "title",
        "description",
        "enum",
        "items",
        "minimum",
        "maximum",
        "anyOf",
        "properties",
        "additionalProperties",
        "required",
    }

    def check(part: dict) -> None:
        assert set(part) <= allowed
        assert isinstance(part.get("type", ""), str)
        assert "anyOf" in part or "type" in part
        assert None not in part.get("enum", ())
        for inner in [
            *part.get("properties", {}).values(),
            *part.get("anyOf", ()),
            *([part["items"]] if "items" in part else ()),
        ]:
            check(inner)

    check(schema_for(schema))
    assert schema_for(schema)["required"] == schema["required"]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-10, 10) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "error",
                    "message",
                    "details",
                    "candidates",
                    "content",
                    "parts",
                    "text",
                    "functionCall",
                    "usageMetadata",
                    "finishReason",
                    "name",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@settings(max_examples=examples(300), derandomize=True)
@given(JSON)
def test_any_document_is_a_completion_or_a_fault(document):
    with suppress(ProviderError):
        assert isinstance(completion(document, 0), Completion)


@settings(max_examples=examples(300), derandomize=True)
@given(st.sampled_from([400, 403, 404, 429, 500, 503]), JSON)
def test_any_error_body_has_a_fault(status, body):
    assert isinstance(fault_of(status, body, after=None).fault, Fault)
    assert fault_of(status, {"error": {"message": json.dumps(body)}}, after=None).words is not None


def test_what_may_be_null_still_may():
    nullable = {"anyOf": [{"type": "string"}, {"type": "null"}]}
    assert schema_for({"type": ["string", "null"], "maxLength": 9}) == nullable
    assert schema_for({"enum": ["low", None]}) == {"anyOf": [{"type": "string", "enum": ["low"]}, {"type": "null"}]}
    check = schema_for({"type": ["object", "null"], "required": ["n"], "properties": {"n": {"type": "integer"}}})
    assert check == {"anyOf": [{"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}, {"type": "null"}]}
