"""Who watches a review: a live view, plain lines, lines of JSON, or nobody."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from enum import Enum

from reviewbot import wiring
from reviewbot.cli import live
from reviewbot.cli.options import ReviewArguments
from reviewbot.cli.output import wants_color
from reviewbot.cli.settings import effective
from reviewbot.config import Configuration
from reviewbot.errors import ConfigError
from reviewbot.ports import Observer


class Watch(Enum):
    """A way to follow a review."""

    JSON = "json"
    LIVE = "live"
    LINES = "lines"
    NOBODY = "nobody"


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
    watched = chosen(arguments, is_terminal=is_terminal, wants_live=True) is not Watch.NOBODY
    display = _display(arguments, order) if watched else Configuration()
    way = chosen(arguments, is_terminal=is_terminal, wants_live=display.get("display.live", bool))
    prompts = display.get("display.show_prompts", bool)
    match way:
        case Watch.NOBODY:
            yield None
        case Watch.JSON:
            yield live.JsonLines(sys.stderr, wiring.SystemClock(), prompts=prompts)
        case Watch.LINES:
            yield live.Lines(sys.stderr, prompts=prompts)
        case Watch.LIVE:
            color = wants_color(display.get("display.color", str), sys.stderr, order.environment)
            cap, dumb = display.get("limits.cost_usd", float), order.environment.get("TERM", "dumb") == "dumb"
            clock = wiring.SystemClock()
            with live.showing(sys.stderr, clock, color=color, cap_usd=cap, dumb=dumb, prompts=prompts) as observer:
                yield observer


def _display(arguments: ReviewArguments, order: wiring.Order) -> Configuration:
    """What is configured about showing, before the review reads its configuration from its base. What is wrong there is said
    by the review; here it means the defaults."""
    with suppress(ConfigError):
        return effective(
            arguments, order.environment, repository_files=lambda: wiring.repository_files(order.directory, order.environment)
        )
    return Configuration()
