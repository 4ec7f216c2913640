"""Places that tools name, as bytes of a file: exactly, or not at all. Replacements that go together, and reports of fixes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviewbot.evidence.fixers import eslint, pairing, rdjson, ruff, sarif, shellcheck, sqlfluff
from reviewbot.evidence.fixers.offer import Offer
from reviewbot.evidence.fixers.pairing import Report, Wanted
from reviewbot.evidence.fixers.sources import READERS
from reviewbot.evidence.fixers.splices import applied, together
from reviewbot.evidence.fixers.text import Break, Measure, Spot, Text, Unit, Unplaced
from reviewbot.evidence.parsers import eslint as eslint_report
from reviewbot.evidence.parsers import rdjson as rdjson_report
from reviewbot.evidence.parsers import ruff as ruff_report
from reviewbot.evidence.parsers import sarif as sarif_report
from reviewbot.evidence.parsers import shellcheck as shellcheck_report
from reviewbot.evidence.parsers import sqlfluff as sqlfluff_report
from reviewbot.evidence.parsers.remark import Remark, Unreadable
from reviewbot.ports import Splice
from tests.rings import examples

Reader = Callable[[bytes], Iterator[Offer]]

REPORTS = Path(__file__).parents[1] / "data" / "reports"
REAL: dict[str, tuple[Callable[[bytes], tuple[Remark, ...]], Reader]] = {
    "eslint/eslint.json": (eslint_report.read, eslint.read),
    "rdjson/ruff.json": (rdjson_report.read, rdjson.read),
    "ruff/ruff.json": (ruff_report.read, ruff.read),
    "sarif/ruff.sarif": (sarif_report.read, sarif.read),
    "sarif/zizmor.sarif": (sarif_report.read, sarif.read),
    "sarif/sqlfluff.sarif": (sarif_report.read, sarif.read),
    "sarif/hadolint.sarif": (sarif_report.read, sarif.read),
    "shellcheck/shellcheck.json1": (shellcheck_report.read, shellcheck.read),
    "sqlfluff/sqlfluff.json": (sqlfluff_report.read, sqlfluff.read),
}

SAID = "é = '日😀e\u0301'; x\r\nb\u2028c\rd\n\te".encode()
CHARACTERS = Measure((Unit.CHARACTER,), (Break.ANY,), (False,))
ANYTHING = st.text(alphabet=st.sampled_from("ab\t\r\né日😀\u2028"), max_size=30)


def one(unit: Unit, breaks: Break = Break.ANY, *, marked: bool = False) -> Measure:
    return Measure((unit,), (breaks,), (marked,))


@pytest.mark.parametrize(
    ("spot", "measure", "before"),
    [
        (Spot(1, 1), one(Unit.CHARACTER), b""),
        (Spot(1, 8), one(Unit.CHARACTER), "é = '日😀".encode()),
        (Spot(1, 9), one(Unit.UTF16), "é = '日😀".encode()),
        (Spot(1, 14), one(Unit.BYTE), "é = '日😀".encode()),
        (Spot(1, 0), one(Unit.CHARACTER), "é = '日😀e\u0301'; x".encode()),
        (Spot(2, 3), one(Unit.CHARACTER), "é = '日😀e\u0301'; x\r\nb\u2028".encode()),
        (Spot(3, 2), one(Unit.CHARACTER), "é = '日😀e\u0301'; x\r\nb\u2028c\rd".encode()),
        (Spot(3, 2), one(Unit.CHARACTER, Break.FEED), SAID[:-1]),
        (Spot(4, 2), one(Unit.CHARACTER), SAID[:-1]),
        (Spot(4, 3), one(Unit.CHARACTER), SAID),
        (Spot(0, 6), one(Unit.CHARACTER), "é = '日".encode()),
        (Spot(0, 0), one(Unit.UTF16), b""),
    ],
)
def test_a_place_is_found_by_what_its_tool_counts(spot: Spot, measure: Measure, before: bytes) -> None:
    assert SAID[: Text(SAID).at(spot, measure)] == before


@pytest.mark.parametrize("spot", [Spot(1, 99), Spot(9, 1), Spot(0, -1), Spot(0, 999), Spot(1, -1), Spot(-1, 1)])
def test_a_place_that_is_not_in_the_file_is_none(spot: Spot) -> None:
    with pytest.raises(Unplaced):
        Text(SAID).at(spot, CHARACTERS)


@pytest.mark.parametrize(("spot", "unit"), [(Spot(1, 2), Unit.BYTE), (Spot(1, 5), Unit.BYTE), (Spot(1, 3), Unit.UTF16)])
def test_a_place_within_a_character_is_none(spot: Spot, unit: Unit) -> None:
    with pytest.raises(Unplaced, match="within a character"):
        Text("é😀".encode()).at(spot, one(unit))


def test_where_it_is_not_known_what_is_counted_only_what_is_the_same_for_all_counts() -> None:
    text = Text("ab\nxé日z\n".encode())
    assert text.at(Spot(1, 2), Measure()) == 1
    assert text.at(Spot(2, 2), Measure()) == 4
    with pytest.raises(Unplaced):
        text.at(Spot(2, 3), Measure())
    with pytest.raises(Unplaced, match="several places"):
        text.at(Spot(2, 4), Measure((Unit.CHARACTER, Unit.BYTE)))
    assert text.at(Spot(2, 3), Measure((Unit.UTF16, Unit.CHARACTER))) == 6


def test_a_byte_order_mark_is_counted_only_by_those_who_count_it() -> None:
    text = Text(b"\xef\xbb\xbfab\ncd\n")
    assert text.at(Spot(1, 2), one(Unit.CHARACTER)) == 4
    assert text.at(Spot(1, 2), one(Unit.CHARACTER, marked=True)) == 3
    assert text.at(Spot(2, 1), Measure()) == 6
    with pytest.raises(Unplaced):
        text.at(Spot(1, 2), Measure())


def test_a_range_does_not_end_before_it_begins() -> None:
    with pytest.raises(Unplaced):
        Text(SAID).span(Spot(2, 1), Spot(1, 1), CHARACTERS)


@given(ANYTHING, st.integers(0, 40))
def test_each_unit_counts_what_it_says(said: str, size: int) -> None:
    prefix = said[:size]
    text = Text(said.encode())
    place = len(prefix.encode())
    assert text.at(Spot(0, len(prefix)), one(Unit.CHARACTER)) == place
    assert text.at(Spot(0, len(prefix.encode("utf-16-le")) // 2), one(Unit.UTF16)) == place
    assert text.at(Spot(0, place), one(Unit.BYTE)) == place


@given(ANYTHING, st.integers(-3, 40), st.integers(-3, 40), st.sampled_from(Unit), st.sampled_from(Break))
def test_any_place_is_in_the_file_or_the_one_named_error(said: str, line: int, column: int, unit: Unit, breaks: Break) -> None:
    data = said.encode()
    try:
        place = Text(data).at(Spot(line, column), one(unit, breaks))
    except Unplaced:
        return
    assert data[:place].decode() + data[place:].decode() == said


@pytest.mark.parametrize(
    ("pairs", "goes"),
    [
        ([(0, 1, b"x"), (1, 2, b"y")], True),
        ([(0, 2, b"x"), (1, 3, b"y")], False),
        ([(0, 2, b"x"), (0, 2, b"x")], True),
        ([(0, 2, b"x"), (0, 2, b"y")], False),
        ([(2, 2, b"x"), (2, 2, b"y")], False),
        ([(2, 2, b"x"), (2, 2, b"x")], True),
        ([(2, 2, b"x"), (2, 4, b"y")], True),
        ([(0, 2, b"x"), (2, 2, b"y")], True),
        ([(0, 4, b"x"), (2, 2, b"y")], False),
    ],
)
def test_replacements_go_together_where_none_is_about_the_bytes_of_another(
    pairs: list[tuple[int, int, bytes]], goes: bool
) -> None:
    assert (together(Splice("a", *pair) for pair in pairs) is not None) is goes


def test_replacements_of_different_files_go_together() -> None:
    assert together([Splice("a", 0, 2, b""), Splice("b", 1, 2, b"")]) is not None


@given(st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12), st.sampled_from([b"", b"X", b"YY"])), max_size=5))
def test_what_goes_together_is_the_same_in_any_order_and_leaves_the_rest(found: list[tuple[int, int, bytes]]) -> None:
    splices = [Splice("a", min(start, end), max(start, end), text) for start, end, text in found]
    made = together(splices)
    if made is None:
        return
    data = b"0123456789ab"
    assert together(reversed(splices)) == made
    assert applied(data, made) == applied(data, reversed(made))
    kept = bytes(byte for place, byte in enumerate(data) if not any(one.start <= place < one.end for one in made))
    assert bytes(byte for byte in applied(data, made) if byte not in b"XY") == kept


@pytest.mark.parametrize("name", REAL)
def test_every_remark_of_a_real_report_is_found_among_its_offers(name: str) -> None:
    data = (REPORTS / name).read_bytes()
    remarks, offers = REAL[name][0](data), tuple(REAL[name][1](data))
    told = {(offer.path, offer.line, offer.rule) for offer in offers}
    assert remarks
    assert {(remark.path, remark.line, remark.rule) for remark in remarks if remark.rule} <= told


def test_every_format_that_carries_fixes_is_in_the_table() -> None:
    assert set(READERS) == {pair[0] for pair in REAL.values()} | {rdjson_report.read_lines}


_LEAVES = st.none() | st.booleans() | st.integers(-3, 50) | st.text(max_size=5) | st.sampled_from(["safe", "delete", "x.py"])
_NAMES = """
fix edits location end_location row column content applicability message filename code cell comments file line endLine endColumn
replacements replacement filePath messages range text ruleId diagnostics path suggestions start end runs results fixes
artifactChanges artifactLocation uri deletedRegion startLine startColumn insertedContent columnKind filepath violations
start_line_no start_line_pos end_line_no end_line_pos edit type physicalLocation region locations value
"""
_KEYS = st.sampled_from(_NAMES.split())
_JSON = st.recursive(
    _LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_KEYS, inner, max_size=6), max_leaves=25
)


@settings(max_examples=examples(300))
@given(
    st.sampled_from(sorted(READERS.values(), key=str)), st.binary(max_size=40) | _JSON.map(lambda one: json.dumps(one).encode())
)
def test_any_report_is_read_or_is_the_one_named_error(read: Reader, data: bytes) -> None:
    try:
        offers = tuple(read(data))
    except Unreadable:
        return
    assert all(isinstance(offer.line, int) for offer in offers)


@pytest.mark.parametrize("name", REAL)
@settings(max_examples=examples(60))
@given(data=st.data())
def test_a_real_report_with_a_value_of_another_kind_is_read_or_is_the_one_named_error(name: str, data: st.DataObject) -> None:
    whole = json.loads((REPORTS / name).read_bytes())
    place = whole
    while isinstance(place, dict | list) and place:
        keys = sorted(place) if isinstance(place, dict) else range(len(place))
        key = data.draw(st.sampled_from(list(keys)))
        if not isinstance(place[key], dict | list) or data.draw(st.integers(0, 5)) == 0:
            place[key] = data.draw(_JSON)
            break
        place = place[key]
    try:
        tuple(REAL[name][1](json.dumps(whole).encode()))
    except Unreadable:
        return


def mended(read: Reader, report: str, source: bytes, place: Wanted) -> bytes | None:
    """The file with what a report offers for a place; ``None`` where it offers nothing."""
    said = Report.of(place.tool, read(report.encode()), lambda path: place.path if path.endswith(place.path) else None)
    made = pairing.proposals([place], [said], {place.path: Text(source)}).get(place.finding)
    return applied(source, made[0].splices) if made else None


def eslint_of(rule: str, line: int, span: tuple[int, int], text: str) -> str:
    message = {"ruleId": rule, "severity": 2, "message": "m", "line": line, "column": 1, "fix": {"range": span, "text": text}}
    return json.dumps([{"filePath": "/src/a.js", "messages": [message]}])


@pytest.mark.parametrize(
    ("report", "source", "after"),
    [
        (
            eslint_of("eqeqeq", 1, (29, 31), "==="),
            'let s = "日本😀"; if (typeof s == "string") { s = 1; }\n',
            'let s = "日本😀"; if (typeof s === "string") { s = 1; }\n',
        ),
        (
            eslint_of("dot-notation", 2, (30, 40), ".length"),
            '\ufeffconst s = "😀";\r\nconsole.log(s["length"]);\r\n',
            '\ufeffconst s = "😀";\r\nconsole.log(s.length);\r\n',
        ),
        (
            eslint_of("no-extra-boolean-cast", 2, (22, 25), "s"),
            '\tconst s = "e\u0301\u2028";\tif (!!s) { s(); }\n',
            '\tconst s = "e\u0301\u2028";\tif (s) { s(); }\n',
        ),
        (
            eslint_of("prefer-const", 2, (18, 32), "const c = a + b;"),
            "let a = 1, b = 2;\nlet c = a + b;\n",
            "let a = 1, b = 2;\nconst c = a + b;\n",
        ),
    ],
    ids=["wide", "mark", "separator", "statement"],
)
def test_what_eslint_offers_is_what_it_makes_itself(report: str, source: str, after: str) -> None:
    """The fixes of ESLint 9.39.5, and what its ``--fix`` makes of the file."""
    said = json.loads(report)[0]["messages"][0]
    place = Wanted("F1", "a.js", said["line"], said["line"], "eslint", said["ruleId"])
    assert mended(eslint.read, report, source.encode(), place) == after.encode()


def test_what_eslint_does_before_the_file_is_not_proposed() -> None:
    report = eslint_of("unicode-bom", 1, (-1, 0), "")
    assert mended(eslint.read, report, b"\xef\xbb\xbfconst s = 1;\n", Wanted("F1", "a.js", 1, 1, "eslint", "unicode-bom")) is None


def rdjson_of(line: int, suggestion: object, *more: object) -> str:
    location = {"path": "a.js", "range": {"start": {"line": line, "column": 1}}}
    said = {"message": "m", "location": location, "code": {"value": "R"}, "suggestions": [suggestion, *more]}
    return json.dumps({"diagnostics": [said]})


@pytest.mark.parametrize(
    ("suggestion", "after"),
    [
        ({"range": {"start": {"line": 2}}, "text": "X"}, b"abc\r\nX\r\nghi\r\n"),
        ({"range": {"start": {"line": 2}, "end": {"line": 2}}, "text": "X\n"}, b"abc\r\nX\r\nghi\r\n"),
        ({"range": {"start": {"line": 2}, "end": {"line": 3}}, "text": "X"}, b"abc\r\nX\r\n"),
        ({"range": {"start": {"line": 2}, "end": {"line": 3, "column": 1}}, "text": ""}, b"abc\r\nghi\r\n"),
        ({"range": {"start": {"line": 2, "column": 1}, "end": {"line": 2, "column": 4}}, "text": "X"}, b"abc\r\nX\r\nghi\r\n"),
        ({"range": {"start": {"line": 2, "column": 2}}, "text": "X"}, b"abc\r\ndXef\r\nghi\r\n"),
        ({"range": {"start": {"line": 2, "column": 9}}, "text": "X"}, None),
    ],
)
def test_the_ranges_of_rdjson_are_as_its_own_examples_say(suggestion: object, after: bytes | None) -> None:
    place = Wanted("F1", "a.js", 2, 2, "mine", "R")
    assert mended(rdjson.read, rdjson_of(2, suggestion), b"abc\r\ndef\r\nghi\r\n", place) == after


def test_several_suggestions_may_be_a_choice_and_are_not_taken() -> None:
    suggestion = {"range": {"start": {"line": 1}}, "text": "X"}
    assert mended(rdjson.read, rdjson_of(1, suggestion, suggestion), b"a\n", Wanted("F1", "a.js", 1, 1, "mine", "R")) is None


def test_a_column_of_rdjson_behind_a_wide_character_may_mean_two_places_and_is_not_taken() -> None:
    suggestion = {"range": {"start": {"line": 1, "column": 4}, "end": {"line": 1, "column": 5}}, "text": ""}
    place = Wanted("F1", "a.js", 1, 1, "mine", "R")
    assert mended(rdjson.read, rdjson_of(1, suggestion), b"abcde\n", place) == b"abce\n"
    assert mended(rdjson.read, rdjson_of(1, suggestion), "aé日de\n".encode(), place) is None


def sarif_of(region: object, *, kind: str | None = None) -> str:
    file = {"artifactLocation": {"uri": "a.js"}}
    fix = {"artifactChanges": [{**file, "replacements": [{"deletedRegion": region, "insertedContent": {"text": "X"}}]}]}
    place = {"physicalLocation": {**file, "region": {"startLine": 1}}}
    run = {"results": [{"ruleId": "R", "message": {"text": "m"}, "locations": [place], "fixes": [fix]}]}
    return json.dumps({"version": "2.1.0", "runs": [{**run, **({"columnKind": kind} if kind else {})}]})


@pytest.mark.parametrize(
    ("region", "kind", "after"),
    [
        ({"startLine": 1, "startColumn": 1, "endColumn": 2}, None, "X😀日d\nef\n"),
        ({"startLine": 1, "startColumn": 2, "endColumn": 3}, "unicodeCodePoints", "aX日d\nef\n"),
        ({"startLine": 1, "startColumn": 2, "endColumn": 3}, None, None),
        ({"startLine": 1, "startColumn": 4, "endColumn": 4}, "unicodeCodePoints", "a😀日Xd\nef\n"),
        ({"startLine": 1, "startColumn": 4, "endColumn": 5}, "utf16CodeUnits", "a😀Xd\nef\n"),
        ({"startLine": 1, "startColumn": 4, "endColumn": 5}, None, None),
        ({"startLine": 1}, None, "X\nef\n"),
        ({"startLine": 1, "endLine": 2}, None, "X\n"),
        ({"startLine": 2, "startColumn": 2}, None, "a😀日d\neX\n"),
        ({"charOffset": 1, "charLength": 1}, "unicodeCodePoints", "aX日d\nef\n"),
        ({"charOffset": 1, "charLength": 2}, "utf16CodeUnits", "aX日d\nef\n"),
        ({"byteOffset": 1, "byteLength": 4}, None, None),
        ({}, None, None),
    ],
)
def test_the_regions_of_sarif_are_read_as_their_run_counts(region: object, kind: str | None, after: str | None) -> None:
    place = Wanted("F1", "a.js", 1, 1, "mine", "R")
    source = "a😀日d\nef\n"
    found = mended(sarif.read, sarif_of(region, kind=kind), source.encode(), place)
    assert (found.decode() if found else None) == after


def test_what_ruff_writes_as_sarif_and_as_its_own_json_is_one_fix() -> None:
    source = "import os\nx = '日本'\n".encode()
    own = [
        {
            "filename": "/src/a.py",
            "code": "F401",
            "location": {"row": 1, "column": 8},
            "fix": {
                "applicability": "safe",
                "message": "Remove",
                "edits": [{"content": "", "location": {"row": 1, "column": 1}, "end_location": {"row": 2, "column": 1}}],
            },
        }
    ]
    region = {"startLine": 1, "startColumn": 1, "endLine": 2, "endColumn": 1}
    replacement = {"deletedRegion": region}
    change = {"artifactLocation": {"uri": "file:///src/a.py"}, "replacements": [replacement]}
    place = {"physicalLocation": {"artifactLocation": {"uri": "file:///src/a.py"}, "region": {"startLine": 1}}}
    results = [{"ruleId": "F401", "message": {"text": "m"}, "locations": [place], "fixes": [{"artifactChanges": [change]}]}]
    wanted = Wanted("F1", "a.py", 1, 1, "ruff", "F401")
    assert mended(ruff.read, json.dumps(own), source, wanted) == source[10:]
    assert mended(sarif.read, json.dumps({"runs": [{"results": results}]}), source, wanted) == source[10:]
    own[0]["fix"]["applicability"] = "unsafe"  # type: ignore[index]
    assert mended(ruff.read, json.dumps(own), source, wanted) is None
