"""Three vendors in one review, and any of them lost at any turn: still a review, which says so."""

from __future__ import annotations

import socket
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from tests.fakes import Answer, Models, Seen, faults
from tests.fakes.faults import Fault
from tests.fakes.scripts import perform
from tests.models.stage import FEW_CALLS, KEYS, ROLES, Stage, disputed, every_vendor, panelist

pytestmark = [pytest.mark.matrix(parts=1), pytest.mark.ci]

VENDORS = {"critic": "anthropic", "reviewer": "openai", "optimizer": "gemini"}
SEATS = {vendor: seat for seat, vendor in VENDORS.items()}
MODELS = {"anthropic": "claude-fake-1", "openai": "gpt-fake-1", "gemini": "gemini-fake-1"}
TURNS = {"anthropic": 2, "openai": 4, "gemini": 6}
"""Calls of each vendor: the critic's first pass and a rebuttal; a first pass and three positions; the same and two judgements."""

WAYS: dict[str, Callable[[], Fault]] = {
    "overloaded": faults.L1,
    "hangs": faults.hang,
    "resets": faults.connection_reset,
    "denies": lambda: faults.L4("denied"),
    "page": lambda: faults.html_page(200),
}
ROUND_SECONDS = 2.0
"""Of each answer where a server may hang: no good one takes a tenth of it."""


class Loss:
    """A script in which each vendor is dead from one of its turns on."""

    def __init__(self, script: Any, way: str, **turns: int) -> None:
        self._script = script
        self._way = way
        self._turns = turns
        self._seen: Counter[str] = Counter()
        self.asked_in_vain = 0

    def __call__(self, seen: Seen) -> Answer | Fault:
        self._seen[seen.protocol] += 1
        if self._seen[seen.protocol] >= self._turns.get(seen.protocol, 1_000):
            self.asked_in_vain += 1
            return WAYS[self._way]()
        return perform(self._script, seen)


def three_vendors(models: Models, **other: Any) -> dict[str, Any]:
    """A seat for each, and Gemini for a moderator."""
    return {
        "providers": every_vendor(models),
        "panel": {seat: {"model": f"{vendor}:{MODELS[vendor]}"} for seat, vendor in VENDORS.items()},
        "moderator": {"model": f"gemini:{MODELS['gemini']}"},
        "debate": {"round_seconds": ROUND_SECONDS},
        **other,
    }


def script(stage: Stage) -> Any:
    """A debate with two rounds about one of two claims, and the moderator."""
    return panelist(disputed(stage.text, functions=(0, 3)), courses=(0, 3))


def seat_states(document: dict[str, Any]) -> dict[str, str]:
    """Who kept the seat."""
    return {entry["name"]: entry["status"] for entry in document["panel"]}


def notes_about(document: dict[str, Any], *seats: str) -> list[str]:
    """What the review says of somebody."""
    return [note for note in document["notes"] if note.startswith(seats)]


def dead_port() -> int:
    """A port on which nobody listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
        return port


@pytest.fixture
def keyed(stage: Stage) -> Stage:
    """With a key for every vendor."""
    stage.keys.update(KEYS)
    return stage


@pytest.mark.smoke
def test_three_vendors_sit_in_one_review(keyed: Stage, models: Models) -> None:
    models.script = script(keyed)
    keyed.configure(three_vendors(models))
    ran = keyed.review()
    assert ran.code == 0, ran.err
    assert Counter(call.protocol for call in models.calls) == TURNS
    assert set(seat_states(ran.document).values()) == {"ok"}
    assert (ran.document["conclusion"], ran.document["verdict"]) == ("complete", "comment")
    assert {f["id"]: f["settled_by"] for f in ran.document["findings"]}["F2"] == "moderator"
    assert [entry["model"] for entry in ran.document["panel"]] == [f"{v}:{MODELS[v]}" for v in VENDORS.values()]
    again = keyed.review()
    assert again.document["findings"] == ran.document["findings"]
    assert len(models.calls) == FEW_CALLS


def test_whose_keys_are_here_sit_without_any_configuration_of_seats(keyed: Stage, models: Models) -> None:
    models.script = script(keyed)
    keyed.configure({"providers": every_vendor(models)})
    made = keyed.review().document
    assert {entry["model"].split(":")[0] for entry in made["panel"]} == set(MODELS)
    assert {call.protocol for call in models.calls} == set(MODELS)


@pytest.mark.ci
@pytest.mark.parametrize(("vendor", "turn"), [(vendor, turn) for vendor, most in TURNS.items() for turn in range(1, most + 1)])
def test_a_vendor_that_dies_at_any_turn_leaves_a_review_that_says_so(
    vendor: str, turn: int, keyed: Stage, models: Models
) -> None:
    way = list(WAYS)[turn % len(WAYS)]
    loss = models.script = Loss(script(keyed), way, **{vendor: turn})
    keyed.configure(three_vendors(models))
    ran = keyed.review()
    made = ran.document
    assert loss.asked_in_vain, "the turn was never reached"
    assert ran.code == (0 if made["conclusion"] == "complete" else 3)
    assert made["verdict"] is not None, "two of three are a quorum"
    assert [entry["status"] for entry in made["coverage"]] == ["reviewed"]
    states = seat_states(made)
    if turn == 1:
        assert states.pop(SEATS[vendor]) == "lost"
        assert notes_about(made, f"{SEATS[vendor]} took no part: ")
        assert next(entry["reason"] for entry in made["panel"] if entry["name"] == SEATS[vendor])
    else:
        lost = ("moderator",) if (vendor, turn) in (("gemini", 5), ("gemini", 6)) else (SEATS[vendor], "moderator")
        assert any(" gave no valid answer to " in note for note in notes_about(made, *lost)), made["notes"]
    assert set(states.values()) == {"ok"}
    others = [seat for seat, seats_vendor in VENDORS.items() if seats_vendor != vendor]
    assert not notes_about(made, *others), "nobody else is blamed"


@pytest.mark.parametrize(("way", "vendor"), [("overloaded", "gemini"), ("resets", "anthropic"), ("page", "gemini")])
def test_a_vendor_that_is_dead_from_the_begin_loses_its_seat_whatever_way(
    way: str, vendor: str, keyed: Stage, models: Models
) -> None:
    models.script = Loss(script(keyed), way, **{vendor: 1})
    keyed.configure(three_vendors(models, moderator={"model": "openai:gpt-fake-1"}))
    ran = keyed.review()
    assert seat_states(ran.document).pop(SEATS[vendor]) == "lost"
    assert ran.document["verdict"] is not None
    (said,) = notes_about(ran.document, f"{SEATS[vendor]} took no part: ")
    assert len(said) < 400
    assert "Traceback" not in ran.said


def test_a_vendor_whose_port_is_closed_loses_its_seat(keyed: Stage, models: Models) -> None:
    models.script = script(keyed)
    settings = three_vendors(models)
    settings["providers"]["openai"]["base_url"] = f"http://127.0.0.1:{dead_port()}/v1"
    keyed.configure(settings)
    ran = keyed.review()
    assert ran.code == 0
    assert seat_states(ran.document) == {"critic": "ok", "reviewer": "lost", "optimizer": "ok"}
    assert notes_about(ran.document, "reviewer took no part: ")


@pytest.mark.parametrize("dead", [("anthropic", "openai"), ("openai", "gemini"), ("anthropic", "openai", "gemini")])
def test_without_a_quorum_nothing_was_reviewed(dead: tuple[str, ...], keyed: Stage, models: Models) -> None:
    models.script = Loss(script(keyed), "denies", **dict.fromkeys(dead, 1))
    keyed.configure(three_vendors(models))
    ran = keyed.review()
    assert ran.code == 3
    assert (ran.document["conclusion"], ran.document["verdict"]) == ("not_reviewed", None)
    assert {SEATS[vendor] for vendor in dead} == {seat for seat, state in seat_states(ran.document).items() if state == "lost"}
    assert len(notes_about(ran.document, *(f"{SEATS[vendor]} took no part: " for vendor in dead))) == len(dead)


def test_two_vendors_that_die_after_the_first_pass_leave_a_review(keyed: Stage, models: Models) -> None:
    models.script = Loss(script(keyed), "denies", openai=2, gemini=2)
    keyed.configure(three_vendors(models))
    ran = keyed.review()
    assert ran.document["verdict"] is not None
    assert set(seat_states(ran.document).values()) == {"ok"}
    assert len([note for note in ran.document["notes"] if " gave no valid answer to " in note]) >= 2
    assert not [finding for finding in ran.document["findings"] if finding["status"] == "accepted"], "nobody confirmed anything"


def test_a_fallback_answers_in_the_place_of_a_dead_vendor_and_the_review_says_so(keyed: Stage, models: Models) -> None:
    models.script = Loss(script(keyed), "denies", anthropic=1)
    settings = three_vendors(models)
    settings["panel"]["critic"]["fallback"] = "openai:gpt-fake-2"
    keyed.configure(settings)
    ran = keyed.review()
    assert ran.code == 0
    (critic,) = (entry for entry in ran.document["panel"] if entry["name"] == "critic")
    assert critic["status"] == "ok"
    assert "openai:gpt-fake-2" in critic["reason"]
    assert notes_about(ran.document, "critic: openai:gpt-fake-2 answered in place of anthropic:")
    assert len(ran.document["findings"]) == 2
    assert Counter(call.model for call in models.calls)["gpt-fake-2"] == 2


# Fails while the key of a debate differs from process to process (the repr of its options holds the address of a function).
@pytest.mark.ci
def test_bedrock_and_ollama_sit_beside_a_compatible_server(stage: Stage, models: Models) -> None:
    stage.keys.update(AWS_ACCESS_KEY_ID="AK-of-a-test", AWS_SECRET_ACCESS_KEY="secret-of-a-test", AWS_REGION="us-east-1")
    models.script = script(stage)
    bedrock = "bedrock:global.anthropic.claude-fake-1"
    seats = {"critic": bedrock, "reviewer": "ollama:fake:1b", "optimizer": "gpu:fake-1"}
    stage.configure(
        {
            "providers": {**every_vendor(models), "gpu": {"base_url": f"{models.url}/v1"}},
            "panel": {seat: {"model": model} for seat, model in seats.items()},
            "moderator": {"model": bedrock},
        }
    )
    ran = stage.review()
    assert ran.code == 0, ran.said
    assert {call.protocol for call in models.calls} == {"bedrock", "ollama", "openai"}
    assert seat_states(ran.document) == dict.fromkeys(ROLES, "ok")
    assert ran.document["verdict"] is not None
    calls = len(models.calls)
    assert stage.review().document["findings"] == ran.document["findings"]
    assert len(models.calls) == calls
