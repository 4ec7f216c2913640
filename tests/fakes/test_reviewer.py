"""The fake panelist answers whatever the debate asks, and the smallest instance of a schema is one."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviewbot.debate import reply, schema
from reviewbot.domain.debate import Seat
from tests.fakes import Models, claim, reviewer
from tests.fakes.dialects import ask_ollama
from tests.fakes.instance import smallest
from tests.rings import examples

PARTS = ("the change\n", "the question")

ANSWERS = {
    "claims": (schema.CLAIMS_SCHEMA, lambda text, seat: reply.claims(text, seat)),
    "position": (schema.POSITION_SCHEMA, lambda text, seat: reply.position(text, seat, round_number=1)),
    "rebuttal": (schema.REBUTTAL_SCHEMA, lambda text, seat: reply.rebuttal(text)),
    "judgement": (schema.JUDGEMENT_SCHEMA, lambda text, seat: reply.judgement(text)),
    "draft": (schema.DRAFT_SCHEMA, lambda text, seat: reply.draft(text, "a.py")),
    "assignment": (schema.ASSIGNMENT_SCHEMA, None),
}
SUFFIX = "where: pkg/a.py, lines 3-4\nE7\n\nportion | tokens | files\nP1 | 10 | a.py\nP2 | 9 | b.py\n\npanelist | model | reads\nfast | m | 9\n"


@pytest.mark.parametrize("spoken", [False, True], ids=["schema on the wire", "schema in the words"])
@pytest.mark.parametrize("kind", ANSWERS)
def test_a_reviewer_answers_every_question_of_the_debate_validly(kind: str, spoken: bool):
    wanted, read = ANSWERS[kind]
    script = reviewer(
        claims=[[claim("pkg/a.py", 3, "x = 1")], []], stance="support", decision="amend", judgement="upheld", replacement="x = 2"
    )
    suffix = SUFFIX + (json.dumps(wanted) if spoken else "")
    with Models(script=script) as models:
        document = json.loads(ask_ollama(models.url, ("the change", suffix), schema=None if spoken else wanted).text)
    jsonschema.validate(document, wanted)
    if read is not None:
        assert read(json.dumps(document), Seat("critic", "critic", "m", "f")) is not None
    if kind == "position":
        assert document["arguments"][0]["evidence"] == ["pkg/a.py:3"]
    if kind == "draft":
        assert (document["start_line"], document["line"], document["replacement"]) == (3, 4, "x = 2")
    if kind == "assignment":
        assert document["assignments"] == [{"panelist": "fast", "portion": "P1"}, {"panelist": "fast", "portion": "P2"}]


def test_a_reviewer_knows_whom_it_plays_by_model_by_lens_or_by_words():
    ours, theirs, words = ([claim("a.py", number, "x")] for number in (1, 2, 3))
    with Models(script=reviewer(claims={"some-model": ours, "*": []})) as models:
        assert '"line": 1' in ask_ollama(models.url, PARTS, schema=schema.CLAIMS_SCHEMA).text
        models.script = reviewer(claims={"critic": theirs, "payments": words, "*": []})
        lens = "You look for the input that makes this code fail.\nmore about payments"
        for suffix, expected in ((lens, '"line": 2'), ("about Payments", '"line": 3'), ("nothing", '"claims": []')):
            assert expected in ask_ollama(models.url, ("change", suffix), schema=schema.CLAIMS_SCHEMA).text


@st.composite
def schemas(draw: Callable[[Any], Any], depth: int = 2) -> dict[str, Any]:
    """Schemas of the words that vendors know."""
    kind = draw(st.sampled_from(["string", "integer", "number", "boolean", "null", "enum", "array", "object", "union", "any"]))
    if kind == "enum":
        return {"enum": draw(st.lists(st.sampled_from(["a", "b", 3, None]), min_size=1, max_size=3))}
    if depth == 0 or kind in ("string", "integer", "number", "boolean", "null"):
        return {"type": "string" if kind in ("array", "object", "union", "any") else kind}
    inner = schemas(depth=depth - 1)
    if kind == "array":
        return {"type": "array", "items": draw(inner), "minItems": draw(st.integers(0, 2))}
    if kind == "union":
        return {"type": ["object", "null"], "required": ["a"], "properties": {"a": draw(inner)}}
    if kind == "any":
        return {"anyOf": [draw(inner), {"type": "null"}]}
    return {
        "type": "object",
        "required": ["a"],
        "properties": {"a": draw(inner), "b": draw(inner)},
        "additionalProperties": False,
    }


@given(schemas())
@settings(derandomize=True, max_examples=examples(80))
def test_the_smallest_instance_of_a_schema_is_one(shape: dict[str, Any]):
    jsonschema.validate(smallest(shape), shape)
