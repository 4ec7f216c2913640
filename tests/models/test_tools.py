"""Panelists look things up: in git's objects, capped, logged, and with secrets redacted."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.fakes import Models, Seen, Wish, reviewer, uses
from tests.models.stage import ROLES, Stage, module, one_vendor, panelist, role_of

pytestmark = pytest.mark.ci

KEY = "AKIA" + "Q5TZ7WXN3J2KDVB4"


def read(path: str, **other: Any) -> Wish:
    """A wish for lines of a file."""
    return Wish("read_file", {"path": path, "revision": None, "start": None, "end": None} | other)


def search(text: str) -> Wish:
    """A wish for the places of a text."""
    return Wish("search", {"text": text, "path": None})


def results(call: Seen) -> list[str]:
    """What tools gave, as it came back to the model."""
    return [text for step in call.exchanges for _, text, _ in step.results]


def declined(text: str) -> tuple[str, str]:
    """The kind and the words of an error."""
    error = json.loads(text)["error"]
    return error["kind"], error["message"]


def last_first_pass(models: Models, role: str) -> Seen:
    """The call in which somebody's first pass was answered."""
    return [call for call in models.calls if "What is wrong with this change?" in call.suffix and role_of(call) == role][-1]


def looked_up(stage: Stage, models: Models, *steps: list[Wish]) -> tuple[list[str], dict[str, Any]]:
    """What the critic got who wished this before the first pass, and the review."""
    models.script = reviewer(claims={"critic": stage.claims[:1], "reviewer": [], "optimizer": []}, wishes=steps)
    stage.configure(one_vendor(models))
    ran = stage.review()
    assert ran.code == 0, ran.said
    return results(last_first_pass(models, "critic")), ran.document


@pytest.mark.smoke
def test_a_panelist_reads_what_is_committed_and_not_the_work_tree(stage: Stage, models: Models) -> None:
    stage.repo.write("shop/stock.py", "LEVEL = 'committed'\n")
    stage.repo.write("shop/work.py", stage.text + "\nNEW = 1\n")
    stage.repo.commit("Add stock")
    stage.repo.write("shop/stock.py", "LEVEL = 'only in the work tree'\n")
    stage.repo.write("shop/untracked.py", "LEVEL = 'untracked'\n")
    answers, _ = looked_up(
        stage,
        models,
        [read("shop/stock.py"), search("LEVEL = "), Wish("list_directory", {"path": "shop", "revision": None})],
        [read("shop/stock.py", revision="base"), read("../../etc/passwd"), read("shop/untracked.py")],
    )
    assert "LEVEL = 'committed'" in answers[0]
    assert "shop/stock.py:1: LEVEL = 'committed'" in answers[1]
    assert "stock.py" in answers[2]
    assert "untracked" not in answers[2]
    assert declined(answers[3]) == ("not_found", "there is no file shop/stock.py at base")
    assert declined(answers[4]) == ("invalid_arguments", "a path is given from the top of the repository, without '..'")
    assert declined(answers[5]) == ("not_found", "there is no file shop/untracked.py at head")
    assert all("only in the work tree" not in text and "root:" not in text for text in answers)


def test_what_is_looked_up_is_capped_and_redacted(stage: Stage, models: Models) -> None:
    stage.repo.write("shop/long.py", "".join(f"VALUE_{number} = {number}\n" for number in range(5_000)))
    stage.repo.write("shop/keys.py", f"ID = 1\nKEY = '{KEY}'\n")
    stage.repo.commit("Add old things")
    stage.repo.write("shop/work.py", stage.text + "\nNEW = 1\n")
    stage.repo.commit("Add work again")
    answers, _ = looked_up(
        stage, models, [read("shop/long.py"), search("VALUE_"), read("shop/keys.py"), search(KEY), search("KEY =")]
    )
    long, hits, keys, whole, named = answers
    assert "VALUE_399 " in long
    assert "VALUE_400 " not in long
    assert "are not shown" in long
    assert len(json.loads(hits)["hits"]) <= 100
    assert "«secret:" in keys
    assert "shop/keys.py:2" in named
    assert KEY not in keys + whole + named
    sent = b"".join(call.raw for call in models.calls if call.exchanges)
    assert sent.count(KEY.encode()) == sent.count(json.dumps({"text": KEY})[1:-1].replace('"', '\\"').encode()), (
        "only in the model's own wish, which it said itself"
    )


@pytest.mark.ci
def test_what_was_looked_up_is_logged_and_replayed_for_nothing(stage: Stage, models: Models) -> None:
    _, made = looked_up(stage, models, [search("limit")], [read("shop/work.py", start=1, end=9)])
    first = [call for call in models.calls if "What is wrong with this change?" in call.suffix]
    assert len(first) == 3 * 3, "two steps and an answer for every seat"
    assert made["usage"]["by_panelist"]["critic"]["calls"] == 3
    (session,) = json.loads(stage.run("sessions", "list", "--format", "json").out)
    shown = stage.run("sessions", "show", session["id"]).out
    assert "read_file" in shown
    assert "search" in shown
    told = stage.run("review", "HEAD", "--no-exec", "-v").out
    assert "read_file" in told or "read_file" in stage.run("sessions", "show", session["id"], "--format", "json").out
    calls = len(models.calls)
    assert stage.review().document["findings"] == made["findings"]
    assert len(models.calls) == calls


def test_who_goes_on_looking_things_up_must_answer_or_misses_the_question(stage: Stage, models: Models) -> None:
    endless = uses([[search(f"limit + {number}")] for number in range(50)], then=panelist(stage.claims))
    good = panelist(stage.claims)
    models.script = lambda seen: endless(seen) if role_of(seen) == "optimizer" and seen.tools else good(seen)
    stage.configure(one_vendor(models))
    ran = stage.review()
    assert ran.code == 0, ran.said
    assert {entry["name"]: entry["status"] for entry in ran.document["panel"]} == dict.fromkeys(ROLES, "ok") | {
        "optimizer": "lost"
    }
    steps = max(len(call.exchanges) for call in models.calls)
    assert 4 <= steps <= 6
    assert any("no more look-ups" in text for call in models.calls for text in results(call))


def test_no_tools_are_offered_where_they_are_switched_off(stage: Stage, models: Models) -> None:
    models.script = panelist(stage.claims)
    stage.configure(one_vendor(models, debate={"tools": False}))
    assert stage.review().code == 0
    assert not any(call.tools for call in models.calls)


def test_what_a_wish_says_cannot_break_out_of_it(stage: Stage, models: Models) -> None:
    stage.repo.write("shop/more.py", module(2))
    stage.repo.commit("Add more")
    wishes = [
        Wish("read_file", "{broken"),
        Wish("rm", {"path": "/"}),
        Wish("search", {"text": "--open-files-in-pager=touch /tmp/owned", "path": None}),
        read("--help", start=0),
        Wish("list_directory", {"path": "/", "revision": "HEAD; ls"}),
    ]
    answers, _ = looked_up(stage, models, wishes)
    broken, unknown, option, zero, elsewhere = answers
    assert "not valid JSON" in broken
    assert declined(unknown) == ("unknown_tool", "there is no such tool")
    assert json.loads(option)["found"] == 0
    assert "start is less than 1" in zero
    assert "revision is none of head, base" in elsewhere
