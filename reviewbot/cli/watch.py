"""Who watches a review: a live view, plain lines, lines of JSON, or nobody."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from enum import Enum

from reviewbot import wiring
from reviewbot.cli.options import ReviewArguments
from reviewbot.cli.output import say
from reviewbot.cli.settings import effective
from reviewbot.config import Configuration
from reviewbot.errors import ConfigError
from reviewbot.ports import Clock, Observer, Progress
from reviewbot.screen import secrets


class Watch(Enum):
    """A way to follow a review."""

    JSON = "json"
    LIVE = "live"
    LINES = "lines"
    NOBODY = "nobody"


class Narrator:
    """Tells a person who waits what is going on: plain lines on stderr."""

    def saw(self, progress: Progress) -> None:
        """One line."""
        say(f"reviewbot: {progress.stage}: {progress.text}")


class EventLines:
    """Tells a program what is going on: one JSON object a line on stderr. ``at`` is in seconds since the observer was made."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._began = clock.seconds()

    def saw(self, progress: Progress) -> None:
        """One line. An event without a name of its own has that of its stage."""
        at = round(self._clock.seconds() - self._began, 3)
        event = {"event": progress.stage, **progress.fields, "stage": progress.stage, "at": at, "text": progress.text}
        line, _ = secrets.redact(json.dumps(event))
        say(line)


class _Monotonic:
    """The machine's clock."""

    def seconds(self) -> float:
        return time.monotonic()


def chosen(arguments: ReviewArguments, *, is_terminal: bool, wants_live: bool) -> Watch:
    """JSON where it was asked for, else nobody where it is to be quiet, else what a terminal can show."""
    if arguments.log_format == "json":
        return Watch.JSON
    if arguments.quiet or not (is_terminal or arguments.verbose):
        return Watch.NOBODY
    return Watch.LIVE if is_terminal and wants_live else Watch.LINES


@contextmanager
def watching(arguments: ReviewArguments, order: wiring.Order) -> Iterator[Observer | None]:
    """The observer that was asked for, while the review runs."""
    is_terminal = sys.stderr is not None and sys.stderr.isatty()
    display = _display(arguments, order) if is_terminal else Configuration()
    way = chosen(arguments, is_terminal=is_terminal, wants_live=display.get("display.live", bool))
    if way is Watch.JSON:
        yield EventLines(_Monotonic())
    else:
        yield None if way is Watch.NOBODY else Narrator()


def _display(arguments: ReviewArguments, order: wiring.Order) -> Configuration:
    """What is configured about showing, before the review reads its configuration from its base. What is wrong there is said
    by the review; here it means the defaults."""
    with suppress(ConfigError):
        return effective(
            arguments, order.environment, repository_files=lambda: wiring.repository_files(order.directory, order.environment)
        )
    return Configuration()
