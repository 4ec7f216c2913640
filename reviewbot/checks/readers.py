"""Formats in which tools report. `parse` of a custom check names a row of `READERS`."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal, TypeVar
from urllib.parse import unquote
from xml.etree import ElementTree

import msgspec

from reviewbot.checks.evidence import Diagnostic, Report, TestOutcome, TestResult
from reviewbot.config.settings import OutputFormat
from reviewbot.git.change import Location
from reviewbot.sandbox.job import Completed, last_line
from reviewbot.severity import Severity
from reviewbot.text.plain import shortened

T = TypeVar("T")
# Words of tools and formats for how bad something is.
LEVELS: dict[str, Severity] = {
    "fatal": "critical",
    "error": "medium",
    **dict.fromkeys(("warning", "warn", "info", "information", "note", "notice"), "low"),
    **dict.fromkeys(("none", "style"), "low"),
}
# The GNU coding standards, "Formatting Error Messages"; the level and the rule are customs. The
# TypeScript compiler prints `path(line,column): error RULE: message`.
GNU_LINE = re.compile(
    r"^(?P<path>[^\s:][^:\n]{0,1000}?)[:(](?P<line>\d{1,7})(?:[:,](?P<column>\d{1,7}))?\)?"
    r"(?:-\d+(?::\d+)?)?:\s?(?:(?P<level>\w+)(?::|(?=\s[A-Z]+\d+:))\s)?(?P<message>.{1,2000}?)"
    r"(?:\s\[(?P<rule>[\w./:-]{1,100})\])?\r?$",
    re.MULTILINE,
)
GNU_CODE = re.compile(r"^(?P<rule>[A-Z]{1,10}\d{2,6})\b:?\s+(?P<message>.+)$")
# What a step of GitHub Actions prints to annotate a line: `::error file=a.js,line=1::message`.
ANNOTATION = re.compile(r"^::(debug|notice|warning|error) ([^\n]{,2000}?)::(.{,900})", re.MULTILINE)
# Characters of a test, or of what a linter says: runners quote whole values.
MAX_ID, MAX_MESSAGE, MAX_OUTPUT = 500, 500, 4_000
# A line of a stack trace, of which most runners print the deepest first: `at f (src/sum.js:2:38)`.
FRAME = re.compile(r"(?:^|[\s(])((?:file://)?(?:[\w@+.-]+/)*[\w@+-][\w@+.-]*\.\w+):(\d{1,7})\b")
TAP_TEST = re.compile(
    r"^(?P<indent> *)(?P<not>not )?ok\b(?: +(?P<number>\d+))?(?: +-)?"
    r"(?: ++(?P<name>[^# ]++(?: ++[^# ]++)*))?(?: +# *(?P<directive>SKIP|TODO)\b.*)?(?: +#.*)? *$",
    re.IGNORECASE,
)
TAP_SUBTEST = re.compile(r"^(?P<indent> *)# Subtest: (?P<name>.*)$")
TAP_PLAN = re.compile(r"^1\.\.(\d+)\b(?! *#)")
TAP_BAIL_OUT = re.compile(r"^ *Bail out! *(.*)$", re.IGNORECASE)
TAP_MESSAGE = re.compile(r"^ +(?:error|message): *(.*)$", re.MULTILINE)


def text_of(completed: Completed) -> str:
    """The report if the command wrote one, else what it printed."""
    return (completed.report or completed.stdout or completed.stderr).decode("utf-8", "replace")


def json_of(completed: Completed, type_: Any = Any) -> Any:
    """Decode the report or the output. Raises ValueError with why there is none."""
    text = completed.report or completed.stdout
    try:
        return msgspec.json.decode(text, type=type_)
    except (ValueError, RecursionError) as error:
        is_cut = text.startswith((b"{", b"[")) and not completed.stderr
        said = completed.reason or ("" if is_cut else reason_of(completed))
        raise ValueError(said or f"the report cannot be read: {error}") from error


def json_lines_of(completed: Completed) -> list[Any]:
    """Decode a document a line. Raises ValueError."""
    try:
        return msgspec.json.Decoder().decode_lines(completed.report or completed.stdout)
    except (ValueError, RecursionError) as error:
        raise ValueError(reason_of(completed) or str(error)) from error


def required(document: Any, path: str, kind: type[T]) -> T:
    """What is at dotted keys, such as "locations.0.uri". Raises ValueError if it is no `kind`."""
    value = _at(document, path)
    if not isinstance(value, kind):
        raise ValueError(f"the report cannot be read: {path} is missing, or is no {kind.__name__}")
    return value


def optional(document: Any, path: str, default: T) -> T:
    """The same, or a default of the same type if it is not there."""
    return default if _at(document, path) is None else required(document, path, type(default))


def _at(document: Any, path: str) -> Any:
    for key in path.split("."):
        if isinstance(document, list):
            document = document[int(key)] if int(key) < len(document) else None
        elif document is not None:
            document = document.get(key) if isinstance(document, dict) else ()
    return document


def diagnostic(
    rule: str, message: str, level: str, path: str, line: int, end_line: int = 0
) -> Diagnostic:
    """What a tool says of lines, or of no place without `path` or `line`; `level`: see LEVELS."""
    path = path_of(path)
    return Diagnostic(
        rule=rule or "message",
        message=message.strip().partition("\n")[0],
        severity=LEVELS.get(level.lower(), "low"),
        location=Location(path, line, max(line, end_line)) if path and line else None,
    )


def reason_of(completed: Completed) -> str:
    """The end of what a command printed that left no report, as one line."""
    return shortened(" ".join(last_line(completed.stderr or completed.stdout).split()), 300)


def path_of(name: str) -> str:
    """A path as tools write it, relative to the project."""
    return name.removeprefix("file://").removeprefix("/project/").removeprefix("./")


def read_gnu(completed: Completed) -> Report:
    """Raises ValueError if the command failed and printed something else."""
    found = tuple(gnu_lines(text_of(completed)))
    # A program that crashed names lines of its own.
    is_read = any(d.location and not d.location.path.startswith("/") for d in found)
    if completed.exit_code and not is_read and reason_of(completed):
        raise ValueError(reason_of(completed))
    return Report(diagnostics=found)


def gnu_lines(text: str) -> Iterator[Diagnostic]:
    for match in GNU_LINE.finditer(text):
        level, message, rule = match["level"] or "", match["message"], match["rule"] or ""
        if level == "note":  # explains the line before it
            continue
        if not rule and (code := GNU_CODE.match(message)):
            rule, message = code["rule"], code["message"]
        if level and level.lower() not in LEVELS:
            message = f"{level}: {message}"
        yield diagnostic(rule or level, message, level, match["path"], int(match["line"]))


def read_sarif(completed: Completed) -> Report:
    """Read SARIF 2.1.0. Raises ValueError if it is none, or if the tool says that it failed."""
    nothing: list[Any] = []
    found = []
    for run in required(json_of(completed), "runs", list):
        for invocation in optional(run, "invocations", nothing):
            if not optional(invocation, "executionSuccessful", True):
                said = "toolExecutionNotifications.0.message.text"
                reason = optional(invocation, said, "it does not say why")
                raise ValueError(f"the tool failed: {reason}")
        for result in optional(run, "results", nothing):
            suppressions = optional(result, "suppressions", nothing)
            is_suppressed = "accepted" in [optional(s, "status", "accepted") for s in suppressions]
            if is_suppressed or optional(result, "kind", "fail") != "fail":
                continue
            place = "locations.0.physicalLocation"
            entry = diagnostic(
                rule=optional(result, "ruleId", "") or optional(result, "rule.id", ""),
                message=optional(result, "message.text", ""),
                level=optional(result, "level", "warning"),
                path=unquote(optional(result, f"{place}.artifactLocation.uri", "")),
                line=optional(result, f"{place}.region.startLine", 0),
                end_line=optional(result, f"{place}.region.endLine", 0),
            )
            found.append(entry)
    return Report(diagnostics=tuple(found))


def read_rdjson(completed: Completed) -> Report:
    """Read rdjson or rdjsonl: https://github.com/reviewdog/reviewdog/tree/master/proto/rdf."""
    if completed.stderr.strip() and not (completed.report or completed.stdout.strip()):
        raise ValueError(reason_of(completed))
    try:
        document = json_of(completed)
        entries = required(document, "diagnostics", list)
    except ValueError:
        document, entries = {}, json_lines_of(completed)
    found = (
        diagnostic(
            rule=optional(entry, "code.value", ""),
            message=required(entry, "message", str),
            level=optional(entry, "severity", "") or optional(document, "severity", ""),
            path=required(entry, "location.path", str),
            line=optional(entry, "location.range.start.line", 0),
            end_line=optional(entry, "location.range.end.line", 0),
        )
        for entry in entries
    )
    return Report(diagnostics=tuple(found))


def read_github(completed: Completed) -> Report:
    """Read annotations of GitHub Actions; one for debugging names a file that is left out.

    Raises ValueError if the command failed and printed something else.
    """
    found, unread = [], set()
    for level, properties, message in ANNOTATION.findall(text_of(completed)):
        named = {n: unquote(text) for n, text in re.findall(r"\b(\w+)=([^,]*)", properties)}
        path, line = named.get("file", ""), named.get("line", "0")
        if level == "debug":
            unread.add(path_of(path))
        else:
            said = unquote(message).removeprefix(f"{path}:{line}:{named.get('col')}: ")
            end = int(named.get("endLine", 0))
            found.append(diagnostic(named.get("title", ""), said, level, path, int(line), end))
    if completed.exit_code and not (found or unread) and reason_of(completed):
        raise ValueError(reason_of(completed))
    return Report(diagnostics=tuple(found), unread=frozenset(unread))


class _Builder(ElementTree.TreeBuilder):
    def doctype(self, *_: object) -> None:
        """Refuse the part of a document that declares entities, which expand to gigabytes."""
        raise ValueError("not a JUnit report: it has a document type")


def read_junit(completed: Completed) -> Report:
    """Read JUnit XML, which pytest, Maven, Gradle, jest, phpunit, rspec and many others write."""
    text = completed.report or completed.stdout
    if not text.lstrip().startswith(b"<"):
        raise ValueError(reason_of(completed) or "wrote no report")
    try:
        root = ElementTree.fromstring(text, ElementTree.XMLParser(target=_Builder()))
    except ElementTree.ParseError as error:
        raise ValueError(f"not a JUnit report: {error}") from error
    return Report(tests=tuple(map(_junit_test, root.iter("testcase"))))


def _junit_test(case: ElementTree.Element) -> TestOutcome:
    outcomes: dict[str, TestResult] = {"failure": "failed", "error": "error", "skipped": "skipped"}
    problem = next((part for part in case if part.tag in ("failure", "error")), None)
    message = text = ""
    if problem is not None:
        message = problem.get("message", "")
        text = (problem.text or case.findtext("system-out") or "").strip()[:MAX_OUTPUT]
    path, line = path_of(case.get("file", "")), max(int(case.get("line", 0)), 1)
    names = (path, case.get("classname", ""), case.get("name", ""))
    return TestOutcome(
        id="::".join(filter(None, (n.strip() for n in names))),
        outcome=next((outcomes[tag] for tag in outcomes if case.find(tag) is not None), "passed"),
        message=(message or text).partition("\n")[0],
        output=text,
        location=Location(path, line, line) if path else None,
        frames=_frames_in(text),
    )


def _frames_in(text: str) -> tuple[Location, ...]:
    """The lines of a stack trace, the deepest last."""
    found = [(path_of(name), int(number)) for name, number in FRAME.findall(text)[::-1]]
    return tuple(Location(path, n, n) for path, n in found if "node_modules/" not in path)


def read_tap(completed: Completed) -> Report:
    """Read TAP 12 to 14, as node, bats, prove and tape print it."""
    lines = text_of(completed).splitlines()
    tests = tuple(_tap_tests(lines))
    plans = [int(match[1]) for line in lines if (match := TAP_PLAN.match(line))]
    if not tests and not plans:
        raise ValueError(reason_of(completed) or "printed no TAP")
    problem = next((f"bailed out: {m[1]}" for line in lines if (m := TAP_BAIL_OUT.match(line))), "")
    count = sum(1 for line in lines if (match := TAP_TEST.match(line)) and not match["indent"])
    if plans and count < plans[0] and not problem:
        problem = f"planned {plans[0]} tests, ran {count}"
    return Report(tests=tests, problem=problem)


def _tap_tests(lines: list[str]) -> Iterator[TestOutcome]:
    """The tests without children. Names of their parents come before their own."""
    parents: list[tuple[int, str]] = []
    has_children: set[tuple[str, ...]] = set()
    matches = enumerate(TAP_SUBTEST.match(line) or TAP_TEST.match(line) for line in lines)
    found = [(number, match) for number, match in matches if match]
    ends = [*(number for number, _ in found), len(lines)]
    for count, (number, match) in enumerate(found, start=1):
        depth, name = len(match["indent"]), (match["name"] or "").strip()
        parents = [parent for parent in parents if parent[0] < depth]
        path = tuple(parent for _, parent in parents)
        # Before version 14, subtests follow between brackets.
        if match.re is TAP_SUBTEST or match[0].rstrip().endswith("{"):
            parents.append((depth, name.rstrip("{ ")))
            continue
        has_children.add(path)
        if (*path, name) in has_children:
            continue
        id = "::".join((*path, name or f"test {match['number'] or count}"))
        if match["not"] and not match["directive"]:
            below = "\n".join(lines[number + 1 : ends[count]])[:MAX_OUTPUT]
            said = "".join(TAP_MESSAGE.findall(below)[:1]).strip("'\"|- ")
            yield TestOutcome(id=id, outcome="failed", message=said, frames=_frames_in(below))
        else:
            yield TestOutcome(id=id, outcome="skipped" if match["directive"] else "passed")


# Kinds of checks, and what reads what they left: it raises ValueError if that has another format.
READERS: Mapping[OutputFormat, tuple[Literal["lint", "test"], Callable[[Completed], Report]]] = {
    "gnu": ("lint", read_gnu),
    "sarif": ("lint", read_sarif),
    "rdjson": ("lint", read_rdjson),
    "github": ("lint", read_github),
    "junit": ("test", read_junit),
    "tap": ("test", read_tap),
}
