"""``pytest --benchmark-json``, whose ``data`` are the seconds of each round. ``--benchmark-save`` keeps statistics alone."""

from __future__ import annotations

from reviewbot.evidence.parsers import rounds, shape
from reviewbot.evidence.parsers.timing import Timing


def read(data: bytes) -> tuple[Timing, ...]:
    """All benchmarks, named by their test's id. Without data the median is the only round. Raises Unreadable."""
    report = shape.record(shape.load(data))
    report.require("benchmarks")
    return rounds.timings(
        (benchmark.text("fullname"), rounds.of(benchmark.record("stats"), "data")) for benchmark in report.records("benchmarks")
    )
