"""Who watches a review."""

from __future__ import annotations

import json

import pytest

from reviewbot.cli.options import ReviewArguments
from reviewbot.cli.watch import EventLines, Watch, chosen
from reviewbot.ports import Progress
from tests.cli.planted import KEY


@pytest.mark.parametrize(
    ("words", "is_terminal", "wants_live", "watch"),
    [
        ({}, True, True, Watch.LIVE),
        ({}, True, False, Watch.LINES),
        ({}, False, True, Watch.NOBODY),
        ({"verbose": True}, False, True, Watch.LINES),
        ({"verbose": True}, True, True, Watch.LIVE),
        ({"quiet": True}, True, True, Watch.NOBODY),
        ({"quiet": True, "verbose": True}, True, True, Watch.NOBODY),
        ({"log_format": "json"}, False, False, Watch.JSON),
        ({"log_format": "json", "quiet": True}, True, True, Watch.JSON),
    ],
)
def test_what_is_asked_for_and_what_the_terminal_can_decide(words: dict, is_terminal: bool, wants_live: bool, watch: Watch):
    assert chosen(ReviewArguments(**words), is_terminal=is_terminal, wants_live=wants_live) is watch


class Ticking:
    """A clock that moves on by half a second each time it is read."""

    def __init__(self) -> None:
        self.now = 100.0

    def seconds(self) -> float:
        self.now += 0.5
        return self.now


def test_events_are_lines_of_json_that_cannot_steer_a_terminal_or_show_a_key(capsys: pytest.CaptureFixture[str]):
    lines = EventLines(Ticking())
    lines.saw(
        Progress(
            "debate", "critic\nanswers \x1b[2J", {"event": "answered", "seat": "critic", "usd": 0.25, "stage": "forged", "at": 9}
        )
    )
    lines.saw(Progress("evidence", KEY))
    said = capsys.readouterr()
    first, second = map(json.loads, said.err.splitlines())
    assert first == {
        "event": "answered",
        "seat": "critic",
        "usd": 0.25,
        "stage": "debate",
        "at": 0.5,
        "text": "critic\nanswers \x1b[2J",
    }
    assert (second["event"], second["at"]) == ("evidence", 1.0)
    assert "\x1b" not in said.err
    assert KEY not in said.err
    assert said.out == ""
