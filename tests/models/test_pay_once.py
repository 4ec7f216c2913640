"""A call is paid for once: by the next run, by a run that begins at the same time, and on both databases."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from tests.fakes import Models, Seen
from tests.models.stage import CALLS, Stage, essence, function, one_vendor, panelist

pytestmark = pytest.mark.ci


def asked(calls: list[Seen]) -> Counter[bytes]:
    """Which requests came how often, by their bytes."""
    return Counter(call.raw for call in calls)


@pytest.fixture
def debate(stage: Stage, models: Models) -> Stage:
    """A debate with everything in it, at one vendor."""
    models.script = panelist(stage.claims)
    stage.configure(one_vendor(models))
    return stage


@pytest.mark.smoke
def test_the_second_run_of_a_review_asks_nobody_and_says_the_same(debate: Stage, models: Models) -> None:
    first, second = debate.review(), debate.review()
    assert (first.code, second.code) == (0, 0)
    assert len(models.calls) == CALLS
    assert essence(second.document) == essence(first.document)
    before, after = first.document["usage"], second.document["usage"]
    assert (before["replayed_calls"], after["replayed_calls"]) == (0, CALLS)
    assert after["seconds"] == before["seconds"], "of the answers, as they were recorded"
    assert first.document["run_id"] != second.document["run_id"]
    made = first.document
    settled = {finding["id"]: (finding["status"], finding["settled_by"]) for finding in made["findings"]}
    assert settled == {
        "F1": ("below_threshold", "vote"),
        "F2": ("accepted", "agreement"),
        "F3": ("accepted", "moderator"),
        "F4": ("below_threshold", "vote"),
    }, "every phase took place"
    assert (made["conclusion"], made["verdict"], made["debate"]["rounds"]) == ("complete", "comment", 2)


# Fails while the key of a debate differs from process to process (the repr of its options holds the address of a function).
def test_a_fresh_run_pays_again_and_becomes_the_one_that_is_replayed(debate: Stage, models: Models) -> None:
    first, fresh, third = debate.review(), debate.review("--fresh"), debate.review()
    assert len(models.calls) == 2 * CALLS
    assert set(asked(models.calls).values()) == {2}, "the same questions"
    assert essence(fresh.document, without_usage=True) == essence(first.document, without_usage=True)
    assert fresh.document["usage"]["replayed_calls"] == 0
    assert essence(third.document) == essence(fresh.document)


def test_an_option_that_no_prompt_shows_pays_for_nothing_again(debate: Stage, models: Models) -> None:
    debate.review()
    once = debate.review("--rounds", "1").document
    assert len(models.calls) == CALLS
    assert once["debate"]["rounds"] == 1
    assert once["usage"]["replayed_calls"] == once["usage"]["calls"] == 3 + 8 + 2, "the first rounds, and the moderator on F3"


def test_what_changes_a_prompt_or_a_model_is_paid_for_again(debate: Stage, models: Models) -> None:
    settings = one_vendor(models)
    other = {role: {"model": "gpu:fake-2"} for role in settings["panel"]}
    changes: tuple[dict[str, Any], ...] = (
        {"debate": {"criteria": {"security": 1}}},
        {"review": {"path_rules": [{"path": "shop/**", "instructions": "Sums are integers."}]}},
        {"panel": other, "moderator": {"model": "gpu:fake-2"}},
    )
    debate.review()
    for change in changes:
        check_paid_again(debate, models, settings | change)
    debate.repo.write("shop/work.py", debate.text + "\n\n" + function(77))
    debate.repo.git("add", "--all")
    debate.repo.git("commit", "-q", "--amend", "-m", "Add more work")
    check_paid_again(debate, models, settings)


def check_paid_again(debate: Stage, models: Models, settings: dict[str, Any]) -> None:
    """A review under these settings asks everything anew."""
    known, before = set(asked(models.calls)), len(models.calls)
    debate.configure(settings)
    again = debate.review().document
    assert again["usage"]["replayed_calls"] == 0
    assert not set(asked(models.calls[before:])) & known
    assert len(models.calls) == before + CALLS


@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_two_runs_at_a_time_make_every_call_once_and_the_same_review(
    database: str, request: pytest.FixtureRequest, debate: Stage, models: Models
) -> None:
    if database == "postgresql":
        debate.configure(one_vendor(models, ledger=request.getfixturevalue("cluster").emptied()))
    models.seconds = 0.1
    running = [debate.reviewing() for _ in range(2)]
    ended = [debate.ended(process) for process in running]
    assert [one.code for one in ended] == [0, 0], ended[0].err + ended[1].err
    assert asked(models.calls).most_common(1)[0][1] == 1, "somebody paid twice"
    assert len(models.calls) == CALLS
    assert essence(ended[0].document) == essence(ended[1].document)
    assert sum(one.document["usage"]["replayed_calls"] for one in ended) == CALLS
    known = json.loads(debate.run("sessions", "list", "--format", "json").out)
    assert {session["state"] for session in known} == {"converged"}


@pytest.mark.smoke
def test_documentation_and_lock_files_alone_ask_nobody(debate: Stage, models: Models) -> None:
    for files in (("uv.lock",), ("README.md", "package-lock.json"), ("photo.png",)):
        for name in files:
            (debate.repo.path / name).write_bytes(b"version = 2\n\0" if name.endswith("png") else b"version = 2\n")
        debate.repo.git("add", "--all")
        debate.repo.git("commit", "-q", "-m", f"Change {files}")
        made = debate.review().document
        assert any("no debate was held" in note for note in made["notes"])
        assert made["usage"]["calls"] == 0
    assert not models.calls
