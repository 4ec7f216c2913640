"""Forty-seven small bugs: a right check proves the claim, a wrong one contradicts it. All of it is executed."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

from reviewbot.debate.examine import PROOFS
from reviewbot.domain.debate import Check, CheckKind, CheckOutcome, Proof
from tests import rings
from tests.evidence.corpus import LANGUAGES, Bug, bugs
from tests.evidence.lab import laid_out

pytestmark = [pytest.mark.usefixtures("bubblewrap"), pytest.mark.ci]
PROGRAMS = {"go": "go", "javascript": "node", "bash": "shellcheck"}


def named(bug: Bug) -> str:
    return bug.name


def need(bug: Bug) -> None:
    language = bug.name.partition("/")[0]
    program = PROGRAMS.get(language)
    if program and not shutil.which(program):
        pytest.skip(f"{program} is not installed")
    if language == "sql" and not list(Path("/usr/lib/postgresql").glob("*/bin/initdb")):
        pytest.skip("PostgreSQL is not installed")


def rotated(bugs: Sequence[Bug], *, parts: int = rings.PARTS) -> list[ParameterSet]:
    """The bugs as cases, of which CI runs one of ``parts``; of those in Go, which cost three times as much CPU, one of three times
    as many, and no two of them at once."""
    go = [pytest.mark.matrix(parts=3 * parts), pytest.mark.xdist_group("go")]
    others = pytest.mark.matrix(parts=parts)
    return [pytest.param(bug, id=bug.name, marks=go if bug.name.startswith("go/") else others) for bug in bugs]


def test_there_are_at_least_forty() -> None:
    counted = {language: len(bugs(language)) for language in LANGUAGES}
    assert sum(counted.values()) >= 40
    assert min(counted.values()) >= 6


@pytest.mark.parametrize("bug", rotated(bugs(*LANGUAGES)))
def test_a_right_check_proves_a_claim_and_a_wrong_one_contradicts_it(bug: Bug, tmp_path: Path) -> None:
    need(bug)
    lab = laid_out(tmp_path, bug.base, bug.head)
    right = lab.prove(bug.check("right"), path=bug.path, lines=bug.lines)
    assert right.check.outcome == CheckOutcome.FAILS_AT_HEAD, right.excerpt
    assert PROOFS[right.check.outcome] is Proof.PROVEN
    wrong = lab.prove(bug.check("wrong"), path=bug.path, lines=bug.lines)
    assert wrong.check.outcome == CheckOutcome.PASSES_AT_HEAD, wrong.excerpt
    assert PROOFS[wrong.check.outcome] is Proof.CONTRADICTED


@pytest.mark.matrix
@pytest.mark.parametrize("bug", bugs("refactoring"), ids=named)
def test_a_refactoring_that_does_not_preserve_behaviour_is_refuted_and_one_that_does_is_not(bug: Bug, tmp_path: Path) -> None:
    lab = laid_out(tmp_path, bug.base, bug.head)
    shown = lab.prove(Check((), subject=bug.document["function"], kind=CheckKind.BEHAVIOUR))
    if bug.document["preserves"]:
        assert shown.check.outcome == CheckOutcome.NONE_FOUND, shown.excerpt
        assert "no counter-example was found" in shown.excerpt
    else:
        assert shown.check.outcome == CheckOutcome.FAILS_AT_HEAD, shown.excerpt
        assert "base: " in shown.excerpt
        assert "head: " in shown.excerpt


@pytest.mark.matrix
@pytest.mark.parametrize("bug", bugs("slowdown"), ids=named)
def test_a_slow_down_is_proven_by_its_ratio(bug: Bug, tmp_path: Path) -> None:
    lab = laid_out(tmp_path, bug.base, bug.head)
    check = Check((), source=bug.document["benchmark"], kind=CheckKind.BENCHMARK)
    shown = lab.prove(check, path=bug.path, lines=bug.lines)
    is_proven = shown.check.outcome == CheckOutcome.FAILS_AT_HEAD  # a control on a busy machine may also come out as unstable
    assert is_proven == bug.document["slower"], shown.excerpt
    assert "times the base's" in shown.excerpt
