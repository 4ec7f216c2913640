"""The review document: what ``interface.md`` §3 promises, and nothing that does not keep to it is read."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from dataclasses import replace
from importlib.resources import files
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from reviewbot.domain.debate import Argument, Check, CheckKind, CheckOutcome, Position, Proof, SettledBy, Stance, Version
from reviewbot.domain.evidence import Category, EvidenceKind, EvidenceStatus, Precision, Severity, Side
from reviewbot.domain.review import Conclusion, Confidence, FindingStatus, Lifecycle, Verdict
from reviewbot.errors import UsageError
from reviewbot.publish import load, plain
from reviewbot.publish.document import document, dumps, evidence_document
from tests.publish import samples
from tests.rings import examples

pytestmark = pytest.mark.matrix(parts=1)


def schema(name: str) -> dict[str, Any]:
    return json.loads(files("reviewbot").joinpath(f"schema/{name}.schema.json").read_text())


REVIEW_SCHEMA = Draft202012Validator(schema("review"))


@pytest.mark.parametrize("name", samples.REVIEWS)
def test_every_review_keeps_to_the_schema(name: str) -> None:
    REVIEW_SCHEMA.validate(document(samples.REVIEWS[name]))


@pytest.mark.parametrize("name", samples.REVIEWS)
def test_a_document_read_back_says_the_same(name: str) -> None:
    written = document(samples.REVIEWS[name])
    assert document(load.load_review(dumps(written))) == written


WORDS = st.text(st.characters(codec=None, exclude_categories=()), max_size=8)
CHECKS = st.builds(
    Check,
    command=st.lists(WORDS, max_size=2).map(tuple),
    source=WORDS,
    subject=WORDS,
    outcome=st.sampled_from(CheckOutcome),
    output=WORDS,
    kind=st.sampled_from(CheckKind),
    author=WORDS,
)
PATHS = WORDS.map(plain.storable).filter(lambda path: not {"", ".", ".."} & set(path.split("/")))
POSITIONS = st.builds(
    Position,
    panelist=WORDS,
    round=st.integers(0, 9),
    stance=st.sampled_from(Stance),
    probability=st.floats(0, 1),
    arguments=st.tuples(st.builds(Argument, claim=WORDS, evidence=st.tuples(WORDS), reasoning=WORDS)),
)
FINDINGS = st.builds(
    replace,
    st.sampled_from(samples.FULL.findings),
    path=PATHS,
    line=st.integers(0, 10**9),
    severity=st.sampled_from(Severity),
    category=st.sampled_from(Category),
    title=WORDS,
    quote=WORDS,
    status=st.sampled_from(FindingStatus),
    proof=st.sampled_from(Proof),
    probability=st.floats(0, 1),
    positions=st.lists(POSITIONS, max_size=2).map(tuple),
    versions=st.tuples(st.builds(Version, round=st.integers(0, 3), by=WORDS, change=st.just("amended"), text=WORDS)),
    dissent=st.none() | WORDS,
    check=st.none() | CHECKS,
    rule=st.none() | WORDS,
)


@settings(max_examples=examples(100))
@given(st.lists(FINDINGS, max_size=3), st.lists(WORDS, max_size=2))
def test_any_words_survive_the_round_trip(findings: list[Any], notes: list[str]) -> None:
    written = document(replace(samples.FULL, findings=tuple(findings), notes=tuple(notes)))
    text = dumps(written)
    assert text.isascii()
    assert "##[" not in text
    REVIEW_SCHEMA.validate(json.loads(text))
    assert document(load.load_review(text)) == written


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of every value in a document."""
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from places(item, (*path, key))


def planted(path: tuple[Any, ...], wrong: Any) -> dict[str, Any]:
    """The full document with one value replaced."""
    written = copy.deepcopy(document(samples.FULL))
    if not path:
        return wrong
    holder: Any = written
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = wrong
    return written


@pytest.mark.matrix
@pytest.mark.ci
@pytest.mark.parametrize("wrong", [None, [], {}, "nonsense", 1.5, True, -1, [None], {"unknown": 1}], ids=repr)
def test_the_reader_takes_exactly_what_the_schema_allows(wrong: Any) -> None:
    for path in places(document(samples.FULL)):
        candidate = planted(path, wrong)
        assert is_read(candidate) == REVIEW_SCHEMA.is_valid(candidate), path


def is_read(candidate: Any) -> bool:
    try:
        load.load_review(json.dumps(candidate))
    except UsageError:
        return False
    return True


#: What the second release added: the first one's documents lack it and are read.
OF_USAGE = ("local_tokens", "seconds", "replayed_calls", "paid_usd", "estimated_usd", "cached_share", "local_share")
LATER = {("positions", "counted"), ("positions", "check"), *(("check", name) for name in ("kind", "subject", "author", "output"))}
LATER |= {(holder, name) for holder in ("usage", "by_panelist") for name in OF_USAGE}
#: And what the fourth did.
LATER |= {("", "range"), ("findings", "grounds"), ("findings", "near"), ("findings", "blocks")}
#: And what the fifth did.
LATER |= {("", "repairs")}


def is_later(path: tuple[Any, ...]) -> bool:
    holders = [key for key in path[:-1] if isinstance(key, str) and key not in samples.SPENT]
    return bool(path) and (holders[-1] if holders else "", path[-1]) in LATER


def test_every_missing_key_is_named_with_its_place() -> None:
    for path in places(document(samples.FULL)):
        if path and isinstance(path[-1], str) and path[:-1] not in {("debate", "criteria"), ("usage", "by_panelist")}:
            if is_later(path):
                continue
            candidate = planted(path, None)
            holder: Any = candidate
            for key in path[:-1]:
                holder = holder[key]
            del holder[path[-1]]
            if len(path) > 1 and path[-2] == "scores":
                continue
            with pytest.raises(UsageError, match=f"{path[-1]}"):
                load.load_review(json.dumps(candidate))


def without_what_came_later(value: Any, path: tuple[Any, ...] = ()) -> Any:
    if isinstance(value, dict):
        return {key: without_what_came_later(item, (*path, key)) for key, item in value.items() if not is_later((*path, key))}
    if isinstance(value, list):
        return [without_what_came_later(item, path) for item in value]
    return value


def test_a_document_of_the_first_release_is_read() -> None:
    old = without_what_came_later(document(samples.FULL))
    assert not {"local_share", "counted", "output"} & {path[-1] for path in places(old) if path}
    read = load.load_review(json.dumps(old))
    assert without_what_came_later(document(read)) == old
    assert read.findings[0].positions[0].counted


def test_what_was_cached_local_replayed_and_estimated_is_read_back() -> None:
    assert load.load_review(dumps(document(samples.MODELS))).bill == samples.MODELS.bill


def test_a_check_is_written_with_all_that_is_known_of_it_as_plain_strings() -> None:
    made = Check(("sh", "t.sh"), "exit 1", "t.sh", CheckOutcome.PASSES_WITH_FIX, ("E1",), "1", CheckKind.SCRIPT, "tester")
    written = document(replace(samples.FULL, findings=(replace(samples.OFF_BY_ONE, check=made),)))["findings"][0]["check"]
    assert written == {
        "kind": "script",
        "command": ["sh", "t.sh"],
        "subject": "t.sh",
        "source": "exit 1",
        "author": "tester",
        "outcome": "passes_with_fix",
        "evidence": ["E1"],
        "output": "1",
    }
    assert {type(written[name]) for name in ("kind", "outcome")} == {str}


def test_every_unknown_key_is_refused() -> None:
    free = {("debate", "criteria"), ("usage", "by_panelist")}
    for path in places(document(samples.FULL)):
        candidate = copy.deepcopy(document(samples.FULL))
        holder: Any = candidate
        for key in path:
            holder = holder[key]
        if isinstance(holder, dict) and path not in free and path[-1:] != ("scores",):
            holder["surprise"] = None
            with pytest.raises(UsageError, match="'surprise' is unknown"):
                load.load_review(json.dumps(candidate))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "null",
        "[]",
        "{}",
        "not json",
        '{"schema_version": 1, "schema_version": 1}',
        '{"schema_version": NaN}',
        "[" * 100_000,
        '"' + "x" * (load.REVIEW.max_bytes + 1) + '"',
        b"\xff\xfe",
        '"\\ud800"',
        "1" * 5000,
    ],
    ids=lambda text: repr(text[:30]),
)
def test_nonsense_is_one_named_error(text: str | bytes) -> None:
    with pytest.raises(UsageError) as caught:
        load.load_review(text)
    assert caught.value.exit_code == 2
    assert len(str(caught.value)) < 500


def test_the_error_names_the_place() -> None:
    with pytest.raises(UsageError, match=r"\$\.findings\[0\]\.positions\[1\]\.probability"):
        load.load_review(json.dumps(planted(("findings", 0, "positions", 1, "probability"), 1.5)))


@pytest.mark.parametrize("path", ["", ".", "..", "../x", "/etc/passwd", "a/../../x", "a//b", "a/", "./a"])
@pytest.mark.parametrize("place", ["findings", "coverage"])
def test_a_path_that_leads_out_of_the_tree_is_refused(place: str, path: str) -> None:
    candidate = planted((place, 0, "path"), path)
    assert not REVIEW_SCHEMA.is_valid(candidate)
    with pytest.raises(UsageError, match=rf"\$\.{place}\[0\]\.path: a path inside the repository"):
        load.load_review(json.dumps(candidate))


@pytest.mark.parametrize("path", ["..a", "a/...", "a/..b", ".a", "a b\n", "...", "\\..\\x"])
def test_an_odd_path_inside_of_the_tree_is_read(path: str) -> None:
    assert REVIEW_SCHEMA.is_valid(planted(("findings", 0, "path"), path))
    assert load.load_review(json.dumps(planted(("findings", 0, "path"), path))).findings[0].path == path


def test_a_probability_that_is_no_number_is_never_written() -> None:
    broken = replace(samples.FULL, findings=(replace(samples.OFF_BY_ONE, probability=float("nan")),))
    with pytest.raises(ValueError, match="not JSON compliant"):
        dumps(document(broken))


def test_a_path_that_is_not_utf_8_shows_its_bytes() -> None:
    written = document(replace(samples.FULL, findings=(replace(samples.OFF_BY_ONE, path="caf\udce9.py"),)))
    assert written["findings"][0]["path"] == "caf\\xe9.py"


def test_the_code_around_a_finding_is_for_display_only() -> None:
    assert "code" not in document(samples.FULL)["findings"][0]


def test_the_ledger_document_keeps_to_its_schema() -> None:
    written = json.loads(dumps(evidence_document(samples.LEDGER, samples.REVISIONS)))
    Draft202012Validator(schema("evidence")).validate(written)
    assert written["tests"]["executed"] == [{"path": "caf\\xe9.py", "line": 2}, {"path": "shop/cart.py", "line": 41}]


def test_the_schemas_know_every_word_of_the_domain() -> None:
    review, ledger = schema("review"), schema("evidence")
    finding, item = review["$defs"]["finding"]["properties"], ledger["properties"]["items"]["items"]["properties"]
    known = [
        (review["properties"]["conclusion"], Conclusion),
        (review["properties"]["verdict"], [*Verdict, None]),
        (finding["category"], Category),
        (finding["status"], FindingStatus),
        (finding["lifecycle"], Lifecycle),
        (finding["proof"], Proof),
        (finding["confidence"], Confidence),
        (finding["settled_by"], SettledBy),
        (finding["severity"], [severity.label for severity in Severity]),
        (review["$defs"]["check"]["properties"]["kind"], CheckKind),
        (review["$defs"]["check"]["properties"]["outcome"], CheckOutcome),
        (item["kind"], EvidenceKind),
        (item["status"], EvidenceStatus),
        (item["revision"], Side),
        (item["precision"], Precision),
    ]
    for described, words in known:
        assert set(described["enum"]) == set(words)


@pytest.mark.parametrize("name", ["review", "evidence"])
def test_the_schemas_are_schemas_and_strict(name: str) -> None:
    described = schema(name)
    Draft202012Validator.check_schema(described)
    for path in places(described):
        node: Any = described
        for key in path:
            node = node[key]
        if isinstance(node, dict) and node.get("type") == "object" and "properties" in node:
            assert node["additionalProperties"] is False
            assert set(node["required"]) == set(node["properties"])
