"""What timers and profilers wrote: the ``reviewbot_timing`` probe, ``go tool pprof -top``, and stacks of py-spy or FlameGraph."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from reviewbot.evidence.parsers import typed
from reviewbot.evidence.parsers.remark import Unreadable
from reviewbot.screen import strict_json

MAX_BYTES = 16_000_000


class Unit(StrEnum):
    """What a profile counts."""

    SECONDS = "seconds"
    BYTES = "bytes"
    COUNT = "count"


@dataclass(frozen=True, slots=True)
class Spot:
    """A function. ``own`` is spent in itself, ``whole`` with all that it calls. ``path`` is empty and ``line`` 0 where the tool
    does not say; ``line`` is where the function begins or, of stacks, where most of its own samples fell. ``calls`` is 0 where
    they were not counted."""

    path: str
    line: int
    function: str
    own: float
    whole: float
    calls: int = 0


@dataclass(frozen=True, slots=True)
class Profile:
    """Spots, those with the largest ``whole`` first. ``total`` is all that was spent, 0 where the tool does not say."""

    unit: Unit
    total: float
    spots: tuple[Spot, ...]


@dataclass(frozen=True, slots=True)
class TimingReport:
    """What the probe measured in one tree: ``seconds`` per call, a round each, all above zero, of ``calls`` calls a round.
    ``error`` is why there is none: a traceback, or the reason why the snippet could not be loaded."""

    calls: int
    seconds: tuple[float, ...]
    profile: Profile
    error: str


def read(data: bytes) -> TimingReport:
    """The report of the ``reviewbot_timing`` probe. Raises Unreadable."""
    try:
        document = strict_json.loads(data, max_bytes=MAX_BYTES)
        seconds = tuple(typed.amount(value) for value in document["seconds"])
        spots = tuple(_spot(row) for row in document["profile"])
        calls, error = typed.number(document["calls"]), typed.text(document["error"])
    except (TypeError, KeyError, ValueError) as exc:
        raise Unreadable(f"not a report of times: {exc}") from exc
    if bool(error) == bool(seconds) or bool(calls) != bool(seconds) or not all(seconds):
        raise Unreadable("a report of times holds rounds of more than nothing, or an error")
    return TimingReport(calls, seconds, Profile(Unit.SECONDS, 0.0, spots), error)


def _spot(row: Any) -> Spot:
    path, line, function, calls, own, whole = row
    return Spot(
        typed.text(path), typed.number(line), typed.text(function), typed.amount(own), typed.amount(whole), typed.number(calls)
    )


_SCALES: Mapping[str, tuple[Unit, float]] = {
    "ns": (Unit.SECONDS, 1e-9),
    "us": (Unit.SECONDS, 1e-6),
    "µs": (Unit.SECONDS, 1e-6),
    "ms": (Unit.SECONDS, 1e-3),
    "s": (Unit.SECONDS, 1.0),
    "mins": (Unit.SECONDS, 60.0),
    "hrs": (Unit.SECONDS, 3600.0),
    "days": (Unit.SECONDS, 86400.0),
    "B": (Unit.BYTES, 1.0),
    "kB": (Unit.BYTES, 2.0**10),
    "MB": (Unit.BYTES, 2.0**20),
    "GB": (Unit.BYTES, 2.0**30),
    "TB": (Unit.BYTES, 2.0**40),
}
"""The units that pprof writes: ``internal/measurement/measurement.go`` of google/pprof."""
_AMOUNT = r"(-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)([a-zµ]*)"
_ROW = re.compile(
    rf"\s*{_AMOUNT}\s+-?[\d.e+-]+%\s+-?[\d.e+-]+%\s+{_AMOUNT}\s+-?[\d.e+-]+%\s+(?P<name>\S.*?)(?: \((?:partial-)?inline\))?\s*",
    re.IGNORECASE,
)
_PLACE = re.compile(r"(?P<function>.+?) (?P<path>\S+?\.\w+)(?::(?P<line>\d{1,9}))?")
_OF_ALL = re.compile(rf" of {_AMOUNT} total\b", re.IGNORECASE)
_HEADING = ("flat", "flat%", "sum%", "cum", "cum%")


def read_pprof(data: bytes) -> Profile:
    """``go tool pprof -top``, of functions or, with ``-lines``, of lines. Raises Unreadable."""
    lines = _lines(data)
    start = next((number for number, line in enumerate(lines) if tuple(line.split()) == _HEADING), None)
    if start is None:
        raise Unreadable("not the output of go tool pprof -top: it has no line of headings")
    units: set[Unit] = set()
    spots = [_pprof_row(line, units) for line in lines[start + 1 :] if line.strip()]
    all_of_it = next((found for line in lines[:start] if (found := _OF_ALL.search(line))), None)
    total = _measured(all_of_it[1], all_of_it[2], units) if all_of_it else 0.0
    if len(units) > 1:
        raise Unreadable("a profile in more than one kind of unit")
    return Profile(next(iter(units), Unit.COUNT), total, _by_whole(spots))


def _pprof_row(line: str, units: set[Unit]) -> Spot:
    found = _ROW.fullmatch(line)
    if not found:
        raise Unreadable(f"a row that is not pprof's: {line[:80]!r}")
    own, whole = _measured(found[1], found[2], units), _measured(found[3], found[4], units)
    place = _PLACE.fullmatch(found["name"])
    if place:
        return Spot(place["path"], int(place["line"] or 0), place["function"], own, whole)
    return Spot("", 0, found["name"], own, whole)


def _measured(digits: str, unit: str, units: set[Unit]) -> float:
    """In the unit's measure. A bare number is a count; a bare zero is one of anything."""
    value = float(digits)
    if not unit:
        units.update([Unit.COUNT] if value else [])
        return _finite(value)
    if unit not in _SCALES:
        raise Unreadable(f"{unit!r} is no unit that pprof writes")
    kind, scale = _SCALES[unit]
    units.add(kind)
    return _finite(value * scale)


def _finite(value: float) -> float:
    if not abs(value) < float("inf"):
        raise Unreadable("a number is too large")
    return value


_STACK = re.compile(r"(?P<frames>.*) (?P<count>\d{1,15})")
_FRAME = re.compile(r"(?P<function>.+) \((?P<path>[^()]+?)(?::(?P<line>\d{1,9}))?\)")
_NOT_A_FUNCTION = re.compile(r"(?:process \d+|thread)\b.*")
_Function = tuple[str, str]
"""Path and name."""


def read_stacks(data: bytes) -> Profile:
    """One stack a line with its samples, outermost frame first: ``a (file.py:12);b (file.py:3) 42``. Raises Unreadable."""
    own: Counter[_Function] = Counter()
    whole: Counter[_Function] = Counter()
    lines: dict[_Function, Counter[int]] = {}
    total = 0
    for text in _lines(data):
        if not text.strip():
            continue
        frames, count = _stack(text)
        total += count
        whole.update({function: count for function, _ in frames})
        own.update({function: count for function, _ in frames[-1:]})
        for function, line in frames:
            lines.setdefault(function, Counter())[line] += count if (function, line) == frames[-1] else 0
    if not whole:
        raise Unreadable("no stacks with samples: the program may have ended before it was looked at")
    spots = (Spot(path, _hottest(lines[path, name]), name, own[path, name], whole[path, name]) for path, name in whole)
    return Profile(Unit.COUNT, total, _by_whole(spots))


def _stack(text: str) -> tuple[list[tuple[_Function, int]], int]:
    """Frames and samples. A thread that is just being made has no frames yet."""
    found = _STACK.fullmatch(text.rstrip())
    if not found:
        raise Unreadable(f"not a stack with its samples: {text[:80]!r}")
    words = (word for word in found["frames"].split(";") if word and not _NOT_A_FUNCTION.fullmatch(word))
    return [_frame(word) for word in words], int(found["count"])


def _frame(word: str) -> tuple[_Function, int]:
    found = _FRAME.fullmatch(word)
    return ((found["path"], found["function"]), int(found["line"] or 0)) if found else (("", word), 0)


def _hottest(lines: Counter[int]) -> int:
    return min(lines, key=lambda line: (-lines[line], line))


def _by_whole(spots: Iterator[Spot] | list[Spot]) -> tuple[Spot, ...]:
    return tuple(sorted(spots, key=lambda spot: (-spot.whole, -spot.own, spot.path, spot.function, spot.line)))


def _lines(data: bytes) -> list[str]:
    if len(data) > MAX_BYTES:
        raise Unreadable(f"{len(data)} bytes are more than the {MAX_BYTES} that are read")
    try:
        return data.decode("utf-8").split("\n")
    except UnicodeDecodeError as exc:
        raise Unreadable("not UTF-8") from exc
