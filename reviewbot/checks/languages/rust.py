"""Rust: Clippy, and cargo test."""

import re
from collections import Counter
from collections.abc import Iterator
from posixpath import dirname, join, normpath

import msgspec
from msgspec.structs import replace

from reviewbot.checks.check import Check, Language, probe
from reviewbot.checks.evidence import Diagnostic, Report, TestOutcome, TestResult
from reviewbot.checks.readers import diagnostic, optional, required, text_of
from reviewbot.git.change import Location
from reviewbot.sandbox.job import Completed

PROGRAM, REPORT = "reviewbot_cargo.sh", "cargo.txt"
RUN = ("sh", f"/reviewbot/{PROGRAM}")
REPRODUCTION = "reviewbot_reproduction"
MESSAGE = re.compile(r'^\{"reason":"compiler-message".*', re.MULTILINE)
COMPILED = re.compile(r"^(?!/)(\S.*\.rs):$", re.MULTILINE)
ERROR = re.compile(
    r"(?m)^(?:error(?:\[E\d+\])?|Error): "
    r"(?:.*:\n +.*|.*\nhelp: run `rustup .*|.*\n +--> \S*Cargo\.toml.*|.*(?:\n+Caused by:\n +.*)*)"
)
MISSING = re.compile(r"offline mode|--offline was specified|Read-only file system")
UNREADABLE = re.compile(r"/\.cargo/registry/.*: Permission denied")
FUNCTION = re.compile(r"^\./([^:\n]+\.rs):(\d+):.*?\bfn (?:r#)?(\w+)", re.MULTILINE)
BINARY = re.compile(r'(?m)^\{"reason":(?>.*?"src_path":"([^"]+)").*"executable":"[^"]*/([^"/]+)"')
# What runs: an executable in parentheses, or the documentation of a crate.
TARGET = re.compile(r"(?m)^ +(?:Running .*\((?:[^()\n]*/)?([^()/\n]+)\)|Doc-tests (\S+))$")
RUNNING = re.compile(r"^running (\d+) tests?$", re.MULTILINE)
# Tests may print on the line before their name, and between their name and their outcome.
STARTED = re.compile(
    r"(?:^test (.+?)|test ([\w:]+))(?: - (?:should panic|compile(?: fail)?))? \.\.\. ", re.MULTILINE
)
WHOLE = re.compile(r"(ok|FAILED|ignored)(?:$|, .*$)", re.MULTILINE)
LAST = re.compile(r"(ok|FAILED)$", re.MULTILINE)
RESULT = re.compile(r"^test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored;", re.MULTILINE)
KILLED = re.compile(r"process didn't exit successfully: .{,500}(\([^()\n]*\))$", re.MULTILINE)
DETAILS = re.compile(r"^---- (.+?)(?: stdout)? ----$", re.MULTILINE)
DOCUMENTED = re.compile(r"(\S+) - (.*?) ?\(line (\d+)\)")
PANIC = re.compile(
    r"(?ms)^thread '[^\n]{,200}?' (?:\(\d+\) )?panicked at (?:'(?P<old>.{,2000}?)', )?"
    r"(?P<path>[^\s:'][^:\n]{,500}):(?P<line>\d+):\d+"
    r"(?::\n(?P<new>.*?)(?=\n\n|\nnote: |\nstack backtrace:|\Z)|$)"
)
OVERFLOW = re.compile(r"^thread '(.*)' (?:\(\d+\) )?has overflowed its stack$", re.MULTILINE)
# Of tests that should panic.
NOTE = re.compile(r"^note: ((?:test|panic) did not .*?)(?: at \S+)?$", re.MULTILINE)
OUTCOMES: dict[str, TestResult] = {"ok": "passed", "FAILED": "failed", "ignored": "skipped"}
UNFINISHED = "the run ended before it was done"


def read_clippy(completed: Completed) -> Report:
    """Read messages of the compiler and of Clippy, each once, and the names of compiled files."""
    text = text_of(completed)
    found = {d: None for line in MESSAGE.findall(text) for d in _diagnostics(line)}
    is_said = any(d.severity != "low" for d in found) and not MISSING.search(text)
    problem = "" if text.endswith("ended\n") else UNFINISHED
    if "\nfailed\n" in text and not is_said:
        problem = problem_of(text) or "cargo failed"
    return Report(diagnostics=tuple(found), read=frozenset(COMPILED.findall(text)), problem=problem)


def _diagnostics(line: str) -> Iterator[Diagnostic]:
    """What is said of a line of the tree: of a macro from elsewhere, where it is used."""
    message = required(msgspec.json.decode(line), "message", dict)
    code, level = optional(message, "code.code", ""), required(message, "level", str)
    for span in (span for span in required(message, "spans", list) if span["is_primary"]):
        while span and required(span, "file_name", str).startswith(("/", "<")):
            span = optional(span, "expansion.span", {})
        if span:
            place = required(span, "file_name", str), required(span, "line_start", int)
            found = diagnostic(code or "rustc", required(message, "message", str), level, *place)
            does_not_compile = level == "error" and re.fullmatch(r"(E\d+)?", code)
            yield replace(found, severity="high") if does_not_compile else found
            return


def problem_of(text: str) -> str:
    """What says first why cargo did not do its work, with the first of a list below and causes."""
    error = ERROR.search(text)
    hint = ": run cargo fetch" if MISSING.search(text) else ""
    hint = ": run chmod -R a+rX ~/.cargo/registry" if UNREADABLE.search(text) else hint
    return " ".join(error[0].split())[:300] + hint if error else ""


def read_tests(completed: Completed) -> Report:
    """Read what reviewbot_cargo.sh writes of tests. Raises ValueError if nothing was built."""
    text = text_of(completed)
    building, is_built, ran = text.partition("\nbuilt\n")
    if not is_built:
        raise ValueError(problem_of(text) or "the run ended before its tests were built")
    run = Run(building, ran)
    unfinished = "" if text.endswith("ended\n") else UNFINISHED
    return Report(tests=tuple(run.tests), problem=next(iter(run.problems), unfinished))


class Run:
    """What the tests of all targets print. Paths are those from which cargo was started."""

    def __init__(self, building: str, text: str) -> None:
        self.tests: list[TestOutcome] = []
        self.problems: list[str] = []
        functions = FUNCTION.findall(building)[::-1]  # of those with one name the first counts
        self._functions = {(path, name): int(line) for path, line, name in functions}
        sources = {name: path for path, name in BINARY.findall(building)}
        # Which of the tests of one item it is, by its line.
        self._documented: dict[tuple[str, str], dict[int, int]] = {}
        documented = re.findall(rf"(?m)^test {DOCUMENTED.pattern}", text)
        for path, item, line in sorted(set(documented), key=lambda at: int(at[2])):
            numbers = self._documented.setdefault((path, item), {})
            numbers[int(line)] = len(numbers) + 1
        _, *parts = TARGET.split(text)
        for name, crate, said in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
            target = str(sources.get(name or "", name or crate))
            _, *blocks = map(str, RUNNING.split(said))
            for announced, block in zip(blocks[::2], blocks[1::2], strict=True):
                self._read_block(target, int(announced), block)
            if not blocks and not name and ERROR.search(said):
                self.problems.append(problem_of(said))
            elif not blocks and name:  # a program that is no list of tests counts as one
                found = TestOutcome(id=f"{target}::main", outcome="passed")
                if "error: test failed, to rerun" in said:
                    found = self._failed(found, said, Location(target, 1, 1))
                self.tests.append(found)

    def _read_block(self, target: str, announced: int, text: str) -> None:
        listed, _, said = text.partition("\nfailures:\n")
        _, *parts = DETAILS.split(said.split("\nfailures:\n    ")[0])
        details = dict(zip(parts[::2], parts[1::2], strict=True))
        _, *tests = STARTED.split(listed)
        found: Counter[str] = Counter()
        names = [first or later for first, later in zip(tests[::3], tests[1::3], strict=True)]
        for name, rest in zip(names, tests[2::3], strict=True):
            # A test that compiles files, such as one of trybuild, names them in the same way.
            is_own = len(names) <= announced or "/" not in name
            if is_own and (outcome := WHOLE.match(rest) or [None, *LAST.finditer(rest)][-1]):
                found[outcome[1]] += 1
                self._add(target, name, OUTCOMES[outcome[1]], details.get(name, ""))
        for name in OVERFLOW.findall(listed):
            self._add(target, name, "failed", f"Error: thread '{name}' has overflowed its stack")
        counts = tuple(str(found[word]) for word in OUTCOMES)
        if RESULT.findall(text)[-1:] != [counts] or found.total() != announced:
            why = KILLED.search(text)
            ended = f"{found.total()} of {announced} tests of {target} ended"
            self.problems.append(f"{ended} {why[1]}" if why else ended)

    def _add(self, target: str, name: str, outcome: TestResult, said: str) -> None:
        if match := DOCUMENTED.fullmatch(name):
            path, item, line = match[1], match[2], int(match[3])
            place: Location | None = Location(normpath(path), line, line)
            number = self._documented[path, item][line]
            name = f"{item} (doc-test{f' {number}' if number > 1 else ''})".removeprefix("  ")
            id = f"{normpath(path)}::{name}"
        else:
            place = self._place(target, name.split("::", 30))  # deeper than modules are
            id = f"{place.path if place else target}::{name}"
        test = TestOutcome(id=id, outcome=outcome, location=place)
        if outcome == "failed":
            test = self._failed(test, said, place if match else None)
        self.tests.append(test)

    def _place(self, target: str, names: list[str]) -> Location | None:
        """Where a test is defined; one that a macro makes, where the function around it is."""
        while names:
            *modules, function = names
            folders = [join(dirname(target), *modules[:n]) for n in range(len(modules), 0, -1)]
            files = [file for folder in folders for file in (f"{folder}.rs", f"{folder}/mod.rs")]
            for path in (*files, target):
                if line := self._functions.get((path, function)):
                    return Location(path, line, line)
            names = modules
        return None

    def _failed(self, test: TestOutcome, said: str, place: Location | None) -> TestOutcome:
        """Args: place: where it is, if lines of its panics are not those of the tree."""
        panics = [*PANIC.finditer(said)]
        messages = [match["new"] or match["old"] or "" for match in panics]
        # A thread that panicked is the reason of one that waited for it.
        telling = [text for text in messages if "Any { .. }" not in text] or messages
        reasons = [*NOTE.findall(said)[:1], *telling[-1:], *ERROR.findall(said)]
        places = [(normpath(match["path"]), int(match["line"])) for match in reversed(panics)]
        frames = [Location(path, line, line) for path, line in places if path[0] != "/"]
        return replace(
            test,
            outcome="failed",
            message=" ".join(next(iter((*reasons, *said.strip().splitlines())), "").split()),
            output=said.strip(),
            location=place or test.location,
            frames=(place,) if place else tuple(frames),
        )


CARGO_TEST = Check(
    name="cargo-test",
    kind="test",
    globs=("*.rs", "Cargo.toml", "Cargo.lock"),
    markers=("Cargo.toml",),
    command=(*RUN, "test", "--workspace"),
    read=read_tests,
    by_project="rust",
    report=REPORT,
    seconds=600,
    tool_files=probe(PROGRAM),
    lookup=("cargo", "--version"),
    install_hint="install Rust, see https://rustup.rs",
)
CLIPPY = replace(CARGO_TEST, name="clippy", kind="lint", command=(*RUN, "clippy"), read=read_clippy)
RUST = Language(
    name="rust",
    checks=(CLIPPY, CARGO_TEST),
    project_files=("Cargo.toml",),
    suite=CARGO_TEST,
    test_path=f"tests/{REPRODUCTION}.rs",
    test_command=(*RUN, "twice", "--test", REPRODUCTION),
    runs_twice=True,
    test_seconds=300,
    # What does not compile is no test that fails: it says what the compiler says.
    is_missing_name=lambda message: message.startswith("error[E"),
)
