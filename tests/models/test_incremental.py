"""Reviews of a pull request from push to push: only what is new is asked about, and what was told is never told anew."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from reviewbot.domain.history import Fate
from reviewbot.domain.review import FindingStatus, Lifecycle, RangeMode, Review, Verdict
from reviewbot.wiring import past
from tests.fakes import Models, reviewer
from tests.models.pulls import NUMBER, Pull
from tests.models.stage import disputed, module, one_vendor

pytestmark = [pytest.mark.matrix(parts=1), pytest.mark.ci]

FUNCTIONS = 8
FOUND = (1, 2, 3, 4, 5)
FILE = "shop/work.py"


def stopping(*numbers: int, text: str = "") -> str:
    """The module with a breakpoint in some of its functions."""
    lines = []
    for line in (text or module(FUNCTIONS)).split("\n"):
        lines.append(line)
        lines += [f"    breakpoint()  # {number}" for number in numbers if line == f"    total = {number}"]
    return "\n".join(lines)


def lives(review: Review) -> dict[str, Lifecycle]:
    return {finding.id: finding.lifecycle for finding in review.findings}


def place(pull: Pull, words: str) -> int:
    """The line where something stands now."""
    lines = (pull.repo.path / FILE).read_text().split("\n")
    return next(number for number, line in enumerate(lines, 1) if words in line)


@pytest.fixture
def static(tmp_path: Path) -> Pull:
    """A pull request with five findings, reviewed once without a model."""
    pull = Pull(tmp_path)
    pull.push({FILE: stopping(*FOUND)})
    first = pull.review()
    assert lives(first) == dict.fromkeys(("F1", "F2", "F3", "F4", "F5"), Lifecycle.NEW)
    assert (first.range_mode, first.pull_request) == (RangeMode.FULL, NUMBER)
    return pull


class Asked:
    """Models that find fault with the condition of some functions, all of one mind; and a journal of what they were asked."""

    def __init__(self, models: Models, pull: Pull) -> None:
        self.models, self.pull = models, pull

    def find(self, *functions: int) -> None:
        """What they raise from now on."""
        text = (self.pull.repo.path / FILE).read_text()
        self.models.script = reviewer(claims=disputed(text, functions=functions), stance="support")

    def prompts(self, since: int = 0) -> str:
        """All that they were shown."""
        return "\n".join(call.raw.decode() for call in self.models.calls[since:])


@pytest.fixture
def pull(tmp_path: Path, models: Models) -> Pull:
    """A pull request of eight functions, and models to review it."""
    made = Pull(tmp_path, one_vendor(models))
    made.push({FILE: module(FUNCTIONS)})
    return made


@pytest.fixture
def asked(models: Models, pull: Pull) -> Asked:
    """The models, who found five things in a first review."""
    made = Asked(models, pull)
    made.find(*FOUND)
    first = pull.review()
    assert [finding.id for finding in first.posted()] == ["F1", "F2", "F3", "F4", "F5"]
    assert (first.range_mode, first.conclusion) == (RangeMode.FULL, "complete")
    return made


def fixed(*functions: int, text: str = "") -> str:
    """The module with the condition of some functions mended."""
    made = text or module(FUNCTIONS)
    for number in functions:
        made = made.replace(f"if value <= limit + {number}:", f"if value - {number} < bound(limit):")
    return made


def test_a_push_that_mends_three_fixes_those_three_and_carries_two_to_their_new_lines(static: Pull) -> None:
    static.push({FILE: f"# Work.\n\n{stopping(2, 4)}"})
    second = static.review()
    assert second.range_mode is RangeMode.INCREMENTAL
    assert lives(second) == {
        "F1": Lifecycle.FIXED,
        "F2": Lifecycle.CARRIED,
        "F3": Lifecycle.FIXED,
        "F4": Lifecycle.CARRIED,
        "F5": Lifecycle.FIXED,
    }
    assert {one.id: one.line for one in second.posted()} == {"F2": place(static, "# 2"), "F4": place(static, "# 4")}
    static.push({FILE: f"# Work.\n\n{stopping(2, 4, 6)}"})
    third = static.review()
    assert lives(third) == {"F2": Lifecycle.CARRIED, "F4": Lifecycle.CARRIED, "F6": Lifecycle.NEW}, "no number is given again"


def test_a_result_that_goes_away_elsewhere_is_fixed_by_its_tool(static: Pull) -> None:
    known = tuple(replace(one, grounds=("markers gone",)) if one.id == "F3" else one for one in static.history.findings)
    static.history = replace(static.history, findings=known)
    static.push({"shop/other.py": "X = 1\n"})
    assert [name for name, life in lives(static.review()).items() if life is Lifecycle.FIXED] == ["F3"]


@pytest.mark.smoke
def test_models_are_asked_only_about_what_no_review_saw(asked: Asked, pull: Pull) -> None:
    before = len(asked.models.calls)
    pull.push({FILE: fixed(1, 3, 5)})
    asked.find()
    second = pull.review()
    assert second.range_mode is RangeMode.INCREMENTAL
    assert [name for name, life in lives(second).items() if life is Lifecycle.FIXED] == ["F1", "F3", "F5"]
    assert {one.id: one.line for one in second.posted()} == {
        "F2": place(pull, "limit + 2:"),
        "F4": place(pull, "limit + 4:"),
    }
    shown = asked.prompts(before)
    assert "value - 3 < bound(limit)" in shown
    assert "def work_7" not in shown, "it was seen"
    assert len(asked.models.calls) - before == 3, "a first pass of three seats, and nothing to debate"


def test_a_rebase_that_changes_nothing_asks_nobody_and_runs_nothing(asked: Asked, pull: Pull) -> None:
    before, tried = len(asked.models.calls), len(asked.models.journal.requests)
    pull.rebase({"README.md": "A shop, and more.\n", "other.py": "X = 1\n"})
    sessions = past.sessions(pull.order(), 9)
    again = pull.review()
    assert again.range_mode is RangeMode.UNCHANGED
    assert past.sessions(pull.order(), 9) == sessions, "no debate was begun"
    assert (len(asked.models.calls), len(asked.models.journal.requests)) == (before, tried), "not even greeted"
    assert (again.checks, again.evidence, again.bill.total.calls) == ((), (), 0)
    assert set(lives(again).values()) == {Lifecycle.CARRIED}
    assert (again.conclusion, again.verdict) == ("complete", Verdict.COMMENT)
    assert any(note.startswith("the change is what it was at") for note in again.notes)
    assert pull.review().range_mode is RangeMode.UNCHANGED, "and once more"


def test_what_was_dismissed_is_not_told_again_whoever_raises_it(asked: Asked, pull: Pull) -> None:
    known = (replace(one, fate=Fate.DISMISSED, by="ada", reason="meant so") for one in pull.history.findings)
    pull.history = replace(pull.history, findings=tuple(known))
    text = module(FUNCTIONS).replace("total = 2\n", "total = 2 + 0\n")
    pull.push({FILE: text})
    asked.find(2)
    second = pull.review()
    found = next(one for one in second.findings if one.id == "F2")
    assert (found.status, found.stop_reason) == (FindingStatus.DISMISSED, "dismissed by ada: meant so")
    assert not second.posted()
    assert {one.fate for one in pull.history.findings} == {Fate.DISMISSED}


def test_what_comes_back_after_a_forced_push_was_seen_and_brings_nothing_new(asked: Asked, pull: Pull) -> None:
    pull.push({FILE: module(4)})
    asked.find()
    second = pull.review()
    assert [name for name, life in lives(second).items() if life is Lifecycle.FIXED] == ["F4", "F5"]
    before = len(asked.models.calls)
    pull.repo.git("reset", "-q", "--hard", "topic~1")
    asked.find(1, 2, 3, 4, 5, 6, 7)
    third = pull.review()
    assert third.range_mode is RangeMode.INCREMENTAL, "another change than the last one: checks run"
    assert len(asked.models.calls) == before, "and no line of it is new"
    assert {name for name, life in lives(third).items() if life is Lifecycle.REOPENED} == {"F4", "F5"}
    assert [one.id for one in third.posted()] == ["F1", "F2", "F3", "F4", "F5"]


def test_results_that_were_told_before_bring_nobody_to_the_table(pull: Pull, models: Models) -> None:
    pull.push({FILE: stopping(1, 5), "shop/other.py": "X = 1\n"})
    models.script = reviewer(claims=[], stance="support")
    pull.review()
    calls = len(models.calls)
    pull.repo.git("rm", "-q", "shop/other.py")
    pull.push({})
    again = pull.review()
    assert (again.range_mode, len(models.calls)) == (RangeMode.INCREMENTAL, calls)
    assert len([item for item in again.evidence if item.status == "new" and item.result.tool == "markers"]) == 2, "checks ran"


@pytest.mark.parametrize("full", ["another version", "a focus", "nothing is known as seen"])
def test_where_an_earlier_review_says_nothing_everything_is_looked_at(asked: Asked, pull: Pull, full: str) -> None:
    before = len(asked.models.calls)
    other: dict[str, Any] = {}
    if full == "another version":
        pull.history = replace(pull.history, course=pull.history.course + "x")
    elif full == "a focus":
        other["focus"] = "the limits"
    else:
        pull.history = replace(pull.history, seen=frozenset())
    asked.find(*FOUND, 6)
    again = pull.review(fresh=True, **other)
    assert again.range_mode is RangeMode.FULL
    assert "def work_7" in asked.prompts(before)
    told = {one.id for one in again.posted()}
    assert told == {"F1", "F2", "F3", "F4", "F5"} | ({"F6"} if full == "nothing is known as seen" else set())


def test_a_review_that_was_killed_before_it_was_remembered_is_paid_once(asked: Asked, pull: Pull) -> None:
    pull.push({FILE: fixed(1)})
    asked.find()
    known, first = pull.history, pull.review()
    calls = len(asked.models.calls)
    pull.history = known
    second = pull.review()
    assert len(asked.models.calls) == calls
    assert (second.findings, second.range_mode) == (first.findings, first.range_mode)
