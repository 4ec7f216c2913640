"""What shows that a finding is mended: its check, its results, and the places that tools are asked to mend."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from reviewbot import review
from reviewbot.domain.debate import Check, CheckKind, CheckOutcome, Proof, SettledBy
from reviewbot.domain.evidence import Category, Evidence, EvidenceKind, EvidenceStatus, Ledger, Precision, Result, Severity, Side
from reviewbot.domain.review import Confidence, Finding, FindingStatus, Review
from reviewbot.evidence.fixers import Wanted, shows, wanted
from reviewbot.evidence.view import CheckOptions
from reviewbot.ports import Draft
from tests.acceptance.test_planted import CLEAN, PLANTS, line_of, needs_sandbox
from tests.evidence.lab import Lab, study
from tests.repo import Repo

pytestmark = pytest.mark.ci

FINDING = Finding(
    *("F1", "print", "a.py", 3, 3, Severity.LOW, Category.MAINTAINABILITY, "title", "body", "scenario", "quote"),
    *(FindingStatus.ACCEPTED, Proof.UNTESTED, Confidence.SINGLE, 0.8, ("reviewer",), SettledBy.EVIDENCE, "stop"),
)
RESULT = Result(
    *(EvidenceKind.LINT, "ruff", "F401", "a.py", 3, "message", Category.MAINTAINABILITY, Severity.LOW, Precision.LIKELY),
    command=("ruff", "check", "--isolated", "--select", "F401", "--", "a.py"),
)
TEST = replace(RESULT, kind=EvidenceKind.TEST, tool="pytest", rule=None, subject="test_a.py::test_it", command=("python",))


def ledger(*results: Result, status: EvidenceStatus = EvidenceStatus.NEW) -> Ledger:
    return Ledger(tuple(Evidence(f"E{number}", status, Side.HEAD, one) for number, one in enumerate(results, 1)))


def finding(*evidence: str, rule: str | None = "F401", check: Check | None = None) -> Finding:
    return replace(FINDING, evidence=evidence, rule=rule, check=check)


def test_a_result_of_our_own_ruff_is_a_check_of_its_rule() -> None:
    check, names = shows(finding("E1"), ledger(RESULT))
    assert names == ("E1",)
    assert check == Check(RESULT.command, subject="ruff:F401", evidence=("E1",), kind=CheckKind.RULE)


@pytest.mark.parametrize(
    ("result", "why"),
    [
        (replace(RESULT, command=("ruff", "check", "--", "a.py")), "the runner does not know the project's settings"),
        (replace(RESULT, command=("ruff", "check", "--isolated", "--", "a.py")), "a syntax error is no rule"),
        (replace(RESULT, tool="mine"), "the runner does not know the tool"),
        (replace(RESULT, kind=EvidenceKind.SECRET, tool="secrets"), "an analyser is no tool"),
    ],
    ids=lambda one: one.replace(" ", "-") if isinstance(one, str) else "",
)
def test_where_no_check_can_be_run_the_result_alone_shows_it(result: Result, why: str) -> None:
    del why
    assert shows(finding("E1"), ledger(result)) == (None, ("E1",))


def test_beside_another_result_of_the_rule_a_check_would_stay_red_and_is_none() -> None:
    near, far = replace(RESULT, line=5), replace(RESULT, line=7)
    assert shows(finding("E1"), ledger(RESULT, near)) == (None, ("E1",))
    assert shows(finding("E1"), ledger(RESULT, far))[0] is not None
    assert shows(finding("E1"), ledger(RESULT, replace(near, rule="F811")))[0] is not None
    assert shows(finding("E1"), ledger(RESULT, replace(near, path="b.py")))[0] is not None


def test_many_results_are_shown_by_all_of_them_and_by_no_check_of_one() -> None:
    results = tuple(replace(RESULT, line=line) for line in (3, 30, 60))
    assert shows(finding("E1", "E2", "E3"), ledger(*results)) == (None, ("E1", "E2", "E3"))
    assert wanted([finding("E1", "E2", "E3")], ledger(*results)) == tuple(
        Wanted("F1", "a.py", line, line, "ruff", "F401") for line in (3, 30, 60)
    )


def test_a_test_that_failed_is_a_check_of_that_test_and_nothing_that_a_linter_mends() -> None:
    assert shows(finding("E1", rule=None), ledger(TEST)) == (
        Check(("pytest", "test_a.py::test_it"), subject="test_a.py::test_it", evidence=("E1",)),
        ("E1",),
    )
    assert wanted([finding("E1", rule=None)], ledger(TEST)) == ()


def test_a_test_of_another_runner_is_its_command() -> None:
    other = replace(TEST, tool="go-test", subject="m.TestIt", command=("go", "test", "-run", "^TestIt$", "m"))
    check, _ = shows(finding("E1", rule=None), ledger(other))
    assert check is not None
    assert (check.kind, check.command) == (CheckKind.COMMAND, other.command)


@pytest.mark.parametrize("outcome", CheckOutcome)
def test_a_check_that_ran_and_failed_is_the_findings_own(outcome: CheckOutcome) -> None:
    own = Check(("pytest",), source="def test(): ...", outcome=outcome)
    check, names = shows(finding("E1", check=own), ledger(RESULT))
    failed = outcome in (CheckOutcome.FAILS_AT_HEAD, CheckOutcome.FAILS_AT_BOTH, CheckOutcome.PASSES_WITH_FIX)
    assert (check == own) is failed
    assert names == ("E1",)


@pytest.mark.parametrize(
    ("items", "rule"),
    [
        (ledger(replace(RESULT, path="b.py")), "F401"),
        (ledger(replace(RESULT, rule="S602")), "F401"),
        (ledger(RESULT, status=EvidenceStatus.EXISTING), "F401"),
        (ledger(replace(RESULT, line=9)), None),
        (ledger(replace(RESULT, category=Category.SECURITY)), None),
        (Ledger(), "F401"),
    ],
    ids=["another file", "another rule", "not new", "another line", "another matter", "nothing"],
)
def test_what_a_finding_merely_cites_does_not_show_it(items: Ledger, rule: str | None) -> None:
    assert shows(finding("E1", rule=rule), items) == (None, ())
    assert wanted([finding("E1", rule=rule)], items) == ()


def test_a_finding_without_a_rule_stands_on_what_is_said_of_its_lines() -> None:
    spans = replace(RESULT, line=1, end_line=4)
    assert shows(finding("E1", rule=None), ledger(spans))[1] == ("E1",)


BASE = {"a.py": "x = 1\n", "t.sh": "#!/bin/sh\necho hello\n"}
HEAD = {"a.py": "x = 1\ny = eval(input())\n", "t.sh": '#!/bin/sh\ncd "$1"\necho hello\n'}
MENDED = {"a.py": Draft("a.py", 2, 2, "y = int(input())"), "t.sh": Draft("t.sh", 2, 2, 'cd "$1" || exit')}


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    return study(tmp_path_factory.mktemp("rules"), BASE, HEAD, options=CheckOptions(presets=("ruff", "shellcheck")))


@needs_sandbox
@pytest.mark.parametrize("path", MENDED)
def test_a_check_of_a_rule_really_fails_at_head_and_passes_with_the_fix(path: str, lab: Lab) -> None:
    items = [item for item in lab.new("lint") if item.result.path == path]
    if not items:
        pytest.skip("the tool is not installed")
    (item,) = items
    found = replace(FINDING, path=path, start_line=2, line=2, rule=item.result.rule, evidence=(item.id,))
    check, names = shows(found, lab.ledger)
    assert names == (item.id,)
    assert check is not None
    assert lab.prove(check, path=path, lines=(2, 2)).check.outcome == "fails_at_head"
    assert lab.prove(check, path=path, lines=(2, 2), fix=MENDED[path]).fixed is True


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Review:
    """A review of the planted defects."""
    repo = Repo(tmp_path_factory.mktemp("planted"))
    broken = dict(CLEAN)
    for plant in PLANTS:
        broken[plant.path] = broken[plant.path].replace(plant.before, plant.after)
    for files in (CLEAN, broken):
        for path, text in files.items():
            repo.write(path, text)
        repo.commit()
    return review("HEAD", repo=repo.path)


def told(found: Review) -> Sequence[Finding]:
    return [one for one in found.findings if one.status is FindingStatus.ACCEPTED]


@pytest.mark.ci
@needs_sandbox
def test_every_accepted_finding_of_the_planted_defects_is_shown_by_something(planted: Review) -> None:
    known = Ledger(planted.evidence)
    assert len(told(planted)) >= len(PLANTS) - 1
    for found in told(planted):
        check, names = shows(found, known)
        assert names, found.title
        assert all(known.item(name) is not None for name in names)
        if check is not None and check is not found.check:
            assert check.evidence == names[:1]


@needs_sandbox
def test_planted_defects_that_can_be_executed_come_with_a_check(planted: Review) -> None:
    kinds = {found.line: shows(found, Ledger(planted.evidence))[0] for found in told(planted) if found.path == "shop/price.py"}
    broken = CLEAN["shop/price.py"].replace(PLANTS[0].before, PLANTS[0].after)
    failing = kinds[line_of(broken, "result + discount")]
    assert failing is not None
    assert (failing.kind, failing.outcome) == (CheckKind.TEST, CheckOutcome.FAILS_AT_HEAD)
    rules = [check.subject for found in told(planted) if (check := shows(found, Ledger(planted.evidence))[0]) and check.subject]
    assert {"ruff:S307", "ruff:F631"} <= set(rules)


def test_the_folder_of_a_place_is_kept(tmp_path: Path) -> None:
    del tmp_path
    deep = replace(RESULT, path="src/a b/ü.py")
    found = replace(finding("E1"), path="src/a b/ü.py")
    assert wanted([found], ledger(deep)) == (Wanted("F1", "src/a b/ü.py", 3, 3, "ruff", "F401"),)
