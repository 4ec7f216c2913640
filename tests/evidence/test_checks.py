"""Linters, analysers and the comparison of public names: each on a change that has what it looks for, and reversed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from reviewbot.domain.evidence import EvidenceStatus, Precision, Severity
from reviewbot.evidence.view import CheckOptions
from tests.evidence.lab import Lab, study

pytestmark = [pytest.mark.matrix(parts=1), pytest.mark.ci]

KEY = "AKIA" + "Z7QK3J5XW2NDVB4T"
OVERRIDE = "\N{RIGHT-TO-LEFT OVERRIDE}"
CLEAN = '"""A module."""\n\n\ndef work(items, mode=None):\n    """Do it."""\n    return list(items)\n'

PLANTED = {
    "mutable default": ("mode=None", "mode=[]", 4, "lint", "B006"),
    "assert on a tuple": ("    return list", "    assert (items, 'none')\n    return list", 6, "lint", "F631"),
    "eval": ("list(items)", "eval(items)", 6, "lint", "S307"),
    "undefined name": ("list(items)", "lits(items)", 6, "lint", "F821"),
    "syntax": ("    return list(items)", "    return list(items", 6, "lint", "invalid-syntax"),
    "key": ("    return list", f"    key = '{KEY}'\n    return list", 6, "secret", "aws-access-key"),
    "bidi": ("list(items)", f"list(items)  # {OVERRIDE}", 6, "unicode", "bidi"),
    "zero width": ("list(items)", "list(ite\u200bms)", 6, "unicode", "zero-width"),
    "breakpoint": ("    return list", "    breakpoint()\n    return list", 6, "marker", "debugger"),
    "quadratic": (
        "    return list(items)",
        "    seen = []\n    for item in items:\n        if item not in seen:\n            seen.append(item)\n    return seen",
        8,
        "performance",
        "list-membership",
    ),
    "removed parameter": ("items, mode=None", "items", 4, "api", "parameter-removed"),
    "required parameter": ("mode=None", "mode", 4, "api", "parameter-changed-required"),
    "conflict": ('    """Do it."""\n', "<<<<<<< ours\n    a = 1\n=======\n    a = 2\n>>>>>>> theirs\n", 5, "marker", "conflict"),
}


def look(folder: Path, base: str, head: str, path: str = "work.py") -> Lab:
    """A change of one file, checked without running any test."""
    return study(folder, {path: base}, {path: head}, options=CheckOptions(presets=("ruff",)))


@pytest.mark.smoke
@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_defect_is_found_on_its_line_and_its_repair_is_none(tmp_path: Path, name: str) -> None:
    before, after, line, kind, rule = PLANTED[name]
    assert before in CLEAN
    bad = CLEAN.replace(before, after)
    forward = look(tmp_path / "forward", CLEAN, bad)
    assert ("work.py", line, rule) in forward.places(kind)
    backward = look(tmp_path / "backward", bad, CLEAN)
    assert rule not in [item.result.rule for item in backward.new()]
    assert rule == "debugger" or not [item for item in backward.new() if item.result.kind.value != "api"]


def test_the_same_defect_elsewhere_in_the_file_stays_an_existing_one(tmp_path: Path) -> None:
    bad = CLEAN.replace("mode=None", "mode=[]")
    lab = look(tmp_path, bad, "import os\nprint(os.name)\n" + bad)
    assert "B006" not in [item.result.rule for item in lab.new()]
    assert "B006" in [item.result.rule for item in lab.of(EvidenceStatus.EXISTING)]


@pytest.mark.smoke
def test_one_more_of_the_same_is_new_and_it_is_the_added_one(tmp_path: Path) -> None:
    one = "def f(a=[]):\n    return a\n"
    lab = look(tmp_path, one, "class A:\n    def f(a=[]):\n        return a\n\n\n" + one)
    assert lab.places("lint") == [("work.py", 2, "B006")]


def test_a_defect_on_a_line_that_was_merely_edited_is_an_existing_one(tmp_path: Path) -> None:
    bad = CLEAN.replace("mode=None", "mode=[]")
    lab = look(tmp_path, bad, bad.replace("mode=[]", "mode=[], more=1"))
    assert lab.new("lint") == []


def test_a_renamed_file_brings_nothing_new(tmp_path: Path) -> None:
    bad = CLEAN.replace("mode=None", "mode=[]") * 3
    lab = study(tmp_path, {"old.py": bad}, {"new.py": bad + "\n"}, options=CheckOptions(presets=("ruff",)))
    assert [item for item in lab.new("lint") if item.result.rule == "B006"] == []


@pytest.mark.smoke
def test_a_silencing_comment_in_the_change_does_not_silence_but_makes_doubt(tmp_path: Path) -> None:
    lab = look(tmp_path, CLEAN, CLEAN.replace("mode=None):", "mode=[]):  # noqa: B006"))
    (item,) = lab.new("lint")
    assert (item.result.rule, item.result.precision) == ("B006", Precision.HEURISTIC)


def test_a_silencing_comment_in_the_change_leaves_what_is_grave_as_it_is(tmp_path: Path) -> None:
    lab = look(tmp_path, CLEAN, CLEAN + "\n\ndef run(text):\n    return eval(text)  # noqa: S307\n")
    (item,) = [item for item in lab.new("lint") if item.result.rule == "S307"]
    assert item.result.precision is Precision.LIKELY


def test_a_silencing_comment_at_base_stays_honoured(tmp_path: Path) -> None:
    bad = CLEAN.replace("mode=None):", "mode=[]):  # noqa: B006")
    lab = look(tmp_path, bad, bad + "\n\nX = 1\n")
    (item,) = [item for item in lab.ledger.items if item.result.rule == "B006"]
    assert item.status is EvidenceStatus.EXISTING
    assert item.suppressed


@pytest.mark.usefixtures("bubblewrap")
@pytest.mark.parametrize(
    ("text", "said"), [("def f(a=[]):  # noqa\n    return a\n", "B006"), ("def f(:\n", "invalid-syntax")], ids=["rule", "syntax"]
)
def test_the_command_of_a_linter_s_result_shows_it_again(tmp_path: Path, text: str, said: str) -> None:
    lab = study(tmp_path, {"a.py": "x = 1\n"}, {"a.py": text}, options=CheckOptions(presets=("ruff",)))
    (item,) = lab.new("lint")
    shown = subprocess.run(
        [sys.executable, "-m", *item.result.command], cwd=tmp_path / "tree-head", capture_output=True, text=True, check=False
    )
    assert shown.returncode == item.result.exit_code == 1, shown.stderr
    assert said in shown.stdout


def test_configuration_in_the_change_has_no_effect_on_its_own_check(tmp_path: Path) -> None:
    base = {"work.py": CLEAN, "ruff.toml": 'lint.select = ["D4", "C4"]\n'}
    head = {
        "work.py": CLEAN.replace("list(items)", "list([x for x in items])"),
        "ruff.toml": "lint.select = []\nexclude = ['*']\n",
    }
    lab = study(tmp_path, base, head, options=CheckOptions(presets=("ruff",)))
    assert lab.ledger.sandbox == "bubblewrap"
    assert ("work.py", 6, "C411") in lab.places("lint")


def test_security_rules_weigh_little_in_tests(tmp_path: Path) -> None:
    lab = look(tmp_path, "x = 1\n", "x = eval('1')\n", "tests/test_work.py")
    (item,) = lab.new("lint")
    assert (item.result.severity, item.result.precision) == (Severity.LOW, Precision.HEURISTIC)


def test_an_example_key_is_only_a_reason_to_look(tmp_path: Path) -> None:
    lab = look(tmp_path, "x = 1\n", "x = 'AKIAIOSFODNN7EXAMPLE'\n")
    (item,) = lab.new("secret")
    assert (item.result.severity, item.result.precision) == (Severity.LOW, Precision.HEURISTIC)


def test_a_key_is_nowhere_in_the_ledger_and_another_key_is_another_finding(tmp_path: Path) -> None:
    other = KEY[:-2] + "AA"
    lab = look(tmp_path, f"x = '{KEY}'\n", f"x = '{other}'\n")
    assert len(lab.new("secret")) == 1
    assert KEY not in repr(lab.ledger)
    assert other not in repr(lab.ledger)


@pytest.mark.parametrize(
    "text",
    [
        "\ufeffx = 1\n",
        'x = "\U0001f469\u200d\U0001f4bb"\n',
        'x = "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645"\n',
        'x = "\u05e9\u05dc\u05d5\u05dd"\n',
        'x = "naïve café"\n',
        "\tx = 1\r\n",
    ],
    ids=["byte order mark", "emoji", "persian joiner", "hebrew", "latin", "tab and return"],
)
def test_writing_is_not_hidden(tmp_path: Path, text: str) -> None:
    assert look(tmp_path, "x = 1\n", text, "text.js").new("unicode") == []


def test_a_file_that_is_half_binary_does_not_fill_the_record(tmp_path: Path) -> None:
    text = "".join(f"x{number} = '\x01'\n" for number in range(500)) + "y = 'a\u200bb'\n"
    told = look(tmp_path, "x = 1\n", text, "work.js").new("unicode")
    assert sum(item.result.rule == "control" for item in told) == 20
    assert [item.result.line for item in told if item.result.rule == "zero-width"] == [501]


def test_a_heading_is_no_conflict(tmp_path: Path) -> None:
    assert look(tmp_path, "x\n", "Title\n=======\n\n>>>>>>> not one\n<<<<<<< nor this\n", "a.rst").new() == []


def test_complexity_that_grows_is_told_on_the_definition(tmp_path: Path) -> None:
    def branches(count: int) -> str:
        return "X = 0\n\n\ndef f(a):\n" + "".join(f"    if a == {n}:\n        return {n}\n" for n in range(count))

    assert look(tmp_path / "grown", branches(8), branches(12)).places("complexity") == [("work.py", 4, "cyclomatic")]
    assert look(tmp_path / "little", branches(12), branches(13)).new("complexity") == []
    assert look(tmp_path / "shrunk", branches(12), branches(8)).new("complexity") == []


@pytest.mark.parametrize(
    ("lines", "rule"),
    [
        ("def f(xs):\n    out = []\n    for x in xs:\n        out = out + [x]\n    return out\n", "list-concatenation"),
        ("def f(xs):\n    q = list(xs)\n    while q:\n        q.pop(0)\n", "list-front"),
        ("def f(xs: list[int], ys):\n    return [xs.index(y) for y in ys]\n", "list-search"),
        ("def f(xs):\n    for a in xs:\n        for b in xs:\n            print(a, b)\n", "nested-loop"),
        (
            "def f(xs):\n    for i in range(len(xs)):\n        for j in range(i + 1, len(xs)):\n            print(i, j)\n",
            "nested-loop",
        ),
        ("def f(ids, cursor):\n    for i in ids:\n        cursor.execute('select', i)\n", "query-in-loop"),
        ("def f(xs):\n    t = ''\n    for x in xs:\n        t += x\n    return t\n", "text-concatenation"),
    ],
)
def test_slow_loops_are_told(tmp_path: Path, lines: str, rule: str) -> None:
    assert rule in [found for _, _, found in look(tmp_path, "x = 1\n", lines).places("performance")]


@pytest.mark.parametrize(
    "lines",
    [
        "def f(xs):\n    known = {1}\n    return [x for x in xs if x in known]\n",
        "def f(xs):\n    return [x for x in xs if x in ('a', 'b')]\n",
        "def f(xs):\n    words = ['a', 'b']\n    return [x for x in xs if x in words]\n",
        "def f(x):\n    out = []\n    for n in (1, 2):\n        if n not in out:\n            out.append(n)\n    return out\n",
        "def f(rows):\n    for row in rows:\n        for cell in row:\n            print(cell)\n",
        "def f(xs):\n    n = 0\n    for x in xs:\n        n += x\n    return n\n",
        "def f(xs, ys: dict[str, int]):\n    return [x for x in xs if x in ys]\n",
        "def f(xs):\n    out = []\n    for x in xs:\n        out.append(x)\n    return out\n",
    ],
)
def test_quick_loops_are_not(tmp_path: Path, lines: str) -> None:
    assert look(tmp_path, "x = 1\n", lines).new("performance") == []


def test_private_names_and_variables_may_go(tmp_path: Path) -> None:
    lab = look(tmp_path, "def _a(): pass\n\n\nX = 1\n", "Y = 1\n")
    assert lab.new("api") == []


def test_a_name_that_the_module_still_answers_for_is_not_gone(tmp_path: Path) -> None:
    before = "def a(): pass\n\n\ndef b(): pass\n\n\nclass C:\n    def a(self): pass\n"
    after = "def _a(): pass\n\n\nclass C: pass\n\n\ndef __getattr__(name):\n    if name == 'a':\n        return _a\n    raise AttributeError(name)\n"
    assert sorted(item.result.subject for item in look(tmp_path, before, after).new("api")) == ["C.a", "b"]


def test_an_exported_name_that_goes_weighs_more(tmp_path: Path) -> None:
    lab = look(
        tmp_path, "__all__ = ['a']\n\n\ndef a():\n    pass\n\n\ndef b():\n    pass\n", "__all__ = []\n\n\ndef b():\n    pass\n"
    )
    (item,) = lab.new("api")
    assert (item.result.rule, item.result.severity) == ("object-removed", Severity.HIGH)


def test_ids_follow_an_order_of_their_own(tmp_path: Path) -> None:
    bad = CLEAN.replace("mode=None", "mode=[]").replace("list(items)", "eval(items)")
    first, second = look(tmp_path / "a", CLEAN, bad), look(tmp_path / "b", CLEAN, bad)
    assert [item.id for item in first.ledger.items] == [f"E{n}" for n in range(1, len(first.ledger.items) + 1)]
    assert [(item.id, item.result.rule) for item in first.ledger.items] == [
        (item.id, item.result.rule) for item in second.ledger.items
    ]


def test_what_is_kept_of_old_results_is_bounded_and_said(tmp_path: Path) -> None:
    many = "".join(f"def f{n}(a=[]):\n    return a\n\n\n" for n in range(30))
    lab = study(tmp_path, {"a.py": many}, {"a.py": many + "x = 1\n"}, options=CheckOptions(presets=("ruff",), max_items=10))
    assert len(lab.of(EvidenceStatus.EXISTING)) == 10
    assert any("20 further existing results" in note for note in lab.ledger.notes)


@pytest.mark.parametrize("name", ["-x.py", "{ruff}.py", "a b/c.py", "ü.py", "@names.py", "build/x.py"])
def test_a_file_may_have_any_name(tmp_path: Path, name: str) -> None:
    lab = study(tmp_path, {name: CLEAN}, {name: CLEAN.replace("mode=None", "mode=[]")}, options=CheckOptions(presets=("ruff",)))
    assert lab.places("lint") == [(name, 4, "B006")]


def test_code_that_is_nested_or_chained_without_end_is_read_in_time(tmp_path: Path) -> None:
    deep = "rows" + ".next" * 800
    chain = "    rows" + ".append(1)" * 300 + "\n"
    head = (
        "def f(rows):\n    out = ''\n    for row in rows:\n        "
        + deep
        + ".append(row)\n        out.index(row)\n"
        + chain * 30
    )
    lab = look(tmp_path, CLEAN, CLEAN + "\n\n" + head)
    assert {run.name: run.ran for run in lab.ledger.checks}["analysers"]


@pytest.mark.parametrize(("codec", "told"), [("utf-7", True), ("raw_unicode_escape", True), ("utf-8", False), ("latin-1", False)])
def test_an_encoding_that_can_hide_code_in_a_comment_is_told(tmp_path: Path, codec: str, told: bool) -> None:
    lab = look(tmp_path, CLEAN, f"# -*- coding: {codec} -*-\n{CLEAN}# +AAo-import os\n")
    assert (("work.py", 1, "encoding") in lab.places("unicode")) is told
