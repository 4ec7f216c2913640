"""Every place of a finished review is looked up in the change before it is told."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviewbot.changeset import diff
from reviewbot.domain.change import ChangeSet, Revisions
from reviewbot.domain.review import Finding, Review, Suggestion
from reviewbot.ports import RawDiff
from reviewbot.publish import anchors
from tests.publish import samples
from tests.rings import examples

KEY = "AKIA" + "Z7QK3J5XW2NDVB4T"
HEAD = f"""import os


def total(items):
    key = "{KEY}"
    result = 0
    for index in range(len(items) - 1):
        result += items[index]
    return result
""".encode()
BLANK = " "
PATCH = f"""diff --git a/shop/cart.py b/shop/cart.py
--- a/shop/cart.py
+++ b/shop/cart.py
@@ -3,4 +3,7 @@
{BLANK}
 def total(items):
-    return sum(items)
+    key = "{KEY}"
+    result = 0
+    for index in range(len(items) - 1):
+        result += items[index]
     return result
diff --git a/gone.py b/gone.py
deleted file mode 100644
--- a/gone.py
+++ /dev/null
@@ -1,2 +0,0 @@
-one
-two
""".encode()
LOOP = "    for index in range(len(items) - 1):"


@pytest.fixture(scope="module")
def change() -> ChangeSet:
    return diff.read(RawDiff(b"", b"", PATCH), Revisions("patch", "patch", "patch", None, None))


def a_finding(**changes: Any) -> Finding:
    fields: dict[str, Any] = {"path": "shop/cart.py", "start_line": 7, "line": 7, "quote": LOOP, "suggestion": None} | changes
    return replace(samples.OFF_BY_ONE, **fields)


def held(finding: Finding, change: ChangeSet, head: bytes | None = HEAD) -> tuple[Finding, tuple[str, ...]]:
    """The finding as it may be told, and the notes that this brought."""
    review = replace(samples.FULL, findings=(finding,), notes=("before",))
    made = anchors.held(review, change, {} if head is None else {"shop/cart.py": head})
    assert made.notes[0] == "before"
    return made.findings[0], made.notes[1:]


@pytest.mark.parametrize("head", [HEAD, None], ids=["whole", "hunks"])
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"quote": "for index in range(len(items) - 1):   "},
        {"start_line": 6, "line": 7, "quote": f"    result = 0\n{LOOP}\n"},
        {"start_line": 5, "line": 5, "quote": '    key = "«secret:AWS access key»"'},
        {"quote": ""},
        {"start_line": 0, "line": 0, "quote": "about the whole file"},
    ],
    ids=lambda changes: str(changes)[:30],
)
def test_what_stands_in_the_change_is_told_as_it_is(change: ChangeSet, head: bytes | None, changes: dict[str, Any]) -> None:
    finding = a_finding(**changes)
    if "secret" in finding.quote:
        finding = replace(finding, quote=anchors._texts(change.files[0], head)[5])
        assert KEY not in finding.quote
    assert held(finding, change, head) == (finding, ())


def test_a_line_outside_of_the_hunks_is_known_where_the_file_is(change: ChangeSet) -> None:
    finding = a_finding(start_line=1, line=1, quote="import os")
    assert held(finding, change) == (finding, ())
    assert held(finding, change, None)[0].line == 0


@pytest.mark.parametrize(
    "changes",
    [
        {"quote": "    for index in range(len(items)):"},
        {"line": 8},
        {"start_line": 8, "line": 7},
        {"start_line": 8, "line": 8},
        {"start_line": 7, "line": 10**9},
        {"start_line": 0, "line": 7},
        {"start_line": 70, "line": 70, "quote": ""},
        {"path": "gone.py", "start_line": 1, "line": 1, "quote": "one"},
        {"side": "LEFT", "start_line": 7, "line": 7},
    ],
    ids=str,
)
def test_what_does_not_stand_there_loses_its_line(change: ChangeSet, changes: dict[str, Any]) -> None:
    told, notes = held(a_finding(suggestion=Suggestion(7, 7, "x"), **changes), change)
    assert (told.start_line, told.line, told.suggestion, told.code) == (0, 0, None, ())
    assert notes == ("F1: its quote does not stand on its lines: told without a line",)


def test_a_finding_about_another_file_is_told_without_a_line(change: ChangeSet) -> None:
    told, notes = held(a_finding(path="other.py", line=0, start_line=0), change)
    assert told.path == "other.py"
    assert notes == ("F1: other.py is not in the change: told without a line",)


def test_a_removed_line_is_looked_up_at_base(change: ChangeSet) -> None:
    finding = a_finding(path="gone.py", side="LEFT", start_line=1, line=2, quote="one\ntwo")
    assert held(finding, change) == (finding, ())
    assert held(replace(finding, quote="one\nthree"), change)[0].line == 0


@pytest.mark.parametrize(
    ("suggestion", "fits"),
    [
        (Suggestion(7, 7, "    for index in range(len(items)):"), True),
        (Suggestion(6, 8, ""), True),
        (Suggestion(7, 7, LOOP), False),
        (Suggestion(7, 7, LOOP + "\n"), False),
        (Suggestion(9, 10, "x"), False),
        (Suggestion(0, 7, "x"), False),
        (Suggestion(8, 7, "x"), False),
        (Suggestion(7, 10**12, "x"), False),
    ],
    ids=str,
)
def test_a_suggestion_replaces_lines_that_are_there_by_something_else(
    change: ChangeSet, suggestion: Suggestion, fits: bool
) -> None:
    told, notes = held(a_finding(suggestion=suggestion), change)
    assert told.line == 7
    assert told.suggestion == (suggestion if fits else None)
    assert notes == (() if fits else ("F1: its suggestion does not fit the lines that it replaces: dropped",))


def test_a_name_that_is_not_utf_8_is_found_as_documents_show_it() -> None:
    patch = PATCH.replace(b"shop/cart.py", b"caf\xe9.py")
    odd = diff.read(RawDiff(b"", b"", patch), Revisions("patch", "patch", "patch", None, None))
    finding = a_finding(path="caf\\xe9.py")
    review: Review = replace(samples.FULL, findings=(finding,))
    assert anchors.held(review, odd, {"caf\udce9.py": HEAD}).findings == (finding,)


@settings(derandomize=True, max_examples=examples(150))
@given(
    st.integers(0, 12),
    st.integers(0, 12),
    st.text(max_size=8) | st.sampled_from(HEAD.decode().split("\n")),
    st.sampled_from(["shop/cart.py", "gone.py", "x"]),
)
def test_a_line_is_told_only_where_the_quote_stands(start: int, line: int, quote: str, path: str) -> None:
    change = diff.read(RawDiff(b"", b"", PATCH), Revisions("patch", "patch", "patch", None, None))
    told, _ = held(a_finding(path=path, start_line=start, line=line, quote=quote), change)
    if told.line:
        assert path == "shop/cart.py"
        assert 1 <= start <= line <= 9
        if quote.strip():
            assert start == line
            said = anchors._texts(change.files[0], HEAD)[line]
            assert said.strip() == quote.strip("\n").strip()
