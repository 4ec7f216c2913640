"""Schemas as the vendors' structured output takes them: nothing that they refuse, nothing forbidden that was allowed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviewbot.adapters.panel.schema_dialects import plain, strict
from reviewbot.debate import reply
from tests.rings import examples

SCHEMAS = [name for name in vars(reply) if name.endswith("_SCHEMA")]
SIZES = {"maxLength", "minLength", "maxItems", "minItems", "minimum", "maximum", "uniqueItems", "pattern", "format"}


def parts(schema: Any) -> Iterator[dict[str, Any]]:
    """Every schema within a schema, itself first."""
    if isinstance(schema, dict):
        yield schema
        for name, inner in schema.items():
            for one in inner.values() if name in ("properties", "$defs") else inner if isinstance(inner, list) else [inner]:
                yield from parts(one)


@pytest.mark.parametrize("name", SCHEMAS)
@pytest.mark.parametrize("dialect", [plain, strict])
def test_the_debates_schemas_keep_their_form_and_lose_their_sizes(dialect: Callable[[Any], dict[str, Any]], name: str):
    found = dialect(getattr(reply, name))
    jsonschema.Draft202012Validator.check_schema(found)
    for part in parts(found):
        assert not SIZES & set(part)
        if part.get("type") == "object" or "properties" in part:
            assert part["additionalProperties"] is False
    assert found["type"] == "object"


def test_anthropic_knows_no_list_of_types():
    assert plain({"type": ["string", "null"]}) == {"anyOf": [{"type": "string"}, {"type": "null"}]}
    inner = {"type": ["object", "null"], "properties": {"a": {"type": "string", "maxLength": 3}}, "required": ["a"]}
    assert plain(inner)["anyOf"][0] == {
        "type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": False,
    }  # fmt: skip
    for name in SCHEMAS:
        assert not [part for part in parts(plain(getattr(reply, name))) if isinstance(part.get("type"), list)]


def test_openai_wants_a_type_everywhere_and_every_property():
    found = strict({"type": "object", "properties": {"a": {"enum": ["x"]}, "b": {"type": "integer"}}, "required": ["b"]})
    assert found["properties"] == {"a": {"enum": ["x", None], "type": ["string", "null"]}, "b": {"type": "integer"}}
    assert found["required"] == ["a", "b"]
    for name in SCHEMAS:
        for part in parts(strict(getattr(reply, name))):
            assert {"type", "anyOf", "$ref"} & set(part)
            assert sorted(part.get("properties", {})) == sorted(part.get("required", []))


def test_choices_references_and_unions_are_kept():
    schema = {"$defs": {"n": {"type": "integer", "minimum": 0}}, "oneOf": [{"$ref": "#/$defs/n"}, {"const": "x"}], "title": "t"}
    assert plain(schema) == {"$defs": {"n": {"type": "integer"}}, "anyOf": [{"$ref": "#/$defs/n"}, {"const": "x"}], "title": "t"}


LEAVES = st.sampled_from(
    [
        {"type": "string", "maxLength": 2}, {"type": "integer", "minimum": 0}, {"type": ["string", "null"]}, {"type": "boolean"},
        {"enum": ["a", "b"]}, {"enum": ["a", None]}, {"type": "number"}, {"const": 1},
    ]
)  # fmt: skip
ANY = st.recursive(
    LEAVES,
    lambda inner: (
        st.builds(lambda items: {"type": "array", "items": items, "maxItems": 2}, inner)
        | st.builds(
            lambda properties: {
                "type": ["object", "null"],
                "properties": properties,
                "required": list(properties),
                "additionalProperties": False,
            },
            st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
        )
    ),
    max_leaves=6,
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-1, 2) | st.sampled_from(["a", "b", "abc", ""]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=6,
)


@settings(derandomize=True, max_examples=examples(200))
@given(ANY, VALUES)
def test_what_the_schema_allows_both_dialects_allow(schema: dict[str, Any], value: Any):
    if jsonschema.Draft202012Validator(schema).is_valid(value):
        assert jsonschema.Draft202012Validator(plain(schema)).is_valid(value)
        assert jsonschema.Draft202012Validator(strict(schema)).is_valid(value)
