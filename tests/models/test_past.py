"""What is remembered of a debate: listed, shown whole, replayed for nothing, explained, exported."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.fakes import Models
from tests.models.stage import CALLS, Stage, essence, one_vendor, panelist
from tests.models.test_killed import TO_TAKE_IN, killed_at

pytestmark = pytest.mark.ci

Held = tuple[Stage, dict[str, Any], Models]


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Held]:
    """A debate that was held, its review, and who was asked. Nobody changes anything of it."""
    stage = Stage(tmp_path_factory.mktemp("past"))
    with Models(script=panelist(stage.claims)) as models:
        stage.configure(one_vendor(models))
        ran = stage.review()
        assert ran.code == 0, ran.said
        yield stage, ran.document, models
        assert len(models.calls) == CALLS, "looking at the past asks nobody"
    assert stage.attempts == []


def sessions(stage: Stage) -> list[dict[str, Any]]:
    """Those that are listed."""
    found: list[dict[str, Any]] = json.loads(stage.run("sessions", "list", "--format", "json").out)
    return found


def test_a_debate_is_listed_with_its_end_and_its_cost(held: Held) -> None:
    stage, made, _ = held
    (session,) = sessions(stage)
    assert (session["state"], session["conclusion"], session["verdict"]) == ("converged", made["conclusion"], made["verdict"])
    assert (session["base"], session["head"]) == (made["target"]["base"], made["target"]["head"])
    assert (session["findings"], session["posted"]) == (4, 2)
    assert session["usage"]["calls"] == CALLS
    text = stage.run("sessions", "list").out
    assert session["id"] in text
    assert "converged" in text
    status = json.loads(stage.run("status", "--format", "json").out)
    assert (status["open"], [one["id"] for one in status["last"]]) == ([], [session["id"]])


def test_a_debate_is_shown_with_every_word_that_was_sent_and_said(held: Held) -> None:
    stage, _, models = held
    (session,) = sessions(stage)
    shown = json.loads(stage.run("sessions", "show", session["id"][:12], "--format", "json").out)
    assert len(shown["calls"]) == CALLS
    sent = sorted(call.prompt for call in models.calls)
    told = sorted(call["prompt"]["prefix"] + call["prompt"]["suffix"] for call in shown["calls"])
    assert all(wire.startswith(words) for wire, words in zip(sent, told, strict=True)), "but for the words about the envelope"
    assert {call["prompt"]["system"] for call in shown["calls"]} == {models.calls[0].system}
    assert all(json.loads(call["reply"]) for call in shown["calls"])
    text = stage.run("sessions", "show", session["id"]).out
    page = stage.run("sessions", "show", session["id"], "--format", "html").out
    for written in (text, page):
        assert "What is wrong with this change?" in written
        assert "the limit of number 2 counts" in written
    assert "<script" not in page.lower()


@pytest.mark.parametrize(
    ("options", "calls"),
    [((), CALLS + 1), (("--no-exec",), CALLS)],  # where checks run, a deadlock gets one written before it is judged
    ids=["with checks", "without checks"],
)
def test_a_replay_is_the_same_review_and_asks_nobody(options: tuple[str, ...], calls: int, stage: Stage, models: Models) -> None:
    models.script = panelist(stage.claims)
    stage.configure(one_vendor(models))
    made = stage.run("review", "HEAD", "--format", "json", *options).document
    assert len(models.calls) == calls
    (session,) = sessions(stage)
    stage.repo.write("shop/later.py", "LATER = 1\n")
    stage.repo.commit("Go on")
    ran = stage.run("sessions", "replay", session["id"], "--format", "json")
    assert len(models.calls) == calls, "a replay asks nobody"
    assert ran.code == 0, ran.said
    again = ran.document
    assert again["usage"]["replayed_calls"] == calls
    for part in ("verdict", "findings", "coverage", "debate", "panel"):
        assert again[part] == made[part], part


def test_a_replay_of_what_was_run_with_options_is_that_review(stage: Stage, models: Models) -> None:
    models.script = panelist(stage.claims)
    stage.configure(one_vendor(models))
    made = stage.review("--rounds", "1", "--model", "gpu:fake-7").document
    (session,) = sessions(stage)
    calls = len(models.calls)
    again = stage.run("sessions", "replay", session["id"], "--format", "json").document
    assert len(models.calls) == calls, "a replay asks nobody"
    assert (again["debate"], again["findings"]) == (made["debate"], made["findings"])


def test_a_replay_has_the_answers_of_a_fallback(stage: Stage, models: Models) -> None:
    settings = one_vendor(models)
    settings["providers"]["dead"] = {"base_url": "http://127.0.0.1:9/v1"}
    settings["panel"]["critic"] = {"model": "dead:fake", "fallback": settings["panel"]["critic"]["model"]}
    models.script = panelist(stage.claims)
    stage.configure(settings)
    made = stage.review().document
    assert [seat["status"] for seat in made["panel"]] == ["ok"] * 3
    (session,) = sessions(stage)
    calls = len(models.calls)
    again = stage.run("sessions", "replay", session["id"], "--format", "json").document
    assert len(models.calls) == calls, "a replay asks nobody"
    for part in ("verdict", "findings", "coverage", "debate", "panel"):
        assert again[part] == made[part], part


@pytest.mark.smoke
def test_a_replay_of_an_interrupted_debate_asks_nobody(stage: Stage, models: Models) -> None:
    stage.configure(one_vendor(models))
    killed_at(stage, models, 9, TO_TAKE_IN)
    calls = len(models.calls)
    (session,) = sessions(stage)
    assert session["state"] == "interrupted"
    ran = stage.run("sessions", "replay", session["id"], "--format", "json")
    assert len(models.calls) == calls, "a replay asks nobody, not even somebody who costs nothing"
    assert ran.code in (2, 3)


@pytest.mark.smoke
def test_a_finding_of_the_last_review_is_explained(held: Held) -> None:
    stage, made, _ = held
    (deadlock,) = (finding for finding in made["findings"] if finding["settled_by"] == "moderator")
    told = json.loads(stage.run("explain", deadlock["id"], "--format", "json").out)
    assert told == deadlock
    text = stage.run("explain", deadlock["fingerprint"][:12]).out
    for word in (deadlock["title"], "reviewer", "optimizer", "moderator", "round"):
        assert word in text
    unknown = stage.run("explain", "F99")
    assert unknown.code == 2
    assert "F1, F2, F3, F4" in unknown.err


@pytest.mark.smoke
def test_an_export_holds_every_call_as_a_chat(held: Held, tmp_path: Path) -> None:
    stage, _, _ = held
    ran = stage.run("sessions", "export", "-d", str(tmp_path / "export"))
    assert ran.code == 0, ran.said
    files = {path.name: path.read_text() for path in (tmp_path / "export").iterdir()}
    assert set(files) == {"train.jsonl", "validation.jsonl"}
    assert sum(bool(text) for text in files.values()) == 1, "one repository is in one file"
    lines = [json.loads(line) for line in "".join(files.values()).splitlines()]
    assert len(lines) == CALLS
    for line in lines:
        roles = [message["role"] for message in line["messages"]]
        assert (roles[0], roles[1], roles[-1]) == ("system", "user", "assistant")
        json.loads(line["messages"][-1]["content"])
    assert str(stage.repo.path) not in "".join(files.values())
    assert len(stage.run("sessions", "export").out.splitlines()) == CALLS


def test_an_unknown_debate_is_told_with_what_to_do(held: Held) -> None:
    stage, _, _ = held
    for words in (("show", "01ZZZ"), ("replay", "01ZZZ")):
        ran = stage.run("sessions", *words)
        assert ran.code == 2
        assert "sessions list" in ran.err


def test_two_debates_are_listed_newest_first_and_kept_apart(stage: Stage, models: Models) -> None:
    models.script = panelist(stage.claims)
    stage.configure(one_vendor(models))
    made = stage.review().document
    stage.repo.write("shop/work.py", stage.text + "\n\nLATER = 1\n")
    stage.repo.commit("Go on")
    second = stage.review().document
    newest, oldest = sessions(stage)
    assert (newest["head"], oldest["head"]) == (second["target"]["head"], made["target"]["head"])
    assert essence(second) != essence(made)
    shown = [json.loads(stage.run("sessions", "show", one["id"], "--format", "json").out) for one in (newest, oldest)]
    assert len(shown[1]["calls"]) == CALLS
    assert not {call["prompt"]["prefix"] for call in shown[0]["calls"]} & {call["prompt"]["prefix"] for call in shown[1]["calls"]}
