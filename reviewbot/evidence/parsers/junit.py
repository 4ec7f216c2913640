"""JUnit XML, in the dialects of pytest, go-junit-report, jest-junit, vitest, mocha, Maven Surefire, bats and ``node --test``.

There is no standard: https://github.com/testmoapp/junitxml gathers what the tools agree on. A test's id is its class and name,
``class::name``. Of a test that passed, the file is known only where the dialect has an attribute for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from xml.etree.ElementTree import Element

from reviewbot.evidence.parsers import failure_text, go_output
from reviewbot.evidence.parsers.remark import Unreadable
from reviewbot.evidence.parsers.roll import Roll
from reviewbot.evidence.parsers.trial import TestOutcome, Trial
from reviewbot.screen import strict_xml

_BAD = ("failure", "error")
_PRINTED = ("system-out", "system-err")
_NOT_RUN = frozenset({"notrun", "disabled", "skipped", "ignored"})
"""What ctest and googletest write in ``status``."""
_OF_NODE = "test"
"""The class of each test of ``node --test``; its suites tell tests apart."""
_BROKEN = frozenset({"collection failure", "Build error", "Runtime error"})
"""What pytest and go-junit-report say of a file or package that could not be run."""
_BROKEN_OWNER = "Test suite failed to run"
"""jest-junit: the name is a file's."""
_OF_THE_OWNER = frozenset({"", "[build failed]", "[setup failed]", "Failure", "initializationError", "classMethod"})
"""Names that stand for the whole class or package."""
_FILE = re.compile(r"\S+\.[cm]?[jt]sx?")
_CLASS = re.compile(r"[\w$]+(?:\.[\w$]+)+")
_NEVER_ENDED = "No test result found"
"""go-junit-report, of a test that began."""
_SAYS_NOTHING = frozenset({"", "Failed", "Skipped", "true", *_BROKEN})
"""Messages of which the text below knows more."""
_FRAME = re.compile(
    r"\bat (?:[\w.$@-]{1,200}/{1,2})?([\w$.]{1,500})\.[\w$<>]{1,200}\(([\w$]{1,200}\.(?:java|kt|groovy|scala)):(\d{1,9})\)"
)
_OF_JAVA = ("java.", "javax.", "jdk.", "sun.", "kotlin.", "scala.", "groovy.", "org.junit.", "org.opentest4j.", "org.assertj.")


@dataclass(frozen=True, slots=True)
class _Suites:
    """Those around a test, outermost first. ``first_line`` is what the dialect calls a file's first line: 0 for pytest."""

    names: tuple[str, ...] = ()
    file: str = ""
    first_line: int = 1

    def inside(self, suite: Element) -> _Suites:
        name = suite.get("name", "").strip()
        return _Suites(
            (*self.names, name) if name else self.names,
            suite.get("file", self.file),
            0 if name == "pytest" else self.first_line,
        )


def read(data: bytes) -> tuple[Trial, ...]:
    """All tests of a report. Raises Unreadable."""
    try:
        root = strict_xml.parse(data)
    except strict_xml.InvalidXml as exc:
        raise Unreadable(f"no JUnit report: {exc}") from exc
    if root.tag not in ("testsuites", "testsuite"):
        raise Unreadable(f"no JUnit report: its root is {root.tag[:80]!r}, not testsuites")
    suites = _Suites(first_line=0 if root.get("name") == "pytest tests" else 1)
    roll = Roll()
    for trial in _trials(root, suites.inside(root) if root.tag == "testsuite" else suites):
        roll.call(trial)
    return roll.trials()


def _trials(suite: Element, suites: _Suites) -> Iterator[Trial]:
    for child in suite:
        if child.tag == "testsuite":
            yield from _trials(child, suites.inside(child))
        elif child.tag == "testcase":
            yield _trial(child, suites)
        elif child.tag in _BAD:
            name = " > ".join(suites.names)
            yield Trial(
                name, TestOutcome.FAILED, *_place(suite, _text(child), suites), _message(child), _text(child), is_group=True
            )


def _trial(case: Element, suites: _Suites) -> Trial:
    bad = [child for child in case if child.tag in _BAD]
    skipped = case.find("skipped")
    trial = Trial(_identity(case, suites), TestOutcome.PASSED, *_place(case, "", suites))
    if bad and not (skipped is not None and skipped.get("type") == "todo"):
        never_ended = bad[0].get("message") == _NEVER_ENDED
        text = "\n".join(text for text in map(_text, (*bad, *(child for child in case if child.tag in _PRINTED))) if text)
        group = _group(case, bad[0])
        file, line = _place(case, text, suites)
        return Trial(
            group or trial.id,
            TestOutcome.UNFINISHED if never_ended else TestOutcome.FAILED,
            file,
            line,
            _message(bad[0]),
            text,
            is_group=bool(group),
        )
    if skipped is not None or case.get("status", "").lower() in _NOT_RUN:
        return replace(trial, outcome=TestOutcome.SKIPPED, message=_message(skipped) if skipped is not None else "")
    return trial


def _identity(case: Element, suites: _Suites) -> str:
    """Class and name, the class where it says more than the name, the suites where there is no class."""
    name, owner = case.get("name", "").strip(), case.get("classname", "").strip()
    if owner in ("", _OF_NODE):
        return " > ".join((*(() if suites.first_line == 0 else suites.names), name))
    return name if name.startswith(owner) or name.endswith(owner) else f"{owner}::{name}"


def _group(case: Element, bad: Element) -> str:
    """The id of what could not be run as a whole: the beginning of the ids of its tests. Empty for a test."""
    name, owner = case.get("name", "").strip(), case.get("classname", "").strip()
    if name in _OF_THE_OWNER and owner:
        return owner
    whole = owner in (name, _OF_NODE, _BROKEN_OWNER) and (_FILE.fullmatch(name) or (owner == name and _CLASS.fullmatch(name)))
    return name if whole or bad.get("message") in _BROKEN else ""


def _place(case: Element, text: str, suites: _Suites) -> tuple[str, int]:
    """By the attributes, else by the text. A file without a line has the line that the text gives of it."""
    file, line = case.get("file", suites.file).strip(), case.get("line", "")
    if file and re.fullmatch("[0-9]{1,9}", line):
        return file, int(line) + 1 - suites.first_line
    said = (_java_place(text, case.get("classname", "")) or failure_text.place(text)) if text else ("", 0)
    if file and file.rpartition("/")[2] != said[0].rpartition("/")[2]:
        return file, 0
    name = case.get("name", "").strip()
    return (file or said[0], said[1]) if file or said[0] or not text or not _FILE.fullmatch(name) else (name, 0)


def _java_place(text: str, owner: str) -> tuple[str, int] | None:
    """The frame of the test's own class, else the first that is not a library's. Packages are folders."""
    frames = [found.groups() for found in _FRAME.finditer(failure_text.clipped(text))]
    own = [frame for frame in frames if owner and frame[0].partition("$")[0] == owner.partition("$")[0]]
    for name, file, line in (*own, *(frame for frame in frames if not frame[0].startswith(_OF_JAVA))):
        folder = name.rpartition(".")[0].replace(".", "/")
        return f"{folder}/{file}" if folder else file, int(line)
    return None


def _message(said: Element) -> str:
    given = failure_text.plain(said.get("message", "")).strip()
    if given not in _SAYS_NOTHING:
        return given[: failure_text.MAX_MESSAGE]
    return go_output.reason_of_build(_text(said))[2] or given.removeprefix("true")


def _text(element: Element) -> str:
    return failure_text.plain("".join(element.itertext())).strip("\n")
