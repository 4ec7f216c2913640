"""Where the cause of a failing test is: the changed line that its failure passed through, or that it executed and others did not.

The ranking of executed lines is spectrum-based fault localisation: a line that failing tests run and passing ones do not is
the suspect (Jones and Harrold 2005, https://doi.org/10.1145/1101908.1101949).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from reviewbot.domain.change import FileChange, LineKind
from reviewbot.evidence import places
from reviewbot.evidence.parsers.pytest_report import Failure, TestReport
from reviewbot.evidence.parsers.trial import TestOutcome
from reviewbot.evidence.view import View, is_library

Place = tuple[str, int]
_DECLARES = re.compile(r"(?:async def|def|class|import|from|@|#|[\"'])")


@dataclass(frozen=True, slots=True)
class Ground:
    """The changed lines of a change, and which of them passing tests ran. ``files`` are all that changed, those that left
    their name first."""

    added: Mapping[str, frozenset[int]]
    replaced: Mapping[str, frozenset[int]]
    gaps: Mapping[str, frozenset[int]]
    texts: Mapping[str, tuple[str, ...]]
    tests: Mapping[str, frozenset[int]]
    files: tuple[str, ...]
    passing: Counter[Place]
    failing: Counter[Place]


def ground(view: View, report: TestReport) -> Ground:
    """What the head's run and the change say together."""
    library = [file for file in view.files if file.head_path and is_library(file.path)]
    passing: Counter[Place] = Counter()
    failing: Counter[Place] = Counter()
    for test, executed in report.executed.items():
        counter = failing if report.outcomes.get(test) is TestOutcome.FAILED else passing
        if test:
            counter.update((path, line) for path, lines in executed.items() for line in lines)
    return Ground(
        added={file.path: places.added(file) for file in library},
        replaced={file.path: _replaced(file) for file in library},
        gaps={file.path: places.beside_removals(file) for file in library},
        texts={file.path: places.lines(view.contents_of(file).head) for file in library},
        tests={
            file.path: places.added(file) | places.beside_removals(file)
            for file in view.files
            if file.head_path and not is_library(file.path)
        },
        files=tuple(file.path for file in sorted(view.python(), key=lambda file: file.head_path == file.base_path)),
        passing=passing,
        failing=failing,
    )


def cause(failure: Failure, report: TestReport, found: Ground) -> Place:
    """The line to point at, 0 for a whole file. The test's own place where nothing of the change can be made out."""
    return next(_candidates(failure, report, found), (failure.file, failure.line))


def _candidates(failure: Failure, report: TestReport, found: Ground) -> Iterator[Place]:
    """From the surest to the vaguest."""
    deepest_first = [(path, line) for path, line, _ in reversed(failure.frames)]
    executed = {(path, line) for path, lines in report.executed.get(failure.id, {}).items() for line in lines}
    yield from (place for place in deepest_first if place[1] in found.added.get(place[0], ()))
    yield from _suspects(found, executed, found.added)
    yield from (place for place in deepest_first if place[1] in found.gaps.get(place[0], ()))
    yield from _suspects(found, executed, found.gaps)
    yield from _at_import(report, found)
    yield from _nearest(found, deepest_first)
    yield from _nearest(found, sorted(executed))
    yield from (place for place in deepest_first if place[1] in found.tests.get(place[0], ()))
    yield from ((path, min(lines)) for path, lines in (*found.added.items(), *found.gaps.items()) if lines)
    yield from ((path, min(lines)) for path, lines in found.tests.items() if lines)
    yield from ((path, 0) for path in found.files)


def _suspects(found: Ground, executed: set[Place], wanted: Mapping[str, frozenset[int]]) -> list[Place]:
    """Wanted lines that the test ran, the fewer passing and the more failing tests ran them the earlier."""

    def suspicion(place: Place) -> tuple[int, int, bool, Place]:
        is_new_text = place[1] not in found.replaced.get(place[0], ())
        return found.passing[place], -found.failing[place], is_new_text, place

    return sorted((place for place in executed if place[1] in wanted.get(place[0], ())), key=suspicion)


def _at_import(report: TestReport, found: Ground) -> Iterator[Place]:
    """Changed statements that ran when their module was imported, such as a constant: no test can be seen to run them."""
    for path, lines in report.executed.get("", {}).items():
        for line in sorted(lines & found.added.get(path, frozenset())):
            text = places.line_at(found.texts.get(path, ()), line)
            if text and not _DECLARES.match(text):
                yield path, line


def _nearest(found: Ground, around: list[Place]) -> Iterator[Place]:
    """The changed line nearest to where the test has been."""
    near = [
        (abs(close - line), path, close)
        for path, line in around
        if (close := places.nearest(found.added.get(path, frozenset()) | found.gaps.get(path, frozenset()), line))
    ]
    yield from ((path, line) for _, path, line in sorted(near)[:1])


def _replaced(file: FileChange) -> frozenset[int]:
    """Added lines that stand where others were removed."""
    found: set[int] = set()
    for hunk in file.hunks:
        block: list[int] = []
        had_removed = False
        for line in (*hunk.lines(), None):
            if line is None or line.kind is LineKind.CONTEXT:
                found.update(block if had_removed else ())
                block, had_removed = [], False
            elif line.new is None:
                had_removed = True
            else:
                block.append(line.new)
    return frozenset(found)
