"""What a check of a claim shows: runs at both ends and with a fix become one outcome; what cannot be run says why."""

from __future__ import annotations

import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.domain.debate import Check, CheckKind, CheckOutcome
from reviewbot.domain.repair import Edit
from reviewbot.evidence.proof.fixed import overlay
from reviewbot.evidence.proof.runs import Told, passes_with, together
from reviewbot.evidence.view import Benchmark, CheckOptions
from reviewbot.ports import Draft
from tests.evidence.lab import Lab, laid_out

pytestmark = pytest.mark.matrix(parts=1)

BASE = {
    "shop/__init__.py": "",
    "shop/pages.py": "def pages(items: int, size: int) -> int:\n    return -(-items // size)\n",
}
HEAD = {**BASE, "shop/pages.py": "def pages(items: int, size: int) -> int:\n    return items // size + 1\n"}
PLACE = {"path": "shop/pages.py", "lines": (2, 2)}
MENDED = Draft("shop/pages.py", 2, 2, "    return -(-items // size)")
STILL_WRONG = Draft("shop/pages.py", 2, 2, "    return items // size + 2")
TEST = Check(("pytest",), source="from shop.pages import pages\n\n\ndef test_full():\n    assert pages(20, 10) == 2\n")


WELL = (True, True)


def told(*passes: bool | None) -> tuple[Told, ...]:
    return tuple(Told(one) for one in passes)


@pytest.mark.parametrize(
    ("head", "base", "fixed", "outcome"),
    [
        ((False, False), (True, True), (), "fails_at_head"),
        ((True, True), (True, True), (), "passes_at_head"),
        ((True, True), (False, False), (), "passes_at_head"),
        ((False, False), (False, False), (), "fails_at_both"),
        ((False, False), (False, False), (True, True), "passes_with_fix"),
        ((False, False), (False, False), (True, False), "fails_at_both"),
        ((False, False), (None, None), (), "not_run"),
        ((False, False), (None, None), (True, True), "passes_with_fix"),
        ((False, True), (True, True), (), "unstable"),
        ((False, False), (True, False), (), "unstable"),
        ((None, False), (True, True), (), "not_run"),
        ((True, True), (True, False), (), "passes_at_head"),
    ],
)
def test_one_word_for_all_runs(head: tuple[bool], base: tuple[bool], fixed: tuple[bool], outcome: str) -> None:
    assert together(told(*head), told(*base), told(*fixed)) == outcome


@given(st.lists(st.sampled_from([True, False, None]), min_size=6, max_size=6))
def test_nothing_is_proven_unless_every_run_of_head_failed_and_every_run_of_base_or_fix_passed(runs: list[bool | None]) -> None:
    outcome = together(told(*runs[:2]), told(*runs[2:4]), told(*runs[4:]))
    if outcome in (CheckOutcome.FAILS_AT_HEAD, CheckOutcome.PASSES_WITH_FIX):
        assert runs[:2] == [False, False]
        assert [True, True] in (runs[2:4], runs[4:])


def test_a_failure_that_did_not_touch_the_claim_is_unrelated() -> None:
    strangers = (Told(passes=False, related=False),) * 2
    assert together(strangers, told(*WELL)) is CheckOutcome.UNRELATED


def test_whether_a_fix_mends_is_known_only_where_it_was_tried() -> None:
    assert passes_with(()) is None
    assert passes_with(told(None, None)) is None
    assert passes_with(told(*WELL)) is True
    assert passes_with(told(*WELL[:1], None)) is False


@pytest.fixture
def lab(tmp_path: Path, bubblewrap: None) -> Lab:
    del bubblewrap
    return laid_out(tmp_path, BASE, HEAD)


@pytest.mark.parametrize(
    ("text", "draft", "wanted"),
    [
        (b"a\nb\nc\n", Draft("f", 2, 2, "B"), b"a\nB\nc\n"),
        (b"a\nb\nc", Draft("f", 3, 3, "C"), b"a\nb\nC"),
        (b"a\r\nb\r\n", Draft("f", 1, 1, "A\nA2"), b"A\r\nA2\r\nb\r\n"),
        (b"a\nb\nc\n", Draft("f", 1, 2, ""), b"c\n"),
        (b"a\n", Draft("f", 1, 2, "x"), None),
        (b"a\n", Draft("f", 0, 0, "x"), None),
    ],
)
def test_a_draft_is_laid_into_the_file_of_the_head(tmp_path: Path, text: bytes, draft: Draft, wanted: bytes | None) -> None:
    view = laid_out(tmp_path, {"f": b"0\n"}, {"f": text}).view
    assert overlay(view, draft) == ((("f", wanted),) if wanted is not None else ())


@pytest.mark.ci
def test_a_check_is_run_with_the_fix_too(lab: Lab) -> None:
    mended = lab.prove(TEST, **PLACE, fix=MENDED)
    assert (mended.check.outcome, mended.fixed) == ("fails_at_head", True)
    wrong = lab.prove(TEST, **PLACE, fix=STILL_WRONG)
    assert (wrong.check.outcome, wrong.fixed) == ("fails_at_head", False)


@pytest.mark.ci
def test_a_claim_about_code_that_failed_before_is_proven_by_its_fix(tmp_path: Path, bubblewrap: None) -> None:
    del bubblewrap
    lab = laid_out(tmp_path, HEAD, {**HEAD, "shop/pages.py": HEAD["shop/pages.py"].replace("return items", "return  items")})
    assert lab.prove(TEST, **PLACE).check.outcome == "fails_at_both"
    assert lab.prove(TEST, **PLACE, fix=MENDED).check.outcome == "passes_with_fix"


@pytest.mark.parametrize(
    ("check", "reason"),
    [
        (Check((), kind=CheckKind.TEST), "names no test"),
        (Check((), source="x", subject="check.rb", kind=CheckKind.SCRIPT), "nothing here runs a script named 'check.rb'"),
        (Check((), source="x", subject="../check.sh", kind=CheckKind.SCRIPT), "a path inside the tree"),
        (Check((), source="x", subject="/etc/check.sh", kind=CheckKind.SCRIPT), "a path inside the tree"),
        (Check((), source="x", subject=".git/check.sh", kind=CheckKind.SCRIPT), "a path inside the tree"),
        (Check((), source="x", subject="shop/pages.py", kind=CheckKind.SCRIPT), "would replace the project's own shop/pages.py"),
        (Check((), kind=CheckKind.COMMAND), "names no command"),
        (Check((), subject="shellcheck", kind=CheckKind.RULE), "tool:rule"),
        (Check((), subject="nosuch:X1", kind=CheckKind.RULE), "nothing here is called 'nosuch'"),
        (Check((), subject="ruff:F401,--fix", kind=CheckKind.RULE), "is no rule of ruff"),
        (Check((), subject="shop/pages.py", kind=CheckKind.BEHAVIOUR), "names no Python function"),
        (Check((), subject="shop/gone.py:pages", kind=CheckKind.BEHAVIOUR), "it cannot be searched"),
        (Check((), subject="nosuch", kind=CheckKind.BENCHMARK), "no benchmark is called 'nosuch'"),
        (Check((), source="def run(): return 1 / 0", kind=CheckKind.BENCHMARK), "ZeroDivisionError"),
    ],
)
def test_what_cannot_be_run_says_why(lab: Lab, check: Check, reason: str) -> None:
    shown = lab.prove(check, **PLACE)
    assert shown.check.outcome == "not_run"
    assert reason in shown.excerpt


def test_without_a_sandbox_nothing_is_proven(tmp_path: Path) -> None:
    shown = laid_out(tmp_path, BASE, HEAD, level="none").prove(TEST, **PLACE)
    assert (shown.check.outcome, shown.excerpt) == ("not_run", "it could not be run here: there is no sandbox")


@pytest.mark.parametrize(
    "program", ["import os\nos._exit(0)\n", "import sys\nsys.exit(3)\n", "import os, signal\nos.kill(os.getpid(), 9)\n"]
)
def test_a_script_that_ends_in_another_way_tells_nothing_or_passes(lab: Lab, program: str) -> None:
    shown = lab.prove(Check((), source=program, subject="check.py", kind=CheckKind.SCRIPT), **PLACE)
    assert shown.check.outcome == ("passes_at_head" if "_exit(0)" in program else "not_run")


def test_a_rule_on_another_line_of_the_same_text_is_not_about_the_claim(tmp_path: Path, bubblewrap: None) -> None:
    del bubblewrap
    far = "\n".join(f"y{number} = {number}" for number in range(20))
    base = {"a.py": "import os\nprint(os)\n"}
    head = {"a.py": f"import os\nprint(os)\n{far}\nimport os\n"}
    lab = laid_out(tmp_path, base, head)
    check = Check((), subject="ruff:I001", kind=CheckKind.RULE)
    assert lab.prove(replace(check, subject="ruff:E402"), path="a.py", lines=(1, 1)).check.outcome == "passes_at_head"
    assert lab.prove(replace(check, subject="ruff:E402"), path="a.py", lines=(23, 23)).check.outcome == "fails_at_head"
    assert lab.prove(check, path="other.py", lines=(1, 1)).check.outcome == "not_run"


def test_a_fix_that_only_moves_what_a_rule_reports_mends_nothing(tmp_path: Path, bubblewrap: None) -> None:
    del bubblewrap
    head = "import os\nprint(os)\nx = 1\nimport sys\n"
    lab = laid_out(tmp_path, {"a.py": head.removesuffix("import sys\n")}, {"a.py": head})
    check = Check((), subject="ruff:E402", kind=CheckKind.RULE)
    for text, mends in (("# so\n" * 8 + head, False), (head.removesuffix("import sys\n"), True)):
        fix = (Edit("a.py", text.encode()),)
        assert lab.prove(check, path="a.py", lines=(4, 4), fix=fix).fixed is mends


@pytest.mark.ci
def test_a_changed_constant_that_runs_at_import_can_be_proven_wrong(tmp_path: Path, bubblewrap: None) -> None:
    del bubblewrap
    lab = laid_out(tmp_path, {"rates.py": "RATE = 2\n"}, {"rates.py": "RATE = 3\n"})
    check = Check(("pytest",), source="from rates import RATE\n\n\ndef test_rate():\n    assert RATE == 2\n")
    assert lab.prove(check, path="rates.py", lines=(1, 1)).check.outcome == "fails_at_head"


@pytest.mark.ci
def test_a_type_checker_s_word_is_a_check(tmp_path: Path, bubblewrap: None) -> None:
    del bubblewrap
    if not (shutil.which("mypy") or Path(sys.executable).with_name("mypy").exists()):
        pytest.skip("mypy is not installed")
    head = {**BASE, "shop/pages.py": BASE["shop/pages.py"].replace("-(-items // size)", "str(items // size)")}
    check = Check(("mypy", "shop/pages.py"), subject="mypy", kind=CheckKind.TYPES)
    shown = laid_out(tmp_path, BASE, head).prove(check, **PLACE)
    assert shown.check.outcome == "fails_at_head"
    assert "return-value" in shown.excerpt


SPEC = """
from shop.pages import pages


def spec_enough(items: int, size: int) -> None:
    if items < 0 or size < 1:
        return
    count = pages(items, size)
    assert (count - 1) * size < max(items, 1) <= max(count, 1) * size
"""


@pytest.mark.ci
def test_a_specification_is_refuted_by_a_counter_example_that_was_replayed(lab: Lab) -> None:
    check = Check((), source=SPEC, kind=CheckKind.CONTRACT)
    shown = lab.prove(check, **PLACE, fix=MENDED)
    assert (shown.check.outcome, shown.fixed) == ("fails_at_head", True)
    assert "spec_enough(" in shown.excerpt


@pytest.mark.ci
def test_a_specification_that_holds_is_reported_as_such_within_its_bound(tmp_path: Path, bubblewrap: None) -> None:
    del bubblewrap
    lab = laid_out(tmp_path, HEAD, BASE)
    shown = lab.prove(Check((), source=SPEC, kind=CheckKind.CONTRACT), **PLACE)
    assert shown.check.outcome == "none_found"
    assert "spec_enough: no counter-example was found" in shown.excerpt


SLEEPY = "import time\n\n\ndef parse() -> None:\n    time.sleep(0.01)\n"


@pytest.mark.ci
def test_a_configured_benchmark_proves_a_slow_down_at_both_ends(tmp_path: Path, bubblewrap: None) -> None:
    del bubblewrap
    if not shutil.which("hyperfine"):
        pytest.skip("hyperfine is not installed")
    command = "python3 -c 'import parse; parse.parse()'"
    words = ("{tool:hyperfine}", "--runs", "3", "--export-json", "{scratch}/times.json", command)
    benchmark = Benchmark("parse", words, "hyperfine", "times.json")
    lab = laid_out(tmp_path, {"parse.py": SLEEPY}, {"parse.py": SLEEPY.replace("0.01", "0.2")})
    options = CheckOptions(benchmarks=(benchmark,))
    shown = lab.prove(Check((), subject="parse", kind=CheckKind.BENCHMARK), path="parse.py", lines=(5, 5), options=options)
    assert shown.check.outcome == "fails_at_head"
    assert "times the base's" in shown.excerpt
