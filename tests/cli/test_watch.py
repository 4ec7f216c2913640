"""Who watches a review."""

from __future__ import annotations

import pytest

from reviewbot.cli.options import ReviewArguments
from reviewbot.cli.watch import Watch, chosen


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
