"""The project's tests as evidence: whose failure it is, and which line it is put down to."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from reviewbot.domain.debate import Check
from reviewbot.domain.evidence import EvidenceStatus, Precision, Severity
from reviewbot.evidence import proof
from reviewbot.evidence.view import CheckOptions
from reviewbot.ports import Experiment, Job
from tests.evidence.lab import Lab, study

CALC = "def add(a, b):\n    return a + b\n\n\ndef halve(a):\n    if a is None:\n        return 0\n    return a / 2\n"
TESTS = (
    "from calc import add, halve\n\n\ndef test_add():\n    assert add(1, 2) == 3\n\n\ndef test_add_nothing():\n    assert add(1, 0) == 1\n\n\n"
    "def test_halve():\n    assert halve(4) == 2\n\n\ndef test_halve_none():\n    assert halve(None) == 0\n"
)
pytestmark = [pytest.mark.usefixtures("bubblewrap"), pytest.mark.ci, pytest.mark.matrix]
BASE = {"calc.py": CALC, "tests/test_calc.py": TESTS}


def changed(before: str, after: str, path: str = "calc.py", base: dict[str, str] = BASE) -> dict[str, str]:
    """The base with one text replaced by another."""
    assert before in base[path]
    return base | {path: base[path].replace(before, after)}


def run(folder: Path, base: dict[str, str], head: dict[str, str]) -> Lab:
    """Only the tests."""
    lab = study(folder, base, head, options=CheckOptions(presets=("pytest",)))
    assert lab.ledger.sandbox == "bubblewrap"
    return lab


@pytest.mark.smoke
def test_a_wrong_operator_is_found_by_the_lines_that_the_failing_test_ran(tmp_path: Path) -> None:
    lab = run(tmp_path, BASE, changed("a + b", "a - b"))
    (item,) = lab.new("test")
    assert (item.result.path, item.result.line) == ("calc.py", 2)
    assert item.result.anchor == "return a - b"
    assert item.result.precision is Precision.CERTAIN
    assert item.result.subject == "tests/test_calc.py::test_add"
    assert (lab.ledger.tests.passed, lab.ledger.tests.failed) == (3, 1)
    assert lab.ledger.tests.executed == {("calc.py", 2)}


def test_an_exception_is_put_down_to_the_changed_line_it_passed_through(tmp_path: Path) -> None:
    lab = run(tmp_path, BASE, changed("return a / 2", "half = a // 0\n    return half"))
    assert lab.places("test") == [("calc.py", 8, None)]


def test_removed_lines_are_put_down_to_where_they_stood(tmp_path: Path) -> None:
    lab = run(tmp_path, BASE, changed("    if a is None:\n        return 0\n", ""))
    assert lab.places("test") == [("calc.py", 6, None)]


SUPPORT = BASE | {"tests/support.py": "def three():\n    three = 1 + 2\n    return three\n"}
SUPPORT |= {
    "tests/test_calc.py": "from tests import support\n" + TESTS.replace("== 3", "== support.three()"),
    "tests/__init__.py": "",
}


@pytest.mark.parametrize(
    ("base", "head", "place"),
    [
        (SUPPORT, changed("1 + 2", "2 + 2", "tests/support.py", SUPPORT), ("tests/support.py", 2, None)),
        (SUPPORT, changed("    return three\n", "", "tests/support.py", SUPPORT), ("tests/support.py", 2, None)),
        (BASE, {"tests/test_calc.py": TESTS}, ("calc.py", 0, None)),
        (BASE, {"tests/test_calc.py": TESTS, "sums.py": CALC}, ("sums.py", 0, None)),
    ],
    ids=["support", "removed support", "removed module", "renamed module"],
)
def test_a_failure_that_no_trace_leads_back_is_put_down_to_what_changed(
    tmp_path: Path, base: dict[str, str], head: dict[str, str], place: tuple[str, int, None]
) -> None:
    assert run(tmp_path, base, head).places("test") == [place]


def test_a_constant_is_found_though_it_runs_at_import(tmp_path: Path) -> None:
    base = {
        "calc.py": "RATE = 2\n\n\ndef twice(a):\n    return a * RATE\n",
        "tests/test_calc.py": "from calc import twice\n\n\ndef test_twice():\n    assert twice(2) == 4\n",
    }
    assert run(tmp_path, base, changed("RATE = 2", "RATE = 3", base=base)).places("test") == [("calc.py", 1, None)]


def test_the_more_specific_of_two_changed_lines_is_the_cause(tmp_path: Path) -> None:
    shared = {
        "calc.py": "def prepare(a):\n    a = a\n    return a\n\n\n"
        + CALC.replace("a + b", "prepare(a) + b").replace("a / 2", "prepare(a) / 2"),
        "tests/test_calc.py": TESTS,
    }
    head = changed("    a = a\n", "    a = (a)\n", base=shared)
    head = changed("prepare(a) + b", "prepare(a) - b", base=head)
    assert run(tmp_path, shared, head).places("test") == [("calc.py", 7, None)]


def test_a_failure_that_says_strange_things_is_reported(tmp_path: Path) -> None:
    loud = TESTS.replace("assert add(1, 2) == 3", r"assert add(1, 2) == 3, 'a\0b\udc80\\u0000 \U0001f600'")
    base = BASE | {"tests/test_calc.py": loud}
    assert run(tmp_path, base, changed("a + b", "a - b", base=base)).places("test") == [("calc.py", 2, None)]


def test_a_source_layout_without_installation_works(tmp_path: Path) -> None:
    base = {
        "src/pack/__init__.py": "",
        "src/pack/calc.py": CALC,
        "tests/test_calc.py": TESTS.replace("from calc", "from pack.calc"),
    }
    assert run(tmp_path, base, changed("a + b", "a - b", "src/pack/calc.py", base)).places("test") == [
        ("src/pack/calc.py", 2, None)
    ]


def test_the_reverse_change_is_a_repair(tmp_path: Path) -> None:
    lab = run(tmp_path, changed("a + b", "a - b"), BASE)
    assert lab.new("test") == []
    assert [item.result.subject for item in lab.of(EvidenceStatus.FIXED, "test")] == ["tests/test_calc.py::test_add"]
    assert lab.ledger.tests.green


def test_what_failed_before_is_not_the_change_s_doing(tmp_path: Path) -> None:
    broken = changed("== 3", "== 4", "tests/test_calc.py")
    lab = run(tmp_path, broken, changed("return a / 2", "return a * 0.5", base=broken))
    assert lab.new("test") == []
    assert [item.result.subject for item in lab.of(EvidenceStatus.EXISTING, "test")] == ["tests/test_calc.py::test_add"]


def test_a_changed_test_proves_a_cause_only_if_it_passes_against_the_base(tmp_path: Path) -> None:
    stricter = TESTS + "\n\ndef test_negative():\n    assert add(-1, -1) == -2\n"
    regression = run(tmp_path / "a", BASE, changed("a + b", "abs(a) + abs(b)") | {"tests/test_calc.py": stricter})
    (item,) = regression.new("test")
    assert (item.result.path, item.result.line, item.result.precision) == ("calc.py", 2, Precision.CERTAIN)
    unmet = TESTS + "\n\ndef test_text():\n    assert add('1', 2) == 3\n"
    hope = run(tmp_path / "b", BASE, changed("return a / 2", "return a * 0.5") | {"tests/test_calc.py": unmet})
    (item,) = hope.new("test")
    assert item.result.precision is Precision.HEURISTIC
    assert not item.is_executed_proof


def test_a_module_that_no_longer_imports_breaks_its_tests(tmp_path: Path) -> None:
    lab = run(tmp_path, BASE, changed("def add", "from nowhere.calc import x\n\n\ndef add") | {"nowhere/__init__.py": ""})
    (item,) = lab.new("test")
    assert (item.result.path, item.result.line) == ("calc.py", 1)


def test_a_dependency_that_is_not_installed_here_is_no_defect(tmp_path: Path) -> None:
    lab = run(tmp_path, BASE, changed("def add", "import a_library_from_afar\n\n\ndef add"))
    assert lab.new("test") == []
    (check,) = [check for check in lab.ledger.checks if check.name == "pytest"]
    assert "a_library_from_afar" in check.reason


def test_a_test_that_hangs_is_told(tmp_path: Path) -> None:
    options = CheckOptions(presets=("pytest",), seconds=4)
    lab = study(tmp_path, BASE, changed("return a / 2", "while a: pass"), options=options)
    assert lab.ledger.sandbox == "bubblewrap"
    (item,) = lab.new("test")
    assert "does not end" in item.result.message
    assert item.result.path == "calc.py"
    assert any("of 4 tests had ended" in check.reason for check in lab.ledger.checks)


def test_options_that_need_a_missing_plug_in_are_left_out_and_said(tmp_path: Path) -> None:
    base = BASE | {"pytest.ini": "[pytest]\naddopts = --no-such-option\n"}
    lab = run(tmp_path, base, changed("a + b", "a - b", base=base))
    assert lab.places("test") == [("calc.py", 2, None)]
    assert any("without the project's own options" in check.reason for check in lab.ledger.checks)


def test_a_project_that_runs_its_tests_in_parallel_is_measured_all_the_same(tmp_path: Path) -> None:
    pytest.importorskip("xdist")
    base = BASE | {"pytest.ini": "[pytest]\naddopts = -n 2 --dist worksteal -q\nfilterwarnings = error\n"}
    lab = run(tmp_path, base, changed("a + b", "a - b", base=base))
    assert lab.places("test") == [("calc.py", 2, None)]
    assert lab.ledger.tests.measured


def test_changed_lines_that_no_test_runs_are_told_once_per_function(tmp_path: Path) -> None:
    more = CALC + "\n\ndef unused(a):\n    if a:\n        a = 1\n    return a\n"
    lab = run(tmp_path, BASE, BASE | {"calc.py": more})
    (item,) = lab.new("coverage")
    assert (item.result.path, item.result.line, item.result.subject) == ("calc.py", 12, "unused")


def test_a_renamed_file_keeps_its_tests(tmp_path: Path) -> None:
    head = {"sums.py": CALC.replace("a + b", "a - b"), "tests/test_sums.py": TESTS.replace("from calc", "from sums")}
    lab = run(tmp_path, BASE, head)
    assert {item.result.path for item in lab.new("test")} == {"sums.py"}


@pytest.mark.smoke
def test_no_test_file_is_said(tmp_path: Path) -> None:
    lab = run(tmp_path, {"a.py": "x = 1\n"}, {"a.py": "x = 2\n"})
    assert [(check.name, check.ran, check.reason) for check in lab.ledger.checks if check.name == "pytest"] == [
        ("pytest", False, "no test file was found")
    ]


@pytest.mark.parametrize(
    ("after", "subject", "outcome"),
    [
        ("a - b", "tests/test_calc.py::test_add", "fails_at_head"),
        ("a - b", "tests/test_calc.py::test_halve", "passes_at_head"),
        ("a - b", "tests/test_calc.py::test_no_such", "not_run"),
    ],
)
def test_a_proof_runs_the_test_at_both_ends_twice(tmp_path: Path, after: str, subject: str, outcome: str) -> None:
    lab = run(tmp_path, BASE, changed("a + b", after))
    check = Check(("python", "-m", "pytest", subject), subject=subject)
    assert lab.prove(check).check.outcome == outcome


def test_a_written_check_is_run_as_a_file_of_its_own(tmp_path: Path) -> None:
    lab = run(tmp_path, BASE, changed("a + b", "a - b"))
    check = Check(("pytest",), source="from calc import add\n\n\ndef test_it():\n    assert add(2, 2) == 4\n")
    verified = lab.prove(check)
    assert verified.check.outcome == "fails_at_head"
    assert "assert 0 == 4" in verified.excerpt


def test_a_test_that_cannot_make_up_its_mind_is_unstable(tmp_path: Path) -> None:
    lab = run(tmp_path, BASE, changed("a + b", "a - b"))
    wavering = Check(("pytest",), source="def test_it():\n    assert 0 == TURN\n")
    procedure = proof.conduct(Experiment("C1", wavering), lab.view, CheckOptions())
    outcomes = [lab.room.run(_at_turn(job, turn)) for turn, job in enumerate(next(procedure))]
    with pytest.raises(StopIteration) as end:
        procedure.send(tuple(outcomes))
    assert end.value.value.check.outcome == "unstable"


def _at_turn(job: Job, turn: int) -> Job:
    """A job in whose files the word TURN is the turn's number."""
    return replace(job, overlay=tuple((path, data.replace(b"TURN", str(turn).encode())) for path, data in job.overlay))


def test_code_that_ends_the_run_of_its_tests_is_known_to_have_cut_them_short(tmp_path: Path) -> None:
    lab = run(tmp_path, BASE, BASE | {"calc.py": "import os\n\nos._exit(0)\n\n\n" + CALC})
    assert [check.cut_short for check in lab.ledger.checks if check.name == "pytest"] == [True]


CONFTEST = "import pytest\nimport shop\n\n\n@pytest.fixture\ndef one():\n    return shop.ONE\n"
ONE_SHOP = {
    "shop/__init__.py": "from shop._core import _one\n\nONE = _one()\n",
    "shop/_core.py": "def _one():\n    return 1\n",
    "tests/conftest.py": CONFTEST,
    "tests/test_shop.py": "def test_one(one):\n    assert one == 1\n",
    "tests/test_more.py": "def test_more(one):\n    assert one > 0\n",
}


def test_a_package_that_its_conftest_cannot_import_any_more_is_a_broken_suite(tmp_path: Path) -> None:
    lab = run(tmp_path, ONE_SHOP, changed("def _one", "def _first", "shop/_core.py", base=ONE_SHOP))
    (item,) = lab.new("test")
    assert (item.result.path, item.result.line) == ("shop/_core.py", 1)
    assert item.result.precision is Precision.CERTAIN
    assert "and 1 more fails: ImportError: cannot import name '_one'" in item.result.message
    check = Check(("pytest",), subject=item.result.subject)
    assert lab.prove(check).check.outcome == "fails_at_head"


def test_a_conftest_that_never_could_be_loaded_leaves_out_only_the_tests_beside_it(tmp_path: Path) -> None:
    base = BASE | {
        "examples/tests/conftest.py": "import not_installed_here\n",
        "examples/tests/test_example.py": "import calc\n\n\ndef test_example():\n    assert calc.add(1, 1) == 2\n",
    }
    lab = run(tmp_path, base, changed("a + b", "a - b", base=base))
    assert lab.places("test") == [("calc.py", 2, None)]
    (run_,) = (check for check in lab.ledger.checks if check.name == "pytest")
    assert run_.ran
    assert "failed for what is not installed here, as ModuleNotFoundError: No module named 'not_installed_here'" in run_.reason


SLOW = "import calc\nimport pytest\nimport time\n\n\n@pytest.mark.parametrize('n', range(60))\ndef test_slow(n):\n    time.sleep(0.2)\n    assert calc.halve(4)\n"


def test_a_slow_suite_is_cut_off_and_no_test_of_it_is_said_to_hang(tmp_path: Path) -> None:
    base = {"calc.py": CALC, "tests/test_slow.py": SLOW}
    options = CheckOptions(presets=("pytest",), seconds=5)
    lab = study(tmp_path, base, changed("a + b", "b + a", base=base), options=options)
    assert not lab.new("test")
    (told,) = (check for check in lab.ledger.checks if check.name == "pytest")
    assert "tests had ended" in told.reason
    assert told.cut_short


def test_a_failure_that_the_base_was_too_slow_to_show_is_not_put_down_to_the_change(tmp_path: Path) -> None:
    network = "import calc\n\n\ndef test_network():\n    assert calc.halve(4) == 3\n"
    base = {
        "calc.py": CALC,
        "tests/conftest.py": "import pathlib, time\n\n\ndef pytest_collection_finish():\n    time.sleep(60 * ('a + b' in pathlib.Path('calc.py').read_text()))\n",
        "tests/test_network.py": network,
    }
    options = CheckOptions(presets=("pytest",), seconds=5)
    lab = study(tmp_path, base, changed("a + b", "b + a", base=base), options=options)
    (item,) = lab.new("test")
    assert item.result.severity is Severity.LOW
    assert item.result.consequence == "the test fails at head; at base it was not run, so that it may have failed before"
