"""``hyperfine --export-json``, whose ``times`` are the seconds of each run."""

from __future__ import annotations

from reviewbot.evidence.parsers import rounds, shape
from reviewbot.evidence.parsers.timing import Timing


def read(data: bytes) -> tuple[Timing, ...]:
    """All commands, by the name they were given or as they are written. Raises Unreadable."""
    report = shape.record(shape.load(data))
    report.require("results")
    return rounds.timings((result.text("command"), rounds.of(result, "times")) for result in report.records("results"))
