"""Planted bugs, mended by models that first write something wrong: what is committed is right, and what was wrong is refused."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from reviewbot.domain.debate import CheckOutcome
from tests.evidence.corpus import Bug
from tests.evidence.lab import laid_out
from tests.evidence.test_corpus import need, rotated
from tests.fakes import Models
from tests.fixing.seeded import MENDS, SEEDED, SUITES, Seeded

pytestmark = [pytest.mark.usefixtures("bubblewrap"), pytest.mark.ci]


def test_there_are_enough() -> None:
    assert len(SEEDED) == len(MENDS) >= 25


@pytest.mark.parametrize("bug", rotated(SEEDED, parts=8))
def test_a_wrong_mend_is_refused_and_a_right_one_is_committed(bug: Bug, tmp_path: Path) -> None:
    need(bug)
    stage = Seeded(tmp_path / "fix", bug)
    mends = MENDS[bug.name]
    with Models() as models:
        ran = stage.fix(models, "--yes", "--commit", written=[mends["wrong"], mends["right"]])
        assert models.refused == []
    assert ran.code == 0, ran.said
    (repair,) = ran.document["repairs"]
    assert repair["outcome"] == "fixed", repair
    wrong, right = repair["tries"]
    assert wrong["reason"]
    assert right["reason"] == ""
    assert repair["proof"]
    message = stage.repo.git("log", "-1", "--format=%B")
    assert f"Reviewbot-Finding: {repair['finding']}" in message
    assert "Reviewbot-Check: " in message
    assert stage.repo.git("rev-parse", "HEAD~1").strip() == stage.head
    assert stage.repo.git("diff", "--name-only", "HEAD~1").split() == [bug.path]
    assert stage.repo.git("status", "--porcelain") == ""
    is_mended(stage, tmp_path)


def is_mended(stage: Seeded, folder: Path) -> None:
    """The failing test passes on what was committed, and so does everything else, asked without reviewbot's own reading."""
    bug = stage.bug
    head = {name: (stage.repo.path / name).read_text() for name in bug.head}
    lab = laid_out(folder / "proof", bug.base, head)
    shown = lab.prove(bug.check("right"), path=bug.path, lines=bug.lines)
    assert shown.check.outcome in (CheckOutcome.PASSES_AT_HEAD, CheckOutcome.UNRELATED), shown.excerpt
    words = [sys.executable if word == "python" else word for word in SUITES[bug.name.partition("/")[0]]]
    ran = subprocess.run(words, cwd=stage.repo.path, capture_output=True, text=True, timeout=120, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr


@pytest.mark.parametrize("bug", rotated(SEEDED[::4]))
def test_where_all_that_is_written_is_wrong_nothing_is_touched(bug: Bug, tmp_path: Path) -> None:
    need(bug)
    stage = Seeded(tmp_path, bug)
    before = stage.state_of()
    with Models() as models:
        ran = stage.fix(models, "--yes", "--commit", written=[MENDS[bug.name]["wrong"]])
    (repair,) = ran.document["repairs"]
    assert repair["outcome"] == "failed"
    assert repair["why"]
    assert [one["reason"] != "" for one in repair["tries"]] == [True, True]
    assert stage.state_of() == before
