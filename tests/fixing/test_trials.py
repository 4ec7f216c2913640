"""What a trial may take for a proof, and what becomes of it when it is stopped."""

from __future__ import annotations

from pathlib import Path

import pytest

from reviewbot.domain.debate import Check, CheckKind, CheckOutcome
from reviewbot.domain.evidence import Category, EvidenceKind, Precision, Result, Severity
from reviewbot.drive import Bench, Deadline
from reviewbot.evidence.match import Sides, compare
from reviewbot.evidence.view import CheckOptions
from reviewbot.pipeline.trying import Benches, _of_check
from reviewbot.ports import Ended, Job, Verification
from reviewbot.testing import FakeClock, FakeSandbox, Watching
from tests.evidence.lab import laid_out, study

TROUBLE = Result(
    EvidenceKind.LINT, "mypy", "arg-type", "a.py", 1, "no", Category.CORRECTNESS, Severity.LOW, Precision.CERTAIN, anchor="x = 1"
)


def test_what_a_linter_does_not_say_because_it_crashed_is_not_mended(tmp_path: Path) -> None:
    change = laid_out(tmp_path, {"a.py": "x = 1\n"}, {"a.py": "x = 2\n"}, level="none").view.change
    assert [mark.status for mark in compare(change, Sides((TROUBLE,)), {})] == ["fixed"]
    assert compare(change, Sides((TROUBLE,), head_known=False), {}) == ()


@pytest.mark.parametrize(
    ("outcome", "fixed", "done"),
    [
        (CheckOutcome.FAILS_AT_HEAD, True, True),
        (CheckOutcome.PASSES_WITH_FIX, True, True),
        (CheckOutcome.FAILS_AT_HEAD, False, False),
        (CheckOutcome.UNSTABLE, True, False),
        (CheckOutcome.NOT_RUN, True, None),
        (CheckOutcome.PASSES_AT_HEAD, True, None),
        (CheckOutcome.FAILS_AT_HEAD, None, None),
    ],
)
def test_only_a_check_that_was_seen_to_fail_proves(outcome: CheckOutcome, fixed: bool | None, done: bool | None) -> None:
    check = Check(("pytest",), kind=CheckKind.TEST, outcome=outcome)
    assert _of_check(Verification(check, "", fixed)).done is done


@pytest.mark.parametrize("late", [False, True])
def test_where_all_are_closed_nothing_is_begun_not_even_in_one_that_comes_later(late: bool) -> None:
    benches, bench = Benches(), Bench(FakeSandbox(), deadline=Deadline(FakeClock(), 600), observer=Watching(), cores=1)
    for step in (benches.close, lambda: benches.add(bench)) if late else (lambda: benches.add(bench), benches.close):
        step()
    assert bench.is_closed
    assert [outcome.ended for outcome in bench.run((Job("one", ("true",), 1.0, executes=True),))] == [Ended.REFUSED]


@pytest.mark.ci
def test_a_candidate_that_asks_for_what_is_not_installed_breaks_the_tests_that_passed(tmp_path: Path, bubblewrap: None) -> None:
    del bubblewrap
    test = {"tests/test_a.py": "from a import x\n\n\ndef test_x():\n    assert x == 1\n", "a.py": "x = 1\n"}
    broken = {**test, "a.py": "import nosuchlib\n\nx = nosuchlib.x\n"}
    plain = study(tmp_path / "plain", test, broken)
    trial = study(tmp_path / "trial", test, broken, options=CheckOptions(is_trial=True))
    assert plain.new("test") == []
    assert [item.result.subject for item in trial.new("test")] != []
