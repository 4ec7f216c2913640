"""A command of the user's own that measures which lines the tests run, in any language: Cobertura's XML."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from reviewbot.domain.change import FileChange, FileKind, is_test_path
from reviewbot.domain.evidence import (
    Category,
    CheckRun,
    EvidenceKind,
    EvidenceStatus,
    Precision,
    Result,
    Severity,
    Side,
    TestRun,
)
from reviewbot.evidence import places, shown
from reviewbot.evidence.match import Heard, Mark
from reviewbot.evidence.parsers import coverage_xml
from reviewbot.evidence.parsers.coverage_xml import CoverageReport, Lines
from reviewbot.evidence.parsers.remark import Unreadable
from reviewbot.evidence.tools import settled
from reviewbot.evidence.view import CheckOptions, View, named
from reviewbot.ports import Ended, Job, Outcome

MOST_NAMED = 40


@dataclass(frozen=True, slots=True)
class Measurement:
    """``run`` writes the XML into the file ``report`` of the scratch folder, or to standard output; ``files`` names what it is
    about."""

    name: str
    run: tuple[str, ...]
    files: tuple[str, ...]
    report: str = ""


def applies(measurement: Measurement, view: View) -> bool:
    """There is something for it in the change. An audit does not measure."""
    return not view.is_audit and any(True for _ in _measured(measurement, view))


def jobs(measurement: Measurement, view: View, options: CheckOptions) -> tuple[Job, ...]:
    """At head only: what the base's tests ran says nothing of the changed lines."""
    if not applies(measurement, view):
        return ()
    collect = (measurement.report,) if measurement.report else ()
    name = f"{measurement.name}:head"
    return (Job(name, measurement.run, options.seconds, executes=True, tree=Side.HEAD, collect=collect),)


def hear(measurement: Measurement, view: View, outcomes: Mapping[str, Outcome]) -> Heard:
    """Which changed lines the tests ran, and a result for each file with changed lines that none did."""
    outcome = outcomes.get(f"{measurement.name}:head")
    if outcome is None:
        return Heard()
    try:
        report = _report(measurement, outcome)
    except Unreadable as exc:
        missing = outcome.ended is Ended.MISSING
        run = CheckRun(measurement.name, ran=False, reason=str(exc), seconds=outcome.seconds, cut_short=not missing)
        return Heard(runs=(run,))
    lines = _by_path(report, frozenset(file.path for file in view.files))
    executed: set[tuple[str, int]] = set()
    marks: list[Mark] = []
    for file in _measured(measurement, view):
        seen, added = lines.get(file.path, Lines(frozenset(), frozenset())), places.added(file)
        executed |= {(file.path, line) for line in seen.executed & added}
        if missed := sorted(seen.missed & added):
            marks.append(Mark(EvidenceStatus.NEW, Side.HEAD, _result(measurement, view, file, missed=missed)))
    run = CheckRun(measurement.name, ran=True, seconds=outcome.seconds)
    return Heard(marks=tuple(marks), runs=(run,), tests=TestRun(measured=True, executed=frozenset(executed)))


def _measured(measurement: Measurement, view: View) -> Iterator[FileChange]:
    for file in view.files:
        if file.kind is FileKind.TEXT and file.head_path and named(file.path, measurement.files) and not is_test_path(file.path):
            yield file


def _report(measurement: Measurement, outcome: Outcome) -> CoverageReport:
    if outcome.ended is not Ended.EXITED:
        raise Unreadable(outcome.reason)
    data = outcome.file(measurement.report) if measurement.report else outcome.stdout
    return coverage_xml.read(data or b"")


def _by_path(report: CoverageReport, known: frozenset[str]) -> Mapping[str, Lines]:
    """Lines by path of the tree: a name may start from one of the report's own folders."""
    found: dict[str, Lines] = {}
    for name, lines in report.files.items():
        places_of_it = (*(f"{source.rstrip('/')}/{name}" for source in report.sources), name)
        path = next((path for place in places_of_it if (path := settled(place, known))), None)
        if path is not None:
            found[path] = lines
    return found


def _result(measurement: Measurement, view: View, file: FileChange, *, missed: list[int]) -> Result:
    more = f"{len(missed)} changed lines" if len(missed) > 1 else "a changed line"
    return Result(
        EvidenceKind.COVERAGE,
        measurement.name,
        None,
        file.path,
        missed[0],
        f"No test runs {more} of this file",
        Category.TESTS,
        Severity.LOW,
        Precision.HEURISTIC,
        end_line=missed[0],
        anchor=places.line_at(places.lines(view.contents_of(file).head), missed[0]),
        trigger="the tests that concern this change run",
        consequence="a mistake in these lines goes unnoticed",
        excerpt=shown.excerpt("lines without a test: " + ", ".join(map(str, missed[:MOST_NAMED]))),
        command=measurement.run,
        subject=file.path,
    )
