"""What should not have been committed: conflict markers, and debugging that was left behind."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from reviewbot.domain.evidence import Category, EvidenceKind, Precision, Result, Severity
from reviewbot.evidence.analysers.source import Source
from reviewbot.screen import hidden, secrets

_OURS = re.compile(r"<{7}(?: .*)?$")
_BOTH = re.compile(r"={7}$")
_THEIRS = re.compile(r">{7}(?: .*)?$")


@dataclass(frozen=True, slots=True)
class _Leftover:
    """A statement for whoever was debugging, in files with these endings."""

    rule: str
    endings: tuple[str, ...]
    pattern: re.Pattern[str]
    what: str
    severity: Severity
    consequence: str


def _leftover(rule: str, pattern: str, *, endings: tuple[str, ...], what: str, severity: Severity, consequence: str) -> _Leftover:
    return _Leftover(rule, endings, re.compile(pattern), what, severity, consequence)


_SCRIPTS = (".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".vue", ".svelte")
_STOPS = "the program stops there and waits for a debugger that nobody holds"
_STOPS_SCRIPT = "whoever has the developer tools open is stopped there"
_NARROWS = "all other tests of the file are silently left out"
_CHATTER = "users see words that are not for them"
_PYTHON_DEBUGGER = r"\s*(?:breakpoint\(|(?:import|from) i?pdb\b|(?:i?pdb|pudb|wdb)\.(?:set_trace|post_mortem)\()"
_RUBY_DEBUGGER = r"\s*(?:binding\.(?:pry|irb)|byebug)\b"
_SCRIPT_DEBUGGER = r"\s*debugger\s*;?\s*(?://.*)?$"
_ONLY = r"\s*(?:f(?:it|describe)|(?:it|test|describe|context)\.only)\s*\("
_CONSOLE = r"\s*console\.(?:log|debug|trace)\s*\("
_LEFTOVERS = (
    _leftover("debugger", _PYTHON_DEBUGGER, endings=(".py",), what="a breakpoint", severity=Severity.HIGH, consequence=_STOPS),
    _leftover(
        "debugger", _SCRIPT_DEBUGGER, endings=_SCRIPTS, what="a breakpoint", severity=Severity.MEDIUM, consequence=_STOPS_SCRIPT
    ),
    _leftover(
        "debugger", _RUBY_DEBUGGER, endings=(".rb", ".rake"), what="a breakpoint", severity=Severity.HIGH, consequence=_STOPS
    ),
    _leftover("only", _ONLY, endings=_SCRIPTS, what="a test that runs alone", severity=Severity.MEDIUM, consequence=_NARROWS),
    _leftover("console", _CONSOLE, endings=_SCRIPTS, what="output", severity=Severity.LOW, consequence=_CHATTER),
)


def analyse(source: Source) -> Iterator[Result]:
    """Conflicts in any text, left-over debugging by the file's language."""
    yield from _conflicts(source)
    mine = tuple(leftover for leftover in _LEFTOVERS if source.path.endswith(leftover.endings))
    for number, text in source.lines if mine else ():
        for leftover in mine:
            if leftover.pattern.match(text):
                yield _left(source, number, leftover)
                break


def _conflicts(source: Source) -> Iterator[Result]:
    """Whole conflicts only: a row of equal signs by itself underlines a heading."""
    began, seen_both = 0, False
    for number, text in source.lines:
        if text[:1] not in ("<", "=", ">"):
            continue
        if _OURS.match(text):
            began, seen_both = number, False
        elif began and _BOTH.match(text):
            seen_both = True
        elif began and seen_both and _THEIRS.match(text):
            yield _conflict(source, began, number)
            began, seen_both = 0, False


def _conflict(source: Source, began: int, ended: int) -> Result:
    return Result(
        EvidenceKind.MARKER,
        "markers",
        "conflict",
        source.path,
        began,
        "An unresolved merge conflict is in the file",
        Category.CORRECTNESS,
        Severity.HIGH,
        Precision.LIKELY,
        end_line=ended,
        anchor=source.anchor(began),
        trigger="the file is read by the program that it is for",
        consequence="it does not parse, or means both versions at once",
        excerpt=_clean(source.anchor(began)),
    )


def _left(source: Source, number: int, leftover: _Leftover) -> Result:
    return Result(
        EvidenceKind.MARKER,
        "markers",
        leftover.rule,
        source.path,
        number,
        f"Left over from debugging: {leftover.what}",
        Category.TESTS if leftover.rule == "only" else Category.CORRECTNESS,
        leftover.severity,
        Precision.HEURISTIC if leftover.severity is Severity.LOW else Precision.LIKELY,
        end_line=number,
        anchor=source.anchor(number),
        trigger="the line is reached",
        consequence=leftover.consequence,
        excerpt=_clean(source.anchor(number)),
    )


def _clean(text: str) -> str:
    return hidden.visible(secrets.redact(text)[0])[:400]
