"""What panelists answer: outside the schema nothing is read, within it everything that means something."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from reviewbot.debate import reply, schema
from reviewbot.debate.reply import Decision
from reviewbot.debate.strict import InvalidReply
from reviewbot.domain.debate import Check, CheckKind, Stance
from reviewbot.domain.evidence import Category, Severity
from reviewbot.ports import Draft
from reviewbot.testing import a_seat
from tests.debate.conversation import argued
from tests.rings import examples

SEAT = a_seat("critic")
EXAMPLES = settings(max_examples=examples(120), derandomize=True)

TEXTS = st.text(alphabet='ab \n"é', max_size=8)
LABELS = st.sampled_from([severity.label for severity in Severity])
KINDS = st.sampled_from([kind.value for kind in CheckKind])
CHECKS = st.none() | st.fixed_dictionaries(
    {"kind": KINDS, "command": st.lists(TEXTS, max_size=2), "source": TEXTS, "subject": TEXTS}
)
ARGUMENTS = st.lists(
    st.fixed_dictionaries(
        {
            "claim": TEXTS,
            "evidence": st.lists(TEXTS, max_size=2),
            "reasoning": TEXTS,
            "counter_arguments": st.lists(TEXTS, max_size=2),
        }
    ),
    max_size=2,
)
CLAIM = st.fixed_dictionaries(
    {
        "path": TEXTS,
        "start_line": st.integers(-1, 5),
        "line": st.integers(0, 9),
        "quote": TEXTS,
        "category": st.sampled_from([category.value for category in Category]),
        "severity": LABELS,
        "title": TEXTS,
        "trigger": TEXTS,
        "consequence": TEXTS,
        "confidence": st.floats(-0.2, 1.2) | st.sampled_from([0, 1]),
        "falsifier": TEXTS,
        "evidence_ids": st.lists(TEXTS, max_size=2),
        "rule": st.none() | TEXTS,
        "check": CHECKS,
    }
)
PAIR = st.fixed_dictionaries({"panelist": st.sampled_from(["slow", "who"]), "portion": st.sampled_from(["L1", "L2", "P9"])})


def likely(value: Any) -> bool:
    return 0 <= value <= 1


class Form:
    """A kind of answer: its schema, documents that the schema allows, its reader, and what the reader asks beyond the schema."""

    def __init__(
        self,
        allowed: Mapping[str, Any],
        documents: st.SearchStrategy[Any],
        read: Callable[[str], Any],
        makes_sense: Callable[[Any], bool],
    ) -> None:
        self.allows = Draft202012Validator(allowed).is_valid
        self.documents = documents
        self.read = read
        self.makes_sense = makes_sense


FORMS = {
    "claims": Form(
        schema.CLAIMS_SCHEMA,
        st.fixed_dictionaries({"claims": st.lists(CLAIM, max_size=3)}),
        lambda text: reply.claims(text, SEAT),
        lambda made: all(0 <= one["start_line"] <= one["line"] and likely(one["confidence"]) for one in made["claims"]),
    ),
    "position": Form(
        schema.POSITION_SCHEMA,
        st.fixed_dictionaries(
            {
                "arguments": ARGUMENTS,
                "check": CHECKS,
                "stance": st.sampled_from([stance.value for stance in Stance]),
                "probability": st.floats(-0.2, 1.2),
            }
        ),
        lambda text: reply.position(text, SEAT, round_number=1),
        lambda made: likely(made["probability"]),
    ),
    "rebuttal": Form(
        schema.REBUTTAL_SCHEMA,
        st.fixed_dictionaries(
            {
                "arguments": ARGUMENTS,
                "decision": st.sampled_from(["defend", "amend", "withdraw"]),
                "severity": st.none() | LABELS,
                "title": st.none() | TEXTS,
            }
        ),
        reply.rebuttal,
        lambda _: True,
    ),
    "judgement": Form(
        schema.JUDGEMENT_SCHEMA,
        st.fixed_dictionaries({"arguments": ARGUMENTS, "decision": st.sampled_from([word.value for word in Decision])}),
        reply.judgement,
        lambda _: True,
    ),
    "check": Form(
        schema.DESIGN_SCHEMA,
        st.fixed_dictionaries({"reason": TEXTS, "check": CHECKS}),
        reply.check_design,
        lambda _: True,
    ),
    "draft": Form(
        schema.DRAFT_SCHEMA,
        st.fixed_dictionaries(
            {
                "decision": st.sampled_from(["replace", "keep", "none"]),
                "start_line": st.integers(-1, 5),
                "line": st.integers(-1, 9),
                "replacement": TEXTS,
                "explanation": TEXTS,
            }
        ),
        lambda text: reply.draft(text, "a.py"),
        lambda made: made["decision"] != "replace" or 1 <= made["start_line"] <= made["line"],
    ),
    "assignment": Form(
        schema.ASSIGNMENT_SCHEMA,
        st.fixed_dictionaries({"assignments": st.lists(PAIR, max_size=4)}),
        lambda text: reply.assignment(text, panelists=["slow"], portions=["L1", "L2"]),
        lambda made: all(one["panelist"] == "slow" and one["portion"] != "P9" for one in made["assignments"]),
    ),
}
KINDS = pytest.mark.parametrize("form", FORMS.values(), ids=FORMS.keys())


@KINDS
@given(data=st.data(), wrapped=st.booleans())
@EXAMPLES
def test_what_the_schema_allows_is_read_where_it_makes_sense_in_an_envelope_or_without(
    form: Form, data: st.DataObject, wrapped: bool
) -> None:
    document = data.draw(form.documents)
    assert form.allows(document)
    text = json.dumps({"answer": document} if wrapped else document)
    if form.makes_sense(document):
        form.read(text)
    else:
        with pytest.raises(InvalidReply):
            form.read(text)
    with pytest.raises(InvalidReply):
        form.read(json.dumps({"answer": document, "more": 1}))


#: What stands in the place of something else.
WRONG = st.sampled_from(
    [None, True, 0, -1, 7, 0.5, 1.5, "", "critical", "other", [], ["x"], [1], {}, {"a": 1}, "x" * (schema.MAX_TEXT + 1)]
)


def places(document: Any, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """Every place in a document."""
    items = document.items() if isinstance(document, dict) else enumerate(document) if isinstance(document, list) else ()
    return [path, *(place for key, value in items for place in places(value, (*path, key)))]


def spoiled(document: Any, data: st.DataObject) -> Any:
    """The document with something else in one place, without a key, or with one too many."""
    document = copy.deepcopy(document)
    path = data.draw(st.sampled_from(places(document)))
    if not path:
        return data.draw(WRONG)
    holder = document
    for key in path[:-1]:
        holder = holder[key]
    way = data.draw(st.sampled_from(["other", "gone", "more"]))
    if way == "gone":
        del holder[path[-1]]
    elif way == "more" and isinstance(holder, dict):
        holder["more"] = data.draw(WRONG)
    else:
        holder[path[-1]] = data.draw(WRONG)
    return document


@KINDS
@given(data=st.data(), wrapped=st.booleans())
@EXAMPLES
def test_nothing_outside_the_schema_is_read(form: Form, data: st.DataObject, wrapped: bool) -> None:
    document = spoiled(data.draw(form.documents), data)
    if form.allows(document):
        return
    if form is FORMS["position"] and isinstance(document, dict) and form.allows({**document, "check": None}):
        return  # a check may be left out: those whose schema mode knows optional keys do
    with pytest.raises(InvalidReply):
        form.read(json.dumps({"answer": document} if wrapped else document))


@KINDS
@given(st.text(max_size=40) | st.binary(max_size=40).map(lambda data: data.decode("latin-1")))
@settings(max_examples=examples(40), derandomize=True)
def test_no_text_breaks_a_reader(form: Form, text: str) -> None:
    with pytest.raises(InvalidReply):
        form.read(text)


@KINDS
@pytest.mark.parametrize(
    "text",
    [
        "",
        "```json\n{}\n```",
        '{"answer": {"answer": {}}}',
        '{"answer": null}',
        '{"answer": {}, "more": 1}',
        "[" * 5_000,
        '{"a":1,"a":2}',
    ],
    ids=["nothing", "fenced", "twice wrapped", "empty", "wrapped with more", "deep", "twice the key"],
)
def test_nothing_is_repaired(form: Form, text: str) -> None:
    with pytest.raises(InvalidReply):
        form.read(text)


def test_the_envelope_allows_every_kind_of_answer_and_nothing_else() -> None:
    Draft202012Validator.check_schema(dict(schema.ENVELOPE))
    allows = Draft202012Validator(schema.ENVELOPE).is_valid
    assert allows({"answer": {"claims": []}})
    assert allows({"answer": {"arguments": [], "decision": "upheld"}})
    assert not allows({"claims": []})
    assert not allows({"answer": {"claims": []}, "more": 1})
    assert len(schema.ENVELOPE["properties"]["answer"]["anyOf"]) == len(FORMS)


@pytest.mark.parametrize(
    ("read", "document"),
    [
        (FORMS["position"].read, {"arguments": [], "check": None, "stance": "x" * 100_000, "probability": 1}),
        (FORMS["rebuttal"].read, {"arguments": [], "decision": "x" * 7_000, "severity": None, "title": None}),
        (FORMS["rebuttal"].read, {"arguments": [], "decision": "amend", "severity": "x" * 100_000, "title": None}),
        (FORMS["judgement"].read, {"arguments": [], "decision": ["x"] * 50_000}),
        (FORMS["claims"].read, {"x" * 100_000: []}),
    ],
)
def test_a_complaint_does_not_quote_a_book(read: Callable[[str], Any], document: Mapping[str, Any]) -> None:
    with pytest.raises(InvalidReply) as raised:
        read(json.dumps(document))
    assert len(str(raised.value)) <= 1_000


@pytest.mark.parametrize(
    ("arguments", "stance", "probability"),
    [([argued("a.py:1")], Stance.SUPPORT, 0.9), ([argued()], Stance.NEUTRAL, 0.5), ([], Stance.NEUTRAL, 0.5)],
)
def test_support_counts_with_a_citation_only(arguments: list[Any], stance: Stance, probability: float) -> None:
    text = json.dumps({"arguments": arguments, "check": None, "stance": "support", "probability": 0.9})
    said = reply.position(text, SEAT, round_number=2)
    assert (said.stance, said.probability, said.round, said.panelist) == (stance, probability, 2, "critic")


def test_a_judgement_counts_with_a_citation_only() -> None:
    def decided(*arguments: object) -> Decision:
        return reply.judgement(json.dumps({"arguments": arguments, "decision": "rejected"})).decision

    assert decided(argued("E1")) is Decision.REJECTED
    assert decided(argued(), argued("E1")) is Decision.REJECTED
    assert decided(argued()) is Decision.UNDECIDED
    assert decided() is Decision.UNDECIDED


@pytest.mark.parametrize(
    ("key", "value"),
    [("line", True), ("start_line", 1.0), ("replacement", "x" * (schema.MAX_TEXT + 1)), ("explanation", None), ("line", 10**20)],
)
def test_a_draft_is_exact(key: str, value: object) -> None:
    fields = {"decision": "replace", "start_line": 1, "line": 1, "replacement": "x" * schema.MAX_TEXT, "explanation": ""}
    assert reply.draft(json.dumps(fields), "a.py")
    with pytest.raises(InvalidReply):
        reply.draft(json.dumps({**fields, key: value}), "a.py")


@pytest.mark.parametrize("value", [True, False, "0.5", None, -0.01, 1.01])
def test_a_probability_is_a_number_from_nought_to_one(value: object) -> None:
    with pytest.raises(InvalidReply, match="probability: a number from 0 to 1"):
        FORMS["position"].read(json.dumps({"arguments": [], "check": None, "stance": "oppose", "probability": value}))


@pytest.mark.parametrize("decision", ["", "Defend", "replace it", "upheld", None])
def test_a_decision_is_one_of_those_that_there_are(decision: object) -> None:
    answers = {
        "rebuttal": {"arguments": [], "severity": None, "title": None},
        "judgement": {"arguments": []} if decision != "upheld" else {},
        "draft": {"start_line": 1, "line": 1, "replacement": "", "explanation": ""},
    }
    for kind, fields in answers.items():
        with pytest.raises(InvalidReply):
            FORMS[kind].read(json.dumps({**fields, "decision": decision}))


def test_a_check_that_is_named_comes_with_the_position() -> None:
    named = {"kind": "test", "command": ["pytest", "-q"], "source": "def test(): ...", "subject": "t.py::test"}
    text = json.dumps({"arguments": [], "check": named, "stance": "oppose", "probability": 0.1})
    assert reply.position(text, SEAT, round_number=1).check == Check(("pytest", "-q"), "def test(): ...", "t.py::test")


def test_a_draft_is_a_replacement_or_keeps_or_there_is_none() -> None:
    def read(decision: str) -> object:
        fields = {"decision": decision, "start_line": 2, "line": 3, "replacement": "x\n", "explanation": "why"}
        return reply.draft(json.dumps(fields), "a.py")

    assert read("replace") == Draft("a.py", 2, 3, "x\n", "why")
    assert read("keep") == "keep"
    assert read("none") is None


def test_a_pair_that_is_assigned_twice_is_assigned_once_in_its_first_place() -> None:
    pairs = [("slow", "L2"), ("slow", "L1"), ("slow", "L2")]
    text = json.dumps({"assignments": [{"panelist": who, "portion": what} for who, what in pairs]})
    found = reply.assignment(text, panelists=iter(["slow"]), portions=iter(["L1", "L2"]))
    assert found == (("slow", "L2"), ("slow", "L1"))
