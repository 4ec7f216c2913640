"""Go: go test, which compiles and vets, with coverage of changed lines."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from itertools import zip_longest
from posixpath import dirname, normpath
from typing import Literal

import msgspec
from msgspec import Struct

from reviewbot.checks.check import Check, Language
from reviewbot.checks.probes import probe
from reviewbot.checks.report import FAILURES, Report, TestOutcome
from reviewbot.git.change import Location
from reviewbot.sandbox.job import Completed, Job

PROGRAM, REPORT = "reviewbot_go.sh", "go.txt"
REPRODUCTION = "reviewbot_reproduction/reproduction_test.go"
MODULE = re.compile(r"^module (\S+) (\S+)$", re.MULTILINE)
FUNCTION = re.compile(r"^\./(\S+_test\.go):(\d+):func (\w*)", re.MULTILINE)
BLOCK = re.compile(r"^(\S+\.go):(\d+)\.\d+,(\d+)\.\d+ \d+ (\d+)$", re.MULTILINE)
COMPILER = re.compile(r"^(?:vet: )?([^\s:]+\.go):(\d+):\d+: (.+)$", re.MULTILINE)
FAILED = re.compile(r"^\s+([^\s:]+\.go):(\d+): (.*)$", re.MULTILINE)
PANIC = re.compile(r"^panic: (.+?)(?: \[recovered.*)?$", re.MULTILINE)
FRAME = re.compile(r"^\t([^\s/:][^\s:]*\.go):(\d+)", re.MULTILINE)
# What says that a package is not on this machine.
MISSING = re.compile(r".*(?:GOPROXY=off|no required module provides|missing go\.sum entry).*")
# A test of what only one side has does not compile on the other.
MISSING_NAME = re.compile(r"undefined: | undefined \(|unknown field |is not in std")
Outcome = Literal["passed", "failed", "error", "skipped"]
OUTCOMES: dict[str, Outcome] = {"pass": "passed", "fail": "failed", "skip": "skipped"}
MAX_MESSAGE, MAX_OUTPUT = 500, 4_000
MAX_LINES = 1_000  # of the last function of a file


class Event(Struct, frozen=True, rename="pascal"):
    """A line of `go test -json`, see `go doc test2json`."""

    action: str
    package: str = ""
    test: str = ""
    output: str = ""
    import_path: str = ""
    failed_build: str = ""


def read_go(completed: Completed) -> Report:
    """Read what probes/reviewbot_go.sh writes, also the part of a run that was stopped."""
    text = (completed.report or b"").decode(errors="replace")
    if "go: not found" in text:
        raise ModuleNotFoundError("go is not installed")
    _, *parts = MODULE.split(text)
    modules = [Module(*parts[start : start + 3]) for start in range(0, len(parts), 3)]
    problems = [module.problem for module in modules if module.problem]
    if not text.endswith("ended\n"):
        problems.append("the run ended before its tests did")
    return Report(
        tests=tuple(test for module in modules for test in module.tests()),
        statements={path: lines for m in modules for path, lines in m.covered(0).items()},
        executed={path: lines for m in modules for path, lines in m.covered(1).items()},
        problem=problems[0] if problems else "",
    )


class Module:
    """What was written about one module. The paths that it returns are those of the tree."""

    def __init__(self, folder: str, path: str, text: str) -> None:
        self._folder, self._path, self._text = folder, path, text
        self._functions: dict[tuple[str, str], Location] = {}
        functions = [
            (f"{folder}/{file}", line, name) for file, line, name in FUNCTION.findall(text)
        ]
        for (file, line, name), after in zip_longest(functions, functions[1:]):
            end = int(after[1]) - 2 if after and after[0] == file else int(line) + MAX_LINES
            place = location(file, line, end)
            self._functions[normpath(dirname(place.path)), name] = place
        self._events: list[Event] = []
        self._output: defaultdict[tuple[str, str], str] = defaultdict(str)
        for line in text.splitlines():
            with suppress(msgspec.DecodeError):
                self._events.append(event := msgspec.json.decode(line, type=Event))
                # What a part of a test prints, the test prints.
                parts = event.test.split("/")
                for end in range(len(parts)):
                    key = (event.package or event.import_path, "/".join(parts[: end + 1]))
                    self._output[key] += event.output

    @property
    def problem(self) -> str:
        """The first line that says that a package is missing here."""
        said = "\n".join(line for line in self._text.splitlines() if not line.startswith("{"))
        match = MISSING.search("".join([said, "\n", *self._output.values()]))
        return f"{match[0].strip()[:200]}: run go mod download" if match else ""

    def covered(self, least: int) -> dict[str, tuple[int, ...]]:
        """Lines of the blocks, and of the tests, that ran at least so often, by path."""
        found: defaultdict[str, set[int]] = defaultdict(set)
        for test in self.tests():
            if test.location and "::" in test.id and (test.outcome != "skipped") >= least:
                place = test.location
                found[place.path].update(range(place.line, place.end_line + 1))
        for path, first, last, count in BLOCK.findall(self._text):
            if int(count) >= least:
                found[self._within(path)].update(range(int(first), int(last) + 1))
        return {path: tuple(sorted(lines)) for path, lines in found.items()}

    def tests(self) -> Iterator[TestOutcome]:
        """Tests and their parts; of a package that does not run, the files of its tests."""
        failed = {event.package for event in self._events if event.test and event.action == "fail"}
        for event in self._events:
            folder = self._within(event.package)
            text = self._output[event.failed_build or event.package, event.test]
            if event.test and event.action in OUTCOMES:
                place = self._functions.get((folder, event.test.partition("/")[0]))
                id = f"{place.path if place else folder}::{event.test}"
                yield self._outcome(id, OUTCOMES[event.action], place, folder, text)
            elif event.action == "fail" and not event.test and event.package not in failed:
                files = {p.path for (where, _), p in self._functions.items() if where == folder}
                for path in sorted(() if MISSING.search(text) else files):
                    yield self._outcome(path, "error", location(path, "1"), folder, text)

    def _outcome(
        self, id: str, outcome: Outcome, place: Location | None, folder: str, text: str
    ) -> TestOutcome:
        if outcome not in FAILURES:
            return TestOutcome(id=id, outcome=outcome, location=place)
        said = [(f"{self._folder}/{path}", line, why) for path, line, why in COMPILER.findall(text)]
        said += [(f"{folder}/{path}", line, why) for path, line, why in FAILED.findall(text)]
        lines = [line for line in text.splitlines() if not line.startswith(("#", "---", "FAIL"))]
        panic, stack = PANIC.search(text), reversed(FRAME.findall(text))
        message = panic[1] if panic else said[0][2] if said else " ".join(lines[:3])
        return TestOutcome(
            id=id,
            outcome=outcome,
            message=message.strip()[:MAX_MESSAGE],
            output=text[-MAX_OUTPUT:],
            location=place,
            frames=tuple(location(path, line) for path, line, *_ in (*said[:1], *stack)),
        )

    def _within(self, package: str) -> str:
        """The folder of a package, or the file that has its package before it."""
        return normpath(f"{self._folder}/{package.removeprefix(self._path)}")


def location(path: str, line: str, end_line: int = 0) -> Location:
    return Location(normpath(path), int(line), max(int(line), end_line))


def place_test(source: str, tree: str) -> Job:
    return Job(
        tree=tree,
        command=("sh", f"/reviewbot/{PROGRAM}", f"./{dirname(REPRODUCTION)}"),
        executes=True,
        extra_files={REPRODUCTION: source},
        tool_files=probe(PROGRAM),
        report=REPORT,
        seconds=120,
    )


GO = Language(
    name="go",
    checks=(
        Check(
            name="go-test",
            kind="test",
            globs=("*.go", "go.mod", "go.sum", "*testdata/*"),
            markers=("go.mod",),
            command=("sh", f"/reviewbot/{PROGRAM}"),
            read=read_go,
            executes=True,
            whole_tree=True,
            report=REPORT,
            seconds=300,
            tool_files=probe(PROGRAM),
            install_hint="install Go, see https://go.dev/doc/install",
        ),
    ),
    place_test=place_test,
    read_test=read_go,
    is_missing_name=lambda message: MISSING_NAME.search(message) is not None,
)
