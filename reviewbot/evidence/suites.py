"""The project's tests in any language: at head, at base, and the head's tests against the base's code.

What pytest tells, ``suite`` hears, with lines executed and frames; other runners tell less, and it is read here.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

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
from reviewbot.evidence.parsers.remark import Unreadable
from reviewbot.evidence.parsers.trial import TestOutcome, Trial
from reviewbot.evidence.tools import settled
from reviewbot.evidence.view import CheckOptions, View, named
from reviewbot.ports import Ended, Job, Outcome

Place = tuple[str, int]
Reader = Callable[[Outcome, str], tuple[Trial, ...]]
"""From an outcome and the suite's name to its tests. Raises Unreadable."""
_SPOT = re.compile(r"(?<![\w@./+-])([\w@./+-]+\.\w+):(\d+)")
_ABSOLUTE = re.compile(r"(?:file://)?/[\w@./+-]+")
_LASTED = re.compile(r"(?m)^.*\bduration_ms\b.*\n?|(?<![ \t])[ \t]*\(\d+(?:\.\d+)? ?(?:m|µ|n)?s\)")
MOST_SPOTS = 200
WELL = (0,)
"""Tests that fail may fail by chance: only a run in which all passed is kept."""
NOT_STARTED = (126, 127)
"""How shells say that a program is not there, as where nothing is installed."""


@dataclass(frozen=True, slots=True)
class Suite:
    """A command that runs tests. ``sources`` names the files of its language; the tests among them are told by their paths.

    ``again`` gives the command with which a person runs one test. ``report`` is the file of the scratch folder that holds the
    report, standard output where it is empty.
    """

    name: str
    argv: tuple[str, ...]
    read: Reader
    sources: tuple[str, ...]
    wanted: Callable[[View], bool] = lambda _: True
    again: Callable[[Trial], tuple[str, ...]] | None = None
    report: str = ""
    environment: tuple[tuple[str, str], ...] = ()


def by_bytes(read: Callable[[bytes], tuple[Trial, ...]], report: str = "") -> Reader:
    """A reader of standard output, or of a report file."""

    def reader(outcome: Outcome, _: str) -> tuple[Trial, ...]:
        return read((outcome.file(report) if report else outcome.stdout) or b"")

    return reader


def by_exit_code(outcome: Outcome, name: str) -> tuple[Trial, ...]:
    """A command without a report is one test: 0 is passed."""
    text = (outcome.stdout + outcome.stderr).decode("utf-8", "replace")
    if outcome.exit_code in NOT_STARTED:
        raise Unreadable("the command could not be begun")
    ended = TestOutcome.PASSED if outcome.exit_code == 0 else TestOutcome.FAILED
    return (Trial(name, ended, message=_last_line(text) if ended is TestOutcome.FAILED else "", text=text),)


def applies(suite: Suite, view: View) -> bool:
    """There is something for it in the change."""
    return any(_is_source(suite, file) for file in view.files) and suite.wanted(view)


def jobs(suite: Suite, view: View, options: CheckOptions) -> tuple[Job, ...]:
    """Head, base, and base with the head's tests where those changed. In an audit head alone."""
    if not applies(suite, view):
        return ()
    head = Job(
        f"{suite.name}:head",
        suite.argv,
        options.seconds,
        executes=True,
        tree=Side.HEAD,
        collect=(suite.report,) if suite.report else (),
        environment=suite.environment,
    )
    if view.is_audit:
        return (head,)
    base = replace(head, name=f"{suite.name}:base", tree=Side.BASE, keep=WELL)
    newer = _test_files(view)
    return (head, base, replace(base, name=f"{suite.name}:overlay", overlay=newer, keep=())) if newer else (head, base)


def hear(suite: Suite, view: View, outcomes: Mapping[str, Outcome]) -> Heard:
    """What the runs said together."""
    head = outcomes.get(f"{suite.name}:head")
    if head is None:
        return Heard()
    mine = [outcome for name, outcome in outcomes.items() if name.rpartition(":")[0] == suite.name]
    seconds = sum(outcome.seconds for outcome in mine)
    if head.ended is Ended.MISSING:
        return Heard(runs=(CheckRun(suite.name, ran=False, reason=head.reason, seconds=seconds),))
    told = {where: _trials(suite, outcomes.get(f"{suite.name}:{where}"), view) for where in ("head", "base", "overlay")}
    reason = _why_not(head, told["head"])
    if not told["head"]:
        return Heard(runs=(CheckRun(suite.name, ran=False, reason=reason, seconds=seconds, cut_short=True),))
    marks = tuple(_marks(suite, view, told))
    reasons = [reason] if reason else []
    if not told["base"] and not view.is_audit:
        reasons.append("at base no test ran")
    run = CheckRun(suite.name, ran=True, reason="; ".join(reasons), seconds=seconds, cut_short=bool(reason))
    return Heard(marks=marks, runs=(run,), tests=_totals(told["head"]))


def _is_source(suite: Suite, file: FileChange) -> bool:
    return file.kind is FileKind.TEXT and named(file.path, suite.sources)


def _test_files(view: View) -> tuple[tuple[str, bytes], ...]:
    found = ((file.path, view.contents_of(file).head) for file in view.files if file.head_path and is_test_path(file.path))
    return tuple((path, data) for path, data in found if data is not None)


def _trials(suite: Suite, outcome: Outcome | None, view: View) -> Mapping[str, Trial]:
    """The tests of one run by id; none where it has no report."""
    if outcome is None or outcome.ended in (Ended.REFUSED, Ended.MISSING):
        return {}
    try:
        found = suite.read(outcome, suite.name)
    except Unreadable:
        return {}
    texts = ((trial, _steady(trial.message, view), _steady(trial.text, view)) for trial in found)
    return {trial.id: replace(trial, message=message, text=text) for trial, message, text in texts}


def _why_not(outcome: Outcome, trials: Mapping[str, Trial]) -> str:
    if outcome.ended is not Ended.EXITED:
        return f"{outcome.reason}; {len(trials)} tests had begun" if trials else outcome.reason
    if any(map(_is_cut_off, trials.values())):
        return "the run did not come to its end"
    if trials:
        return ""
    words = (outcome.stderr or outcome.stdout).decode("utf-8", "replace")
    return f"it reported no test: {_last_line(words)}" if words.strip() else "it reported no test"


def _is_cut_off(trial: Trial) -> bool:
    """It stands for a run, or a part of one, that ended before it was through."""
    return trial.is_group and trial.outcome is TestOutcome.UNFINISHED


def _marks(suite: Suite, view: View, told: Mapping[str, Mapping[str, Trial]]) -> Iterator[Mark]:
    new: defaultdict[tuple[Place, bool], list[Trial]] = defaultdict(list)
    for trial in told["head"].values():
        if trial.outcome not in (TestOutcome.FAILED, TestOutcome.UNFINISHED) or _is_cut_off(trial):
            continue
        before = _before(trial, told)
        if before is TestOutcome.FAILED:
            yield Mark(EvidenceStatus.EXISTING, Side.HEAD, _result(suite, [trial], _place(suite, view, trial), broke=False))
        else:
            new[_place(suite, view, trial), before is TestOutcome.PASSED].append(trial)
    for (place, broke), trials in new.items():
        result = _result(suite, trials, place, broke=broke)
        file = view.change.file(place[0])
        anchor = places.line_at(places.lines(view.contents_of(file).head), place[1]) if file else ""
        yield Mark(EvidenceStatus.NEW, Side.HEAD, replace(result, anchor=anchor))
    for trial in told["base"].values():
        after = told["head"].get(trial.id)
        if trial.outcome is TestOutcome.FAILED and after is not None and after.outcome is TestOutcome.PASSED:
            yield Mark(EvidenceStatus.FIXED, Side.BASE, _result(suite, [trial], (trial.file, trial.line), broke=False))


def _before(trial: Trial, told: Mapping[str, Mapping[str, Trial]]) -> TestOutcome | None:
    """What this test did against the base: the head's text of it speaks first. A group that could not be built was well where
    tests of it passed."""
    if trial.is_group and trial.id not in told["base"]:
        starts = tuple(trial.id + mark for mark in (".", "::", " > "))
        inside = (older for name, older in told["base"].items() if name.startswith(starts))
        return TestOutcome.PASSED if any(older.outcome is TestOutcome.PASSED for older in inside) else None
    overlay, base = (told[where].get(trial.id) for where in ("overlay", "base"))
    if overlay is not None and overlay.outcome is TestOutcome.PASSED:
        return TestOutcome.PASSED
    if base is None or base.outcome is TestOutcome.FAILED:
        return TestOutcome.FAILED if base else None
    # A test that changed fails against the base for want of what it tests: that does not tell that it was ill before.
    return TestOutcome.PASSED if overlay is None and base.outcome is TestOutcome.PASSED else None


def _place(suite: Suite, view: View, trial: Trial) -> Place:
    """The changed line to point at: one that the failure names, one beside the test, else the first of the change."""
    mine = [file for file in view.files if file.head_path and _is_source(suite, file)]
    library = [file for file in mine if not is_test_path(file.path)]
    known = frozenset(file.path for file in mine)
    for path, line in _spots(trial):
        file = view.change.file(settled(path, known) or "")
        if file is not None and not is_test_path(file.path):
            return file.path, _nearest(file, line)
    folder = _folder(trial, view)
    beside = [file for file in library if folder and file.path.rpartition("/")[0] == folder]
    file = next(iter((*beside, *library, *mine)), None)
    return (file.path, _nearest(file, 1)) if file else (view.files[0].path, 0)


def _folder(trial: Trial, view: View) -> str:
    """Where the test stands, as far as it can be told."""
    known = frozenset(view.paths)
    found = (settled(path, known) for path, _ in _spots(trial))
    return next((path.rpartition("/")[0] for path in found if path), "")


def _spots(trial: Trial) -> Iterator[Place]:
    if trial.file:
        yield trial.file, trial.line
    for count, spot in enumerate(_SPOT.finditer(trial.text)):
        if count >= MOST_SPOTS:
            return
        yield spot[1], int(spot[2][:9])


def _nearest(file: FileChange, line: int) -> int:
    return places.nearest(places.added(file) | places.beside_removals(file), line) or 0


def _result(suite: Suite, trials: list[Trial], place: Place, *, broke: bool) -> Result:
    first = trials[0]
    more = f" and {len(trials) - 1} more" if len(trials) > 1 else ""
    said = shown.first_line(first.message or first.text) or "no reason given"
    command = suite.again(first) if suite.again else (suite.name,)
    return Result(
        EvidenceKind.TEST,
        suite.name,
        None,
        *place,
        f"`{shown.sentence(first.id, 80)}`{more} fails: {said}",
        Category.CORRECTNESS,
        Severity.HIGH if broke else Severity.MEDIUM,
        Precision.CERTAIN if broke else Precision.HEURISTIC,
        end_line=place[1],
        trigger=" ".join(command),
        consequence="what the test asks for held at base, and does not any more" if broke else "the test fails at head",
        excerpt=shown.excerpt(first.text or first.message),
        command=command,
        exit_code=1,
        subject=first.id,
    )


def _steady(text: str, view: View) -> str:
    """The text without what differs from run to run: where the tree stood, and how long it took."""
    known = frozenset(view.paths)
    return _LASTED.sub("", _ABSOLUTE.sub(lambda match: settled(match[0], known) or match[0], text))


def _totals(trials: Mapping[str, Trial]) -> TestRun:
    ended = [trial.outcome for trial in trials.values() if not trial.is_group]
    failed = sum(outcome in (TestOutcome.FAILED, TestOutcome.UNFINISHED) for outcome in ended)
    return TestRun(passed=ended.count(TestOutcome.PASSED), failed=failed)


def _last_line(text: str) -> str:
    return shown.sentence(text.strip().rpartition("\n")[2])
