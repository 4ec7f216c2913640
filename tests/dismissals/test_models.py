"""What nobody wants to hear of is argued about by nobody: not by panelists, and not by who writes code."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from reviewbot.consensus import dismissed
from reviewbot.domain.dismissal import Dismissals
from reviewbot.domain.history import Fate, History
from reviewbot.domain.review import Finding, FindingStatus, Review
from tests.fakes import Models, reviewer
from tests.models.pulls import Pull
from tests.models.stage import disputed, module, one_vendor

pytestmark = pytest.mark.ci

FILE = "shop/work.py"


@pytest.fixture
def models() -> Iterator[Models]:
    """The models, of whose requests none was refused."""
    with Models() as made:
        yield made
        assert made.refused == []


@pytest.fixture
def pull(tmp_path: Path, models: Models) -> Pull:
    """A pull request with two things that one seat raises and the others judge."""
    made = Pull(tmp_path, one_vendor(models))
    text = module(3)
    made.push({FILE: text})
    models.script = reviewer(claims=[disputed(text, functions=(1, 2)), [], []], stance="support")
    return made


def argued(review: Review) -> dict[str, bool]:
    """Of which findings more was said than that they were raised."""
    return {one.id: {said.panelist for said in one.positions} > set(one.raised_by) for one in review.findings}


def found(review: Review, name: str) -> Finding:
    return next(one for one in review.findings if one.id == name)


def test_nobody_is_asked_about_what_the_file_or_a_command_dismissed(pull: Pull, models: Models) -> None:
    first = pull.review()
    assert argued(first) == {"F1": True, "F2": True}
    asked = len(models.calls)

    one = dismissed.remembered(found(first, "F1"), "meant", "2026-01-02")
    by_file = pull.review(history=History(), dismissals=Dismissals((one,)), pull_request=8)
    assert argued(by_file) == {"F1": False, "F2": True}
    assert (found(by_file, "F1").status, found(by_file, "F2").status) == (FindingStatus.DISMISSED, FindingStatus.ACCEPTED)
    spent = len(models.calls) - asked
    assert spent < asked

    known = tuple(
        replace(one, fate=Fate.DISMISSED, by="ada", reason="no") if one.id == "F1" else one for one in pull.history.findings
    )
    by_command = pull.review(history=History(findings=known, next_number=3), pull_request=9)
    assert argued(by_command) == {"F1": False, "F2": True}
    assert found(by_command, "F1").stop_reason == "dismissed by ada: no"
    assert len(models.calls) - asked == 2 * spent
