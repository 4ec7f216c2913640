"""Go: go vet, golangci-lint, and go test with coverage of changed lines."""

import re
from collections import defaultdict
from collections.abc import Iterator
from itertools import accumulate, zip_longest
from posixpath import dirname, normpath

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from reviewbot.checks.check import Check, Language, probe
from reviewbot.checks.evidence import FAILURES, Report, TestOutcome, TestResult
from reviewbot.checks.readers import MAX_ID, MAX_OUTPUT, diagnostic, text_of
from reviewbot.git.change import Location
from reviewbot.sandbox.job import Completed

PROGRAM, PACKAGES, REPORT = "reviewbot_go.sh", "reviewbot_go_packages.awk", "go.txt"
TEST = ("sh", f"/reviewbot/{PROGRAM}", "test")
VET, LINT = ((*TEST[:-1], mode, "{files}") for mode in ("vet", "lint"))
REPRODUCTION = "reviewbot_reproduction/reproduction_test.go"
MODULE = re.compile(r"^module (\S+) (\S*)$", re.MULTILINE)
FUNCTION = re.compile(r"^\./(\S+_test\.go):(\d+):func (\w*)", re.MULTILINE)
READ = re.compile(r"^read (\S+)$", re.MULTILINE)
BLOCK = re.compile(r"^(\S+\.go):(\d+)\.\d+,(\d+)\.\d+ \d+ (\d+)$", re.MULTILINE)
COMPILER = re.compile(
    r"^(?:vet: |[\d/]+ [\d:]+ cover: \S+ )?([^\s:]+\.go):(\d+):\d+: (.+)$", re.MULTILINE
)
# With what testify says on the lines below, or the first of these.
FAILED = re.compile(
    r"^([ \t]+)([^\s:]+\.go):(\d+): "
    r"(?:\n\s+Error Trace:(?>[^\0]{,2000}?\n\s+Error:)([^\0]{,2000}?)\n\s+Test:"
    r"|(.*(?:\n\1 {4}(?!--- [A-Z]+: |\S+\.go:\d+: ).*){,5}))",
    re.MULTILINE,
)
VETTED = re.compile(r"^(?:\./)?([^\s:]+\.go):(\d+):\d+: (.+?)(?:; to add it:)?$", re.MULTILINE)
LINTED = re.compile(r"^([^\s:]+\.go):(\d+)(?::\d+)?: (.+) \((\w+)\)$", re.MULTILINE)
NOT_LINTED = re.compile(r"(?m)^(?:level=error |Error: |.+\(typecheck\)$).*")
# Linters that report defects, beside the checks SA of staticcheck. What others report is style.
DEFECTS = {"bodyclose", "errcheck", "errorlint", "gosec", "nilerr", "rowserrcheck", "sqlclosecheck"}
PANIC = re.compile(r"^panic: (.+?)(?: \[recovered.*)?$", re.MULTILINE)
FRAME = re.compile(r"^\t([^\s/:][^\s:]*\.go):(\d+)", re.MULTILINE)
OTHER_FRAME = re.compile(r"^\S.*\n\t/.*\n?", re.MULTILINE)  # of Go itself, or of another module
# What says that a package is not on this machine, and that no package can be read.
MISSING = re.compile(
    r"(?m)^.*(?:GOPROXY=off|no required module provides|missing go\.sum entry"
    r"|cache/download/.{,500}: read-only file system)[^;\n]*"
)
# Go tries to download a version; the path may have only the beginning of a name. `!a` is an `A`.
LOCKED = re.compile(
    r"\w+ \S*?/cache/download/([\w.!~/-]+?)(?:/@v/([\w.+!-]+)\.\w+)?: read-only file system"
)
# What vet does not print where it came to its end. What a line ends with a colon for is below it.
UNUSUAL = re.compile(
    r"(?m)^(?!module |read |# |vet failed$|ended$|exit status |\s"
    rf"|go: (?:warning|downloading|finding)|{VETTED.pattern}).+(?:(?<=:)\n.+)?"
)
UNREADABLE = re.compile(r"(?m)^(?:go: (?!warning|downloading|finding)|pattern ).*(?:(?<=:)\n.+)?")
# A test of what only one side has does not compile on the other.
MISSING_NAME = re.compile(r"undefined: | undefined \(|unknown field |is not in std")
OUTCOMES: dict[str, TestResult] = {"pass": "passed", "fail": "failed", "skip": "skipped"}
MAX_LINES, MAX_COVERED = 1_000, 1_000_000  # of the last function of a file; of all


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
    text = text_of(completed)
    modules = [Module(*parts) for parts in split(text)]
    unfinished = "" if text.endswith("ended\n") else "the run ended before its tests did"
    return Report(
        tests=tuple(test for module in modules for test in module.tests),
        statements={path: lines for m in modules for path, lines in m.covered(0).items()},
        executed={path: lines for m in modules for path, lines in m.covered(1).items()},
        problem=next((module.problem for module in modules if module.problem), unfinished),
    )


def read_vet(completed: Completed) -> Report:
    """What vet says of code that compiles: what does not is said by tests."""
    text = text_of(completed)
    modules = split(text)
    found = [
        diagnostic("vet", message, "error", normpath(f"{folder}/{path}"), int(line))
        for folder, _, part in modules
        for path, line, message in VETTED.findall(part)
        if not MISSING.search(message) or "no required module" in message
    ]
    problem = ""
    if "\nvet failed\n" in text:
        problems = (problem_of(part, UNUSUAL, folder) for folder, _, part in modules)
        problem = next(filter(None, problems), "" if found else "vet failed")
    return Report(diagnostics=tuple(found), read=frozenset(READ.findall(text)), problem=problem)


def read_golangci(completed: Completed) -> Report:
    """What golangci-lint says of code that compiles. Vet runs apart."""
    text = text_of(completed)
    found, problems, files = [], [], frozenset(READ.findall(text))
    for folder, _, part in split(text):
        problems.append(problem_of(part, NOT_LINTED, folder))
        for path, line, message, rule in LINTED.findall(part):
            level = "error" if rule in DEFECTS or message.startswith("SA") else "warning"
            if rule not in ("govet", "typecheck"):
                place = normpath(f"{folder}/{path}")
                place = place if place in files else path  # from where the configuration is
                found.append(diagnostic(rule, message, level, place, int(line)))
    return Report(diagnostics=tuple(found), read=files, problem=next(filter(None, problems), ""))


def problem_of(text: str, unreadable: re.Pattern[str], folder: str) -> str:
    """What says that a package is missing here, with what gets it, or else that none is read."""
    if match := MISSING.search(text):
        step = "download" if re.search("GOPROXY=off|read-only", match[0]) else "tidy"
        where = "" if folder == "." else f" in {normpath(folder)}"
        said = LOCKED.sub(r"\1 is not downloaded", match[0].strip())
        found = {f"{path}@{version}" for path, version in LOCKED.findall(text) if version}
        # The go.mod that is checked out may name other versions.
        if step == "download" and len(found) in range(1, 6):
            where = re.sub("!(.)", lambda m: m[1].upper(), f" {' '.join(sorted(found))}")
        return f"{said[:200]}: run go mod {step}{where}"
    match = unreadable.search(text)
    return " ".join(match[0].split())[:200] if match else ""


def split(text: str) -> list[tuple[str, str, str]]:
    """The folder, the path and the text of each module."""
    _, *parts = MODULE.split(text)
    return list(zip(parts[::3], parts[1::3], parts[2::3], strict=True))


class Module:
    """What was written about one module. The paths that it returns are those of the tree."""

    def __init__(self, folder: str, path: str, text: str) -> None:
        self._folder, self._path, self._text = folder, path, text
        self._functions: dict[tuple[str, str], Location] = {}
        self._files: defaultdict[str, set[str]] = defaultdict(set)  # of tests, by their folders
        functions = FUNCTION.findall(text)
        for (file, line, name), after in zip_longest(functions, functions[1:]):
            end = int(after[1]) - 2 if after and after[0] == file else int(line) + MAX_LINES
            place = location(f"{folder}/{file}", line, end)
            self._functions[normpath(dirname(place.path)), name] = place
            self._files[normpath(dirname(place.path))].add(place.path)
        self._events: dict[tuple[str, str], Event] = {}
        output: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
        package = ""
        for line in text.splitlines():
            try:
                event = msgspec.json.decode(line, type=Event)
            except msgspec.DecodeError:
                # What compilers of Go before 1.24 say, below `# PACKAGE [TEST]`.
                package = line.strip("# []").partition(" ")[0] if line[:2] == "# " else package
                output[package, ""].append(f"{line}\n")
                continue
            package = ""
            at = event.package or event.import_path, event.test[:MAX_ID]
            output[at].append(event.output)
            if event.action in OUTCOMES:
                self._events[at] = event
        self._passed = {at for at, event in self._events.items() if event.action != "fail"}
        self._of_packages = "\n".join("".join(output[at]) for at in output if not at[1])
        self._unfinished: defaultdict[str, list[str]] = defaultdict(list)
        # What a package prints, or a test and its parts, but for parts that pass.
        self._said: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
        for (package, test), said in output.items():
            if test and (package, test) not in self._events:
                self._unfinished[package].append(test)
            parts = [test] if (package, test) in self._passed else test.split("/")
            for name in accumulate(parts, "{}/{}".format):
                self._said[package, name] += said
        self.problem = problem_of(self._of_packages, UNREADABLE, folder)
        self.tests = tuple(self._tests())

    def covered(self, least: int) -> dict[str, tuple[int, ...]]:
        """Lines of the blocks, and of the tests, that ran at least so often, by path."""
        found: defaultdict[str, set[int]] = defaultdict(set)
        tests = (test for test in self.tests if (test.outcome != "skipped") >= least)
        places = [test.location for test in tests if test.location and "::" in test.id]
        blocks = (block for block in BLOCK.findall(self._text) if int(block[3]) >= least)
        places += (location(self._within(path), first, int(end)) for path, first, end, _ in blocks)
        left = MAX_COVERED
        for place in places:
            lines = range(place.line, min(place.end_line, place.line + left) + 1)
            left -= len(lines)
            found[place.path].update(lines)
        return {path: tuple(sorted(lines)) for path, lines in found.items()}

    def _tests(self) -> Iterator[TestOutcome]:
        """Tests and their parts, but for a test that fails because a part of it does.

        Of a package that does not run, the tests that did not end, or the files of its tests, or
        else the file that does not compile.
        """
        failing = [at for at in self._events if at[1] and at not in self._passed]
        failed = {package for package, _ in failing}
        wholes = {(package, test.rpartition("/")[0]) for package, test in failing}
        for (package, test), event in self._events.items():
            folder = self._within(package)
            if test and (event.action != "fail" or (package, test) not in wholes):
                yield self._test(package, test, OUTCOMES[event.action])
            elif not test and event.action == "fail" and package not in failed:
                text = "".join(self._said[event.failed_build or package, ""])
                if " failed]" in text and not COMPILER.search(text):  # before Go 1.24
                    text = self._of_packages[:MAX_OUTPUT]
                for name in self._unfinished[package]:
                    yield self._test(package, name, "failed")
                if self._unfinished[package] or MISSING.search(text):
                    continue
                lines = {f"{self._folder}/{at[0]}": at[1] for at in COMPILER.findall(text)[::-1]}
                lines = dict.fromkeys(self._files[folder], "1") or lines
                for path, line in sorted(lines.items()):
                    place = location(path, line)
                    yield self._failure(place.path, "error", place, folder, text)

    def _test(self, package: str, name: str, outcome: TestResult) -> TestOutcome:
        folder = self._within(package)
        place = self._functions.get((folder, name.partition("/")[0]))
        id = f"{place.path if place else folder}::{name}"
        if outcome not in FAILURES:
            return TestOutcome(id=id, outcome=outcome, location=place)
        return self._failure(id, outcome, place, folder, "".join(self._said[package, name]))

    def _failure(
        self, id: str, outcome: TestResult, place: Location | None, folder: str, text: str
    ) -> TestOutcome:
        said = [(f"{self._folder}/{path}", line, why) for path, line, why in COMPILER.findall(text)]
        # A test may log before it fails.
        said += [(f"{folder}/{m[2]}", m[3], m[4] or m[5]) for m in FAILED.finditer(text)][::-1]
        lines = [line for line in text.splitlines() if not line.startswith(("#", "---", "FAIL"))]
        panic, stack = PANIC.search(text), reversed(FRAME.findall(text))
        message = panic[1] if panic else said[0][2] if said else " ".join(lines[:3])
        return TestOutcome(
            id=id,
            outcome=outcome,
            message=" ".join(message.split()),
            output=OTHER_FRAME.sub("", text),
            location=place,
            frames=tuple(location(path, line) for path, line, *_ in (*said[:1], *stack)),
        )

    def _within(self, package: str) -> str:
        """The folder of a package, or the file that has its package before it."""
        return normpath(f"{self._folder}/{package.removeprefix(self._path)}")


def location(path: str, line: str, end_line: int = 0) -> Location:
    return Location(normpath(path), int(line), max(int(line), end_line))


GO_TEST = Check(
    name="go-test",
    kind="test",
    globs=("*.go", "go.mod", "go.sum", "go.work*", "*testdata/*"),
    markers=("go.mod",),
    command=(*TEST, "{ids}"),
    read=read_go,
    report=REPORT,
    seconds=300,
    tool_files=probe(PROGRAM) | probe(PACKAGES),
    lookup=("go", "version"),
    install_hint="install Go, see https://go.dev/doc/install",
)
GO_VET = replace(GO_TEST, name="go-vet", kind="lint", globs=("*.go",), command=VET, read=read_vet)
GOLANGCI_LINT = replace(
    GO_VET,
    name="golangci-lint",
    configured_by=tuple(f".golangci.{end}" for end in ("yml", "yaml", "toml", "json")),
    command=LINT,
    read=read_golangci,
    lookup=("golangci-lint", "version"),
    install_hint="install golangci-lint, see https://golangci-lint.run/docs/welcome/install/local/",
)
GO = Language(
    name="go",
    checks=(GO_VET, GOLANGCI_LINT, GO_TEST),
    project_files=("go.mod",),
    suite=GO_TEST,
    test_path=REPRODUCTION,
    test_command=(*TEST, f"./{dirname(REPRODUCTION)}"),
    test_seconds=120,
    is_missing_name=lambda message: MISSING_NAME.search(message) is not None,
)
