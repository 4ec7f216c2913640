"""Formats in which tools report. A new one is a module and a row of this table.

`parse` of a custom check in the configuration names a row.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal

from msgspec import Struct

from reviewbot.checks.readers import gnu, junit, rdjson, sarif, tap
from reviewbot.checks.report import Report
from reviewbot.config.settings import OutputFormat
from reviewbot.sandbox.job import Completed


class Reader(Struct, frozen=True):
    """Reads what a command left. Raises ValueError if it is not in this format."""

    kind: Literal["lint", "test"]
    read: Callable[[Completed], Report]


READERS: Mapping[OutputFormat, Reader] = {
    "gnu": Reader("lint", gnu.read),
    "sarif": Reader("lint", sarif.read),
    "rdjson": Reader("lint", rdjson.read),
    "junit": Reader("test", junit.read),
    "tap": Reader("test", tap.read),
}
