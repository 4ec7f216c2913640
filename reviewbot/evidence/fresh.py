"""New tests on trial: they pass each time, run changed lines that no test ran, and notice when such a line is wrong.

Where all that they run is run by others too, they are worth something if they notice a wrong that those do not: an edge case.
"""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterator, Sequence
from dataclasses import dataclass, replace

from reviewbot.domain.evidence import Side
from reviewbot.evidence import shown, suite
from reviewbot.evidence.mutants import Mutant, mutants
from reviewbot.evidence.parsers import pytest_report
from reviewbot.evidence.parsers.pytest_report import TestReport
from reviewbot.evidence.parsers.trial import TestOutcome
from reviewbot.evidence.proof.runs import TIMES
from reviewbot.evidence.statements import executed_changes
from reviewbot.evidence.view import CheckOptions, View, is_library
from reviewbot.ports import Ended, Job, Outcome

Place = tuple[str, int]
Overlay = tuple[tuple[str, bytes], ...]

MOST_WRONGS = 10
"""Wrongs that are tried: one that is noticed is enough [design]."""

WRONG_SECONDS = 20.0
"""A wrong may make a loop endless."""

MOST_NAMED = 40
"""Tests that are run by name: of more, their files are."""


@dataclass(frozen=True, slots=True)
class Laid:
    """Files over the head: as they are with the candidate, and as they were ``before``. ``tests`` are the paths of test files
    that the candidate adds or alters, ``suite`` those that were there, and ``known`` the changed lines that they run."""

    files: Overlay
    before: Overlay
    tests: tuple[str, ...]
    suite: tuple[str, ...]
    known: frozenset[Place]


@dataclass(frozen=True, slots=True)
class Judged:
    """``fault`` is why the tests are worth nothing, empty where they are; ``told`` what they show. ``output`` is for who mends
    them."""

    fault: str = ""
    told: str = ""
    output: str = ""


@dataclass(frozen=True, slots=True)
class _New:
    """The new tests by id, the changed lines that they run, and those of them that no other test runs."""

    names: tuple[str, ...]
    ran: frozenset[Place]
    alone: frozenset[Place]


_Judging = Generator[tuple[Job, ...], tuple[Outcome, ...], Judged]


def conduct(laid: Laid, view: View, options: CheckOptions) -> _Judging:
    """Run them at head, and with wrongs in the lines that they run."""
    measured = [file.path for file in view.files if file.head_path and is_library(file.path) and file.path.endswith(".py")]
    once = suite.job("tests", list(laid.tests), Side.HEAD, seconds=options.seconds, measure=measured)
    runs = tuple(replace(once, name=f"tests:{turn}", overlay=laid.files) for turn in range(1, TIMES + 1))
    earlier = replace(once, name="tests:before", overlay=laid.before)
    *now, past = yield (*runs, earlier)
    reports, older = [_report(outcome) for outcome in now], _report(past)
    names = tuple(name for name in reports[0].outcomes if name not in older.outcomes)
    if fault := next(_faults(now, reports, names), ""):
        return Judged(fault, output=_output(reports))
    own = replace(reports[0], executed={name: reports[0].executed.get(name, {}) for name in names})
    ran = executed_changes(view, own)
    new = _New(names, ran, ran - laid.known - executed_changes(view, older))
    if not ran:
        return Judged("they run no changed line")
    return (yield from (_of_new_lines if new.alone else _of_known_lines)(laid, view, options, new=new))


def unnoticed(
    laid: Laid, view: View, options: CheckOptions
) -> Generator[tuple[Job, ...], tuple[Outcome, ...], tuple[Mutant, ...]]:
    """Wrongs in changed lines that the suite runs, and passes all the same."""
    wrongs = tuple(_wrongs(view, laid.known))
    if not wrongs or not laid.suite:
        return ()
    healthy, *outcomes = yield _with_wrongs((), laid.suite, (None, *wrongs), options=options)
    failing = frozenset(_report(healthy).failures)
    missed = (wrong for wrong, outcome in zip(wrongs, outcomes, strict=True) if not _is_noticed(outcome, failing))
    return tuple(missed) if _report(healthy).counts else ()


def _of_new_lines(laid: Laid, view: View, options: CheckOptions, *, new: _New) -> _Judging:
    """Whether they notice a wrong in one of the lines that they alone run."""
    wrongs = tuple(_wrongs(view, new.alone))
    where = _listed(new.alone)
    if not wrongs:
        return Judged(f"nothing in {where} can be made wrong, so that nothing shows that they would notice")
    targets = new.names if len(new.names) <= MOST_NAMED else laid.tests
    outcomes = yield _with_wrongs(laid.files, targets, wrongs, options=options)
    noticed = [wrong for wrong, outcome in zip(wrongs, outcomes, strict=True) if _failing(outcome) & set(new.names)]
    if not noticed:
        return Judged("they pass whatever is wrong in the lines that they run", output=_missed(wrongs))
    return Judged(told=f"{_counted(new)} passed twice, ran {where}, which no test ran before, and {_told(noticed, wrongs)}")


def _of_known_lines(laid: Laid, view: View, options: CheckOptions, *, new: _New) -> _Judging:
    """Whether they notice a wrong that no other test notices, in lines that others run, too."""
    wrongs = tuple(_wrongs(view, new.ran))
    targets = tuple(dict.fromkeys((*laid.suite, *laid.tests)))
    healthy, *outcomes = yield _with_wrongs(laid.files, targets, (None, *wrongs), options=options)
    failing, names = _failing(healthy), frozenset(new.names)
    seen = [(wrong, _failing(outcome) - failing) for wrong, outcome in zip(wrongs, outcomes, strict=True)]
    noticed = [wrong for wrong, failed in seen if failed and failed <= names]
    if not noticed:
        fault = "they run no changed line that no test ran before, and notice no wrong that no test noticed before"
        return Judged(fault, output=_missed([wrong for wrong, failed in seen if not failed]))
    return Judged(told=f"{_counted(new)} passed twice, and {_told(noticed, wrongs)}, which no test noticed before")


def _with_wrongs(
    files: Overlay, targets: Sequence[str], wrongs: Sequence[Mutant | None], *, options: CheckOptions
) -> tuple[Job, ...]:
    """A run of the targets with each wrong, ``None`` for one without any."""
    once = suite.job("wrong", list(targets), Side.HEAD, seconds=min(options.seconds, WRONG_SECONDS))
    overlays = ((*files, *([(wrong.path, wrong.content)] if wrong else [])) for wrong in wrongs)
    return tuple(replace(once, name=f"wrong:{number}", overlay=overlay) for number, overlay in enumerate(overlays))


def _wrongs(view: View, found: Collection[Place]) -> Iterator[Mutant]:
    """Wrongs in these lines, shared out between the files."""
    by_file: dict[str, set[int]] = {}
    for path, line in sorted(found):
        by_file.setdefault(path, set()).add(line)
    share = max(MOST_WRONGS // max(len(by_file), 1), 1)
    for path, lines in list(by_file.items())[:MOST_WRONGS]:
        file = view.change.file(path)
        data = view.contents_of(file).head if file else None
        if data is not None:
            yield from mutants(path, data, lines, most=share)


def _faults(outcomes: Sequence[Outcome], reports: Sequence[TestReport], new: Sequence[str]) -> Iterator[str]:
    """Why they cannot be counted, the gravest first."""
    for outcome, report in zip(outcomes, reports, strict=True):
        if not (report.counts and report.finished):
            said = outcome.reason if outcome.ended is not Ended.EXITED else report.broken
            yield f"they could not be run: {said or 'the run did not come to its end'}"
    if not new:
        yield "there is no new test in it"
    ends = [{name: report.outcomes.get(name) for name in new} for report in reports]
    for name in new:
        said_of_it = {end[name] for end in ends}
        if len(said_of_it) > 1:
            yield f"`{shown.sentence(name, 80)}` does not end the same way each time"
        elif said_of_it != {TestOutcome.PASSED}:
            yield f"`{shown.sentence(name, 80)}` does not pass at head: {_said(said_of_it.pop())}"
    if not all(report.measured for report in reports):
        yield "which lines they run could not be measured"


def _said(outcome: TestOutcome | None) -> str:
    return outcome.value if outcome else "it was not run"


def _output(reports: Sequence[TestReport]) -> str:
    failures = reports[0].failures.values()
    return shown.excerpt("\n".join(failure.text or failure.message for failure in failures))


def _report(outcome: Outcome) -> TestReport:
    return pytest_report.read(outcome.file(suite.REPORT) or b"")


def _failing(outcome: Outcome) -> frozenset[str]:
    """The tests that failed, those left out that could not be loaded."""
    report = _report(outcome)
    failed = (name for name, failure in report.failures.items() if not failure.is_collection)
    return frozenset(failed) if report.counts else frozenset()


def _is_noticed(outcome: Outcome, failing: frozenset[str]) -> bool:
    """Something failed that does not fail anyway, or the run did not come to its end: whoever runs the suite sees that."""
    report = _report(outcome)
    return not (report.counts and report.finished) or bool(set(report.failures) - failing)


def _listed(found: Collection[Place]) -> str:
    return ", ".join(f"{path}:{line}" for path, line in sorted(found)[:MOST_WRONGS])


def _counted(new: _New) -> str:
    return f"{len(new.names)} new test{'s' if len(new.names) > 1 else ''}"


def _told(noticed: Sequence[Mutant], wrongs: Sequence[Mutant]) -> str:
    first = noticed[0]
    return f"noticed {len(noticed)} of {len(wrongs)} wrongs put into them, as {first.path}:{first.line} {first.told}"


def _missed(wrongs: Sequence[Mutant]) -> str:
    listed = "\n".join(f"{wrong.path}:{wrong.line}: {wrong.told}" for wrong in wrongs)
    return f"they pass though\n{listed}" if wrongs else ""
