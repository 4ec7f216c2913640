"""What other installed packages add, put in its place: parsers and patterns here, tools and providers beside ours."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from reviewbot.adapters import installed, parse_apart
from reviewbot.adapters.installed import Broken, Extension
from reviewbot.config.keys import PARSERS
from reviewbot.debate.patterns import consult
from reviewbot.debate.patterns import outside as conversing
from reviewbot.debate.patterns.outside import Pattern
from reviewbot.errors import ConfigError
from reviewbot.evidence.parsers.outside import OutsideParser, RemarkParser, TrialParser
from reviewbot.evidence.parsers.remark import Grade, Remark, Unreadable
from reviewbot.evidence.parsers.trial import TestOutcome, Trial

Item = TypeVar("Item")

PATTERN = "consult"
"""The pattern of ``ask`` that is reviewbot's own."""

PATTERNS: Mapping[str, Pattern] = {PATTERN: consult.consult}

LARGEST = 2**31
"""A line number beyond it is none."""

_LINES = ("line", "end_line", "column")


def extensions() -> tuple[Extension, ...]:
    """Everything that installed packages add, by package. Nothing of it is imported."""
    return tuple(sorted(installed.listed(), key=lambda one: (one.package, one.kind, one.name)))


def parser(name: str) -> OutsideParser:
    """A parser by its name. Its reader works in a process of its own and raises Unreadable, and nothing else, naming the package.
    Raises ConfigError."""
    one = installed.wanted("parser", name, PARSERS)
    match installed.loaded(one):
        case RemarkParser():
            return RemarkParser(_reader(one, _remark), one.origin)
        case TrialParser():
            return TrialParser(_reader(one, _trial), one.origin)
    raise ConfigError(f"{one.described} is no RemarkParser and no TrialParser", hint=installed.UPDATE)


def pattern(name: str) -> tuple[Pattern, str]:
    """A conversation by its name, and the package that adds it (empty: reviewbot's own). Raises ConfigError."""
    if name in PATTERNS:
        return PATTERNS[name], ""
    one = installed.wanted("pattern", name, PATTERNS)
    speaking = installed.loaded(one)
    if not callable(speaking):
        raise ConfigError(f"{one.described} cannot be called", hint=installed.UPDATE)
    return conversing.guarded(speaking, _taken, of=one.described), one.origin


def _taken(call: Callable[[], Any]) -> Any:
    try:
        with installed.guarded():
            return call()
    except Broken as exc:
        raise conversing.Failed(str(exc)) from exc


def _reader(one: Extension, made: Callable[[Mapping[str, Any]], Item]) -> Callable[[bytes], tuple[Item, ...]]:
    def read(report: bytes) -> tuple[Item, ...]:
        try:
            return tuple(made(item) for item in parse_apart.items(one, report))
        except parse_apart.Failed as exc:
            raise Unreadable(f"{one.described}: {exc}") from exc
        except (KeyError, TypeError, ValueError) as exc:
            raise Unreadable(f"{one.described} made something else than it says") from exc

    return read


def _remark(fields: Mapping[str, Any]) -> Remark:
    numbers = {name: _number(fields[name]) for name in _LINES}
    rule = fields["rule"]
    return Remark(
        _text(fields["path"]),
        message=_text(fields["message"]),
        rule=None if rule is None else _text(rule),
        grade=Grade(_number(fields["grade"])),
        **numbers,
    )


def _trial(fields: Mapping[str, Any]) -> Trial:
    texts = {name: _text(fields[name]) for name in ("id", "file", "message", "text")}
    return Trial(outcome=TestOutcome(fields["outcome"]), line=_number(fields["line"]), is_group=bool(fields["is_group"]), **texts)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("no text")
    return value


def _number(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < LARGEST:
        raise TypeError("no number of a line")
    return value
