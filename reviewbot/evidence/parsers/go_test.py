"""``go test -json``: the events of https://pkg.go.dev/cmd/test2json, and the plain lines that the go command writes between them.

Why a package could not be built is said on standard error before Go 1.24: give standard error first, then standard output.
A test's id is ``package.Test``, that of a package its import path.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from reviewbot.evidence.parsers import failure_text, go_output
from reviewbot.evidence.parsers.failure_text import Said
from reviewbot.evidence.parsers.remark import Unreadable
from reviewbot.evidence.parsers.roll import MAX_NAMES, Roll
from reviewbot.evidence.parsers.trial import TestOutcome, Trial
from reviewbot.screen import strict_json

MAX_LINE = 4_000_000
MAX_DEPTH = 16
"""Of subtests, as far as a reason is looked for."""
_BAD = (TestOutcome.FAILED, TestOutcome.UNFINISHED)
_EVENT = re.compile(rb'\{"(?:Time|Action|ImportPath)":"')
_NUL = rb"\u0000"
_ENDS = {"pass": TestOutcome.PASSED, "bench": TestOutcome.PASSED, "fail": TestOutcome.FAILED, "skip": TestOutcome.SKIPPED}
_HEADING = re.compile(r"# \S+(?: \[\S+\])?$")
"""Before what a compiler or vet says: the package, and for which test it was compiled."""
_NOT_BUILT = re.compile(r"FAIL\t(\S+) \[(?:build|setup) failed\]")


@dataclass(slots=True)
class _Test:
    name: str
    outcome: TestOutcome | None = None
    output: Said = field(default_factory=Said)


@dataclass(slots=True)
class _Package:
    outcome: TestOutcome | None = None
    failed_build: str = ""
    not_built: bool = False
    output: Said = field(default_factory=Said)
    tests: list[_Test] = field(default_factory=list)
    present: dict[str, _Test] = field(default_factory=dict)

    def test(self, name: str, *, begins: bool) -> _Test:
        """The present run of a test; with ``-count`` there are several."""
        known = self.present.get(name)
        if known is None or (begins and known.outcome is not None):
            known = self.present[name] = _Test(name)
            self.tests.append(known)
        return known


@dataclass(slots=True)
class _Reading:
    """``builds`` is what was said of each build, ``heading`` the one that plain lines speak of, ``loose`` lines that speak of
    none."""

    packages: dict[str, _Package] = field(default_factory=dict)
    builds: dict[str, Said] = field(default_factory=dict)
    failed_builds: dict[str, None] = field(default_factory=dict)
    heading: str = ""
    loose: Said = field(default_factory=Said)
    begun: int = 0

    def package(self, name: str) -> _Package:
        """The package that is spoken of. Plain lines before it are held to be its own."""
        package = self.packages.setdefault(name, _Package())
        package.output.take(self.loose)
        self.heading = ""
        return package

    def build(self, path: str) -> Said:
        """What is said of a build."""
        return self.builds.setdefault(path, Said())


def read(data: bytes) -> tuple[Trial, ...]:
    """All tests, and as groups the packages that failed without a test of theirs. Raises Unreadable.

    A package that never ended is an unfinished group where none of its tests is unfinished. One without tests is no trial.
    """
    if len(data) > failure_text.MAX_BYTES:
        raise Unreadable(f"{len(data)} bytes are more than the {failure_text.MAX_BYTES} that are read")
    reading = _Reading()
    for line in data.split(b"\n"):
        _take(reading, line)
    roll = Roll()
    for trial in (*_without_package(reading), *_trials(reading)):
        roll.call(trial)
    if not reading.packages and not roll.trials():
        said = failure_text.message(reading.loose.text())[:200]
        raise Unreadable(f"no output of go test -json: {said or 'it is empty'}")
    return roll.trials()


def _take(reading: _Reading, line: bytes) -> None:
    found = _EVENT.search(line)
    event = _event(line[found.start() :]) if found else None
    before = line[: found.start()] if found and event else line
    if before.strip():
        _overhear(reading, failure_text.plain(before.decode("utf-8", "replace")).rstrip("\r"))
    if event:
        _hear(reading, event)


def _event(line: bytes) -> dict[str, str] | None:
    """The texts of an event; ``None`` for what is none."""
    try:
        event = strict_json.loads(line.replace(_NUL, rb"\ufffd"), max_bytes=MAX_LINE)
    except strict_json.InvalidJson:
        return None
    words = {key: value for key, value in event.items() if isinstance(value, str)} if isinstance(event, dict) else {}
    return words if "Action" in words else None


def _hear(reading: _Reading, event: dict[str, str]) -> None:
    path, name, action = event.get("ImportPath"), event.get("Package"), event["Action"]
    if path and action == "build-output":
        reading.build(path).add(event.get("Output", ""))
    elif path and action == "build-fail":
        reading.failed_builds[path] = None
    elif name:
        _happen(reading.package(name), event)
        reading.begun += action == "run"
    if max(reading.begun, len(reading.packages), len(reading.builds)) > MAX_NAMES:
        raise Unreadable(f"it holds more than {MAX_NAMES} tests or packages; run fewer at once")


def _happen(package: _Package, event: dict[str, str]) -> None:
    action, output = event["Action"], event.get("Output", "")
    test = package.test(event["Test"], begins=action == "run") if event.get("Test") else None
    if action == "output":
        (test or package).output.add(output)
        package.not_built |= bool(not test and _NOT_BUILT.match(output))
    elif action in _ENDS:
        (test or package).outcome = _ENDS[action]
        package.failed_build = event.get("FailedBuild", package.failed_build)


def _overhear(reading: _Reading, line: str) -> None:
    """A line that is no event: why a package was not built, or anything else."""
    not_built = _NOT_BUILT.match(line)
    if not_built:
        package = reading.package(not_built[1])
        package.outcome, package.not_built = TestOutcome.FAILED, True
        package.output.add(f"{line}\n")
    elif _HEADING.match(line):
        reading.heading = _owner(line.removeprefix("# "))
        reading.build(reading.heading)
    else:
        (reading.build(reading.heading) if reading.heading else reading.loose).add(f"{line}\n")


def _owner(built: str) -> str:
    """The package that is tested: ``a_test [a.test]`` is built for ``a``."""
    path, _, test = built.partition(" [")
    return test.removesuffix("]").removesuffix(".test") or path


def _without_package(reading: _Reading) -> Iterator[Trial]:
    """Builds that failed where nothing is said of their package."""
    packages = reading.packages.values()
    told = {package.failed_build for package in packages}
    told |= set(() if not any(package.not_built for package in packages) else reading.builds)
    failed = (path for path, said in reading.builds.items() if go_output.has_build_error(said.text()))
    for path in dict.fromkeys((*reading.failed_builds, *failed)):
        name = _owner(path)
        if path not in told and name not in reading.packages:
            yield _group(name, TestOutcome.FAILED, reading.build(path).text())


def _trials(reading: _Reading) -> Iterator[Trial]:
    other = _group("", TestOutcome.FAILED, failure_text.clipped("".join(said.text() for said in reading.builds.values())))
    for name, package in reading.packages.items():
        trials = _with_reasons([_trial(name, package, test) for test in package.tests])
        yield from trials
        outcomes = {trial.outcome for trial in trials}
        if TestOutcome.UNFINISHED in outcomes:
            continue
        if package.outcome is None:
            yield _group(name, TestOutcome.UNFINISHED, package.output.text())
        elif package.outcome is TestOutcome.FAILED and TestOutcome.FAILED not in outcomes:
            said = reading.builds.get(package.failed_build) or reading.builds.get(name)
            blames_another = not said and package.not_built and bool(other.text)
            text = (said.text() if said else "") + package.output.text()
            yield replace(other, id=name) if blames_another else _group(name, TestOutcome.FAILED, text)


def _trial(package: str, its: _Package, test: _Test) -> Trial:
    outcome, name = test.outcome or _guessed(its, test), f"{package}.{test.name}"
    if outcome is TestOutcome.PASSED:
        return Trial(name, outcome)
    text = go_output.without_framing(test.output.text())
    return Trial(name, outcome, *go_output.reason(text), text)


def _with_reasons(trials: list[Trial]) -> list[Trial]:
    """A test that says nothing itself fails for the first of its subtests that does."""
    reasons: dict[str, Trial] = {}
    for trial in trials:
        name = trial.id if trial.outcome in _BAD and trial.text.strip() else ""
        for _ in range(MAX_DEPTH):
            name = name.rpartition("/")[0]
            reasons.setdefault(name, trial)
    return [
        replace(reasons[trial.id], id=trial.id, outcome=trial.outcome)
        if trial.outcome in _BAD and not trial.text.strip() and trial.id in reasons
        else trial
        for trial in trials
    ]


def _guessed(package: _Package, test: _Test) -> TestOutcome:
    """Of a test without an end: output without a line end before it hides it from test2json (https://go.dev/issue/38063)."""
    said = re.search(rf"--- (PASS|FAIL|SKIP): {re.escape(test.name)} \(", test.output.text())
    if said:
        return _ENDS[said[1].lower()]
    return TestOutcome.PASSED if package.outcome is TestOutcome.PASSED else TestOutcome.UNFINISHED


def _group(name: str, outcome: TestOutcome, text: str) -> Trial:
    return Trial(name, outcome, *go_output.reason_of_build(text), text, is_group=True)
