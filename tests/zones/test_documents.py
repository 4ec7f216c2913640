"""The documents between the zones: what is written is read back, and what somebody else wrote is refused in one line."""

from __future__ import annotations

import base64
import copy
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib.resources import files
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from reviewbot import cli
from reviewbot.domain.change import Revisions
from reviewbot.domain.debate import Check, CheckKind, CheckOutcome
from reviewbot.domain.dismissal import Dismissal, Dismissals
from reviewbot.domain.event import Source, Told
from reviewbot.domain.evidence import Category, Severity
from reviewbot.domain.history import Fate, History, Known
from reviewbot.domain.review import Conclusion, Verdict
from reviewbot.errors import UsageError
from reviewbot.ports import Draft, Experiment, RawDiff, Verification
from reviewbot.publish.document import dumps, evidence_document
from reviewbot.publish.document_change import Handed, blob_id, change_document
from reviewbot.publish.document_proof import can_be_handed_over, experiments_document, proof_name, verifications_document
from reviewbot.publish.document_request import request_document
from reviewbot.publish.load_change import CHANGE, load_change
from reviewbot.publish.load_evidence import load_evidence
from reviewbot.publish.load_proof import load_experiments, load_verifications
from reviewbot.publish.load_request import Request, load_request
from tests.publish import samples
from tests.rings import examples

ABOUT = samples.REVISIONS
OTHER = replace(ABOUT, head="0" * 40)
OLD, NEW = b"a = 1\n", b"a = 2\n\xff\x00"
OLD_ID, NEW_ID = blob_id(OLD, "1" * 40), blob_id(NEW, "1" * 40)
RAW = f":100644 100644 {OLD_ID} {NEW_ID} M\0a.py\0:100644 100644 {OLD_ID} {NEW_ID} R090\0b.py\0caf".encode() + b"\xe9.py\0"
NUMSTAT = b"1\t1\ta.py\0-\t-\t\0b.py\0caf\xe9.py\0"
GONE = Dismissal(
    "sha256:cd", "a.py", "meant so", "A key", "S105", Category.SECURITY, Severity.HIGH, "key = 1", "AAAABBBB", "2026-01-02"
)
DISMISSALS = Dismissals((GONE,), (Dismissal("sha256:ef", "b.py", "no"),), ("a note",))
HANDED = Handed(
    replace(ABOUT, notes=("a merge is compared with its first parent",)),
    RawDiff(RAW, NUMSTAT, b"diff --git a/a.py b/a.py\n\xff"),
    {OLD_ID: OLD, NEW_ID: NEW},
    "owner/shop",
    configuration=((".reviewbot.yml", b"version: 1\n"),),
    rules=(("AGENTS.md", b"Sums are integers.\n"),),
    dismissals=DISMISSALS,
)
CHECK = Check(("pytest", "t.py::test_a"), "def test_a(): ...\n", "t.py::test_a", evidence=("E1",), author="tester")
FIX = Draft("a.py", 1, 2, "b = 1\n", "it is simpler")
WANTED = (
    Experiment("F1", CHECK, "a.py", 1, 2),
    Experiment("F2", replace(CHECK, kind=CheckKind.SCRIPT, command=()), "b/a.py", 3, 3, FIX),
)
SHOWN = tuple(
    (one, Verification(replace(one.check, outcome=outcome, output="1 failed"), "E   assert 0", fixed))
    for one, outcome, fixed in zip(WANTED, (CheckOutcome.FAILS_AT_HEAD, CheckOutcome.PASSES_WITH_FIX), (None, True), strict=True)
)
KNOWN = Known(
    "F3", "sha256:ab", "a.py", 1, 2, Severity.HIGH, Category.SECURITY, "A key", "key = 1", "S105", Fate.DISMISSED, "a test", "ada"
)
EARLIER = History(
    "a" * 40, "b" * 40, "who.what", frozenset({"AAAAAAAAAAA_"}), Conclusion.COMPLETE, Verdict.COMMENT, (KNOWN,), 4, "BBBBBBBBBBB-"
)
ASKED = Request("Add a tax", "rounding", (Told(Source.ISSUE, "issue #12", "Taxes!"),), EARLIER, 7, DISMISSALS)
REQUEST = request_document(ASKED, ABOUT)
MAY_LACK = {"request": {"target", "pull_request", "background", "earlier", "dismissals"}, "changeset": {"dismissals"}}
"""Keys at the top that a document may lack."""

#: A document of each kind, and how it is read.
DOCUMENTS: dict[str, tuple[dict[str, Any], Callable[[str], object]]] = {
    "changeset": (change_document(HANDED), load_change),
    "request": (REQUEST, lambda text: load_request(text, ABOUT)),
    "experiments": (experiments_document(WANTED, ABOUT), lambda text: load_experiments(text, ABOUT)),
    "verifications": (verifications_document(SHOWN, ABOUT), lambda text: load_verifications(text, ABOUT)),
    "evidence": (evidence_document(samples.LEDGER, ABOUT), lambda text: load_evidence(text, ABOUT)),
}
OF_ZONES = ("changeset", "request", "experiments", "verifications")


def schema(name: str) -> dict[str, Any]:
    return json.loads(files("reviewbot").joinpath(f"schema/{name}.schema.json").read_text())


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of every value in a document."""
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from places(item, (*path, key))


def planted(name: str, path: tuple[Any, ...], wrong: Any) -> Any:
    """A document with one value replaced."""
    written = copy.deepcopy(DOCUMENTS[name][0])
    if not path:
        return wrong
    holder: Any = written
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = wrong
    return written


def complaint(name: str, candidate: Any) -> str:
    """What is said of a document, empty where it is read."""
    try:
        DOCUMENTS[name][1](candidate if isinstance(candidate, str) else json.dumps(candidate))
    except UsageError as exc:
        said = exc
    else:
        return ""
    assert said.exit_code == 2
    assert len(str(said)) < 500
    assert "\n" not in str(said)
    return str(said)


def test_everything_of_a_change_comes_back_byte_for_byte() -> None:
    assert load_change(dumps(change_document(HANDED))) == HANDED


def test_a_patch_without_a_repository_comes_back() -> None:
    handed = Handed(Revisions("patch", "patch", "patch", None, None, ("a patch alone",)), RawDiff(b"", b"", b"--- a\n"), {})
    assert load_change(dumps(change_document(handed))) == handed


def test_experiments_and_what_they_showed_come_back() -> None:
    assert load_experiments(dumps(experiments_document(WANTED, ABOUT)), ABOUT) == WANTED
    assert load_verifications(dumps(verifications_document(SHOWN, ABOUT)), ABOUT) == SHOWN


def test_a_request_may_be_brief() -> None:
    assert load_request('{"schema_version": 1, "title": "", "focus": "x"}', ABOUT) == Request("", "x")
    assert load_request(json.dumps({name: REQUEST[name] for name in ("schema_version", "title", "focus")}), ABOUT) == Request(
        "Add a tax", "rounding"
    )


def test_a_request_of_a_pull_request_comes_back() -> None:
    assert load_request(dumps(REQUEST), ABOUT) == ASKED
    assert load_request(dumps(request_document(ASKED)), ABOUT) == ASKED


WORDS = st.text(st.characters(exclude_characters="\0", exclude_categories=("Cs",)), max_size=12)
PATHS = WORDS.filter(lambda path: not {"", ".", ".."} & set(path.split("/")))
COUNTS = st.integers(0, 10**9)
TEXTS = st.lists(WORDS, max_size=2).map(tuple)
CHECKS = st.builds(
    Check, command=TEXTS, source=WORDS, subject=WORDS, evidence=TEXTS, kind=st.sampled_from(CheckKind), author=WORDS
)
FIXES = st.none() | st.builds(Draft, PATHS, COUNTS, COUNTS, WORDS, WORDS)
EXPERIMENTS = st.builds(Experiment, WORDS, CHECKS, PATHS, COUNTS, COUNTS, FIXES)


MARKS = st.text("AZaz09-_", min_size=1, max_size=12)
NUMBERED = st.integers(1, 99_999).map(lambda number: f"F{number}")
EVERY_KNOWN = st.builds(
    Known,
    id=NUMBERED,
    fingerprint=WORDS,
    path=PATHS,
    start_line=COUNTS,
    line=COUNTS,
    severity=st.sampled_from(Severity),
    category=st.sampled_from(Category),
    title=WORDS,
    text=WORDS,
    rule=st.none() | WORDS,
    fate=st.sampled_from(Fate),
    reason=WORDS,
    by=WORDS,
    is_question=st.booleans(),
    is_proven=st.booleans(),
    grounds=TEXTS,
    near=WORDS,
)
HISTORIES = st.builds(
    History,
    head=WORDS,
    base=WORDS,
    course=WORDS,
    seen=st.frozensets(MARKS, max_size=3),
    conclusion=st.none() | st.sampled_from(Conclusion),
    verdict=st.none() | st.sampled_from(Verdict),
    findings=st.lists(EVERY_KNOWN, max_size=3).map(tuple),
    next_number=COUNTS,
    whole=WORDS,
)
REQUESTS = st.builds(
    Request,
    title=WORDS,
    focus=WORDS,
    background=st.lists(st.builds(Told, st.sampled_from(Source), WORDS, WORDS), max_size=3).map(tuple),
    earlier=HISTORIES,
    pull_request=st.none() | COUNTS,
)


@settings(derandomize=True, max_examples=examples(100))
@given(REQUESTS)
def test_any_request_is_read_as_it_was_written(asked: Request) -> None:
    written = json.loads(dumps(request_document(asked, ABOUT)))
    Draft202012Validator(schema("request")).validate(written)
    assert load_request(json.dumps(written), ABOUT) == asked


def test_words_and_lists_that_are_too_long_are_cut_by_the_writer_and_refused_by_the_reader() -> None:
    flood = replace(ASKED, title="x" * 2_000, background=(Told(Source.CI, "w" * 600, "y" * 30_000),) * 600)
    read = load_request(dumps(request_document(flood, ABOUT)), ABOUT)
    assert (len(read.title), len(read.background), len(read.background[0].text)) == (1_000, 200, 8_000)
    for place in (("earlier", "seen"), ("earlier", "findings"), ("background",)):
        holder: Any = REQUEST
        for key in place:
            holder = holder[key]
        said = complaint("request", planted("request", place, holder * 2_000))
        assert f"wrong at $.{'.'.join(place)}: at most" in said


@settings(derandomize=True, max_examples=examples(60))
@given(st.lists(EXPERIMENTS, max_size=3, unique_by=proof_name), st.sampled_from(CheckOutcome), WORDS, st.none() | st.booleans())
def test_any_experiment_keeps_its_name_on_the_way(
    wanted: list[Experiment], outcome: CheckOutcome, words: str, fixed: bool | None
) -> None:
    assert all(map(can_be_handed_over, wanted))
    written = json.loads(dumps(experiments_document(wanted, ABOUT)))
    Draft202012Validator(schema("experiments")).validate(written)
    assert load_experiments(json.dumps(written), ABOUT) == tuple(wanted)
    shown = tuple((one, Verification(replace(one.check, outcome=outcome, output=words), words, fixed)) for one in wanted)
    told = json.loads(dumps(verifications_document(shown, ABOUT)))
    Draft202012Validator(schema("verifications")).validate(told)
    assert load_verifications(json.dumps(told), ABOUT) == shown


def test_what_a_document_would_change_is_not_handed_over() -> None:
    assert not can_be_handed_over(replace(WANTED[0], path="caf\udce9.py"))
    assert not can_be_handed_over(replace(WANTED[0], check=replace(CHECK, source="\0")))


@pytest.mark.parametrize("name", OF_ZONES)
def test_the_schemas_are_schemas_and_strict(name: str) -> None:
    described = schema(name)
    Draft202012Validator.check_schema(described)
    for path in places(described):
        node: Any = described
        for key in path:
            node = node[key]
        if isinstance(node, dict) and node.get("type") == "object" and "properties" in node:
            assert node["additionalProperties"] is False
            left_out = MAY_LACK.get(name, set()) if not path else set()
            assert set(node["required"]) == set(node["properties"]) - left_out


@pytest.mark.parametrize("name", OF_ZONES)
def test_the_schema_is_printed_alone(name: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["schema", name]) == 0
    said = capfd.readouterr()
    assert json.loads(said.out) == schema(name)
    assert not said.err


@pytest.mark.parametrize("name", OF_ZONES)
def test_what_is_written_keeps_to_its_schema(name: str) -> None:
    Draft202012Validator(schema(name)).validate(DOCUMENTS[name][0])
    assert not complaint(name, DOCUMENTS[name][0])


def test_the_schemas_know_every_word_of_the_domain() -> None:
    for name, plural in (("experiments", "experiments"), ("verifications", "verifications")):
        check = schema(name)["properties"][plural]["items"]["properties"]["check"]["properties"]
        assert set(check["kind"]["enum"]) == set(CheckKind)
        assert set(check.get("outcome", {}).get("enum", CheckOutcome)) == set(CheckOutcome)


#: What no schema can say: it would need the rest of the document, or a digest.
BEYOND_A_SCHEMA = ("it is about another change", "not git's name", "not the name of", "given once", "has trees", "has a tree",
    "as git writes", "counts other files", "without git's list")  # fmt: skip


@pytest.mark.parametrize("name", OF_ZONES)
@pytest.mark.parametrize("wrong", [None, [], {}, "nonsense", "../x", 1.5, True, -1, [None], {"unknown": 1}], ids=repr)
def test_the_reader_takes_what_the_schema_allows_and_nothing_else(name: str, wrong: Any) -> None:
    described = Draft202012Validator(schema(name))
    for path in places(DOCUMENTS[name][0]):
        candidate = planted(name, path, wrong)
        said = complaint(name, candidate)
        if not any(words in said for words in BEYOND_A_SCHEMA):
            assert (not said) == described.is_valid(candidate), (path, said)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_missing_and_every_unknown_key_is_named_with_its_place(name: str) -> None:
    for path in places(DOCUMENTS[name][0]):
        holder: Any = copy.deepcopy(DOCUMENTS[name][0])
        top = holder
        for key in path:
            holder = holder[key]
        if not isinstance(holder, dict):
            continue
        for key in list(holder):
            value = holder.pop(key)
            if (name, key) != ("evidence", "cut_short") and (path or key not in MAY_LACK.get(name, ())):
                assert f"the key {key!r} is missing" in complaint(name, top), (path, key)
            holder[key] = value
        holder["surprise"] = 1
        assert "the key 'surprise' is unknown" in complaint(name, top), path


@pytest.mark.parametrize("name", DOCUMENTS)
@pytest.mark.parametrize(
    "text",
    [
        "",
        "null",
        "[]",
        "{}",
        '{"a": 1, "a": 1}',
        '{"a": NaN}',
        '{"a": 1e999}',
        "[" * 100_000,
        '"\\ud800"',
        '"\\u0000"',
        "1" * 5000,
    ],
    ids=lambda text: repr(text[:20]),
)
def test_nonsense_is_one_named_error(name: str, text: str) -> None:
    assert complaint(name, text)


def test_too_many_bytes_are_not_read() -> None:
    with pytest.raises(UsageError, match="are more than"):
        load_change(b" " * (CHANGE.max_bytes + 1))


@pytest.mark.parametrize("name", ["request", "experiments", "verifications", "evidence"])
def test_a_document_about_another_change_is_refused(name: str) -> None:
    candidate = planted(name, ("target", "head"), OTHER.head)
    assert f"wrong at $.target: {'it is about another change'}" in complaint(name, candidate)


def listed(*names: bytes, status: bytes = b"M") -> bytes:
    return b":100644 100644 " + OLD_ID.encode() + b" " + NEW_ID.encode() + b" " + status + b"\0" + b"\0".join(names) + b"\0"


def changed(**diff: bytes) -> dict[str, Any]:
    """The change document with other words of git."""
    written = copy.deepcopy(DOCUMENTS["changeset"][0])
    written["diff"] |= {name: base64.b64encode(data).decode() for name, data in diff.items()}
    return written


@pytest.mark.parametrize(
    "path", [b"../x", b"/etc/passwd", b"a/../../x", b"a//b", b"./a", b".git/hooks/pre-commit", b"a/.GIT/config", b".."]
)
def test_a_change_names_no_file_outside_of_the_tree(path: bytes) -> None:
    for raw, numstat in (
        (listed(path), b"1\t1\t" + path + b"\0"),
        (listed(b"a.py", path, status=b"R100"), b"0\t0\t\0a.py\0" + path + b"\0"),
        (listed(path, b"a.py", status=b"C100"), b"0\t0\t\0" + path + b"\0a.py\0"),
    ):
        assert "$.diff.raw: it names a file outside of the repository" in complaint(
            "changeset", changed(raw=raw, numstat=numstat)
        )


@pytest.mark.parametrize(
    ("diff", "place"),
    [
        ({"raw": RAW[:-1]}, "$.diff.raw: it is not written as git writes it"),
        ({"raw": RAW.replace(b"M\0", b"U\0")}, "$.diff.raw: it is not"),
        ({"raw": RAW.replace(b"M\0", b"R100\0")}, "$.diff.raw: it is not"),
        ({"raw": b"x" + RAW}, "$.diff.raw: it is not"),
        ({"raw": RAW.replace(b":100644", b":999999", 1)}, "$.diff.raw: it is not"),
        ({"numstat": b"1\t1\n"}, "$.diff.numstat: it is not"),
        ({"numstat": b"99999999999\t1\ta.py\0"}, "$.diff.numstat: it is not"),
        ({"numstat": NUMSTAT[:9]}, "$.diff.numstat: it counts other files"),
        ({"raw": b"", "numstat": b""}, "$.diff: a patch without git's list"),
    ],
)
def test_what_git_would_not_say_is_refused(diff: dict[str, bytes], place: str) -> None:
    assert place in complaint("changeset", changed(**diff))


@settings(derandomize=True, max_examples=examples(150))
@given(st.binary(max_size=60), st.integers(0, len(RAW)), st.integers(0, 20))
def test_any_bytes_for_gits_words_are_read_or_refused(words: bytes, at: int, cut: int) -> None:
    complaint("changeset", changed(raw=RAW[:at] + words + RAW[at + cut :]))
    complaint("changeset", changed(numstat=NUMSTAT[:at] + words + NUMSTAT[at + cut :]))


@pytest.mark.parametrize(
    ("path", "wrong", "place"),
    [
        (("contents", 0, "id"), NEW_ID[::-1], "$.contents[0].id: it is not git's name for these bytes"),
        (("contents", 0, "data"), "AAAA", "$.contents[0].id: it is not git's name"),
        (("contents", 0, "data"), "AB==", "$.contents[0].data: bytes in base64 are expected"),
        (("contents", 0, "data"), "QQ==\n", "$.contents[0].data: bytes in base64"),
        (("contents", 0, "data"), "\xe4", "$.contents[0].data: bytes in base64"),
        (("configuration", 0, "name"), "setup.cfg", "$.configuration[0].name: one of .reviewbot.yml, pyproject.toml"),
        (("rules", 0, "name"), "../AGENTS.md", "$.rules[0].name: a path inside the repository"),
        (("target", "base_tree"), None, "$.target: one end has a tree and the other has none"),
        (("schema_version",), 2, "$.schema_version: version 1 is expected"),
    ],
)
def test_a_wrong_change_document_is_refused_with_its_place(path: tuple[Any, ...], wrong: Any, place: str) -> None:
    assert place in complaint("changeset", planted("changeset", path, wrong))


def test_a_file_is_handed_over_once_and_only_with_trees() -> None:
    twice = copy.deepcopy(DOCUMENTS["changeset"][0])
    twice["contents"].append(twice["contents"][0])
    assert "$.contents: every file is given once" in complaint("changeset", twice)
    without = copy.deepcopy(DOCUMENTS["changeset"][0])
    without["target"] |= {"base_tree": None, "head_tree": None}
    assert "$.target: a change with files has trees" in complaint("changeset", without)


def test_the_name_of_a_blob_is_gits() -> None:
    assert blob_id(b"", "1" * 40) == "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
    assert blob_id(b"", "1" * 64) == "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813"


@pytest.mark.parametrize("name", ["experiments", "verifications"])
@pytest.mark.parametrize(
    ("path", "wrong"),
    [
        (("name",), "proof " + "0" * 32),
        (("path",), "b.py"),
        (("line",), 7),
        (("check", "source"), "def test_a(): assert 0\n"),
        (("check", "kind"), "types"),
        (("check", "command"), ["true"]),
    ],
    ids=lambda value: str(value)[:20],
)
def test_a_forged_name_answers_nothing(name: str, path: tuple[Any, ...], wrong: Any) -> None:
    said = complaint(name, planted(name, (name, 0, *path), wrong))
    assert f"$.{name}[0].name: it is not the name of this experiment" in said


@pytest.mark.parametrize("name", ["experiments", "verifications"])
def test_an_experiment_is_given_once_and_stays_in_the_tree(name: str) -> None:
    twice = copy.deepcopy(DOCUMENTS[name][0])
    twice[name].append(twice[name][0])
    assert f"$.{name}: every experiment is given once" in complaint(name, twice)
    for path in ("../x", "/x", ""):
        assert "a path inside the repository" in complaint(name, planted(name, (name, 0, "path"), path))
        assert "a path inside the repository" in complaint(name, planted(name, (name, 1, "fix", "path"), path))


@pytest.mark.parametrize("path", ["../x", "/etc/passwd", "a/../../b"])
def test_evidence_of_another_zone_names_no_place_outside_of_the_tree(path: str) -> None:
    for place in (("items", 0, "path"), ("tests", "executed", 0, "path")):
        assert "a path inside the repository" in complaint("evidence", planted("evidence", place, path))
    assert not complaint("evidence", planted("evidence", ("items", 0, "path"), "")), "a result about no file"


@pytest.mark.parametrize(("field", "most"), [("title", 1_000), ("focus", 10_000)])
def test_the_words_of_a_request_are_bounded(field: str, most: int) -> None:
    assert not complaint("request", planted("request", (field,), "x" * most))
    assert f"$.{field}: at most {most:,} characters" in complaint("request", planted("request", (field,), "x" * (most + 1)))
    assert not Draft202012Validator(schema("request")).is_valid(planted("request", (field,), "x" * (most + 1)))


def test_a_complaint_shows_where_and_what_to_do() -> None:
    said = complaint("experiments", planted("experiments", ("experiments", 1, "check", "kind"), "wish"))
    assert re.fullmatch(
        r"the document of experiments is wrong at \$\.experiments\[1\]\.check\.kind: one of test, .* is expected; write it with .*",
        said,
    )
