"""Audits with a panel of models: within the budget files come in their turn, and what was not looked at is not gone."""

from __future__ import annotations

import json
from typing import Any

import pytest

from reviewbot.changeset.rotate import LATER
from tests.fakes import Models
from tests.fakes.reviewer import reviewer
from tests.models.stage import Ran, Stage, disputed, module, one_vendor

pytestmark = [pytest.mark.ci, pytest.mark.matrix]

FUNCTIONS = 400
FILES = ("shop/alpha.py", "shop/beta.py", "shop/gamma.py", "shop/login.py")


@pytest.fixture
def whole(stage: Stage, models: Models) -> Stage:
    """A tree of which one large file fits into an audit; whoever reads ``shop/login.py`` has something to say of it."""
    for name in FILES:
        stage.repo.write(name, module(FUNCTIONS, name.split("/")[1].removesuffix(".py")))
    stage.repo.commit("More work")
    claims = disputed(module(FUNCTIONS, "login"), "shop/login.py", range(1))
    models.script = reviewer(claims=lambda seen: claims if "def login_0(" in seen.prompt else [])
    stage.configure(one_vendor(models, limits={"tokens": 300_000}))
    return stage


def audited(stage: Stage, *words: str) -> Any:
    ran: Ran = stage.run("review", "--all", "--no-exec", "--format", "json", *words)
    assert ran.code == 0, ran.said
    return ran.document


def by_status(document: Any) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for item in document["coverage"]:
        found.setdefault(item["reason"] or item["status"], set()).add(item["path"])
    return found


def test_files_that_do_not_fit_come_in_a_later_audit_and_all_of_them_come(whole: Stage) -> None:
    first = by_status(audited(whole))
    assert "shop/login.py" in first["reviewed"], "what is risky comes first"
    assert first[LATER]
    seen, rounds = set(first["reviewed"]), 1
    while first[LATER] - seen:
        rounds += 1
        assert rounds < 8, "a file has no turn"
        seen |= by_status(audited(whole))["reviewed"]
    assert set(FILES) <= seen


@pytest.mark.smoke
def test_an_audit_that_read_what_it_was_to_read_is_complete_and_approves_nothing(whole: Stage) -> None:
    document = audited(whole)
    assert document["conclusion"] == "complete"
    assert document["verdict"] == "comment"


def test_a_finding_in_a_file_that_was_not_read_this_time_still_stands(whole: Stage) -> None:
    first = audited(whole)
    assert [one["path"] for one in first["findings"]] == ["shop/login.py"]
    second = audited(whole)
    assert "shop/login.py" in by_status(second)[LATER]
    assert [(one["id"], one["lifecycle"], one["status"]) for one in second["findings"]] == [("F1", "carried", "accepted")]
    whole.repo.write("shop/login.py", "")
    whole.repo.commit("No login")
    third = audited(whole)
    assert [(one["id"], one["lifecycle"]) for one in third["findings"]] == [("F1", "fixed")]


def test_a_replay_of_an_audit_shows_the_same_files_and_asks_nobody(whole: Stage, models: Models) -> None:
    audited(whole)
    second, calls = audited(whole), len(models.calls)
    listed = json.loads(whole.run("sessions", "list", "--format", "json").out)
    ran = whole.run("sessions", "replay", listed[0]["id"], "--format", "json")
    assert ran.code == 0, ran.said
    assert len(models.calls) == calls, "a replay asks nobody"
    assert by_status(ran.document) == by_status(second)


def test_an_audit_that_was_cut_off_is_taken_up_where_it_was(whole: Stage, models: Models) -> None:
    first = audited(whole)
    for file in (whole.state / "audits").iterdir():
        file.unlink()
    calls = len(models.calls)
    assert by_status(audited(whole)) == by_status(first)
    assert len(models.calls) == calls, "what was paid for is not asked again"


def test_what_a_check_says_of_a_file_that_nobody_reads_this_time_counts(whole: Stage, models: Models) -> None:
    whole.repo.write("shop/gamma.py", f"import pdb\n\n\n{module(FUNCTIONS, 'gamma')}\n\npdb.set_trace()\n")
    whole.repo.commit("Look into it")
    first = audited(whole)
    assert "shop/gamma.py" in by_status(first)[LATER]
    found = [one for one in first["findings"] if one["path"] == "shop/gamma.py"]
    assert [(one["rule"], one["status"], one["raised_by"]) for one in found][:1] == [("debugger", "accepted", ["checks"])]
    names = [one["id"] for one in first["findings"]]
    assert len(names) == len(set(names))
    assert {one["path"] for one in first["findings"]} == {"shop/gamma.py", "shop/login.py"}
    second = audited(whole)
    same = {one["id"]: one["lifecycle"] for one in second["findings"] if one["status"] == "accepted"}
    assert same == dict.fromkeys((one["id"] for one in first["findings"] if one["status"] == "accepted"), "carried")
