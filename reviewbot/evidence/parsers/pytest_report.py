"""The report of the ``reviewbot_pytest`` probe: JSON lines, written beside code that may want to write them too.

A line that cannot be read, or a number left out, makes the report unsound: what it says is then no proof of anything.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from reviewbot.evidence.parsers import typed
from reviewbot.evidence.parsers.trial import TestOutcome
from reviewbot.screen import strict_json

MAX_LINE = 2_000_000
Frame = tuple[str, int, str]
"""Path, line, function."""
Executed = Mapping[str, frozenset[int]]
"""Lines by path."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A test that failed, or a file that could not be collected. ``frames`` lead to the exception, deepest last."""

    id: str
    file: str
    line: int
    message: str
    text: str
    frames: tuple[Frame, ...]
    is_collection: bool = False


@dataclass(frozen=True, slots=True)
class TestReport:
    """One run of pytest. ``attempt`` counts from 0: later ones leave out the project's options. ``began`` is when the last test
    did, in milliseconds after the session."""

    __test__ = False

    started: bool = False
    finished: bool = False
    sound: bool = True
    broken: str = ""
    attempt: int = 0
    measured: bool = False
    count: int = 0
    began: int = 0
    outcomes: Mapping[str, TestOutcome] = field(default_factory=lambda: MappingProxyType({}))
    failures: Mapping[str, Failure] = field(default_factory=lambda: MappingProxyType({}))
    executed: Mapping[str, Executed] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def counts(self) -> bool:
        """It is a report that the probe wrote, as far as can be told."""
        return self.started and self.sound

    def of(self, test: str) -> TestOutcome | None:
        """How a test ended, or a file whose tests could be collected; ``None`` where nothing is known of it."""
        if test in self.outcomes:
            return self.outcomes[test]
        if "::" in test or not self.counts:
            return None
        inside = (name for name in self.outcomes if name.startswith(f"{test}::"))
        return TestOutcome.PASSED if next(inside, None) else None

    def total(self, outcome: TestOutcome) -> int:
        """How many tests ended so."""
        return sum(1 for ended in self.outcomes.values() if ended is outcome)


@dataclass(slots=True)
class _Reading:
    """What was read so far of the present attempt."""

    attempt: int = 0
    next_number: int = 0
    started: bool = False
    finished: bool = False
    sound: bool = True
    broken: str = ""
    measured: bool = False
    count: int = 0
    began: int = 0
    outcomes: dict[str, TestOutcome] = field(default_factory=dict)
    failures: dict[str, Failure] = field(default_factory=dict)
    executed: dict[str, dict[str, frozenset[int]]] = field(default_factory=dict)


def read(data: bytes) -> TestReport:
    """The last attempt of a report. Never raises: what cannot be read makes it unsound."""
    reading = _Reading()
    *whole, rest = data.split(b"\n")
    for line in whole:
        try:
            record = strict_json.loads(line, max_bytes=MAX_LINE)
            reading = _take(reading, record)
        except (strict_json.InvalidJson, TypeError, KeyError, ValueError, AttributeError):
            reading.sound = False
    cut_off = bool(rest) and reading.finished
    return TestReport(
        started=reading.started,
        finished=reading.finished,
        sound=reading.sound and not cut_off,
        broken=reading.broken,
        attempt=reading.attempt,
        measured=reading.measured,
        count=reading.count,
        began=reading.began,
        outcomes=MappingProxyType(reading.outcomes),
        failures=MappingProxyType(reading.failures),
        executed=MappingProxyType({test: MappingProxyType(lines) for test, lines in reading.executed.items()}),
    )


def _take(reading: _Reading, record: dict[str, Any]) -> _Reading:
    kind = record["type"]
    if kind == "attempt":
        return _Reading(attempt=typed.number(record["number"]), sound=reading.sound)
    if kind == "broken":
        reading.broken = typed.text(record["message"])
        return reading
    if kind == "conftest":
        return reading
    if record["n"] != reading.next_number or reading.finished:
        reading.sound = False
    reading.next_number = typed.number(record["n"]) + 1
    _TAKERS[kind](reading, record)
    return reading


def _start(reading: _Reading, record: dict[str, Any]) -> None:
    reading.started, reading.measured = True, record["measured"] is True


def _collected(reading: _Reading, record: dict[str, Any]) -> None:
    reading.count = typed.number(record["count"])


def _begin(reading: _Reading, record: dict[str, Any]) -> None:
    reading.outcomes[typed.text(record["id"])] = TestOutcome.UNFINISHED
    reading.began = typed.number(record["at"])


def _test(reading: _Reading, record: dict[str, Any]) -> None:
    name, outcome = typed.text(record["id"]), TestOutcome(record["outcome"])
    if reading.outcomes.get(name) is not TestOutcome.FAILED:
        reading.outcomes[name] = outcome
    if outcome is TestOutcome.FAILED and name not in reading.failures:
        reading.failures[name] = _failure(record, line=typed.number(record["line"]))


def _collect(reading: _Reading, record: dict[str, Any]) -> None:
    name = typed.text(record["id"])
    reading.outcomes[name] = TestOutcome.FAILED
    reading.failures[name] = _failure(record, line=1, is_collection=True)


def _lines(reading: _Reading, record: dict[str, Any]) -> None:
    known = reading.executed.setdefault(typed.text(record["id"]), {})
    for path, numbers in record["lines"].items():
        known[path] = known.get(path, frozenset()) | frozenset(map(typed.number, numbers))


def _finish(reading: _Reading, record: dict[str, Any]) -> None:
    reading.finished = record["type"] == "finish"


_TAKERS = {
    "start": _start,
    "collected": _collected,
    "begin": _begin,
    "test": _test,
    "collect": _collect,
    "lines": _lines,
    "finish": _finish,
}


def _failure(record: dict[str, Any], *, line: int, is_collection: bool = False) -> Failure:
    return Failure(
        typed.text(record["id"]),
        typed.text(record["file"]),
        line,
        typed.text(record["message"]),
        typed.text(record["text"]),
        tuple(_frames(record["frames"])),
        is_collection,
    )


def _frames(frames: list[Any]) -> Iterator[Frame]:
    for path, line, name in frames:
        yield typed.text(path), typed.number(line), typed.text(name)
