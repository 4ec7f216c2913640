"""TAP 13 and 14 (https://testanything.org), as written by node, bats, mocha, vitest, ava, tape and Perl.

A test's id is its description, after those of the tests that it is part of: ``outer > part``. Numbers are not looked at: bats
writes them in the order in which tests end, and node begins anew with each file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from reviewbot.evidence.parsers import failure_text
from reviewbot.evidence.parsers.diagnostics import Diagnostics
from reviewbot.evidence.parsers.failure_text import Said
from reviewbot.evidence.parsers.remark import Unreadable
from reviewbot.evidence.parsers.roll import MAX_LENGTH, MAX_NAMES, Roll
from reviewbot.evidence.parsers.trial import TestOutcome, Trial

WHOLE = "the whole run"
"""The id of the group that says a run did not end as it was planned."""
MAX_DEPTH = 64
_BAD = (TestOutcome.FAILED, TestOutcome.UNFINISHED)
_STEP = 4
"""Spaces by which the tests inside a test are indented."""
_VERSION = re.compile(r"TAP version \d+$")
_PLAN = re.compile(r"1\.\.(\d{1,9})\s*(?:#\s*(.*))?$")
_POINT = re.compile(r"(?P<bad>not )?ok(?=\s|$)(?P<number>\s+\d+(?=\s|$))?\s*(?:-(?:\s+|$))?(?P<rest>.*)$")
_NUMBERED = re.compile(r"(?:not )?ok \d+(?:\s|$)|1\.\.\d+\s*(?:#|$)")
_DIRECTIVE = re.compile(r"(?:^|\s)#\s*(?P<word>skip\S*|todo\b):?\s*(?P<reason>.*)$", re.IGNORECASE)
_TIMED = re.compile(r"\s+# time=\S+$")
_BEGUN = "# Subtest: "
_BAIL = "Bail out!"
_FILE = re.compile(r"\S+\.[cm]?[jt]sx?")
"""node and vitest name a test after the file whose tests are inside it, or could not be loaded."""


@dataclass(slots=True)
class _Point:
    """One test. ``outer`` is the test that it is part of; ``said`` what stands under it; ``blamed`` its first part that failed,
    ``has_parts`` that there are any."""

    name: str
    outcome: TestOutcome
    reason: str = ""
    outer: _Point | None = None
    said: Diagnostics = field(default_factory=Diagnostics)
    blamed: _Point | None = None
    has_parts: bool = False

    def belong(self, outer: _Point) -> None:
        """This is part of another."""
        self.outer, outer.has_parts = outer, True
        if outer.blamed is None and self.outcome in _BAD:
            outer.blamed = self

    def path(self) -> str:
        around = f"{self.outer.path()} > " if self.outer else ""
        return f"{around[:MAX_LENGTH]}{self.name}"


@dataclass(slots=True)
class _Reading:
    """``waiting`` are the points of each depth whose outer test has yet to come, ``holding`` the outer test that came first
    (``{``), ``begun`` the subtest that was announced, ``loose`` the comments before a test, ``last`` the point and its indent
    that is spoken of."""

    points: list[_Point] = field(default_factory=list)
    came: int = 0
    promised: int | None = None
    left_out: str | None = None
    bailed: str | None = None
    is_tap: bool = False
    waiting: dict[int, list[_Point]] = field(default_factory=dict)
    holding: dict[int, _Point] = field(default_factory=dict)
    begun: dict[int, str] = field(default_factory=dict)
    loose: dict[int, Said] = field(default_factory=dict)
    last: tuple[_Point, int] | None = None
    block: int | None = None

    def add(self, point: _Point, depth: int) -> None:
        """A point, the outer one of those that were waiting deeper. Raises Unreadable for one too many."""
        if len(self.points) >= MAX_NAMES:
            raise Unreadable(f"it holds more than {MAX_NAMES} tests; run fewer at once")
        for deeper in [other for other in self.waiting if other > depth]:
            for part in self.waiting.pop(deeper):
                part.belong(point)
        for known in (self.begun, self.holding):
            for other in [other for other in known if other >= depth]:
                del known[other]
        if depth - 1 in self.holding:
            point.belong(self.holding[depth - 1])
        else:
            self.waiting.setdefault(depth, []).append(point)
        self.points.append(point)


def read(data: bytes) -> tuple[Trial, ...]:
    """All tests. A test to do that fails is left out, one that was announced and never came is unfinished; so is the whole run,
    as a group, where fewer tests came than the plan promised, no plan came, or it bailed out. Raises Unreadable."""
    reading = _Reading()
    for line in failure_text.decoded(data).split("\n"):
        _take(reading, line.rstrip())
    if not reading.is_tap:
        raise Unreadable("no TAP: neither a version nor a plan nor a numbered test")
    for depth, name in sorted(reading.begun.items(), reverse=True):
        reading.add(_Point(name, TestOutcome.UNFINISHED), depth)
    roll = Roll()
    for trial in (*map(_trial, reading.points), *_whole(reading)):
        roll.call(trial)
    return roll.trials()


def _take(reading: _Reading, line: str) -> None:
    text = line.lstrip(" ")
    indent = len(line) - len(text)
    depth = indent // _STEP if indent % _STEP == 0 and indent <= _STEP * MAX_DEPTH else None
    if reading.last and reading.block is not None and not _interrupts(reading, text, indent):
        if text == "..." and indent == reading.block:
            reading.last, reading.block = None, None
        else:
            reading.last[0].said.block.add(f"{line[min(reading.block, indent) :]}\n")
    elif reading.last and text == "---" and indent > reading.last[1]:
        reading.block = indent
    elif depth is None or not _structure(reading, text, depth):
        _hear(reading, text, indent)


def _interrupts(reading: _Reading, text: str, indent: int) -> bool:
    """A block without an end, as a process leaves it that was killed: the next test ends it."""
    return bool(reading.last and indent <= reading.last[1] and indent % _STEP == 0 and _NUMBERED.match(text))


def _structure(reading: _Reading, text: str, depth: int) -> bool:
    """A line that is TAP itself; false for what is spoken between."""
    if plan := _PLAN.match(text):
        _plan(reading, plan, depth)
    elif point := _POINT.match(text):
        _point(reading, point, depth)
    elif text.startswith(_BEGUN):
        reading.begun[depth], reading.last = _name(text.removeprefix(_BEGUN)), None
    elif text.startswith(_BAIL):
        reading.bailed, reading.is_tap = text.removeprefix(_BAIL).strip(), True
    elif text == "}":
        reading.holding.pop(depth, None)
    elif depth == 0 and _VERSION.match(text):
        reading.is_tap = True
    else:
        return False
    return True


def _plan(reading: _Reading, plan: re.Match[str], depth: int) -> None:
    reading.last = None
    if depth:
        return
    reading.is_tap = True
    reading.promised = (reading.promised or 0) + int(plan[1])
    if plan[2] and not int(plan[1]):
        reading.left_out = plan[2].strip()


def _point(reading: _Reading, found: re.Match[str], depth: int) -> None:
    rest = found["rest"]
    holds = rest.endswith(" {")
    rest = _TIMED.sub("", rest.removesuffix(" {"))
    directive = _DIRECTIVE.search(rest)
    name = _name(_TIMED.sub("", rest[: directive.start()] if directive else rest)) or "unnamed"
    outcome = TestOutcome.FAILED if found["bad"] else TestOutcome.PASSED
    if directive and (found["bad"] or directive["word"].lower() != "todo"):
        outcome = TestOutcome.SKIPPED
    point = _Point(name, outcome, directive["reason"].strip("- ") if directive else "")
    point.said.loose = reading.loose.pop(depth, point.said.loose)
    reading.is_tap |= bool(found["number"])
    reading.came += not depth
    reading.add(point, depth)
    reading.last, reading.block = (point, depth * _STEP), None
    if holds:
        reading.holding[depth] = point


def _hear(reading: _Reading, text: str, indent: int) -> None:
    """A comment or a line that is no TAP at all: said of the test before it, where none is explained of the one after it."""
    words = text.removeprefix("#").removeprefix(" ") if text.startswith("#") else text
    if reading.last and indent >= reading.last[1]:
        reading.last[0].said.spoken.add(f"{words}\n")
    elif words:
        reading.loose.setdefault(min(indent // _STEP, MAX_DEPTH), Said()).add(f"{words}\n")


def _name(text: str) -> str:
    return text.replace("\\#", "#").replace("\\\\", "\\").strip()[:MAX_LENGTH]


def _whole(reading: _Reading) -> Iterator[Trial]:
    """What is to be said of the run itself."""
    if reading.bailed is not None:
        yield Trial(WHOLE, TestOutcome.UNFINISHED, message=f"{_BAIL} {reading.bailed}".strip(), is_group=True)
    elif reading.left_out is not None and not reading.points:
        yield Trial(WHOLE, TestOutcome.SKIPPED, message=reading.left_out, is_group=True)
    elif reading.promised is None:
        yield Trial(WHOLE, TestOutcome.UNFINISHED, message="no plan came: the run was cut off", is_group=True)
    elif reading.came < reading.promised:
        words = f"{reading.promised} tests were planned and {reading.came} came"
        yield Trial(WHOLE, TestOutcome.UNFINISHED, message=words, is_group=True)


def _trial(point: _Point) -> Trial:
    """Of a test whose parts failed, what the first of them says: of its own it says how many they are."""
    path = point.path()
    if point.outcome not in _BAD:
        return Trial(path, point.outcome, message=point.reason if point.outcome is TestOutcome.SKIPPED else "")
    reason = point
    while reason.blamed:
        reason = reason.blamed
    is_file = point.outer is None and not point.has_parts and bool(_FILE.fullmatch(point.name))
    place = reason.said.place()
    place = (point.name, 0) if is_file and not place[0] else place
    return Trial(path, point.outcome, *place, reason.said.message(), reason.said.text(), is_group=is_file)
