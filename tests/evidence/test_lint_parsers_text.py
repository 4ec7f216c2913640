"""Reports in plain text: mypy's, tsc's, GNU's form, and any form by a regular expression."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.evidence.parsers import gnu, mypy, pattern, plain, tsc
from reviewbot.evidence.parsers.pattern import BadPattern, reader
from reviewbot.evidence.parsers.remark import Grade, Remark, Unreadable
from tests.evidence.test_lint_parsers import read_or_refused, remarks

words = st.lists(
    st.sampled_from(
        [
            *("a.py", "C:\\a.ts", "./b c.go", ":", ":", "1", "12", "999999999999", "٣", "(", ")", ",", " ", "  ", "-", "."),
            *("error", "warning", "note", "[", "]", "TS2322", "E501", "x-y", "\t", "\r", "\n", "\0", "\x1b[31m", "\u2028", "{"),
        ]
    ),
    max_size=16,
).map("".join)


@pytest.mark.parametrize("read", [gnu.read, mypy.read, tsc.read], ids=["gnu", "mypy", "tsc"])
@given(text=words)
def test_text_of_nearly_the_right_form_is_read_or_refused(read, text: str) -> None:
    read_or_refused(read, text.encode())


def test_mypy_s_notes_and_totals_are_no_remarks() -> None:
    assert {remark.grade for remark in remarks("mypy/mypy.txt")} == {Grade.ERROR}
    assert len(remarks("mypy/mypy.txt")) == len(remarks("mypy/mypy.jsonl")) == 6


def test_mypy_s_error_without_a_place_is_one_of_the_whole_file() -> None:
    assert remarks("mypy/no_place.jsonl") == (
        Remark("dup/b/m.py", 0, 'Duplicate module named "m" (also at "dup/a/m.py")', grade=Grade.ERROR),
    )
    assert mypy.read(b"a.py: error: Source file found twice\n") == (
        Remark("a.py", 0, "Source file found twice", grade=Grade.ERROR),
    )


def test_mypy_s_columns_count_from_0_and_may_be_unknown() -> None:
    lines = [{"file": "a.py", "line": 1, "column": column, "message": "m", "severity": "error"} for column in (0, 7, -1)]
    assert [remark.column for remark in mypy.read("\n".join(map(json.dumps, lines)).encode())] == [1, 8, 0]


def test_mypy_may_say_nothing_or_that_all_is_well() -> None:
    assert mypy.read(b"") == mypy.read(b"\n") == mypy.read(b"Success: no issues found in 1 source file\n") == ()


@pytest.mark.parametrize("text", [b"Traceback (most recent call last):\n", b"usage: mypy [-h]\n", b"\xff\xfe"])
def test_text_of_which_no_line_is_mypy_s_is_one_error(text: bytes) -> None:
    with pytest.raises(Unreadable, match="no line of it is mypy's"):
        mypy.read(text)


def test_mypy_s_windows_paths_and_brackets_in_messages_are_read() -> None:
    found = mypy.read(b'C:\\src\\a.py:3:5: error: "list[int]" has no attribute "b"  [attr-defined]\r\n')
    assert found == (Remark("C:\\src\\a.py", 3, '"list[int]" has no attribute "b"', "attr-defined", Grade.ERROR, column=5),)


def test_a_line_of_json_that_is_cut_off_makes_mypy_s_report_unreadable() -> None:
    line = json.dumps({"file": "a.py", "line": 1, "column": 0, "message": "m", "severity": "error"})
    with pytest.raises(Unreadable):
        mypy.read(f"{line}\n{line[:-5]}".encode())


def test_tsc_s_indented_lines_belong_to_the_message() -> None:
    found = remarks("tsc/tsc.txt")
    assert [(remark.line, remark.column, remark.rule) for remark in found] == [
        (2, 42, "TS2322"),
        (3, 7, "TS2322"),
        (4, 12, "TS7006"),
        (5, 1, "TS2304"),
    ]
    assert found[1].message.splitlines()[1] == "  Types of parameters 'x' and 'x' are incompatible."
    assert len(found[1].message.splitlines()) == 5


def test_a_very_long_explanation_of_tsc_is_cut() -> None:
    found = tsc.read(b"a.ts(1,2): error TS2322: m\n" + b"  because\n" * 100)
    assert len(found) == 1
    assert found[0].message.count("because") == 40


def test_tsc_s_errors_of_the_configuration_have_no_path() -> None:
    assert remarks("tsc/options.txt") == (Remark("", 0, "Unknown compiler option '--nosuch'.", "TS5023", Grade.ERROR),)


def test_tsc_s_paths_may_hold_brackets() -> None:
    assert tsc.read(b"app/(shop)/[id](1,2).ts(3,4): error TS1005: ';' expected.")[0].path == "app/(shop)/[id](1,2).ts"


def test_what_npm_says_around_tsc_is_no_remark() -> None:
    assert tsc.read(b"\n> shop@1.0.0 check\n> tsc --noEmit\n\n") == tsc.read(b"") == ()
    with pytest.raises(Unreadable, match="no line of it is the compiler's"):
        tsc.read(b"This is not the tsc command you are looking for\n")


@pytest.mark.parametrize(
    ("line", "remark"),
    [
        ("a.c:3: oops", Remark("a.c", 3, "oops")),
        ("a.c:3:7: fatal error: x.h: No such file", Remark("a.c", 3, "x.h: No such file", grade=Grade.ERROR, column=7)),
        ("a.y:3.7-9: warning: unused", Remark("a.y", 3, "unused", column=7)),
        ("a.y:3.7-5.2: error: bad", Remark("a.y", 3, "bad", grade=Grade.ERROR, end_line=5, column=7)),
        ("a.y:3-5: error: bad", Remark("a.y", 3, "bad", grade=Grade.ERROR, end_line=5)),
        ("C:\\b\\a.c:3:1: note: here", Remark("C:\\b\\a.c", 3, "here", grade=Grade.NOTE, column=1)),
        ("vet: bad/bad.go:4:9: undeclared name: x", Remark("bad/bad.go", 4, "undeclared name: x", column=9)),
        ("tool:a.txt:1: message", Remark("a.txt", 1, "message")),
        ("x:a.txt:1: message", Remark("a.txt", 1, "message")),
        ("a.go:3:2: i: unused", Remark("a.go", 3, "i: unused", column=2)),
        ("a.yml:1:1: [error] too long (line-length)", Remark("a.yml", 1, "too long", "line-length", Grade.ERROR, column=1)),
        ("a.py:9:1: C0114: Missing docstring (missing-x)", Remark("a.py", 9, "Missing docstring (missing-x)", "C0114", column=1)),
        ("a.go:3:2: value unused (SA4006)", Remark("a.go", 3, "value unused", "SA4006", column=2)),
        ("a.go:3:2: call of f copies lock (value)", Remark("a.go", 3, "call of f copies lock (value)", column=2)),
        ("a.go:3:2: SHA1 is weak", Remark("a.go", 3, "SHA1 is weak", column=2)),
        ("a.go:3:2: high: disk", Remark("a.go", 3, "disk", grade=Grade.ERROR, column=2)),
        ("a.cc:1:  Missing space  [whitespace/comma] [3]", Remark("a.cc", 1, "Missing space  [whitespace/comma] [3]")),
        ("a b/ü.c:3:1: \x1b[31merror:\x1b[0m bad\r", Remark("a b/ü.c", 3, "bad", grade=Grade.ERROR, column=1)),
    ],
)
def test_a_line_in_gnu_s_form_is_a_remark(line: str, remark: Remark) -> None:
    assert gnu.read(f"{line}\n".encode()) == (remark,)


@pytest.mark.parametrize(
    "line",
    [
        *("# example.org/shop", "a.c: In function 'f':", "    3 |   f(x:3: y);", "Found 8 errors.", "", ":3: x", "a.c:3:"),
        *("In file included from a.h:1:", "FAIL: 3 of 4", "http://localhost:80: up", "12:30:45: started", "a.c:9999999999: x"),
    ],
)
def test_other_lines_are_passed_over(line: str) -> None:
    assert gnu.read(f"{line}\n".encode()) == ()


def test_long_lines_are_cut_and_very_long_texts_refused() -> None:
    assert len(gnu.read(b"a.c:1: " + b"x" * 10_000)[0].message) == plain.MAX_LINE - len("a.c:1: ")
    with pytest.raises(Unreadable, match="are more than the"):
        gnu.read(b"\n" * (plain.MAX_BYTES + 1))


EVERYTHING = (
    r"(?P<severity>\w+) (?P<rule>\S+) (?P<path>[^:]+):(?P<line>\d+)(?:-(?P<end_line>\d+))?(?::(?P<column>\d+))? (?P<message>.*)"
)


def test_an_expression_says_what_is_what() -> None:
    read = reader(EVERYTHING)
    assert read(b"heading\nError X/1 a b.c:3-5:7 the message \nnote X2 a.c:4 m\n") == (
        Remark("a b.c", 3, "the message", "X/1", Grade.ERROR, end_line=5, column=7),
        Remark("a.c", 4, "m", "X2", Grade.NOTE),
    )


def test_without_a_message_the_line_is_the_message() -> None:
    assert reader(r"(?P<path>\S+) line (?P<line>\d+)")(b"a.c line 3: bad") == (Remark("a.c", 3, "a.c line 3: bad"),)


def test_a_line_whose_number_is_none_is_passed_over() -> None:
    read = reader(r"(?P<path>[^:]*):(?P<line>[^:]*)")
    assert read("a.c:x\na.c:٣\na.c:9999999999\n:3\na.c:\na.c:3\n".encode()) == (
        Remark("a.c", 0, "a.c:"),
        Remark("a.c", 3, "a.c:3"),
    )


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        (r"(?P<path>.*)", r"it lacks the group line: write it as \(\?P<line>"),
        (r"(?P<path>.*):(?P<line>\d+)(?P<lvl>.)", "it has the group lvl: known are column"),
        (r"(?P<path>.*", "no regular expression"),
        (r"a)", "unbalanced parenthesis"),
        (r"[a", "unterminated character set"),
        (r"[]--", "unterminated character set"),
        (r"[^]&&", "unterminated character set"),
        (r"(?P<path>a{99999999999})", "no regular expression|more than"),
        (r"(?P<path>a{2000})", "a repeat of more than 1000 times"),
        (r"(?P<path>(a+)+):(?P<line>\d+)", "a repeated group holds"),
        (r"(?P<path>(?:a|aa)*):(?P<line>\d+)", "a repeated group holds"),
        (r"(?P<path>(?:a?){30}a):(?P<line>\d+)", "a repeated group holds"),
        (r"(?P<path>(?:(?:a{1,3}))+?):(?P<line>\d+)", "a repeated group holds"),
        ("(?P<path>" + "a?" * 30 + r")(?P<line>\d)", "more than 16 repeats and choices"),
        (r"(?i)(?P<path>a):(?P<line>\d+)", "it has flags"),
        (r"(?P<path>a):(?P<line>\d+)(?P=path)", "it has flags"),
        (r"(?P<path>a)\1:(?P<line>\d+)", "it refers back"),
        (r"(?P<path>[[a]):(?P<line>\d+)", "a set holds"),
        ("(" * 499 + ")" * 499, "no regular expression|it lacks"),
        ("a" * 1001, "longer than 1000 characters"),
    ],
)
def test_an_expression_that_cannot_be_used_is_refused_with_the_reason(expression: str, reason: str) -> None:
    with pytest.raises(BadPattern, match=reason):
        reader(expression)


@pytest.mark.parametrize(
    "expression",
    [
        r"^(?P<path>.+?):(?P<line>\d+)(?::(?P<column>\d+))?: (?P<message>.*?)(?: \[(?P<rule>[\w-]+)\])?$",
        r"(?P<path>(?:\d{3}-)+)(?P<line>\d)",
        r"(?P<path>[]\[|+*?(){}]+)\((?P<line>\d+)\)",
        r"(?P<path>(?:a|b)?c{})(?P<line>\d{1,})",
    ],
)
def test_usual_expressions_are_taken(expression: str) -> None:
    assert callable(reader(expression))


def test_lines_that_would_take_too_long_are_one_error() -> None:
    read = reader(r".*.*.*.*=(?P<path>x):(?P<line>\d)")
    assert read(b"a" * 100) == ()
    with pytest.raises(Unreadable, match="repeats a dot so often"):
        read(b"a" * pattern.MAX_LINE)


PIECES = st.lists(
    st.sampled_from(
        [
            *("(", ")", "(?:", "(?P<path>", "(?P<line>", "(?=", "(?<!", "[", "]", "[^", "-", "\\", "\\d", "\\1", "{", "}", "{2}"),
            *("{,3}", "*", "+", "?", "|", ".", "a", "&&", "^", "$", "(?", "P", "<", "#", "x", "i", ":", "\\b", "\\N"),
        ]
    ),
    max_size=14,
).map("".join)


@given(
    expression=PIECES | st.builds("(?P<path>{})(?P<line>{})".format, PIECES, PIECES),
    data=st.binary(max_size=40) | words.map(str.encode),
)
def test_any_expression_is_refused_or_reads_anything(expression: str, data: bytes) -> None:
    try:
        read = reader(expression)
    except BadPattern:
        return
    read_or_refused(read, data)
    read_or_refused(read, b"a" * 12)
