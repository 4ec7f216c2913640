"""A change so large that its analysers work in a process of their own."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from reviewbot.adapters import worker
from reviewbot.domain.review import Review, Verdict
from reviewbot.domain.target import Target, TargetKind
from reviewbot.ports import WorkerLost
from reviewbot.testing import MemorySession
from reviewbot.wiring import Order, review, reviewing
from tests.repo import Repo

PLANTED = (
    "def find(xs):\n    found = []\n    for x in xs:\n        if x in found:\n            breakpoint()\n        found.append(x)\n"
)


@pytest.fixture
def large(git_repo: Repo) -> Repo:
    git_repo.write("README.md", "# Shop\n")
    git_repo.commit("Begin")
    body = "".join(f"def work_{number}(value):\n    return value + {number}\n\n\n" for number in range(4_000))
    for name in "abcd":
        git_repo.write(f"{name}.py", body)
    git_repo.write("last.py", PLANTED)
    git_repo.commit("Add the modules")
    return git_repo


def reviewed(repo: Repo) -> Review:
    order = Order(Target(TargetKind.COMMIT, head="HEAD"), repo.path, {"PATH": os.defpath}, {}, execute=False)
    return review(order).review


def told(made: Review) -> list[object]:
    return [replace(item, id="") for item in made.evidence]


def test_it_says_what_it_says_of_a_small_one(large: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    real = worker._Message.result
    monkeypatch.setattr(worker, "_cores", lambda: 2)
    monkeypatch.setattr(worker._Message, "result", lambda self, seconds: asked.append(self._process.pid) or real(self, seconds))
    elsewhere = reviewed(large)
    assert len(asked) == 1
    monkeypatch.setattr(worker, "_cores", lambda: 1)
    here = reviewed(large)
    assert len(asked) == 1
    assert told(elsewhere) == told(here) != []
    assert {item.result.rule for item in here.evidence} >= {"debugger", "list-membership"}
    assert [finding.title for finding in elsewhere.findings] == [finding.title for finding in here.findings]


def children() -> list[str]:
    """Processes that this one started."""
    return Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split()


def test_who_comes_to_no_end_is_named_and_nothing_is_approved(large: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    def lost(*_: object) -> None:
        raise WorkerLost("it was ended by signal 11")

    monkeypatch.setattr(worker, "_cores", lambda: 2)
    monkeypatch.setattr(worker._Message, "result", lost)
    before = children()
    made = reviewed(large)
    assert "analysers: not run: it was ended by signal 11" in made.notes
    assert made.verdict is not Verdict.APPROVE
    (run,) = [run for run in made.checks if run.name == "analysers"]
    assert (run.ran, run.cut_short) == (False, True)
    assert children() == before


@pytest.mark.ci
def test_what_was_lost_is_tried_again_and_what_was_found_is_kept(large: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    session, asked = MemorySession(), list[float]()
    real = worker._Message.result

    def lost(self: worker._Message, seconds: float) -> object:
        asked.append(seconds)
        if len(asked) == 1:
            raise WorkerLost("it was ended by signal 9")
        return real(self, seconds)

    monkeypatch.setattr(worker, "_cores", lambda: 2)
    monkeypatch.setattr(worker._Message, "result", lost)
    monkeypatch.setattr(reviewing, "Unremembered", lambda: session)
    first, second, third = (reviewed(large) for _ in range(3))
    assert not first.evidence
    assert told(second) == told(third) != []
    assert len(asked) == 2, "the third takes what the second kept"
